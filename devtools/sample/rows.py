"""Define the rows of a comparison, and compute the rows that need only the truth and one table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from devtools.sample.truth import Truth


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: the number of expected values, the number of right values, and the misses as readable text."""

    what: str
    expected: int
    right: int
    misses: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of right values; 1 if no value was expected."""
        return self.right / self.expected if self.expected else 1.0


def row_of(what: str, pairs: Iterable[tuple[str, Any, Any]]) -> Row:
    """Return a row from (name, expected, got)."""
    listed = list(pairs)
    misses = tuple(
        f"{name}: expected {_show(expected)}, got {_show(got)}" for name, expected, got in listed if expected != got
    )
    return Row(what, len(listed), len(listed) - len(misses), misses)


def _show(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_show, value)) or "none"
    return "none" if value is None else str(value)


def selections(truth: Truth, table: pa.Table) -> Row:
    """Compare the selection outcome of every PDF; a PDF that the release must not see has no outcome."""
    got = {r["file_sha1"]: r["outcome"] for r in table.to_pylist()}
    return row_of("selection", ((p.places[0][1], p.selection if p.seen else None, got.get(p.sha1)) for p in truth.pdfs))


def conflicts(truth: Truth, edges: pa.Table) -> Row:
    """Compare the edges cut because of two different DOIs: each record in `truth.conflicts` must have a cut edge."""
    cut = {record for row in edges.to_pylist() if not row["taken"] for record in (row["left"], row["right"])}
    return row_of("conflicts of DOIs", ((record, True, record in cut) for record in truth.conflicts))


def identifiers(truth: Truth, selections: pa.Table) -> Row:
    """Compare the identifiers read from the selected PDFs with the printed identifiers.

    If a PDF prints no identifier, none may be found."""
    got = {row["file_sha1"]: row for row in selections.to_pylist()}
    read = [pdf for pdf in truth.pdfs if pdf.seen and pdf.selection == "selected"]
    pairs = (
        (f"{pdf.places[0][1]}, {name}", getattr(pdf, name), got.get(pdf.sha1, {}).get(name, "no PDF"))
        for pdf in read for name in ("doi", "arxiv_id", "pmc_id")
    )  # fmt: skip
    return row_of("identifiers read from PDFs", pairs)


def kinds(truth: Truth, ids: Mapping[str, str], fulltexts: pa.Table) -> Row:
    """Compare the kinds of each paper's full texts: pdf, latex, jats, elsevier."""
    found = [(row["paper_id"], row["parse_kind"]) for row in fulltexts.select(["paper_id", "parse_kind"]).to_pylist()]
    pairs = ((p, sorted(kind for id_, kind in found if id_ == ids.get(p.key))) for p in truth.papers)
    return row_of("kind of full text", ((p.key, sorted(p.fulltexts), got) for p, got in pairs))


def contents(truth: Truth, ids: Mapping[str, str], fulltexts: pa.Table) -> Row:
    """Compare the ordered section heads and the number of entries of full texts that are not from PDFs."""
    got: dict[str, tuple[list[str], int]] = {}
    for row in fulltexts.to_pylist():
        if row["parse_kind"] != "pdf":
            parse = json.loads(row["parse"])
            heads = list(dict.fromkeys(p["section"] for p in parse["body_text"]))
            got[row["paper_id"]] = heads, len(parse["bib_entries"])
    papers = [p for p in truth.papers if set(p.fulltexts) - {"pdf"}]
    expected = ((p.key, (list(dict.fromkeys(b.section for b in p.body)), len(p.bibliography))) for p in papers)
    return row_of("sections, entries of sources", ((key, value, got.get(ids.get(key, ""))) for key, value in expected))


def parses(fulltexts: pa.Table) -> list[Row]:
    """Check all parses: each citation has an entry, and each paragraph's section is the innermost head of its path."""
    callouts, sections = [], []
    for row in fulltexts.to_pylist():
        parse = json.loads(row["parse"])
        for number, paragraph in enumerate((*parse["body_text"], *parse["back_matter"])):
            name = f"{row['paper_id']}, paragraph {number}"
            callouts += [(name, True, span["ref_id"] in parse["bib_entries"]) for span in paragraph["cite_spans"]]
            sections.append((name, paragraph["section"], paragraph["section_path"].rpartition("::")[2]))
    return [row_of("citations name an entry", callouts), row_of("section: the innermost head", sections)]
