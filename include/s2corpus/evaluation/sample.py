"""Choose the items of a release that people evaluate.

The items are papers with PDFs, linked bibliography entries of PDFs and LaTeX sources (S2ORC §4, GORC §5), and parses of PDFs. The choice
depends only on the seed and the release's tables: papers are ordered by a seeded hash of their ids.

A parse has two items, one for each task (S2ORC §4, SPEC §11.6). An item contains all citations or entries, because recall needs the
number of missing items. The papers are in random order, so the first papers of the sample are a random sample, too.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

import orjson
import pyarrow.compute as pc

from s2corpus.papers.comparison import authors_match, authors_overlap, titles_match
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.rules import EvaluationRules
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import FILTERED, FULLTEXTS, LINKS

_SPARE = 4
"""number of papers to examine per required link, because some papers only link to papers that are already sampled"""
_CONTEXT = 100
"""characters of text before and after an inline citation"""
_PLACE = ("year", "venue", "volume", "issue", "pages")


class EvaluationTask(StrEnum):
    """The kind of an evaluation item."""

    CLUSTERS = "clusters"
    """canonical title and authors, compared with those printed in the canonical PDF"""
    PDF_LINKS = "pdf_links"
    """a bibliography entry of a PDF, compared with the linked paper"""
    LATEX_LINKS = "latex_links"
    """a bibliography entry of a LaTeX source, compared with the linked paper"""


@dataclass(frozen=True, slots=True)
class Side:
    """The metadata on one side of a comparison."""

    title: str | None
    authors: tuple[str, ...]
    more: str = ""
    """year and venue, or the entry as printed"""


@dataclass(frozen=True, slots=True)
class Item:
    """One item to evaluate. `auto_title` and `auto_authors` are the automatic marks, null if the comparison cannot decide."""

    item: str
    task: EvaluationTask
    paper_id: str
    ref_id: str
    cited_paper_id: str
    file_sha1: str
    judged: Side
    against: Side
    auto_title: bool | None
    auto_authors: bool | None


class ParseTask(StrEnum):
    """What people judge in a parse."""

    CITATIONS = "citations"
    BIBLIOGRAPHY = "bibliography"


@dataclass(frozen=True, slots=True)
class ParseLine:
    """An inline citation or a bibliography entry of a parse."""

    printed: str
    """the citation in ⟦ ⟧ with the text around it; the entry as the PDF prints it"""
    read: str
    """the entry that the citation names, "" if no entry; the fields of the entry"""


@dataclass(frozen=True, slots=True)
class ParseItem:
    """All inline citations, or all bibliography entries, of a PDF's parse."""

    item: str
    task: ParseTask
    paper_id: str
    file_sha1: str
    title: str
    lines: tuple[ParseLine, ...]


def sampled(tables: ReleaseTables, rules: EvaluationRules) -> list[Item]:
    """Return the items of a release, by task and id.

    Links of LaTeX sources are drawn first: they are few, and each cited paper is used once.
    """
    taken: set[str] = set()
    of_latex = list(_links(tables, rules, EvaluationTask.LATEX_LINKS, "latex", rules.latex_links, taken))
    of_pdfs = _links(tables, rules, EvaluationTask.PDF_LINKS, "pdf", rules.pdf_links, taken)
    return [*_clusters(tables, rules), *of_pdfs, *of_latex]


def _order(seed: int, *what: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *what)).encode()).digest()


def _clusters(tables: ReleaseTables, rules: EvaluationRules) -> Iterator[Item]:
    """Yield items for kept papers with a parsed canonical PDF."""
    for paper_id in choose_papers(tables, rules.seed, pc.field("parse_kind") == "pdf", rules.clusters):
        paper = read_paper(tables, paper_id)
        parse, sha1 = read_parse(tables, paper_id, "pdf")
        ours = _side(paper)
        read = Side(parse["title"] or None, tuple(format_name(a) for a in parse["authors"]))
        yield Item(
            f"{EvaluationTask.CLUSTERS}:{paper_id}", EvaluationTask.CLUSTERS, paper_id, "", "", sha1, ours, read,
            titles_match(ours.title, read.title), authors_match(paper["authors"] or (), parse["authors"]),
        )  # fmt: skip


def choose_papers(tables: ReleaseTables, seed: int, where: pc.Expression, count: int) -> list[str]:
    """Return the first kept papers that have a matching full text, in the order of the seed."""
    kept = pc.field("outcome") == "kept"
    known = {row["paper_id"] for row in tables.rows(FILTERED, kept, ["paper_id"], size=65_536)}
    ids = (row["paper_id"] for row in tables.rows(FULLTEXTS, where, ["paper_id"], size=65_536))
    order = ((_order(seed, "clusters", paper_id), paper_id) for paper_id in ids if paper_id in known)
    return [paper_id for _, paper_id in heapq.nsmallest(count, order)]


def _links(
    tables: ReleaseTables, rules: EvaluationRules, task: EvaluationTask, kind: str, count: int, taken: set[str]
) -> Iterator[Item]:
    """Yield one linked entry of each paper, so that no two entries link to the same paper."""
    where = (pc.field("parse_kind") == kind) & pc.field("cited_paper_id").is_valid()
    rows = tables.rows(LINKS, where, ["paper_id", "ref_id", "cited_paper_id"], size=65_536)
    papers = (
        (_order(rules.seed, task, paper_id), paper_id, [(row["ref_id"], row["cited_paper_id"]) for row in linked])
        for paper_id, linked in groupby(rows, key=lambda row: str(row["paper_id"]))
    )
    made = 0
    for _, paper_id, linked in heapq.nsmallest(_SPARE * count, papers):
        free = sorted(
            (entry for entry in linked if entry[1] not in taken), key=lambda e: _order(rules.seed, paper_id, e[0])
        )
        if not free or made == count:
            continue
        made += 1
        ref_id, cited = free[0]
        taken.add(cited)
        parse, sha1 = read_parse(tables, paper_id, kind)
        entry, paper = parse["bib_entries"][ref_id], read_paper(tables, cited)
        judged = Side(
            entry["title"] or None,
            tuple(format_name(a) for a in entry["authors"]),
            entry.get("raw_text") or _place(entry),
        )
        yield Item(
            f"{task}:{paper_id}:{ref_id}", task, paper_id, ref_id, cited, sha1, judged, _side(paper),
            titles_match(judged.title, paper["title"]),
            authors_overlap(entry["authors"], paper["authors"] or (), rules.author_overlap),
        )  # fmt: skip


def read_paper(tables: ReleaseTables, paper_id: str) -> dict[str, Any]:
    """Return the metadata of a paper that people compare."""
    (row,) = tables.of_paper(PAPERS, paper_id, ["paper_id", "title", "authors", "date", "venue", "journal", "doi"])
    return row


def read_parse(tables: ReleaseTables, paper_id: str, kind: str) -> tuple[dict[str, Any], str]:
    """Return a parse of a paper, and the SHA-1 of its file."""
    for row in tables.of_paper(FULLTEXTS, paper_id, ["paper_id", "parse_kind", "file_sha1", "parse"]):
        if row["parse_kind"] == kind:
            return orjson.loads(row["parse"]), row["file_sha1"]
    raise LookupError(f"paper {paper_id} has no parse of kind {kind}")


def _side(paper: dict[str, Any]) -> Side:
    where = paper["journal"] or paper["venue"]
    more = ", ".join(filter(None, (where, (paper["date"] or "")[:4], paper["doi"])))
    return Side(paper["title"], tuple(format_name(author) for author in paper["authors"] or ()), more)


def _place(entry: dict[str, Any]) -> str:
    return ", ".join(str(entry[name]) for name in ("venue", "year") if entry.get(name))


def format_name(author: dict[str, Any]) -> str:
    """Return a name as one string, first name first."""
    return " ".join(
        filter(None, (author["first"], *(author.get("middle") or ()), author["last"], author.get("suffix")))
    )


def by_task(items: Sequence[Item]) -> dict[EvaluationTask, list[Item]]:
    """Return the items of each task."""
    return {task: [item for item in items if item.task is task] for task in EvaluationTask}


def sample_parses(tables: ReleaseTables, rules: EvaluationRules) -> list[ParseItem]:
    """Return the items of kept papers with an open PDF parse, in the order of the seed."""
    where = (pc.field("parse_kind") == "pdf") & pc.field("open_access")
    items = []
    for paper_id in choose_papers(tables, rules.seed, where, rules.parses):
        title = read_paper(tables, paper_id)["title"] or ""
        parse, sha1 = read_parse(tables, paper_id, "pdf")
        for task, lines in ((ParseTask.BIBLIOGRAPHY, _list_entries), (ParseTask.CITATIONS, _list_citations)):
            items.append(ParseItem(f"{task}:{paper_id}", task, paper_id, sha1, title, tuple(lines(parse))))
    return items


def _list_entries(parse: dict[str, Any]) -> Iterator[ParseLine]:
    for entry in parse["bib_entries"].values():
        ids = (f"{kind} {value}" for kind, values in (entry.get("other_ids") or {}).items() for value in values)
        place = (f"{name} {entry[name]}" for name in _PLACE if entry.get(name))
        fields = [f"title: {entry['title'] or '–'}", f"authors: {_format_names(entry) or '–'}", *place, *ids]
        yield ParseLine(entry.get("raw_text") or "", " | ".join(fields))


def _list_citations(parse: dict[str, Any]) -> Iterator[ParseLine]:
    for paragraph in (p for part in ("abstract", "body_text", "back_matter") for p in parse.get(part) or ()):
        text = paragraph["text"]
        for span in paragraph["cite_spans"]:
            start, end = span["start"], span["end"]
            context = text[max(0, start - _CONTEXT) : start], text[start:end], text[end : end + _CONTEXT]
            entry = parse["bib_entries"].get(span["ref_id"])
            named = (str(x) for x in (_format_names(entry), entry["year"], entry["title"]) if x) if entry else ()
            yield ParseLine("{}⟦{}⟧{}".format(*context), f"{span['ref_id']} | {' | '.join(named)}" if entry else "")


def _format_names(entry: dict[str, Any]) -> str:
    return "; ".join(map(format_name, entry["authors"]))
