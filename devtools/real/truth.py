"""The typed content of `truth.yaml`: what a reader found in the papers of the real release."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("truth.yaml")


@dataclass(frozen=True, slots=True)
class RealPaper:
    """One paper; the fields are explained at the top of `truth.yaml`."""

    key: str
    file: str
    sha1: str | None
    title: str
    authors: list[str]
    date: str
    license: str | None
    open_by: str | None
    sections: list[str]
    references: int
    fields: list[str]
    printed: dict[str, str]
    set: str | None
    split: str | None
    said_by: list[str]
    name: str = ""
    why: str = ""
    printed_title: str = ""
    journal: str = ""
    venue: str = ""
    subjects: list[str] = field(default_factory=list)
    arxiv: dict[str, str] = field(default_factory=dict)
    acl: dict[str, str] = field(default_factory=dict)
    pubmed: dict[str, Any] = field(default_factory=dict)

    @property
    def delivered_name(self) -> str:
        """Return the name of the paper's file in the drop."""
        return self.name or Path(self.file).name

    @property
    def arxiv_id(self) -> str | None:
        """Return the arXiv id as delivered, or as printed on the first page."""
        return self.arxiv.get("id") or self.printed.get("arxiv_id")

    @property
    def is_latex(self) -> bool:
        """Return whether the full text is an arXiv source archive."""
        return self.file.endswith(".gz")


def real_papers() -> list[RealPaper]:
    """Return all papers in the order of the file."""
    return [RealPaper(**entry) for entry in yaml.safe_load(FILE.read_text("utf-8"))]
