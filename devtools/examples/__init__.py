"""A third-party extractor in one file, as docs/extractors.md shows."""
