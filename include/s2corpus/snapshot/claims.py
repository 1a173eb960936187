"""The faults of a snapshot, and the facts that two kinds of its files must state equally (SPEC §10.14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from s2corpus.snapshot.documents import IDENTIFIERS

MAX_FAULTS = 100
"""maximum number of reported faults of one kind"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in a snapshot: path, message and line."""

    path: str
    message: str
    line: int | None = None
    """from 1"""

    def __str__(self) -> str:
        return f"{self.path}{'' if self.line is None else f', line {self.line}'}: {self.message}"


class Claim(Enum):
    """Facts that two kinds of files must state equally: folder of the second kind, its columns, and the message of a difference.

    The first column is the paper or document. The folder is checked only if the snapshot has it.
    """

    CITES = "graph/links", (), "paper {} cites other papers in graph/links than in its metadata"
    CITED = "corpus/metadata", (), "paper {} has inbound_citations that contradict the papers citing it"
    LINKS = (
        "graph/links", ("paper_id", "parse_kind", "ref_id", "cited_paper_id"),
        "paper {} links other bibliography entries in graph/links than in its parses",
    )  # fmt: skip
    TEXT = "documents", ("id", "set", "split", "sha1", "text"), "document {} differs from its line in v2/"
    LICENSE = (
        "documents", ("id", "license", "oa_evidence", "abstract_source"),
        "license, evidence or abstract source of document {} differ from the index",
    )  # fmt: skip
    PAPER = (
        "tables/papers", ("paper_id", "title", *IDENTIFIERS), "title or identifiers of paper {} differ from corpus/metadata"
    )  # fmt: skip
    PARAGRAPHS = (
        "tables/paragraphs", ("paper_id", "parse_kind", "paragraph", "text"),
        "the paragraphs of paper {} differ from its parses in corpus/",
    )  # fmt: skip
    BIB_ENTRIES = (
        "tables/bib_entries", ("paper_id", "parse_kind", "ref_id", "cited_paper_id"),
        "the bibliography entries of paper {} differ from its parses in corpus/",
    )  # fmt: skip
    REF_ENTRIES = (
        "tables/ref_entries", ("paper_id", "parse_kind", "ref_id"),
        "the reference entries of paper {} differ from its parses in corpus/",
    )  # fmt: skip
    RIGHTS = "tables/rights", ("paper_id", "of"), "the rows of paper {} differ from its abstract and parses in corpus/"
    KEYS = "keys", ("paper_id", "key"), "the keys of paper {} differ from its title, identifiers and SHA-1"

    def __init__(self, folder: str, columns: Sequence[str], message: str) -> None:
        self.folder, self.columns, self.message = f"{folder}/", columns, message
