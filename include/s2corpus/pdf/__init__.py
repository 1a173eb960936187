"""Select the PDFs to extract, in limited child processes (S2ORC App. B)."""

from importlib.metadata import version

from pdf2tei.front.identity import VERSION, Identity
from s2corpus.outcomes import SelectOutcome
from s2corpus.pdf.outcome import SELECTION_VERSION, Selection
from s2corpus.pdf.pool import inspect_many

__all__ = ["SELECTION_VERSION", "Identity", "SelectOutcome", "Selection", "inspect_many", "library_versions"]


def library_versions() -> str:
    """Return the versions of the selection rules and of the libraries that they use: part of the key of stored decisions."""
    programs = (f"{name}-{version(name)}" for name in ("pypdf", "pypdfium2", "pdfalto"))
    return "_".join((*programs, f"identity-{VERSION}", f"select-{SELECTION_VERSION}"))
