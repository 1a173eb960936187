"""The release of real papers: its inputs, its truth and their comparison, for `tests/real` and `devtools/bench/real_release.py`."""
