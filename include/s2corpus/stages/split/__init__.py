"""Split: every kept document goes to train or valid, or is held back (SEMANTICS: Split)."""

from s2corpus.stages.split.stage import Split

__all__ = ["Split"]
