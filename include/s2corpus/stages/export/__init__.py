"""Export: the snapshot's files, then its manifest (SPEC §10)."""

from s2corpus.stages.export.stage import ExportStage

__all__ = ["ExportStage"]
