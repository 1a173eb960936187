"""Link: bibliography entries to the kept papers they are, and where in the text they are cited (S2ORC §2.6; SEMANTICS: Link).

Three rounds: two make the index of the kept papers (`index`), once; in the third the first of some neighbouring buckets links the
entries of them all, as many at once as is worth a pass of the papers and memory allows, by the index that the tasks of a machine share.
"""

from __future__ import annotations

import ctypes
import logging
import sys
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import asdict
from functools import reduce
from operator import or_
from weakref import finalize

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.preprints import preprint_of
from s2corpus.compiled import FEW_ROWS, for_few
from s2corpus.pipeline.gold import Gold, select_slice
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, list_paper_shards
from s2corpus.stages.link.contexts import contexts_of
from s2corpus.stages.link.index import exchange_of, write_papers, write_titles, writers
from s2corpus.stages.link.kept_papers import KeptPapers
from s2corpus.stages.link.relink import Held, entries_where, inputs, read_entries, rules
from s2corpus.tables import CONTEXTS, ENTRIES, FILTERED, LINKS, PAPERS
from s2corpus.titles.candidates import Search, over_full_keys
from s2corpus.titles.linking import SCHEMA, link
from s2corpus.titles.recall import measure, withheld
from s2corpus.titles.targets import IDENTIFIERS

SAMPLE = 500
"""Titles of a release that are compared with all, for recall."""
GROUPS = 4
"""Groups of buckets a shard: copying the index once serves them all."""
_BYTES_PER_ENTRY = 768
"""Memory that an entry takes while it is linked, with the papers that it wants, an upper estimate."""
_FEW_AT_ONCE = 1 << 19
"""So many entries are linked at once, where memory allows it, however few the papers are."""
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4
"""names of glibc's malloc.h"""

log = logging.getLogger(__name__)


class Link:
    """Entries and kept papers → links, the contexts of inline citations, and how good the links are."""

    name = "link"

    def __init__(self) -> None:
        self._papers: KeptPapers | None = None

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """A shard for each bucket of papers, in every round."""
        return list_paper_shards(run)

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Write the papers of some buckets into the index; then the titles; then link."""
        _reuse_memory()
        with for_few(_comparisons(run)):
            if round == 0:
                write_papers(run, shard)
            elif round == 1:
                write_titles(run, shard, _search(run))
            elif groups := tasks_of(run).get(shard.index):
                self._link(run, shard, groups)

    def _link(self, run: Run, shard: Shard, groups: list[list[int]]) -> None:
        """Link the entries of some buckets; the first shard measures its first links on a sample."""
        search = _search(run)
        counts = Counter[str]()
        if self._papers is None:  # the shards of one task use one
            stack = ExitStack()
            finalize(self, stack.close)
            self._papers = stack.enter_context(KeptPapers.of(run, search))
        papers = self._papers
        over_full = over_full_keys(papers.titles, search.bands)
        if shard.index == 0:
            counts["keys_crowded"] = len(over_full)
            counts.update(_withheld(run, papers, search))
        held = Held.of(run, over_full, search, _room(run), exchange_of(run), writers(run))
        for number, buckets in enumerate(groups):
            tables = [read_entries(run, bucket) for bucket in buckets]
            entries, sizes = pa.concat_tables(tables), [len(table) for table in tables]
            del tables
            # Buckets are a random division of the papers: one group stands for all.
            sample = SAMPLE if number == shard.index == 0 else 0
            linked = _linked(run, buckets, entries, papers, held, search, sample, counts)
            linked = linked.rename_columns({"paper_id": "cited_paper_id"})
            for name, key in (("citing_paper_id", "paper_id"), ("parse_kind", "parse_kind"), ("ref_id", "ref_id")):
                linked = linked.append_column(key, entries[name])
            log.info(
                "link shard %d: group %d of %d done, %d entries",
                shard.index, number + 1, len(groups), len(entries),
            )  # fmt: skip
            del entries
            begin = 0
            for bucket, size in zip(buckets, sizes, strict=True):
                links_of_bucket = linked.slice(begin, size).select(LINKS.schema.names).cast(LINKS.schema)
                begin += size
                run.table(LINKS).write(bucket, links_of_bucket)
                run.table(CONTEXTS).write(bucket, contexts_of(run, bucket, links_of_bucket, counts))
        run.lake.put(_counts_key(run, shard), orjson.dumps({"counts": counts, "over_full": over_full.tolist()}))

    def finish(self, run: Run) -> Metrics:
        """Commit; recall and precision on the sample, and S2ORC's table 4. How many are linked and why: `sql/metrics/link.sql`."""
        counts, over_full = Counter[str](), []
        for first in tasks_of(run):
            found = orjson.loads(run.lake.get(_counts_key(run, Shard(first)))[0])
            counts.update(found["counts"])
            over_full = found["over_full"]
        facts = {"rules": rules(run), "inputs": inputs(run), "over_full": over_full}
        metrics = commit_all(run, self.name, run.paper_shards, facts)
        exchange_of(run).remove()
        metrics |= {name: float(value) for name, value in counts.items() if "." not in name}
        if counts["similar"]:
            metrics["recall"] = counts["found"] / counts["similar"]
        if counts["tried"]:
            metrics["precision"] = counts["agreed"] / counts["tried"]
        for name, value in counts.items():
            kind, dot, statistic = name.partition(".")
            if kind == "gold":
                metrics[name] = float(value)
            elif dot:
                metrics[name if statistic == "parses" else f"{name}_mean"] = (
                    float(value) if statistic == "parses" else value / counts[f"{kind}.parses"]
                )
        return metrics


def _reuse_memory() -> None:
    """Arrow's own allocator gives large arrays back to the system, which clears their pages again: an eighth of the stage's time.

    glibc's is told to give back nothing, neither large arrays nor the end of its heap: a twentieth more, for a few percent of memory.
    """
    pa.set_memory_pool(pa.system_memory_pool())
    with suppress(AttributeError):  # another C library
        tune = ctypes.CDLL(None).mallopt
        tune(_M_MMAP_MAX, 0)
        tune(_M_TRIM_THRESHOLD, 2**31 - 1)


def _comparisons(run: Run) -> int:
    """Of characters, were every entry's title compared with every paper's; what is done to each title alone counts as ten."""
    papers, entries = run.table(PAPERS).committed().rows, run.table(ENTRIES).committed().rows
    if max(papers, entries) > FEW_ROWS:
        return sys.maxsize
    of_papers, of_entries = (int(run.table(table).read(["title"]).nbytes) for table in (PAPERS, ENTRIES))
    return (entries + 10) * of_papers + (papers + 10) * of_entries


def tasks_of(run: Run) -> dict[int, list[list[int]]]:
    """The buckets that are linked together, by their first: some groups of neighbours, each of as many entries as are linked at once."""
    groups: list[list[int]] = []
    room, at_once = 0, _entries_at_once(run)
    for bucket, part in enumerate(run.table(ENTRIES).committed().parts):
        if not groups or part.rows > room:
            groups.append([])
            room = at_once
        groups[-1].append(bucket)
        room -= part.rows
    return {groups[first][0]: groups[first : first + GROUPS] for first in range(0, len(groups), GROUPS)}


def _linked(
    run: Run,
    buckets: list[int],
    entries: pa.Table,
    papers: KeptPapers,
    held: Held | None,
    search: Search,
    sample: int,
    counts: Counter[str],
) -> pa.Table:
    """The links of the entries of some buckets, a row each in their order; counts and measures on the way."""
    holds, rows = held.links(entries, buckets) if held else (np.zeros(len(entries), np.bool_), SCHEMA.empty_table())
    left = entries.take(pa.array(np.flatnonzero(~holds))) if holds.any() else entries
    counts.update({"entries_taken_over": len(rows), "entries_linked_anew": len(left)})
    found = [rows]
    at_once = _entries_at_once(run)
    for begin in range(0, len(left), at_once):
        some = left.slice(begin, at_once)
        links = link(some, papers, search)
        found.append(links.rows)
        counts["titles_searched"] += len(links.searched)
        counts["pairs_proposed"] += links.pairs.proposed
        counts["pairs_verified"] += links.pairs.verified
        if begin == 0 and sample:
            counts.update(asdict(measure(links, papers, search, sample)))
    linked = pa.concat_tables(found)
    if holds.any():
        linked = linked.take(pa.array(np.argsort(np.concatenate([np.flatnonzero(holds), np.flatnonzero(~holds)]))))
    return linked


def _withheld(run: Run, papers: KeptPapers, search: Search) -> dict[str, int]:
    """How good links are without identifiers, on a sample of the entries that have one."""
    named = reduce(or_, (pc.field(name).is_valid() for name in IDENTIFIERS))
    some = select_slice(run, run.table(PAPERS).committed().rows)
    kept = run.table(FILTERED).read(["paper_id", "outcome"], where=some)
    ids = kept["paper_id"].filter(pc.equal(kept["outcome"], "kept"))
    entries = entries_where(run, named if some is None else named & some)
    entries = entries.filter(pc.is_in(entries["citing_paper_id"], ids.combine_chunks()))
    entries = entries.sort_by([(name, "ascending") for name in ("citing_paper_id", "parse_kind", "ref_id")])

    def dois_of(ids: pa.Array) -> dict[str, str | None]:
        rows = run.table(PAPERS).rows(["paper_id", "doi"], where=pc.field("paper_id").isin(ids)) if len(ids) else ()
        return {row["paper_id"]: row["doi"] for row in rows}

    is_preprint = preprint_of(run.spec.cluster.preprint_prefixes)
    found = withheld(entries, papers, search, run.spec.quality.gold_sample, is_preprint, dois_of)
    gold = Gold(found.known, found.found, found.said, found.right).metrics("links")
    return {name: int(n) for name, n in gold.items()} | {"tried": found.tried, "agreed": found.agreed}


def _counts_key(run: Run, shard: Shard) -> str:
    return f"releases/{run.release_id}/{LINKS.name}/counts-{shard.index:05d}.json"


def _entries_at_once(run: Run) -> int:
    """As many as memory allows, but half as many as there are papers: beyond that, more memory costs more than a pass saves."""
    return min(_room(run), max(run.table(PAPERS).committed().rows // 2, _FEW_AT_ONCE))


def _room(run: Run) -> int:
    """Entries, or papers that changed, that memory has room for; a quarter of it is the search's."""
    return max(run.spec.resources.memory_mb * (3 << 18) // _BYTES_PER_ENTRY, 1)


def _search(run: Run) -> Search:
    rules = run.spec.link
    return Search(rules.min_score, rules.bands, rules.rows, rules.min_keys, memory_mb=run.spec.resources.memory_mb // 4)
