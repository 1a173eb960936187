"""Compare the real release with its truth, one row for each paper and fact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from s2corpus.pipeline.run import Run
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS, SPLITS
from tests.real.truth import RealPaper, real_papers

FACTS = ("title", "authors", "date", "open by", "licence", "sections", "references", "field", "set", "split")
_NUMBER = re.compile(r"^(?:[IVX]+|[A-Z]|\d+(?:\.\d+)*)\.?\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Line:
    """One fact of one paper: the truth found by a reader, and the release's value."""

    paper: str
    fact: str
    expected: str
    found: str
    right: bool


def compare(run: Run) -> list[Line]:
    """Return all comparisons, by paper and fact."""
    papers = run.table(PAPERS).read().to_pylist()
    by_file: dict[str, dict[str, Any]] = {}
    for paper in papers:
        for key in (paper["canonical_pdf"], paper["arxiv_id"]):
            if key:
                by_file[key] = paper
    outcomes = {row["paper_id"]: row["outcome"] for row in run.table(FILTERED).read().to_pylist()}
    documents = {(row["set"], row["paper_id"]): row for row in run.table(DOCUMENTS).read().to_pylist()}
    splits = {(row["set"], row["paper_id"]): row["split"] for row in run.table(SPLITS).read().to_pylist()}
    parses = {row["file_sha1"]: row for row in run.table(FULLTEXTS).read().to_pylist()}
    of_latex = {row["paper_id"]: row for row in parses.values() if row["parse_kind"] == "latex"}

    lines: list[Line] = []
    for truth in real_papers():
        paper = by_file.get((truth.arxiv_id if truth.is_latex else truth.sha1) or "")
        if paper is None:
            lines += [Line(truth.key, fact, "a paper", "no paper has this file", False) for fact in FACTS]
            continue
        fulltext = of_latex.get(paper["paper_id"]) if truth.is_latex else parses.get(truth.sha1 or "")
        parse = orjson.loads(fulltext["parse"]) if fulltext else {"body_text": [], "bib_entries": {}}
        in_set = next((s for s in ("s2orc", "s2ag") if _outcome(documents, s, paper) == "kept"), None)
        reason = _reason(documents, outcomes, paper)
        lines += _metadata(truth, paper, fulltext)
        heads = list(_heads(parse["body_text"]))
        missing = _missing([_letters(head) for head in truth.sections], heads)
        lines += [
            Line(truth.key, "sections", "; ".join(truth.sections), _found_heads(truth, missing), not missing),
            _equal(truth, "references", truth.references, len(parse["bib_entries"])),
            Line(
                truth.key,
                "set",
                truth.set or truth.why,
                f"{in_set} ({reason})",
                in_set == truth.set and _reason_is(truth, reason),
            ),
            _equal(truth, "split", truth.split, splits.get((in_set, paper["paper_id"]))),
        ]
    return lines


def _metadata(truth: RealPaper, paper: Mapping[str, Any], fulltext: Mapping[str, Any] | None) -> Iterable[Line]:
    names = [" ".join([a["first"], *a["middle"], a["last"], a["suffix"]]) for a in paper["authors"] or ()]
    evidence = fulltext["oa_evidence"] if fulltext else None
    licence = fulltext["licence"] if fulltext else None
    fields = paper["fields_of_study"] or []
    yield Line(
        truth.key, "title", truth.title, str(paper["title"]), _letters(truth.title) == _letters(paper["title"] or "")
    )
    same = [_letters(n) for n in names] == [_letters(n) for n in truth.authors]
    yield Line(truth.key, "authors", "; ".join(truth.authors), "; ".join(" ".join(n.split()) for n in names), same)
    yield _equal(truth, "date", truth.date, paper["date"])
    yield _equal(truth, "open by", truth.open_by, evidence)
    yield Line(truth.key, "licence", str(truth.licence), str(licence), licence in _licences(truth))
    right = fields[0] in truth.fields if fields else not truth.fields
    yield Line(truth.key, "field", " or ".join(truth.fields) or "none", ", ".join(fields) or "none", right)


def _licences(truth: RealPaper) -> tuple[str | None, ...]:
    """Return the accepted licenses: the printed license, and the same without its version if the evidence has no version (Unpaywall)."""
    if truth.open_by == "unpaywall" and truth.licence:
        return truth.licence, truth.licence.rpartition("-")[0]
    return (truth.licence,)


def _equal(truth: RealPaper, fact: str, expected: object, found: object) -> Line:
    return Line(truth.key, fact, str(expected), str(found), expected == found)


def _outcome(documents: Mapping[tuple[str, str], Mapping[str, Any]], set_: str, paper: Mapping[str, Any]) -> str | None:
    row = documents.get((set_, paper["paper_id"]))
    return row["outcome"] if row else None


def _reason(documents: Mapping[Any, Any], outcomes: Mapping[str, str], paper: Mapping[str, Any]) -> str:
    """Return the outcome of the paper's full text."""
    return _outcome(documents, "s2orc", paper) or outcomes.get(paper["paper_id"], "not filtered")


def _reason_is(truth: RealPaper, reason: str) -> bool:
    return reason == (truth.why.split(":")[0] if truth.why else "kept")


def _heads(paragraphs: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Yield the letters of every section head when its section begins."""
    before: list[str] = []
    for paragraph in paragraphs:
        path = [_letters(_NUMBER.sub("", head)) for head in (paragraph["section_path"] or "").split("::") if head]
        for depth, head in enumerate(path):
            if path[: depth + 1] != before[: depth + 1]:
                yield head
        before = path


def _missing(expected: list[str], heads: list[str]) -> list[int]:
    """Return the positions of expected heads that are missing, given their order."""
    at, missing = 0, []
    for number, head in enumerate(expected):
        if head in heads[at:]:
            at = heads.index(head, at) + 1
        else:
            missing.append(number)
    return missing


def _found_heads(truth: RealPaper, missing: list[int]) -> str:
    return "without " + "; ".join(truth.sections[n] for n in missing) if missing else "all"


def _letters(text: str) -> str:
    """Return the letters and digits of a text without case, to compare titles, names and heads."""
    return "".join(c for c in text.casefold() if c.isalnum())
