"""Make a sample of papers with known truth: typeset PDFs, contradictory metadata, and the expected release."""

from devtools.sample.compare import compare
from devtools.sample.generate import AS_OF, generate, tiny
from devtools.sample.truth import Truth

__all__ = ["AS_OF", "Truth", "compare", "generate", "tiny"]
