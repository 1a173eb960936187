"""Make a sample of papers with known truth: typeset PDFs, contradictory metadata, and the expected release."""

from devtools.sample.compare import Comparison, compare
from devtools.sample.generate import AS_OF, AS_OFS, RELEASE, RELEASES, generate, tiny, truths
from devtools.sample.truth import Truth

__all__ = ["AS_OF", "AS_OFS", "RELEASE", "RELEASES", "Comparison", "Truth", "compare", "generate", "tiny", "truths"]
