"""Crop figures and tables from a PDF in a sandboxed process, which imports nothing but these modules and PDFium."""
