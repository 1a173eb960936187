"""CiteWorth (Wright and Augenstein 2021)."""

from s2corpus_datasets.citeworth.dataset import CiteWorth

DATASET = CiteWorth()
