"""Link: bibliography entries to the kept papers they are (S2ORC §2.6)."""

from s2corpus.stages.link.stage import Link

__all__ = ["Link"]
