"""Paper vectors (GORC §6.1)."""

from s2corpus_datasets.vectors.dataset import Vectors

DATASET = Vectors()
