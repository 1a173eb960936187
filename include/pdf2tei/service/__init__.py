"""Serve the extractor with GROBID's REST API."""
