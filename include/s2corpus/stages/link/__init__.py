"""Link: find the kept paper that each bibliography entry cites, and where the text cites it (SPEC §7).

Two rounds write the index of the kept papers (`index`). In the third round, a task links the entries of some neighboring buckets, in
groups that fit in memory. The tasks of a machine share one copy of the index.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial, reduce
from operator import or_
from weakref import finalize

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection

from s2corpus.compiled import MAX_PYTHON_ROWS, interpret_if_small
from s2corpus.pipeline.gold import GOLD_SAMPLE, Gold, select_slice
from s2corpus.pipeline.run import OF_RUN, Metrics, Run, Shard, Stage, commit_all
from s2corpus.sources.preprints import is_preprint_doi
from s2corpus.sources.record import RecordKind, WorkType
from s2corpus.stages.link.index import (
    open_exchange,
    open_index,
    read_entries,
    read_entries_where,
    write_paper_part,
    write_title_pieces,
)
from s2corpus.storage.duck import duckdb_connection
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.texts import CONTEXTS, ENTRIES, FILTERED, FULLTEXTS, LINKS, ContextRow
from s2corpus.titles.facts import IDENTIFIERS
from s2corpus.titles.index import LinkIndex
from s2corpus.titles.linking import link
from s2corpus.titles.recall import measure, measure_title_links
from s2corpus.titles.similarity import Search

SAMPLE = 500
"""number of titles that are compared with all titles, to measure recall"""
GROUPS = 4
"""number of groups of buckets in one task"""
BYTES_PER_ENTRY = 1536
"""upper estimate of the memory in bytes that an entry needs outside of DuckDB while it is linked"""
_MIN_ENTRIES = 1 << 19
"""minimum number of entries in one batch, if memory allows it"""

log = logging.getLogger(__name__)


class LinkStage(Stage):
    """The link stage. It reads entries and kept papers, and writes links and the contexts of inline citations."""

    name = "link"

    def __init__(self) -> None:
        self._index: LinkIndex | None = None

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Write the papers of some buckets into the index; then the titles; then link."""
        with interpret_if_small(_comparisons(run)):
            if round == 0:
                write_paper_part(run, shard)
            elif round == 1:
                write_title_pieces(run, shard, _search(run))
            elif groups := group_tasks(run).get(shard.index):
                self._link(run, shard, groups)

    def _link(self, run: Run, shard: Shard, groups: list[list[int]]) -> None:
        """Link the entries of some groups of buckets; the first shard measures its first links on a sample."""
        counts = Counter[str]()
        if self._index is None:  # The shards of one task use one copy.
            stack = ExitStack()
            finalize(self, stack.close)
            self._index = stack.enter_context(open_index(run, _search(run)))
        if shard.index == 0:
            counts.update(_measure_title_links(run, self._index))
        for number, buckets in enumerate(groups):
            tables = [read_entries(run, bucket) for bucket in buckets]
            with _database(run) as connection:
                links = link(connection, pa.concat_tables(tables), self._index, _search(run))
            # A task's memory determines its groups, and a group searches each of its titles once.
            counts.update(
                {f"{OF_RUN}titles_searched": len(links.searched), f"{OF_RUN}pairs_verified": links.pairs.verified}
            )
            if number == shard.index == 0:  # Papers are in random buckets, so one group is representative.
                counts.update(measure(links, self._index, _search(run), SAMPLE))
            offset = 0
            for bucket, entries in zip(buckets, tables, strict=True):
                rows = links.rows.slice(offset, len(entries)).rename_columns({"paper_id": "cited_paper_id"})
                offset += len(entries)
                for name, key in (("citing_paper_id", "paper_id"), ("parse_kind", "parse_kind"), ("ref_id", "ref_id")):
                    rows = rows.append_column(key, entries[name])
                rows = rows.select(LINKS.schema.names).cast(LINKS.schema)
                run.table(LINKS).write(bucket, rows)
                run.table(CONTEXTS).write(bucket, _read_contexts(run, bucket, rows, counts))
            log.info("link shard %d: group %d of %d done, %d entries", shard.index, number + 1, len(groups), offset)
        run.lake.put(_counts_key(run, shard), orjson.dumps(counts))

    def finish(self, run: Run) -> Metrics:
        """Commit; return recall and precision on the sample, and the figures of S2ORC's table 4."""
        counts = Counter[str]()
        for first in group_tasks(run):
            counts.update(orjson.loads(run.lake.get(_counts_key(run, Shard(first)))[0]))
        metrics = commit_all(run, self.name, run.paper_shards)
        open_exchange(run).remove()
        if counts["similar"]:
            metrics["recall"] = counts["found"] / counts["similar"]
        if counts["tried"]:
            metrics["precision"] = counts["agreed"] / counts["tried"]
        for name, value in counts.items():
            kind, dot, statistic = name.partition(".")  # a statistic of a kind of parse becomes a mean
            if not dot or kind in ("gold", "run") or statistic == "parses":
                metrics[name] = float(value)
            else:
                metrics[f"{name}_mean"] = value / counts[f"{kind}.parses"]
        return metrics


def _comparisons(run: Run) -> int:
    """Return an upper bound of the compared characters. Ten more rows on each side stand for the work per title."""
    papers, entries = run.table(PAPERS).committed().rows, run.table(ENTRIES).committed().rows
    if max(papers, entries) > MAX_PYTHON_ROWS:
        return sys.maxsize
    of_papers, of_entries = (int(run.table(table).read(["title"]).nbytes) for table in (PAPERS, ENTRIES))
    return (entries + 10) * of_papers + (papers + 10) * of_entries


def group_tasks(run: Run) -> dict[int, list[list[int]]]:
    """Return the groups of neighboring buckets of each task, by the first bucket of the task. A group fits in memory."""
    groups: list[list[int]] = []
    room, batch_size = 0, _choose_batch_size(run)
    for bucket, part in enumerate(run.table(ENTRIES).committed().parts):
        if not groups or part.rows > room:
            groups.append([])
            room = batch_size
        groups[-1].append(bucket)
        room -= part.rows
    return {groups[first][0]: groups[first : first + GROUPS] for first in range(0, len(groups), GROUPS)}


def _database(run: Run) -> AbstractContextManager[DuckDBPyConnection]:
    """Return a database with half the memory of a task. One thread takes a quarter less CPU than two; tasks run in parallel."""
    return duckdb_connection(memory_mb=run.spec.resources.memory_mb // 2, scratch=run.scratch, threads=1)


def _measure_title_links(run: Run, index: LinkIndex) -> dict[str, int]:
    """Measure links by title on a sample of the entries with identifiers, which are the truth."""
    has_identifier = reduce(or_, (pc.field(name).is_valid() for name in IDENTIFIERS))
    in_slice = select_slice(run, run.table(PAPERS).committed().rows)
    kept = run.table(FILTERED).read(["paper_id", "outcome"], where=in_slice)
    ids = kept["paper_id"].filter(pc.equal(kept["outcome"], "kept"))
    entries = read_entries_where(run, has_identifier if in_slice is None else has_identifier & in_slice)
    entries = entries.filter(pc.is_in(entries["citing_paper_id"], ids.combine_chunks()))
    entries = entries.sort_by([(name, "ascending") for name in ("citing_paper_id", "parse_kind", "ref_id")])

    with _database(run) as connection:
        search, sample = _search(run), GOLD_SAMPLE
        published_dois = partial(_published_dois, run)
        found = measure_title_links(connection, entries, index, search, sample, is_preprint_doi, published_dois)
    # Only an entry with a link by identifier can be right, so all right links are found.
    gold = Gold(found["known"], found["right"], found["predicted"], found["right"]).metrics("links")
    return {name: int(n) for name, n in gold.items()} | {name: found[name] for name in ("tried", "agreed")}


def _published_dois(run: Run, paper_ids: pa.Array) -> dict[str, str]:
    """Return the DOIs of papers, without DOIs of preprints. As in the vote, the types of records take precedence over DOI prefixes."""
    if not len(paper_ids):
        return {}
    where = pc.field("paper_id").isin(paper_ids)
    papers = run.table(PAPERS).rows(["paper_id", "doi"], where=where)
    typed = where & pc.field("type").is_valid() & pc.field("arxiv_id").is_null()
    members = list(run.table(MEMBERS).rows(["doi", "kind", "type"], where=typed))
    published = {row["doi"] for row in members if row["kind"] == RecordKind.PUBLISHER}
    preprints = {row["doi"] for row in members if row["type"] == WorkType.PREPRINT}
    return {
        row["paper_id"]: doi
        for row in papers
        if (doi := row["doi"]) and doi not in preprints and (doi in published or not is_preprint_doi(doi))
    }


def _counts_key(run: Run, shard: Shard) -> str:
    return f"releases/{run.release_id}/{LINKS.name}/counts-{shard.index:05d}.json"


def _choose_batch_size(run: Run) -> int:
    """Return the number of entries in one batch: as many as fit in a quarter of memory, at most half as many as papers.
    A batch has at least `_MIN_ENTRIES` if they fit.

    A batch reads all papers once. Larger batches would save little time for the memory that they need.
    """
    room = max((run.spec.resources.memory_mb << 18) // BYTES_PER_ENTRY, 1)
    return min(room, max(run.table(PAPERS).committed().rows // 2, _MIN_ENTRIES))


def _search(run: Run) -> Search:
    rules = run.spec.link
    by_title, memory_mb = rules.evidence == "title", run.spec.resources.memory_mb // 4
    return Search(rules.min_score, by_title=by_title, memory_mb=memory_mb)


def _read_contexts(run: Run, bucket: int, links: pa.Table, counts: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Yield the inline citations of the open, kept papers of a bucket, in order, in batches of the schema of `CONTEXTS`.

    `links` are the links of the bucket. The figures of table 4 in S2ORC are added to `counts`, complete after the last batch.
    """
    kept = run.table(FILTERED).read(["paper_id"], shard=bucket, where=pc.field("outcome") == "kept")
    where = pc.field("open_access") & pc.field("paper_id").isin(kept["paper_id"].combine_chunks())
    citing = run.table(FULLTEXTS).read(["paper_id"], shard=bucket, where=where)
    links = links.filter(pc.is_in(links["paper_id"], citing["paper_id"].combine_chunks()))
    cited_by = defaultdict[tuple[str, str], dict[str, str | None]](dict)
    names = ("paper_id", "parse_kind", "ref_id", "cited_paper_id")
    for id_, kind, ref_id, paper_id in zip(*(links[name].to_pylist() for name in names), strict=True):
        cited_by[id_, kind][ref_id] = paper_id
    for batch in run.table(FULLTEXTS).batches(["paper_id", "parse_kind", "parse"], shard=bucket, where=where, rows=64):
        rows: list[ContextRow] = []
        for fulltext in batch.to_pylist():
            id_, kind = fulltext["paper_id"], fulltext["parse_kind"]
            cited = cited_by[id_, kind]
            parse = orjson.loads(fulltext["parse"])
            counts[f"{kind}.parses"] += 1
            counts[f"{kind}.bib_entries"] += len(cited)
            counts[f"{kind}.linked_bib_entries"] += sum(1 for paper in cited.values() if paper)
            paragraphs = [(part, p) for part in ("abstract", "body_text", "back_matter") for p in parse.get(part) or ()]
            found = []
            for number, (part, paragraph) in enumerate(paragraphs):
                counts[f"{kind}.paragraphs_{part}"] += 1
                counts[f"{kind}.cite_spans_{part}"] += len(paragraph["cite_spans"])
                found += [
                    ContextRow(
                        paper_id=id_,
                        parse_kind=kind,
                        paragraph=number,
                        start=span["start"],
                        end=span["end"],
                        ref_id=span["ref_id"],
                        cited_paper_id=cited.get(span["ref_id"]),
                        text=paragraph["text"],
                    )
                    for span in paragraph["cite_spans"]
                    if span["ref_id"]
                ]
            found.sort(key=lambda row: (row["paragraph"], row["start"], row["end"], row["ref_id"]))
            rows += found
        if rows:
            yield from pa.Table.from_pylist(rows, schema=CONTEXTS.schema).to_batches()
