"""The release of real papers: its inputs, its truth and their comparison, for `tests/real`."""
