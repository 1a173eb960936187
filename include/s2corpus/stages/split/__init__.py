"""Split: assign every document with outcome `kept` to train or valid, or hold it back from both (SPEC §9)."""

from s2corpus.stages.split.stage import SplitStage

__all__ = ["SplitStage"]
