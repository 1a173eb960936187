"""Links of the parent release that still hold: only what changed since is linked again, with the same result (SEMANTICS: Link)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run
from s2corpus.storage.exchange import Exchange
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables import ENTRIES, FILTERED, LINKS, PAPERS
from s2corpus.titles.candidates import Search
from s2corpus.titles.changes import fingerprints, rows_only_in, touched
from s2corpus.titles.linking import SCHEMA
from s2corpus.titles.targets import IDENTIFIERS, PLACES, Targets, first_surname
from s2corpus.version import code_version

_CHANGED = "changed"
_OF_ENTRIES = ("paper_id", "parse_kind", "ref_id", "title", "year", "venue", "volume", "pages", *IDENTIFIERS)
_REPEATED = ("paper_id", "parse_kind", "ref_id")
_FIRST_AUTHOR = ("authors.list.element.first", "authors.list.element.last")
"""All that is read of authors: an author has eight names, identifiers and places to work at."""


def parent_run(run: Run) -> Run | None:
    """The run of the parent snapshot's release, if its links are there, came from its tables as they are now, and by the same rules."""
    if run.parent is None:
        return None
    parent = replace(run, as_of=run.parent.release.as_of)
    try:
        facts = parent.table(LINKS).committed().facts
        same = facts.get("inputs") == inputs(parent) and facts.get("rules") == rules(run)
        same &= parent.paper_shards == run.paper_shards  # a paper is in the same bucket
    except NotCommitted:
        return None
    return parent if same else None


def rules(run: Run) -> str:
    """What decides links beside the tables: the spec's rules and the code."""
    return f"{code_version()} {run.spec.link.model_dump_json(exclude={'min_recall', 'count_warnings'})}"


def inputs(run: Run) -> str:
    """SHA-256 over the tables that links are made from."""
    digest = hashlib.sha256()
    for table in (PAPERS, FILTERED, ENTRIES):
        for part in run.table(table).committed().parts:
            digest.update(part.sha256.encode())
    return digest.hexdigest()


def read_papers(run: Run, bucket: int) -> pa.Table:
    """The kept papers of a bucket, with what the rules look at."""
    outcomes = run.table(FILTERED).leaves(["paper_id", "outcome"], shard=bucket)
    columns = ["paper_id", "title", "date", *_FIRST_AUTHOR, "venue", *PLACES, *IDENTIFIERS]
    papers = run.table(PAPERS).leaves(columns, shard=bucket)
    surname = first_surname(papers["authors"])
    papers = papers.drop_columns(["authors"]).append_column("surname", surname)
    kept = pc.equal(outcomes["outcome"], "kept")
    if not outcomes["paper_id"].equals(papers["paper_id"]):  # as a rule they are in one order
        kept = pc.is_in(papers["paper_id"], outcomes["paper_id"].filter(kept))
    papers = papers.filter(kept)
    return (
        papers.append_column("year", pc.utf8_slice_codeunits(papers["date"], 0, 4).cast(pa.int32()))
        .set_column(papers.column_names.index("journal"), "journal", pc.coalesce(papers["journal"], papers["venue"]))
        .drop_columns(["date", "venue"])
    )


def read_entries(run: Run, bucket: int) -> pa.Table:
    """The entries of a bucket, with what the rules look at; what repeats, as dictionaries."""
    entries = run.table(ENTRIES).leaves([*_OF_ENTRIES, *_FIRST_AUTHOR], shard=bucket, repeated=_REPEATED)
    return _as_looked_at(entries)


def entries_where(run: Run, where: pc.Expression) -> pa.Table:
    """The entries of all buckets for which this holds, with what the rules look at."""
    return _as_looked_at(run.table(ENTRIES).read([*_OF_ENTRIES, "authors"], where=where))


def _as_looked_at(entries: pa.Table) -> pa.Table:
    return (
        entries.append_column("surname", first_surname(entries["authors"]))
        .drop_columns(["authors"])
        .rename_columns({"paper_id": "citing_paper_id", "venue": "journal"})
    )


class Changes:
    """The papers of some buckets that went or came since the parent release; a changed one did both."""

    def __init__(self, exchange: Exchange, task: int) -> None:
        self._exchange, self._task = exchange, task
        self._removed: list[pa.Table] = []
        self._added: list[pa.Table] = []

    def add(self, before: pa.Table, now: pa.Table) -> None:
        """The papers of a bucket then and now."""
        self._removed.append(rows_only_in(before, now))
        self._added.append(rows_only_in(now, before))

    def write(self) -> None:
        """Keep them for `Held`, with how many they are."""
        counted = 0
        for name, tables in (("removed", self._removed), ("added", self._added)):
            rows = pa.concat_tables(tables)
            counted += len(rows)
            self._exchange.write(name, self._task, rows, np.zeros(len(rows), np.int64), 1)
        self._exchange.put_counts(_CHANGED, self._task, counted)


@dataclass(frozen=True, slots=True)
class Held:
    """The parent's links, and what changed among the papers since."""

    parent: Run
    removed: Targets
    added: Targets
    """papers that went, and that came; a changed paper is in both"""
    crowded_otherwise: np.ndarray
    """keys that are over_full now or were then, but not both"""
    search: Search

    @staticmethod
    def of(run: Run, over_full: np.ndarray, search: Search, most: int, exchange: Exchange, tasks: int) -> Held | None:
        """None where no parent's links can be taken over, or more papers than `most` changed: then all is linked again."""
        parent = parent_run(run)
        if parent is None:
            return None
        counts = exchange.all_counts(_CHANGED, tasks)
        if sum(counts) > most:
            return None
        schema = read_papers(run, 0).schema
        removed, added = (exchange.read(name, range(tasks), 0, schema) for name in ("removed", "added"))
        then = np.array(parent.table(LINKS).committed().facts["over_full"], np.uint64)
        went, came = Targets.of(removed), Targets.of(added)
        return Held(parent, went, came, np.setxor1d(then, over_full), search)

    def links(self, entries: pa.Table, buckets: list[int]) -> tuple[np.ndarray, pa.Table]:
        """Which entries of these buckets link as they did, boolean, and their links in order (columns of `linking.SCHEMA`)."""
        before = pa.concat_tables([self._before(bucket) for bucket in buckets])
        schema = pa.schema([(field.name, getattr(field.type, "value_type", field.type)) for field in entries.schema])
        now, then = (fingerprints(rows.select(schema.names).cast(schema)) for rows in (entries, before))
        number = pc.index_in(pa.array(now), pa.array(then))
        holds = number.is_valid().to_numpy(zero_copy_only=False)
        same = np.flatnonzero(holds)
        some = entries.take(pa.array(same))
        again = touched(some, self.removed, self.added, self.crowded_otherwise, self.search)
        holds[same[again]] = False
        return holds, before.take(number.filter(pa.array(holds))).select(SCHEMA.names).cast(SCHEMA)

    def _before(self, bucket: int) -> pa.Table:
        """The parent's entries of a bucket, each with its link beside it: both tables have a row an entry, in one order."""
        rows = read_entries(self.parent, bucket)
        columns = [name for name in SCHEMA.names if name != "paper_id"]
        links = self.parent.table(LINKS).read(["cited_paper_id", *columns], shard=bucket)
        for name, column in zip(("paper_id", *columns), links.columns, strict=True):
            rows = rows.append_column(name, column)
        return rows
