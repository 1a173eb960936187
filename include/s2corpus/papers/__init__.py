"""Convert clusters to papers: canonical metadata, open access, and the selection of papers."""
