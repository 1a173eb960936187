"""A sample of papers with known truth: typeset PDFs, metadata that disagrees, and what a release must make of it all."""

from s2corpus.sample.compare import Comparison, compare
from s2corpus.sample.generate import AS_OF, RELEASE, generate, tiny
from s2corpus.sample.truth import Truth

__all__ = ["AS_OF", "RELEASE", "Comparison", "Truth", "compare", "generate", "tiny"]
