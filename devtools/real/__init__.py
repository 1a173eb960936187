"""The release of real papers: its inputs and its truth, for `tests/real`."""
