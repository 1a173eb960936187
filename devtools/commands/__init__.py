"""The commands of `python -m devtools`."""
