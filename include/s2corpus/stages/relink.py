"""Links of the parent release that still hold: only what changed since is linked again, with the same result (SEMANTICS: Link)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import s2corpus
from s2corpus.parts import NotCommitted
from s2corpus.stages.base import Run
from s2corpus.tables import ENTRIES, FILTERED, LINKS, PAPERS
from s2corpus.titles.candidates import Search
from s2corpus.titles.changes import crowded_keys, fingerprints, rows_only_in, touched
from s2corpus.titles.linking import SCHEMA
from s2corpus.titles.targets import Targets


def parent_run(run: Run) -> Run | None:
    """The run of the parent snapshot's release, if its links are there, came from its tables as they are now, and by the same rules."""
    if run.parent is None:
        return None
    as_of = datetime.strptime(run.parent.split("-")[-2], "%Y%m%d").replace(tzinfo=UTC)
    parent = replace(run, as_of=as_of)
    try:
        facts = parent.table(LINKS).committed().facts
        same = facts.get("inputs") == inputs(parent) and facts.get("rules") == rules(run)
    except NotCommitted:
        return None
    return parent if same else None


def rules(run: Run) -> str:
    """What decides links beside the tables: the spec's rules and the code."""
    return f"{s2corpus.__version__} {run.spec.link.model_dump_json(exclude={'min_recall', 'count_numeral'})}"


def inputs(run: Run) -> str:
    """SHA-256 over the tables that links are made from."""
    digest = hashlib.sha256()
    for table in (PAPERS, FILTERED, ENTRIES):
        for part in run.table(table).committed().parts:
            digest.update(part.sha256.encode())
    return digest.hexdigest()


def links_that_hold(
    parent: Run,
    entries: pa.Table,
    papers: pa.Table,
    targets: Targets,
    search: Search,
    read_papers: Callable[[Run], pa.Table],
    read_entries: Callable[[Run, int], pa.Table],
) -> tuple[np.ndarray, pa.Table]:
    """Which of `entries` link as they did in the parent, boolean, and their links in order (columns of `linking.SCHEMA`)."""
    papers_before = read_papers(parent)
    removed, added = rows_only_in(papers_before, papers), rows_only_in(papers, papers_before)
    before = _entries_before(parent, entries, read_entries)
    number = pc.index_in(pa.array(fingerprints(entries)), pa.array(fingerprints(before.select(entries.column_names))))
    holds = number.is_valid().to_numpy(zero_copy_only=False)
    crowded = np.array(parent.table(LINKS).committed().facts["crowded"], np.uint64)
    otherwise = np.setxor1d(crowded, crowded_keys(targets, search))
    same = np.flatnonzero(holds)
    again = touched(entries.take(pa.array(same)), Targets.of(removed), Targets.of(added), otherwise, search)
    holds[same[again]] = False
    return holds, before.take(number.filter(pa.array(holds))).select(SCHEMA.names).cast(SCHEMA)


def _entries_before(parent: Run, entries: pa.Table, read_entries: Callable[[Run, int], pa.Table]) -> pa.Table:
    """The parent's entries of the same papers, each with its link beside it: both tables have a row an entry, in one order."""
    ids = entries["citing_paper_id"].unique()
    found = []
    for bucket in range(parent.paper_shards):
        rows = read_entries(parent, bucket)
        columns: list[Any] = [name for name in SCHEMA.names if name != "paper_id"]
        links = parent.table(LINKS).read(["cited_paper_id", *columns], shard=bucket)
        for name, column in zip(("paper_id", *columns), links.columns, strict=True):
            rows = rows.append_column(name, column)
        found.append(rows.filter(pc.is_in(rows["citing_paper_id"], ids)))
    return pa.concat_tables(found)
