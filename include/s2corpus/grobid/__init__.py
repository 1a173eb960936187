"""The GROBID pool: PDFs in, one accounted outcome each out (SEMANTICS: Extract)."""

from s2corpus.grobid.answer import Options, Outcome
from s2corpus.grobid.pool import Extraction, Limits, Pool

__all__ = ["Extraction", "Limits", "Options", "Outcome", "Pool"]
