"""A sample of papers with known truth: typeset PDFs, metadata that disagrees, and what a release must make of it all."""

from s2corpus.sample.compare import Comparison, compare, compare_identities
from s2corpus.sample.generate import AS_OF, AS_OFS, RELEASE, RELEASES, generate, tiny, truths
from s2corpus.sample.truth import Truth

__all__ = [
    "AS_OF",
    "AS_OFS",
    "RELEASE",
    "RELEASES",
    "Comparison",
    "Truth",
    "compare",
    "compare_identities",
    "generate",
    "tiny",
    "truths",
]
