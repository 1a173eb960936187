"""Extractors of others, each one file: what docs/extractors.md shows."""
