"""Preview other thresholds on an existing release: the papers, documents, sections and links that would be added or removed.

Stored values show which results cannot change. Only documents with stored values between the old and the new threshold are cleaned again.
Nothing is written to the lake.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson
import pyarrow.compute as pc

from s2corpus.errors import UserError, suggest
from s2corpus.outcomes import CleanOutcome, FilterOutcome, LinkReason, Split
from s2corpus.pipeline.run import Row, Run, list_columns
from s2corpus.rules import CleanRules
from s2corpus.snapshot.removed import SECTIONS, list_kept_lines, list_parts
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.clean import Bucket
from s2corpus.stages.split import read_kept
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS, LINKS, SPLITS
from s2corpus.text.personal import mask_parse
from s2corpus_reader.layout import EQUATION_WORD


class Effect(StrEnum):
    """What a threshold does to a paper, document, section or link."""

    RETURNS = "returns"
    GOES = "goes"
    MOVES = "moves"
    """a document to another split or set"""
    UNKNOWN = "unknown"
    """a value that the decision needs was not measured: only a build can tell"""


@dataclass(frozen=True, slots=True)
class Change:
    """One change that the new thresholds would make."""

    item: str
    """paper, document, section, formula, duplicate or link"""
    effect: Effect
    paper_id: str
    before: str
    after: str
    words: int | None = None
    """words of a section or formula"""


_LOG_PROB, _FORMULAS = "clean.min_log_prob", "clean.formulas"
_COMPARED: Mapping[str, tuple[str, CleanOutcome, Callable[[float, float], bool]]] = {
    "clean.min_words": ("words", CleanOutcome.SHORT, lambda value, limit: value < limit),
    "clean.min_year": ("year", CleanOutcome.BEFORE_MIN_YEAR, lambda value, limit: value < limit),
}
"""rule → the stored value that it compares, its outcome, and whether it drops a document"""
_AROUND = 30
"""number of characters before and after a formula in a preview"""
_AFTER_SECTIONS = (CleanOutcome.FEW_PARAGRAPHS, CleanOutcome.BAD_TOP_WORD)
_FILTERS = ("filter.min_characters", "filter.min_english")
_DATES = ("split.train_before", "split.valid_until")
_LOWER_NEEDS_A_BUILD = ("link.min_score",)
RULES = (_LOG_PROB, *_COMPARED, _FORMULAS, *_FILTERS, *_DATES, *_LOWER_NEEDS_A_BUILD)
"""rules that can be previewed"""


def change_spec(spec: ReleaseSpec, given: Mapping[str, Any]) -> ReleaseSpec:
    """Return the spec with other values of `RULES`.

    Raises:
        UserError: a rule is unknown or has no preview, or its value is invalid.
    """
    content = spec.model_dump(mode="json")
    for rule, value in given.items():
        if rule not in RULES:
            raise UserError(f"{rule!r} has no preview{suggest(rule, RULES)}; expected one of {', '.join(RULES)}")
        section, _, name = rule.partition(".")
        if rule in _LOWER_NEEDS_A_BUILD and isinstance(value, int | float) and value < content[section][name]:
            raise UserError(
                f"{rule}: {value} given, but the release stored nothing below {content[section][name]}: "
                "give a higher value, or build a release"
            )
        content[section][name] = value
    try:
        return ReleaseSpec.model_validate(content)
    except ValueError as error:
        raise UserError(f"{', '.join(given)}: {error}") from None


def preview(old: Run, spec: ReleaseSpec, progress: Callable[[int, int], None] = lambda *_: None) -> Iterator[Change]:
    """Yield what another spec of `change_spec` would change in a release. Memory: the rows of one bucket without texts."""
    new = Run(spec, old.as_of, old.lake, old.scratch)
    for bucket in range(old.paper_shards):
        yield from _preview_filter(old, new, bucket)
        if old.spec.clean != new.spec.clean:
            yield from _preview_clean(old, new, bucket)
        if old.spec.split != new.spec.split:
            yield from _preview_dates(old, new, bucket)
        if old.spec.link != new.spec.link:
            is_lower = (pc.field("reason") == LinkReason.FUZZY.value) & (pc.field("score") <= new.spec.link.min_score)
            for row in old.table(LINKS).rows(["paper_id", "ref_id", "cited_paper_id"], shard=bucket, where=is_lower):
                yield Change(
                    "link", Effect.GOES, row["paper_id"], f"{row['ref_id']} → {row['cited_paper_id']}", "no link"
                )
        progress(bucket + 1, old.paper_shards)


def _preview_filter(old: Run, new: Run, bucket: int) -> Iterator[Change]:
    if old.spec.filter == new.spec.filter:
        return
    rules = new.spec.filter
    by_threshold = (FilterOutcome.SHORT_TEXT, FilterOutcome.NOT_ENGLISH)
    for row in old.table(FILTERED).rows(shard=bucket):
        if row["outcome"] not in (*by_threshold, FilterOutcome.KEPT):
            continue
        after = FilterOutcome.KEPT
        if (row["characters"] or 0) < rules.min_characters:
            after = FilterOutcome.SHORT_TEXT
        elif row["english"] is None:
            yield Change("paper", Effect.UNKNOWN, row["paper_id"], row["outcome"], "its language was not evaluated")
            continue
        elif row["english"] < rules.min_english:
            after = FilterOutcome.NOT_ENGLISH
        if after != row["outcome"]:
            effect = Effect.RETURNS if after is FilterOutcome.KEPT else Effect.GOES
            if FilterOutcome.KEPT in (after, row["outcome"]):
                yield Change("paper", effect, row["paper_id"], row["outcome"], after)


def _preview_clean(old: Run, new: Run, bucket: int) -> Iterator[Change]:
    before: dict[tuple[str, str], Row] = {}
    years = {
        row["paper_id"]: row["date"] and int(row["date"][:4])
        for row in old.table(PAPERS).rows(["paper_id", "date"], shard=bucket)
    }
    for row in old.table(DOCUMENTS).rows(list_columns(DOCUMENTS, "text"), shard=bucket):
        before[row["paper_id"], row["set"]] = {**row, "year": years[row["paper_id"]]}
    affected = {paper for (paper, _), row in before.items() if _may_change(row, old.spec.clean, new.spec.clean)}
    after: dict[tuple[str, str], Row] = {}
    if affected:
        with tempfile.TemporaryDirectory(prefix="s2corpus-preview-", dir=old.scratch) as scratch:
            for batch in Bucket(new, bucket, affected).decide(Path(scratch) / "s2orc.parquet"):
                after |= {(row["paper_id"], row["set"]): row for row in batch.to_pylist()}
    for paper in sorted(affected):
        places = [next((s for s in ("s2orc", "s2ag") if _is_kept(rows, paper, s)), None) for rows in (before, after)]
        if places[0] != places[1]:
            effect = Effect.MOVES if all(places) else Effect.GOES if places[0] else Effect.RETURNS
            sides = _describe(before, paper, places[0]), _describe(after, paper, places[1])
            yield Change("document", effect, paper, *sides)
        yield from _compare_sections(old, new, bucket, paper, after.get((paper, "s2orc")))
    if old.spec.clean.formulas != new.spec.clean.formulas:
        yield from _list_formulas(old, new, bucket, before | after)


def _is_kept(rows: Mapping[tuple[str, str], Row], paper: str, set_: str) -> bool:
    return (paper, set_) in rows and rows[paper, set_]["outcome"] == CleanOutcome.KEPT


def _describe(rows: Mapping[tuple[str, str], Row], paper: str, place: str | None) -> str:
    return place or ", ".join(f"{set_}: {row['outcome']}" for (id_, set_), row in rows.items() if id_ == paper)


def _may_change(row: Mapping[str, Any], old: CleanRules, new: CleanRules) -> bool:
    """Return whether the stored values of a document allow another decision."""
    for rule, (name, outcome, drops) in _COMPARED.items():
        limits = [getattr(rules, rule.partition(".")[2]) for rules in (old, new)]
        if limits[0] != limits[1] and (
            row["outcome"] == outcome
            or (row[name] is not None and len({drops(row[name], limit) for limit in limits}) > 1)
        ):
            return True
    low, high = sorted((old.text_rules.threshold, new.text_rules.threshold))
    if low == high:
        return False
    is_crossed = any(low <= mean < high for mean in row["section_log_probs"] or ())
    return row["set"] == "s2ag" or is_crossed or row["outcome"] in _AFTER_SECTIONS


def _compare_sections(old: Run, new: Run, bucket: int, paper: str, document: Row | None) -> Iterator[Change]:
    """Yield the sections of a full text that would be added or removed."""
    if document is None or not (log_probs := document["section_log_probs"]):
        return
    low, high = sorted((old.spec.clean.text_rules.threshold, new.spec.clean.text_rules.threshold))
    if not any(low <= mean < high for mean in log_probs):
        return
    fulltexts = old.table(FULLTEXTS).rows(["file_sha1", "parse"], shard=bucket, where=pc.field("paper_id") == paper)
    parse = next(_read_parse(old, row) for row in fulltexts if row["file_sha1"] == document["sha1"])
    is_lowered = new.spec.clean.text_rules.threshold == low
    for part in list_parts(parse, (old if is_lowered else new).spec.clean, log_probs):
        if part["rule"] == SECTIONS and part["value"] >= low:
            states = ("removed", "kept") if is_lowered else ("kept", "removed")
            name = f"{part['section'] or 'without header'} ({part['value']:.2f})"
            effect = Effect.RETURNS if is_lowered else Effect.GOES
            yield Change("section", effect, paper, f"{states[0]}: {name}", states[1], part["words"])


def _list_formulas(old: Run, new: Run, bucket: int, rows: Mapping[tuple[str, str], Row]) -> Iterator[Change]:
    """Yield the formulas of texts that would be added as placeholders or removed. The rules apply to the text without formulas."""
    effect, *places = (Effect.GOES, "placeholder", "removed")
    if old.spec.clean.formulas == "remove":
        effect, *places = (Effect.RETURNS, "removed", "placeholder")
    with_formulas = new.spec.clean.model_copy(update={"formulas": "placeholder"})
    for fulltext in old.table(FULLTEXTS).rows(["paper_id", "file_sha1", "parse"], shard=bucket):
        paper = fulltext["paper_id"]
        if not _is_kept(rows, paper, "s2orc") or rows[paper, "s2orc"]["sha1"] != fulltext["file_sha1"]:
            continue
        for line in list_kept_lines(
            _read_parse(old, fulltext), with_formulas, rows[paper, "s2orc"]["section_log_probs"]
        ):
            for found in EQUATION_WORD.finditer(line):
                words = line[max(0, found.start() - _AROUND) : found.end() + _AROUND]
                yield Change("formula", effect, paper, f"{places[0]}: … {words} …", places[1], 1)


def _read_parse(run: Run, fulltext: Mapping[str, Any]) -> dict[str, Any]:
    parse: dict[str, Any] = orjson.loads(fulltext["parse"])
    return mask_parse(parse) if run.spec.clean.pii == "mask" else parse


def _preview_dates(old: Run, new: Run, bucket: int) -> Iterator[Change]:
    """Yield the documents that another date would move. Documents that are held back as duplicates do not move."""
    current = {(row["set"], row["paper_id"]): row["split"] for row in old.table(SPLITS).rows(shard=bucket)}
    for candidate in read_kept(new, bucket):
        before = Split(current[candidate.set, candidate.paper_id])
        if before in (Split.DUPLICATE, Split.NEAR_DUPLICATE) or before == candidate.split:
            continue
        after = Split(candidate.split)
        effect = Effect.MOVES if before.is_kept == after.is_kept else Effect.RETURNS if after.is_kept else Effect.GOES
        yield Change("document", effect, candidate.paper_id, before, after)
