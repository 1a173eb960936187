"""Vote: canonical metadata of every paper (SEMANTICS: Vote)."""

from s2corpus.stages.vote.stage import VoteStage

__all__ = ["VoteStage"]
