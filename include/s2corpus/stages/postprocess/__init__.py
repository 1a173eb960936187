"""Postprocess: extractors' answers, LaTeX sources and publishers' full texts to parses (S2ORC §2.1, §2.2)."""

from s2corpus.stages.postprocess.stage import PostprocessStage

__all__ = ["PostprocessStage"]
