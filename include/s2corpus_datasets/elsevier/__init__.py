"""Articles in the form of the Elsevier OA CC-BY corpus (Kershaw and Koeling 2020)."""

from s2corpus_datasets.elsevier.dataset import ElsevierCorpus

DATASET = ElsevierCorpus()
