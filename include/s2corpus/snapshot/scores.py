"""List the measured values of each document and of each rejected candidate: `tables/scores` (SPEC §8.13).

The rows contain no text, so that a reader can draw distributions and choose thresholds without reading the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import pyarrow as pa

from s2corpus.papers.licenses import to_spdx
from s2corpus.snapshot import rights
from s2corpus.snapshot.documents import year
from s2corpus.snapshot.removed import RemovedKind
from s2corpus.tables.columns import FieldsOfStudy, LogProb, Set, Title, TopShare, Year
from s2corpus.tables.published import PublishedId
from s2corpus.tables.schema import INT32, Column, columns_of
from s2corpus.text.signals import SignalRow

Row = dict[str, Any]


class ScoreRow(TypedDict):
    """The values of each document, published or not, that cleaning compared."""

    paper_id: PublishedId
    set: Set
    outcome: Annotated[str, "split of a published document; otherwise the rule that removed it, as in removed"]
    rules: Annotated[list[str], "rules that removed parts of its full text, sorted, as in removed"]
    source: Annotated[str | None, "kind of full text (s2orc), or source of the abstract (s2ag)"]
    title: Title
    year: Year
    fields_of_study: FieldsOfStudy
    license: Annotated[str, "license of the file (s2orc) or of the abstract (s2ag), SPDX id"]
    words: Annotated[int | None, "number of words that the rules compare; null if an earlier rule decided"]
    paragraphs: Annotated[int | None, INT32, "number of paragraphs after cleaning; null if an earlier rule decided"]
    top_share: TopShare
    log_prob: LogProb
    section_log_probs: Annotated[
        list[float] | None,
        pa.list_(pa.float32()),
        "mean log2 probability per word of each section, removed ones included",
    ]
    removed_words: Annotated[int | None, "number of words of its full text that removed has without the document's row"]


COLUMNS: tuple[Column, ...] = (
    *columns_of(ScoreRow),
    *(
        replace(column, nullable=True, type=pa.float32() if column.type == pa.float64() else column.type)
        for column in columns_of(SignalRow)
    ),
)
"""Columns of `tables/scores`: the scores, and in single precision the quality signals of published documents."""


def rows(paper: Mapping[str, Any], removed: Sequence[Row]) -> Iterator[Row]:
    """Yield a row for each document of a released paper, by set.

    Args:
        paper: the paper, with the quality signals of its published documents in `signals` (set → signals).
        removed: its rows in `tables/removed`.
    """
    for decision in paper["decisions"]:
        set_ = decision["set"]
        own = [row for row in removed if row["set"] == set_]
        parts = [row for row in own if row["kind"] != RemovedKind.DOCUMENT]
        row = {name: decision[name] for name in ("words", "paragraphs", "top_share", "log_prob", "section_log_probs")}
        row |= {name: paper[name] for name in ("paper_id", "title", "fields_of_study")}
        row |= {
            "set": set_,
            "outcome": next((row["rule"] for row in own if row["kind"] == RemovedKind.DOCUMENT), decision["split"]),
            "rules": sorted({part["rule"] for part in parts}),
            "year": year(paper["date"]),
        }
        if set_ == "s2ag":
            row["source"], row["license"] = rights.find_abstract_rights(paper, paper["abstract_from"])
        else:
            texts = paper["fulltexts"].items()
            row["source"] = next((kind for kind, text in texts if text["file_sha1"] == decision["sha1"]), None)
            row["license"] = to_spdx(decision["license"])
            row["removed_words"] = sum(part["words"] or 0 for part in parts)
        signals = paper["signals"].get(set_, {})
        yield row | {column.name: signals.get(column.name) for column in COLUMNS if column.name not in row}
