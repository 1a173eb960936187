"""Choose the PDF parses of a release whose inline citations and bibliographies people evaluate (S2ORC §4, SPEC §11.6).

Each paper has two items, one for each task. An item contains all citations or entries of the parse, because recall needs the number
of missing ones. The papers are in random order, so the first papers of the sample are a random sample, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import pyarrow.compute as pc

from s2corpus.evaluation.sample import choose_papers, format_name, read_paper, read_parse
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.rules import EvaluationRules

_CONTEXT = 100
"""characters of text before and after an inline citation"""
_PLACE = ("year", "venue", "volume", "issue", "pages")


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

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> ParseItem:
        """Return an item from the value that `as_json` returned."""
        lines = tuple(ParseLine(**line) for line in value["lines"])
        return cls(**{**value, "task": ParseTask(value["task"]), "lines": lines})

    def as_json(self) -> dict[str, Any]:
        """Return the item as a JSON object."""
        return asdict(self)


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
