"""Vote: canonical metadata of every paper (SPEC §5)."""

from s2corpus.stages.vote.stage import VoteStage

__all__ = ["VoteStage"]
