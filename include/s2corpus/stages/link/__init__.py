"""Link: find the papers that bibliography entries cite (S2ORC §2.6)."""

from s2corpus.stages.link.stage import LinkStage

__all__ = ["LinkStage"]
