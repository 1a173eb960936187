"""Link: bibliography entries to the kept papers they are, and where in the text they are cited (S2ORC §2.6; SEMANTICS: Link).

A shard is some neighbouring buckets of papers. It reads every kept paper's title and identifiers and makes its own index of them:
that takes two seconds a million titles, less than keeping one anywhere would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.engine import Engine, chosen, engine
from s2corpus.stages.base import Metrics, Run, Shard, commit_all, count_outcomes
from s2corpus.stages.relink import inputs, links_that_hold, parent_run, rules
from s2corpus.tables import CONTEXTS, ENTRIES, FILTERED, FULLTEXTS, LINKS, PAPERS
from s2corpus.titles.candidates import MAX_SHARED, Pairs, Search, best, candidates, score_proposed
from s2corpus.titles.changes import crowded_keys
from s2corpus.titles.linking import SCHEMA, Links, link
from s2corpus.titles.minhash import minhash_keys
from s2corpus.titles.recall import measure
from s2corpus.titles.targets import IDENTIFIERS, Targets, first_surname
from s2corpus.titles.threegrams import grams

SAMPLE = 500
"""Titles of a release that are compared with all, and links by identifier that are tried by title, for recall and precision."""
GROUPS = 4
"""Most groups of buckets a shard: reading the papers' titles once serves them all."""
_BYTES_PER_ENTRY = 1024
"""Memory that an entry takes while it is linked, an upper estimate."""


_TITLES_AT_ONCE = 1 << 16
_KEYS = pa.schema([("row", pa.int64()), ("key", pa.int64()), ("size", pa.int32())])
_PAIRS = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("keys", pa.int64())])


class Link:
    """Entries and kept papers → links, the contexts of inline citations, and how good the links are."""

    name = "link"
    reads = (PAPERS, FILTERED, FULLTEXTS, ENTRIES)
    writes = (LINKS, CONTEXTS)

    def plan(self, run: Run) -> list[Shard]:
        """A few groups of neighbouring buckets each, one after the other; a group has as many entries as the memory allows at once."""
        groups: list[list[int]] = []
        room = 0
        for bucket, part in enumerate(run.table(ENTRIES).committed().parts):
            if not groups or part.rows > room:
                groups.append([])
                room = _entries_at_once(run)
            groups[-1].append(bucket)
            room -= part.rows
        shards = range(0, len(groups), GROUPS)
        return [Shard(i, {"groups": groups[first : first + GROUPS]}) for i, first in enumerate(shards)]

    def work(self, run: Run, shard: Shard) -> None:
        """Link the entries of the shard's buckets; the first shard measures its first links on a sample."""
        papers, search = _papers(run), _search(run)
        targets = Targets.of(papers)
        pa.default_memory_pool().release_unused()
        counts = Counter[str]()
        for number, buckets in enumerate(shard.params["groups"]):
            entries, sizes = _gathered([_entries(run, bucket) for bucket in buckets])
            # Buckets are a random division of the papers: one group stands for all.
            sample = SAMPLE if number == shard.index == 0 else 0
            linked, crowded = _linked(run, shard, entries, papers, targets, search, sample, counts)
            linked = linked.rename_columns({"paper_id": "cited_paper_id"})
            for name, key in (("citing_paper_id", "paper_id"), ("parse_kind", "parse_kind"), ("ref_id", "ref_id")):
                linked = linked.append_column(key, entries[name])
            begin = 0
            for bucket, size in zip(buckets, sizes, strict=True):
                links_of_bucket = linked.slice(begin, size)
                begin += size
                run.table(LINKS).write(bucket, links_of_bucket)
                run.table(CONTEXTS).write(bucket, _contexts(run, bucket, links_of_bucket, counts))
        run.lake.put(_counts_key(run, shard), orjson.dumps({"counts": counts, "crowded": crowded.tolist()}))

    def finish(self, run: Run) -> Metrics:
        """Commit; how many entries are linked and why, recall and precision on the sample, and S2ORC's table 4."""
        counts, crowded = Counter[str](), []
        for shard in run.planned(self.name):
            found = orjson.loads(run.lake.get(_counts_key(run, shard))[0])
            counts.update(found["counts"])
            crowded = found["crowded"]
        facts = {"rules": rules(run), "inputs": inputs(run), "crowded": crowded}
        metrics = commit_all(run, self.writes, run.paper_shards, facts) | count_outcomes(run, LINKS, "reason")
        metrics["linked"] = metrics["rows"] - metrics.get("reason.none", 0.0)
        metrics |= {name: float(value) for name, value in counts.items() if "." not in name}
        if counts["alike"]:
            metrics["recall"] = counts["found"] / counts["alike"]
        if counts["tried"]:
            metrics["precision"] = counts["agreed"] / counts["tried"]
        for name, value in counts.items():
            kind, dot, statistic = name.partition(".")
            if dot:
                metrics[name if statistic == "parses" else f"{name}_mean"] = (
                    float(value) if statistic == "parses" else value / counts[f"{kind}.parses"]
                )
        return metrics


def pairs_by_join(
    run: Run, shard: Shard, titles_a: pa.Array, titles_b: pa.Array, threshold: float, search: Search | None
) -> Pairs:
    """`candidates` as a join of keys, for Spark: the same pairs. On one machine the probe is many times as fast (`bench/link.py`)."""
    search = search or _search(run)
    uris = []
    for side, titles in (("a", titles_a), ("b", titles_b)):
        key = f"releases/{run.release_id}/_keys/link-{shard.index:05d}-{side}.parquet"
        path = run.scratch / f"link-{run.release_id}-{shard.index:05d}-{side}.parquet"
        with pq.ParquetWriter(path, _KEYS) as writer:
            for begin in range(0, len(titles), _TITLES_AT_ONCE):
                sets = grams(titles.slice(begin, _TITLES_AT_ONCE))
                row, keys = minhash_keys(sets, search.bands, search.rows)
                writer.write_table(pa.table([row + begin, keys.astype(np.int64), sets.sizes[row]], schema=_KEYS))
        run.lake.upload(key, path)
        path.unlink()
        uris.append(run.lake.uri(key))
    with engine(memory_mb=run.spec.resources.memory_mb, scratch=run.scratch) as at_work:
        found, crowded = join_keys(at_work, uris[0], uris[1], threshold, search.min_keys)
    a, b = found["a"].to_numpy(), found["b"].to_numpy()
    scores = score_proposed(titles_a, a, titles_b, b, threshold)
    kept = best(a, b, scores, search.keep)
    return Pairs(a[kept], b[kept], scores[kept], int(np.sum(found["keys"])), len(found), crowded)


def join_keys(at_work: Engine, uri_a: str, uri_b: str, threshold: float, min_keys: int) -> tuple[pa.Table, np.ndarray]:
    """Pairs of rows that share `min_keys` keys or more whose sizes allow S; and the keys that more than MAX_SHARED of b share.

    Those propose nobody.
    """
    f = at_work.functions
    a, b = at_work.read([uri_a]), at_work.read([uri_b])
    common = b.groupBy("key").agg(f.count(f.lit(1)).alias("titles"))
    crowded = common.where(f.col("titles") > MAX_SHARED).select("key")
    b = b.join(crowded, on="key", how="left_anti")
    a = a.select(f.col("key"), f.col("row").alias("a"), f.col("size").alias("size_a"))
    b = b.select(f.col("key"), f.col("row").alias("b"), f.col("size").alias("size_b"))
    pairs = (
        a.join(b, on="key", how="inner")
        .where(f.least("size_a", "size_b") * 2.0 > f.lit(threshold) * (f.col("size_a") + f.col("size_b")))
        .groupBy("a", "b")
        .agg(f.count(f.lit(1)).alias("keys"))
        .where(f.col("keys") >= min_keys)
    )
    found = at_work.arrow(pairs, _PAIRS).sort_by([("a", "ascending"), ("b", "ascending")])
    return found, np.sort(
        at_work.arrow(crowded, _KEYS.empty_table().select(["key"]).schema)["key"].to_numpy().astype(np.uint64)
    )


def _linked(
    run: Run,
    shard: Shard,
    entries: pa.Table,
    papers: pa.Table,
    targets: Targets,
    search: Search,
    sample: int,
    counts: Counter[str],
) -> tuple[pa.Table, np.ndarray]:
    """The links of entries, a row each in their order, and the crowded keys; counts and measures on the way."""
    propose = candidates if chosen() == "duckdb" else partial(pairs_by_join, run, shard)
    holds, held = np.zeros(len(entries), np.bool_), SCHEMA.empty_table()
    if parent := parent_run(run):
        holds, held = links_that_hold(parent, entries, papers, targets, search, _papers, _entries)
    left = entries.take(pa.array(np.flatnonzero(~holds))) if holds.any() else entries
    counts.update({"entries_taken_over": len(held), "entries_linked_anew": len(left)})
    rows, crowded = [held], None
    for begin in range(0, len(left), _entries_at_once(run)):
        some = left.slice(begin, _entries_at_once(run))
        links = link(some, targets, search, propose)
        rows.append(links.rows)
        counts.update(_search_counts(links))
        crowded = links.pairs.crowded if len(links.searched) else crowded
        if begin == 0 and sample:
            counts.update(measure(some, links, targets, search, sample).counts())
    linked = pa.concat_tables(rows)
    if holds.any():
        linked = linked.take(pa.array(np.argsort(np.concatenate([np.flatnonzero(holds), np.flatnonzero(~holds)]))))
    return linked, crowded_keys(targets, search) if crowded is None else crowded


def _gathered(tables: list[pa.Table]) -> tuple[pa.Table, list[int]]:
    """Tables as one, in one piece each column, and how many rows each had; the tables themselves are let go."""
    sizes = [len(table) for table in tables]
    gathered = pa.concat_tables(tables)
    tables.clear()
    gathered = gathered.combine_chunks()
    pa.default_memory_pool().release_unused()
    return gathered, sizes


def _counts_key(run: Run, shard: Shard) -> str:
    return f"releases/{run.release_id}/{LINKS.name}/counts-{shard.index:05d}.json"


def _entries_at_once(run: Run) -> int:
    return max(run.spec.resources.memory_mb * (1 << 20) // 2 // _BYTES_PER_ENTRY, 1)


def _search(run: Run) -> Search:
    rules = run.spec.link
    return Search(rules.min_score, rules.bands, rules.rows, rules.min_keys, memory_mb=run.spec.resources.memory_mb // 2)


def _search_counts(links: Links) -> dict[str, int]:
    pairs = links.pairs
    return {
        "titles_searched": len(links.searched),
        "pairs_proposed": pairs.proposed,
        "pairs_verified": pairs.verified,
        "keys_crowded": len(pairs.crowded),
    }


def _papers(run: Run) -> pa.Table:
    """Kept papers, with what the rules look at."""
    tables: list[pa.Table] = []
    for bucket in range(run.paper_shards):
        kept = run.table(FILTERED).read(["paper_id"], shard=bucket, where=pc.field("outcome") == "kept")["paper_id"]
        columns = ["paper_id", "title", "date", "authors", *IDENTIFIERS]
        papers = run.table(PAPERS).read(columns, shard=bucket, where=pc.field("paper_id").isin(kept.combine_chunks()))
        tables.append(
            papers.append_column("year", pc.utf8_slice_codeunits(papers["date"], 0, 4).cast(pa.int32()))
            .append_column("surname", first_surname(papers["authors"]))
            .drop_columns(["date", "authors"])
        )
    return _gathered(tables)[0]


def _entries(run: Run, bucket: int) -> pa.Table:
    """The entries of a bucket, with what the rules look at."""
    columns = ["paper_id", "parse_kind", "ref_id", "title", "authors", "year", *IDENTIFIERS]
    entries = run.table(ENTRIES).read(columns, shard=bucket)
    return (
        entries.append_column("surname", first_surname(entries["authors"]))
        .drop_columns(["authors"])
        .rename_columns({"paper_id": "citing_paper_id"})
    )


def _contexts(run: Run, bucket: int, links: pa.Table, counts: Counter[str]) -> Iterator[pa.RecordBatch]:
    """The inline citations of the bucket's open, kept papers, each with its paragraph; counts what S2ORC's table 4 shows."""
    kept = run.table(FILTERED).read(["paper_id"], shard=bucket, where=pc.field("outcome") == "kept")["paper_id"]
    where = pc.field("open_access") & pc.field("paper_id").isin(kept.combine_chunks())
    by_parse: dict[tuple[str, str], tuple[int, int]] = {}
    for batch in run.table(FULLTEXTS).batches(["paper_id", "parse_kind", "parse"], shard=bucket, where=where, rows=64):
        by_parse = by_parse or _by_parse(links)
        rows: list[dict[str, Any]] = []
        for fulltext in batch.to_pylist():
            key = {"paper_id": fulltext["paper_id"], "parse_kind": fulltext["parse_kind"]}
            mine = links.slice(*by_parse.get((key["paper_id"], key["parse_kind"]), (0, 0)))
            cited = dict(zip(mine["ref_id"].to_pylist(), mine["cited_paper_id"].to_pylist(), strict=True))
            parse = orjson.loads(fulltext["parse"])
            kind = key["parse_kind"]
            counts[f"{kind}.parses"] += 1
            counts[f"{kind}.bib_entries"] += len(cited)
            counts[f"{kind}.linked_bib_entries"] += sum(1 for paper in cited.values() if paper)
            paragraphs = [(part, p) for part in ("abstract", "body_text", "back_matter") for p in parse.get(part) or ()]
            found = []
            for number, (part, paragraph) in enumerate(paragraphs):
                counts[f"{kind}.paragraphs_{part}"] += 1
                counts[f"{kind}.cite_spans_{part}"] += len(paragraph["cite_spans"])
                found += [
                    {
                        **key,
                        "paragraph": number,
                        "start": span["start"],
                        "end": span["end"],
                        "ref_id": span["ref_id"],
                        "cited_paper_id": cited.get(span["ref_id"]),
                        "text": paragraph["text"],
                    }
                    for span in paragraph["cite_spans"]
                    if span["ref_id"]
                ]
            found.sort(key=lambda row: (row["paragraph"], row["start"], row["end"], row["ref_id"]))
            rows += found
        if rows:
            yield from pa.Table.from_pylist(rows, schema=CONTEXTS.schema).to_batches()


def _by_parse(links: pa.Table) -> dict[tuple[str, str], tuple[int, int]]:
    """Where the links of each parse are: (paper_id, parse_kind) → first row, rows. They are sorted by it."""
    where: dict[tuple[str, str], tuple[int, int]] = {}
    first = 0
    parses = links.group_by(["paper_id", "parse_kind"], use_threads=False).aggregate([([], "count_all")])
    for parse in parses.to_pylist():
        where[parse["paper_id"], parse["parse_kind"]] = (first, parse["count_all"])
        first += parse["count_all"]
    return where
