"""Third-party extractors, each in one file, as docs/extractors.md shows."""
