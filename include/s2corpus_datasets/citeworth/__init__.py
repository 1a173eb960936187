"""CiteWorth (Wright and Augenstein 2021)."""

from s2corpus.datasets.citeworth.dataset import CiteWorth

DATASET = CiteWorth()
