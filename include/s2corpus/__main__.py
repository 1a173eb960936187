"""`python -m s2corpus` is `corpus`."""

from s2corpus.cli import main

main()
