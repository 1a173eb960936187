"""Which PDFs are worth extracting, found out without being harmed by them (S2ORC App. B)."""

from s2corpus.pdf.outcome import Outcome, Selection
from s2corpus.pdf.pool import inspect_many

__all__ = ["Outcome", "Selection", "inspect_many"]
