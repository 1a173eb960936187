"""Link: find the papers that bibliography entries cite (S2ORC §2.6)."""

from s2corpus.stages.link.stage import Link

__all__ = ["Link"]
