"""Export: the snapshot's files, then its manifest (SEMANTICS: Export and publish)."""

from s2corpus.stages.export.stage import ExportStage

__all__ = ["ExportStage"]
