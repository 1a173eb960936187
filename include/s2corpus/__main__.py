"""Run the command line `corpus` as `python -m s2corpus`."""

from s2corpus.cli import main

main()
