"""The GROBID pool: PDFs in, one accounted outcome each out (SEMANTICS: Extract)."""

from s2corpus.grobid.answer import Options, Outcome
from s2corpus.grobid.extraction import Extraction, Limits
from s2corpus.grobid.pool import Pool

__all__ = ["Extraction", "Limits", "Options", "Outcome", "Pool"]
