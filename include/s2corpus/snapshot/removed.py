"""List the text that the rules removed from a paper: `tables/removed` (SPEC §8.11).

Each word of an open full text has one place: the published text, or one row. A part that two rules remove, such as a formula in an
improbable section, is a row of the rule that applies first: citations, formulas, sections, document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import Annotated, Any, TypedDict

from s2corpus.outcomes import CleanOutcome, Split
from s2corpus.papers.licenses import to_spdx
from s2corpus.rules import CleanRules
from s2corpus.snapshot import rights
from s2corpus.tables.columns import Set
from s2corpus.tables.published import PublishedId
from s2corpus.tables.schema import INT32
from s2corpus.text.rules import MAX_ABSTRACT_WORDS, MAX_TOP_SHARE, MIN_ABSTRACT_WORDS, MIN_PARAGRAPHS
from s2corpus_reader.layout import (
    EQUATION_WORD,
    RECIPE,
    Block,
    Unit,
    document_text,
    list_sections,
    list_units,
    merge_citations,
    remove_formulas,
    to_one_line,
)

Row = dict[str, Any]


class RemovedRow(TypedDict):
    """The text that the rules removed from the papers that passed the filter. Words of an open full text are in its document or here."""

    paper_id: PublishedId
    set: Set
    kind: Annotated[str, "document, section, paragraph, formula, reference_mark, figure, table or footnote"]
    rule: Annotated[
        str, "rule of the spec: clean.min_log_prob, clean.citations, clean.formulas, clean.body_only, or stage.outcome"
    ]
    parse_kind: Annotated[str | None, "kind of full text, as in parses; null for titles and abstracts"]
    paragraph: Annotated[int | None, INT32, "number of its first paragraph in tables/paragraphs"]
    start: Annotated[int | None, INT32, "start in that paragraph, code points; null for whole paragraphs"]
    end: Annotated[int | None, INT32, "end in that paragraph, code points, exclusive"]
    section: Annotated[str | None, "header, or path of headers joined by `::`"]
    value: Annotated[float | None, "measured value that the rule compares"]
    threshold: Annotated[float | None, "value of the rule"]
    words: Annotated[int | None, "number of words between white space; null if the text is not open"]
    text: Annotated[str | None, "the removed words, LaTeX of a formula; null if the text is not open"]
    license: Annotated[str, "license of the text, SPDX id"]


class RemovedKind(StrEnum):
    """The kind of a removed part."""

    DOCUMENT = "document"
    SECTION = "section"
    PARAGRAPH = "paragraph"
    FORMULA = "formula"
    REFERENCE_MARK = "reference_mark"
    FIGURE = "figure"
    TABLE = "table"
    FOOTNOTE = "footnote"


CITATIONS, FORMULAS, SECTIONS, BODY_ONLY = (
    f"clean.{name}" for name in ("citations", "formulas", "min_log_prob", "body_only")
)
_FLOATS = {kind.value: kind for kind in (RemovedKind.FIGURE, RemovedKind.TABLE, RemovedKind.FOOTNOTE)}

_COMPARED: Mapping[CleanOutcome, tuple[str, Callable[[CleanRules], float]]] = {
    CleanOutcome.SHORT: ("words", lambda rules: rules.min_words),
    CleanOutcome.BEFORE_MIN_YEAR: ("year", lambda rules: rules.min_year),
    CleanOutcome.FEW_PARAGRAPHS: ("paragraphs", lambda _: MIN_PARAGRAPHS),
    CleanOutcome.BAD_TOP_WORD: ("top_share", lambda _: MAX_TOP_SHARE),
    CleanOutcome.ABSTRACT_IMPROBABLE: ("log_prob", lambda rules: rules.text_rules.threshold),
    CleanOutcome.ABSTRACT_SHORT: ("words", lambda _: MIN_ABSTRACT_WORDS),
    CleanOutcome.ABSTRACT_LONG: ("words", lambda _: MAX_ABSTRACT_WORDS),
}
"""outcome of a document → the value that its rule compares, and the threshold"""


def rows(paper: Mapping[str, Any], rules: CleanRules) -> Iterator[Row]:
    """Yield the rows of a released paper (`rows.read_released_papers`), by set; the document after its parts."""
    for decision in paper["decisions"]:
        kind = next((k for k, text in paper["fulltexts"].items() if text["file_sha1"] == decision["sha1"]), None)
        key = {"paper_id": paper["paper_id"], "set": decision["set"], "parse_kind": kind}
        parse = None if kind is None or decision["set"] == "s2ag" else paper["parses"][kind]
        if decision["set"] == "s2ag":
            key["license"] = rights.find_abstract_rights(paper, paper["abstract_from"])[1]
        else:
            key["license"] = to_spdx(decision["license"])
        if parse is not None:
            yield from (key | row for row in list_parts(parse, rules, decision["section_log_probs"]))
        if (rule := _name_rule(decision)) is not None:
            rest: str | None = None
            if decision["set"] == "s2ag":
                rest = document_text(paper["title"] or "", paper["abstract"] or "").strip()
            elif parse is not None:
                rest = "\n".join(list_kept_lines(parse, rules, decision["section_log_probs"]))
            value, threshold = _compare(decision, paper, rules)
            yield key | _row(RemovedKind.DOCUMENT, rule, rest, value=value, threshold=threshold)


def _name_rule(decision: Mapping[str, Any]) -> str | None:
    """Return the rule that removed a document, or None for a published one."""
    if decision["outcome"] != CleanOutcome.KEPT:
        return f"clean.{decision['outcome']}"
    return None if Split(decision["split"]).is_kept else f"split.{decision['split']}"


def _compare(
    decision: Mapping[str, Any], paper: Mapping[str, Any], rules: CleanRules
) -> tuple[float | None, float | None]:
    if decision["outcome"] not in _COMPARED:
        return None, None
    name, threshold = _COMPARED[CleanOutcome(decision["outcome"])]
    value = int(paper["date"][:4]) if name == "year" else decision[name]
    return float(value), float(threshold(rules))


def count_words(parse: Mapping[str, Any], rules: CleanRules, log_probs: Sequence[float] | None) -> int:
    """Return the number of removed words of a full text whose document is published."""
    return sum(row["words"] for row in list_parts(parse, rules, log_probs))


def list_parts(parse: Mapping[str, Any], rules: CleanRules, log_probs: Sequence[float] | None) -> Iterator[Row]:
    """Yield the parts that the text of a full text lacks.

    Args:
        parse: the parse of an open full text.
        rules: the cleaning rules of the release.
        log_probs: the probability of each section; None if an earlier rule dropped the document.
    """
    first = len(parse["abstract"])
    units = list_units(parse, drop_citations=rules.citations == "drop")
    for number, (paragraph, unit) in enumerate(zip(parse["body_text"], units, strict=True), first):
        place = {"paragraph": number, "section": unit.section}
        if rules.citations == "drop":
            yield from (row | place for row in _list_marks(paragraph, unit.text or ""))
        if rules.profile != RECIPE and "EQUATION" in (text := unit.text or "") and not _keeps_formulas(text, rules):
            yield from (row | place for row in _list_formulas(paragraph, text))
    threshold = rules.text_rules.threshold
    is_any_removed = log_probs is not None and min(log_probs, default=threshold) < threshold
    for section, mean in _split_sections(units, rules, log_probs)[1] if is_any_removed else ():
        yield _row(
            RemovedKind.SECTION, SECTIONS, section.text, value=mean, threshold=threshold,
            paragraph=first + section.units[0] if section.units else None, section=section.header,
        )  # fmt: skip
    for number, paragraph in enumerate(parse.get("back_matter", ()), first + len(units)):
        yield _row(
            RemovedKind.PARAGRAPH, BODY_ONLY, paragraph["text"], paragraph=number, section=paragraph["section"] or None
        )
    for entry in parse["ref_entries"].values():
        if (kind := _FLOATS.get(entry["type"])) and (text := _format_float(entry)):
            yield _row(kind, BODY_ONLY, text)


def list_kept_lines(parse: Mapping[str, Any], rules: CleanRules, log_probs: Sequence[float] | None) -> Iterator[str]:
    """Yield the lines of the sections of a full text that the rules keep."""
    units = list_units(parse, drop_citations=rules.citations == "drop")
    for section in _split_sections(units, rules, log_probs)[0]:
        yield from section.lines


def _row(kind: RemovedKind, rule: str, text: str | None, **values: Any) -> Row:
    empty = dict.fromkeys(("paragraph", "start", "end", "section", "value", "threshold"))
    words = None if text is None else len(text.split())
    return {**empty, "kind": kind.value, "rule": rule, "words": words, "text": text, **values}


def _split_sections(
    units: Sequence[Unit], rules: CleanRules, log_probs: Sequence[float] | None
) -> tuple[list[Block], list[tuple[Block, float]]]:
    """Return the sections that remain, and the improbable sections with their probability (§8.8)."""
    sections = list_sections(units, rules.text_rules)
    if log_probs is None:
        return sections, []
    threshold = rules.text_rules.threshold
    scored = list(zip(sections, log_probs, strict=True))
    return [s for s, mean in scored if mean >= threshold], [(s, mean) for s, mean in scored if mean < threshold]


def _list_marks(paragraph: Mapping[str, Any], rest: str) -> list[Row]:
    """Return the citations that `clean.citations: drop` removed."""
    text: str = paragraph["text"]
    found = [
        _row(RemovedKind.REFERENCE_MARK, CITATIONS, text[start:end], start=start, end=end)
        for start, end, _ in merge_citations(paragraph)
    ]
    return _adjust(found, len(text.split()) - len(rest.split()))


def _keeps_formulas(text: str, rules: CleanRules) -> bool:
    return rules.formulas == "placeholder" and remove_formulas(text) != ""


def _list_formulas(paragraph: Mapping[str, Any], text: str) -> list[Row]:
    """Return the display formulas that were removed from a paragraph (§8.4)."""
    places = [match.span() for match in EQUATION_WORD.finditer(paragraph["text"])]
    sources = {span["start"]: span.get("latex") for span in paragraph.get("eq_spans", ())}
    found = [
        _row(RemovedKind.FORMULA, FORMULAS, "EQUATION", start=start, end=end)
        | {"text": sources.get(start) or "EQUATION"}
        for start, end in places
    ]
    line = to_one_line(text)
    return _adjust(found, len(line.split()) - len(remove_formulas(line).split()))


def _adjust(found: list[Row], words: int) -> list[Row]:
    """Make the words of the rows add up. A mark that is joined to a word, such as `word1`, is not a separate word."""
    difference = words - sum(row["words"] for row in found)
    for row in found:
        change = max(difference, -row["words"])
        row["words"] += change
        difference -= change
    return found


def _format_float(entry: Mapping[str, Any]) -> str:
    cells = ("\t".join(map(str, row)) for row in entry.get("cells") or ())
    return "\n".join(filter(None, chain([entry["text"] or ""], cells)))
