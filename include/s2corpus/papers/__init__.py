"""Clusters to papers: canonical metadata, openness, which papers stay."""
