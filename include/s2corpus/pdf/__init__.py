"""Which PDFs are worth extracting, found out without being harmed by them (S2ORC App. B)."""

from importlib.metadata import version

from s2corpus.pdf.identity import VERSION, Identity
from s2corpus.pdf.outcome import Outcome, Selection
from s2corpus.pdf.pool import inspect_many

__all__ = ["Identity", "Outcome", "Selection", "inspect_many", "readers"]


def readers() -> str:
    """What decides, with its versions: others may decide otherwise."""
    return "_".join((*(f"{name}-{version(name)}" for name in ("pypdf", "pypdfium2", "pdfalto")), f"identity-{VERSION}"))
