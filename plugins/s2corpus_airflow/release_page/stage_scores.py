"""Show the scores that the rules of filter and link compare, by outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from s2corpus.outcomes import FilterOutcome, LinkReason
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.parts import NotCommitted, OtherColumns
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import FILTERED, LINKS
from s2corpus_airflow.release_page.distributions import count_values

MOST_ROWS = 1_000_000
"""rows after which a page reads no further batch; a hash assigns papers to parts, so that the first parts are a fair sample"""
_BATCH = 1 << 16


class StageScores(NamedTuple):
    """The scores of a stage: their table, its column with outcomes, and score → rule that compares it."""

    table: Table[Any]
    outcome: str
    kept: Sequence[str]
    rules: dict[str, str]
    rows: str
    """the meaning of a row of the table"""


STAGES = {
    "filter": StageScores(
        FILTERED, "outcome", [FilterOutcome.KEPT], {"characters": "min_characters", "english": "min_english"}, "papers"
    ),
    "link": StageScores(
        LINKS, "reason", [reason for reason in LinkReason if reason is not LinkReason.NONE],
        {"score": "min_score", "runner_up_score": "min_score"}, "bibliography entries",
    ),
}  # fmt: skip


def show_scores(tables: ReleaseTables, spec: ReleaseSpec, stage: str) -> dict[str, Any]:
    """Return the values of the template: the distribution of each score, and whether they are of a part of the rows."""
    scores = STAGES[stage]
    columns, is_sample = _read(tables, scores)
    thresholds = {
        score: {f"{stage}.{rule}": float(getattr(getattr(spec, stage), rule))} for score, rule in scores.rules.items()
    }
    return {
        "stage": stage, "rows": scores.rows, "found": len(columns), "is_sample": is_sample, "thresholds": thresholds,
        "distributions": {score: count_values(score, columns, thresholds[score], scores.kept) for score in scores.rules},
    }  # fmt: skip


def _read(tables: ReleaseTables, scores: StageScores) -> tuple[pa.Table, bool]:
    """Return outcomes and scores of the first rows, and whether more rows follow."""
    names = [scores.outcome, *scores.rules]
    schema = pa.schema([scores.table.schema.field(name) for name in names])
    batches: list[pa.RecordBatch] = []
    rows = 0
    try:
        for batch in tables(scores.table).batches(names, rows=_BATCH):
            if rows >= MOST_ROWS:
                return _encode(batches, scores, schema), True
            batches.append(batch.select(names))
            rows += batch.num_rows
    except OtherColumns:
        raise
    except NotCommitted:  # the stage has not run
        pass
    return _encode(batches, scores, schema), False


def _encode(batches: list[pa.RecordBatch], scores: StageScores, schema: pa.Schema) -> pa.Table:
    """Return the scores, and the outcomes as the dictionary `outcome`."""
    table = pa.Table.from_batches(batches, schema).rename_columns(["outcome", *scores.rules])
    return table.set_column(0, "outcome", table["outcome"].combine_chunks().dictionary_encode())
