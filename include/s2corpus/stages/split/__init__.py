"""Split: assign every kept document to train or valid, or hold it back (SEMANTICS: Split)."""

from s2corpus.stages.split.stage import Split

__all__ = ["Split"]
