"""s2corpus: from scientific PDFs and metadata to an S2ORC-style corpus release."""

__version__ = "1.0.0"
