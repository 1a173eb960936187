"""Clusters by an engine: the edges and clusters of `clustering`, as joins over tables that need not fit into one machine's memory.

What is where:
- here, some rows at a time: what records and titles are compared by, S of proposed pairs, and which edges of whole components are
  taken; at once are `SHARE` rows, or those of one title's pairs or one component where these are more;
- in the engine: records by identifier and by title, windows within these, MinHash keys by key, the agreement of two records' DOIs,
  years and authors, connected components (`spark_components`);
- here at the end, for the ids of papers (`clustering.identity`): id, time and cluster of each record, and the edges that are reported.
The rules are those of `clustering`, said again as queries; a test compares the results row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.agreement import WINDOW
from s2corpus.clustering.cluster import Clustering, named
from s2corpus.clustering.edges import (
    UNRELATED,
    Edges,
    identifier_strength,
    numbered,
    reasons_of,
)
from s2corpus.clustering.identity import Parent
from s2corpus.clustering.nodes import IDENTIFIERS, codes_of, from_preprint_server, part_of
from s2corpus.clustering.places import ELECTRONIC, Places, contradict, located
from s2corpus.clustering.scripts import same_script
from s2corpus.clustering.similar import KEEP, scores, signatures
from s2corpus.spec import UNNAMED_SCORE, UNRELATED_SCORE
from s2corpus.stages.cluster.spark_components import EDGE_ROWS, decided
from s2corpus.stages.cluster.spark_exchange import Work, schema_of, side_of
from s2corpus.titles.candidates import best
from s2corpus.titles.postings import MAX_SHARED

_FACTS = schema_of(
    ("string", "record_id ready_at title original final_doi journal " + " ".join(IDENTIFIERS)),
    ("bool", "trusted declares second_header preprint little"), ("int32", "year"), ("int64", "volume issue page"),
).append(pa.field("surnames", pa.list_(pa.int64())))  # fmt: skip
_NUMBERED = _FACTS.append(pa.field("node", pa.int64()))
_TITLES = schema_of(("int64", "id"), ("string", "title original"), ("bool", "little asked"))
_KEYS = schema_of(("int64", "id key"), ("bool", "asked"))
_TEXTS = schema_of(("int64", "a b"), ("string", "title_a title_b original_a original_b"))
_PAIRS = schema_of(("int64", "a b"), ("float64", "strength"))
_STARS = schema_of(
    ("int64", "left right"), ("int32", "reason"), ("string", "title_a title_b value"), ("bool", "unrelated")
)
_SIMILAR = schema_of(
    ("int64", "left right volume_a volume_b issue_a issue_b page_a page_b"), ("string", "journal_a journal_b"),
    ("bool", "exact strict published"), ("float64", "strength"),
)  # fmt: skip
_DOUBTFUL = schema_of(("int64", "left right"), ("int32", "reason"), ("string", "title_a title_b"), ("bool", "same"))

_COMPARED = "final_doi year preprint surnames journal volume issue page"
"""What of two records is compared where their titles are similar."""


def clustered(
    work: Work,
    records: Iterable[pa.RecordBatch],
    *,
    preprint_prefixes: Sequence[str],
    min_title_score: float,
    max_preprint_years: int,
    parent: Parent,
) -> Clustering:
    """What `clustering.cluster.cluster` gives, by an engine."""
    f = work.at_work.functions
    facts = work.given("facts", _FACTS, (_facts(batch, preprint_prefixes) for batch in records))
    numbers = facts.select("record_id", (f.expr("row_number() over (order by record_id)") - 1).alias("node"))
    facts = _overruled(f, facts).join(numbers, on="record_id", how="inner")
    facts = work.kept("numbered", _NUMBERED, facts.select(*_NUMBERED.names))
    edges = _identifier_edges(work, facts, min_title_score)
    labels, _ = decided(work, "identifiers", facts, edges, max_preprint_years)
    titles = facts.where(f.col("title").isNotNull()).groupBy("title").agg(f.min("node").alias("id"))
    firsts = facts.select(f.col("node").alias("id"), "original", "little")
    titles = titles.join(firsts, on="id", how="inner")
    equal = _equal_title_edges(work, facts, titles, labels, max_preprint_years)
    edges = work.kept("certain", EDGE_ROWS, edges.union(equal))
    labels, _ = decided(work, "certain", facts, edges, max_preprint_years)
    asked = _unsettled(f, facts, labels).select(f.col("title").alias("unsettled")).distinct()
    titles = titles.join(asked, on=f.col("title") == f.col("unsettled"), how="left").select(
        "id", "title", "original", "little", f.col("unsettled").isNotNull().alias("asked")
    )
    titles = work.kept("titles", _TITLES, titles.where(~f.col("little")))
    near = _near_title_edges(work, facts, titles, min_title_score, max_preprint_years)
    edges = work.kept("edges", EDGE_ROWS, edges.union(near))
    labels, told = decided(work, "all", facts, edges, max_preprint_years)
    final = _labelled(f, facts.select("node", "record_id", "ready_at"), labels)
    schema = schema_of(("int64", "node label"), ("string", "record_id ready_at"))
    table = work.at_work.arrow(final, schema).sort_by("node").combine_chunks()
    ids, times = (
        pa.concat_arrays([pa.array([], pa.string()), *table[name].chunks]) for name in ("record_id", "ready_at")
    )
    columns = (told[name].to_numpy() for name in ("left", "right", "reason", "strength"))
    return named(ids, times, table["label"].to_numpy(), Edges(*columns), told["fate"].to_numpy(), parent)


def _facts(batch: pa.RecordBatch, preprint_prefixes: Sequence[str]) -> pa.Table:
    part = part_of(batch)
    of_preprint = from_preprint_server(pc.fill_null(part.doi, ""), preprint_prefixes)
    none = pa.scalar(None, pa.string())
    return pa.table(
        {
            "record_id": part.record_id,
            "ready_at": part.ready_at,
            "title": pc.if_else(pc.equal(part.normalised, ""), none, part.normalised),
            "original": part.title,
            "final_doi": pc.if_else(pa.array(of_preprint), none, part.doi),
            **{name: getattr(part, name) for name in IDENTIFIERS},
            "trusted": part.trusted,
            "declares": part.declares,
            "second_header": part.second_header,
            "preprint": of_preprint | (np.asarray(part.arxiv_id.is_valid()) & ~part.publisher),
            "little": part.little,
            "year": part.year,
            "journal": part.journal,
            "volume": part.volume.astype(np.int64),
            "issue": part.issue.astype(np.int64),
            "page": part.page.astype(np.int64),
            "surnames": pa.ListArray.from_arrays(part.surname_offsets.astype(np.int32), part.surnames.view(np.int64)),
        }
    )


def _overruled(f: Any, facts: Any) -> Any:
    """See `clustering.nodes`: a DOI that was read from a file does not contradict the one that its drop gives it."""
    given = facts.where(f.col("declares") & f.col("declared").isNotNull() & f.col("final_doi").isNotNull())
    given = given.select(f.col("declared").alias("given")).distinct()
    joined = facts.join(given, on=f.col("declared") == f.col("given"), how="left")
    kept = f.when(f.col("given").isNull() | f.col("declares"), f.col("final_doi")).alias("final_doi")
    return joined.select(*(kept if name == "final_doi" else name for name in _FACTS.names))


def _identifier_edges(work: Work, facts: Any, min_title_score: float) -> Any:
    """See `clustering.edges.identifier_edges`."""
    f = work.at_work.functions
    named_ids: Any = None
    declared = facts.where(f.col("declared").isNotNull()).select("declared", "node", "declares")
    centres = declared.where("declares").groupBy("declared").agg(f.min("node").alias("left"))
    declared = declared.join(centres, on="declared", how="inner").where(f.col("node") != f.col("left"))
    declared = declared.select(
        "left", f.col("node").alias("right"), f.lit(IDENTIFIERS.index("declared")).alias("reason")
    )
    for reason, name in enumerate(IDENTIFIERS):
        if name == "declared":
            continue
        own = f.col("trusted") if name != "pdf_sha1" else f.lit(False)
        some = facts.where(f.col(name).isNotNull()).select(
            f.lit(reason).alias("reason"), f.col(name).alias("value"), "node", "title", f.col("trusted").alias("known"),
            own.alias("trusted"), "second_header", "surnames",
        )  # fmt: skip
        named_ids = some if named_ids is None else named_ids.union(some)
    places = f.expr("row_number() over (partition by reason, value order by node)").alias("place")
    every = named_ids.select(
        "reason", "value", "node", "title", "known", "trusted", "second_header", "surnames", places
    )
    on = ["reason", "value"]
    trusted = every.where("trusted")
    centred = f.expr("row_number() over (partition by reason, value order by title is null, node)").alias("centred")
    centres = trusted.select(*trusted.columns, centred).where(f.col("centred") == 1)
    centres = centres.select(
        *on, f.col("node").alias("left"), *(f.col(c).alias(f"{c}_a") for c in ("title", "surnames"))
    )
    stars = trusted.join(centres, on=on, how="inner").where(f.col("node") != f.col("left")).select(
        "left", f.col("node").alias("right"), "reason", "value", "title_a", "surnames_a",
        f.col("title").alias("title_b"), f.col("surnames").alias("surnames_b"),
    )  # fmt: skip
    stars, apart = _related(work, "stars", stars)
    outcast = every.join(
        apart.select("reason", "value", f.col("right").alias("node")), on=["reason", "value", "node"], how="inner"
    )
    behind = f.expr("row_number() over (partition by reason, value order by node)").alias("place")
    outcast = outcast.select("reason", "value", "node", "title", "surnames", behind)
    a, b = (side_of(f, outcast, side, on, "node title surnames place") for side in "ab")
    among = a.join(b, on=on, how="inner").where(f.expr(f"place_b - place_a between 1 and {WINDOW}"))
    among, _ = _related(
        work, "outcasts", among.withColumnRenamed("node_a", "left").withColumnRenamed("node_b", "right")
    )
    stars = stars.union(among)
    a, b = (side_of(f, every, side, on, "node title known trusted second_header place") for side in "ab")
    pairs = a.join(b, on=on, how="inner").where(f.expr(f"place_b - place_a between 1 and {WINDOW}"))
    pairs = pairs.where(~(f.col("trusted_a") & f.col("trusted_b"))).select(
        f.col("node_a").alias("left"), f.col("node_b").alias("right"), "reason", "title_a", "title_b",
        (
            (f.col("reason") == IDENTIFIERS.index("pdf_sha1"))
            & ((f.col("second_header_a") & ~f.col("known_b")) | (f.col("second_header_b") & ~f.col("known_a")))
        ).alias("same"),
    )  # fmt: skip
    sure = pairs.where((f.col("title_a") == f.col("title_b")) | f.col("same")).select("left", "right", "reason")
    unsure = pairs.where((f.col("title_a") != f.col("title_b")) & ~f.col("same"))
    similar = work.given("doubtful", _DOUBTFUL, _similar_pairs(work.taken(unsure, _DOUBTFUL, "left"), min_title_score))
    named_pdfs = every.where(f.col("reason") == IDENTIFIERS.index("pdf_sha1"))
    unanimous = named_pdfs.where("known").groupBy("value").agg(
        f.min("node").alias("left"),
        f.countDistinct(f.coalesce("title", f.lit(""))).alias("titles"),
    )  # fmt: skip
    untitled = named_pdfs.where(~f.col("known") & f.col("title").isNull()).select("value", "node", "reason")
    untitled = untitled.join(unanimous.where(f.col("titles") == 1), on="value", how="inner")
    untitled = untitled.select("left", f.col("node").alias("right"), "reason")
    refused = apart.select("left", "right", (f.col("reason") + 100).alias("reason"))
    edges = (
        declared.union(stars)
        .union(refused)
        .union(sure)
        .union(similar.select("left", "right", "reason"))
        .union(untitled)
    )
    refusing = f.col("reason") >= 100
    strength = f.lit(identifier_strength(0)) - f.when(refusing, f.col("reason") - 100).otherwise(f.col("reason"))
    reason = f.when(refusing, f.lit(UNRELATED)).otherwise(f.col("reason"))
    return work.kept("identifiers", EDGE_ROWS, _as_edges(f, edges, reason, strength, near=0))


def _related(work: Work, name: str, pairs: Any) -> tuple[Any, Any]:
    """(left, right, reason of the pairs that are not unrelated; left, right, reason, value of those that are): see `edges.unrelated`."""
    f = work.at_work.functions
    strangers = f.expr(
        """title_a is not null and title_b is not null and title_a <> title_b and size(surnames_a) > 0 and size(surnames_b) > 0
        and size(array_intersect(surnames_a, surnames_b)) = 0"""
    )
    pairs = pairs.select(
        "left", "right", "reason", "title_a", "title_b", "value", f.coalesce(strangers, f.lit(False)).alias("unrelated")
    )
    judged = work.given(name, _STARS, _judged_strangers(work.taken(pairs.where("unrelated"), _STARS, "left")))
    sure = pairs.where(~f.col("unrelated")).select("left", "right", "reason")
    related = sure.union(judged.where(~f.col("unrelated")).select("left", "right", "reason"))
    return related, judged.where("unrelated").select("left", "right", "reason", "value")


def _judged_strangers(shares: Iterable[pa.Table]) -> Iterator[pa.Table]:
    for table in shares:
        rows = np.arange(table.num_rows)
        a, b = (table[name].combine_chunks() for name in ("title_a", "title_b"))
        low = scores(a, rows, b, rows, 0.0) < UNRELATED_SCORE
        found = [
            bool(is_low) and same_script(*pair) for is_low, *pair in zip(low, a.to_pylist(), b.to_pylist(), strict=True)
        ]
        column = pa.array(found, pa.bool_())
        yield table.set_column(table.column_names.index("unrelated"), "unrelated", column)


def _similar_pairs(shares: Iterable[pa.Table], min_title_score: float) -> Iterator[pa.Table]:
    for table in shares:
        rows = np.arange(table.num_rows)
        a, b = (table[name].combine_chunks() for name in ("title_a", "title_b"))
        yield table.filter(pa.array(scores(a, rows, b, rows, min_title_score) > 0.0))


def _equal_title_edges(work: Work, facts: Any, titles: Any, labels: Any, max_preprint_years: int) -> Any:
    """See `clustering.edges.equal_title_edges`."""
    f = work.at_work.functions
    placed = _placed(f, facts, titles.select("title", "id", f.col("little").alias("strict")))
    placed = _labelled(f, placed, labels)
    on = ["id", "strict"]
    columns = f"node label place {_COMPARED}"
    a, b = (side_of(f, placed, side, on, columns) for side in "ab")
    pairs = a.join(b, on=on, how="inner").where(f.expr(f"place_b - place_a between 1 and {WINDOW}"))
    pairs = pairs.where(f.col("label_a") != f.col("label_b"))
    agreed = (~f.col("strict") & _agree(f, max_preprint_years, exact=True)) | (f.col("strict") & _agree_strictly(f))
    pairs = pairs.where(agreed).select("*", f.lit(1.0).alias("strength"), f.lit(True).alias("exact"))
    return _judged(work, "equal", pairs, near=0)


def _near_title_edges(work: Work, facts: Any, titles: Any, min_title_score: float, max_preprint_years: int) -> Any:
    """See `clustering.edges.near_title_edges` and `clustering.similar.similar`."""
    f = work.at_work.functions
    keys = work.given("keys", _KEYS, map(_keys, work.taken(titles, _TITLES, "id")))
    held = keys.where("asked").select("key", f.col("id").alias("b"))
    roomy = held.groupBy("key").agg(f.count(f.lit(1)).alias("n")).where(f.col("n") <= MAX_SHARED).select("key")
    held = held.join(roomy, on="key", how="inner")
    pairs = keys.select("key", f.col("id").alias("a"), "asked").join(held, on="key", how="inner")
    pairs = pairs.where((f.col("a") < f.col("b")) | (~f.col("asked") & (f.col("a") != f.col("b"))))
    pairs = pairs.select("a", "b").distinct()
    for side in "ab":
        texts = titles.select(
            *(
                f.col(c).alias(n)
                for c, n in (("id", side), ("title", f"title_{side}"), ("original", f"original_{side}"))
            )
        )
        pairs = pairs.join(texts, on=side, how="inner")
    near = work.given("near", _PAIRS, (_near(table, min_title_score) for table in work.taken(pairs, _TEXTS, "a")))
    placed = _placed(f, facts, titles.select("title", "id")).where(f.col("place") <= WINDOW)
    columns = f"node {_COMPARED}"
    for side in "ab":
        near = near.join(side_of(f, placed.withColumnRenamed("id", side), side, [side], columns), on=side, how="inner")
    near = near.where(_agree(f, max_preprint_years, exact=False)).select(
        "*", f.lit(False).alias("exact"), f.lit(False).alias("strict")
    )
    return _judged(work, "near-edges", near, near=1)


def _judged(work: Work, name: str, pairs: Any, near: int) -> Any:
    """Edges between records of similar titles that agree, each with what its journals, volumes and pages make of it."""
    f = work.at_work.functions
    sides = (f"{column}_{side}" for column in ("volume", "issue", "page", "journal") for side in "ab")
    pairs = pairs.select(
        f.col("node_a").alias("left"), f.col("node_b").alias("right"), *sides, "exact", "strict",
        (~f.col("preprint_a") & ~f.col("preprint_b")).alias("published"), "strength",
    )  # fmt: skip
    pairs = work.kept(f"similar-{name}", _SIMILAR, pairs)
    judged = work.given(name, EDGE_ROWS, (_with_reasons(share, near) for share in work.taken(pairs, _SIMILAR, "left")))
    return judged.select(*EDGE_ROWS.names)


def _with_reasons(pairs: pa.Table, near: int) -> pa.Table:
    journal, names = codes_of(pa.chunked_array([*pairs["journal_a"].chunks, *pairs["journal_b"].chunks], pa.string()))
    half = len(pairs)
    volume, issue, page = (
        [pairs[f"{name}_{side}"].to_numpy().astype(np.uint32) for side in "ab"] for name in ("volume", "issue", "page")
    )
    a = Places(volume[0], issue[0], page[0], journal[:half])
    b = Places(volume[1], issue[1], page[1], journal[half:])
    exact, strict, published = (np.asarray(pairs[name]) for name in ("exact", "strict", "published"))
    left, right = pairs["left"].to_numpy(), pairs["right"].to_numpy()
    return pa.table(
        {
            "left": np.minimum(left, right),
            "right": np.maximum(left, right),
            "reason": reasons_of(located(a, b), contradict(a, b, names, exact, strict) & published).astype(np.int32),
            "near": np.full(len(pairs), near, np.int32),
            "strength": pairs["strength"],
        }
    )


def _keys(titles: pa.Table) -> pa.Table:
    """A row for each title and band."""
    found = signatures(titles["title"].combine_chunks()).keys.astype(np.int64)
    bands = len(found)
    found |= (np.arange(bands, dtype=np.int64) << 32)[:, None]
    table = pa.table({"id": np.tile(titles["id"].to_numpy(), bands), "key": found.ravel()})
    return table.append_column("asked", pa.array(np.tile(np.asarray(titles["asked"]), bands), pa.bool_()))


def _near(pairs: pa.Table, min_title_score: float) -> pa.Table:
    """Of proposed pairs of titles those with S above the threshold, and that differ not only in a number."""
    rows = np.arange(pairs.num_rows)
    a, b = (pairs[name].combine_chunks() for name in ("title_a", "title_b"))
    score = scores(a, rows, b, rows, min_title_score)
    kept = best(pairs["a"].to_numpy(), pairs["b"].to_numpy(), score, KEEP)
    found = pairs.take(pa.array(kept)).append_column("strength", pa.array(score[kept], pa.float64()))
    return found.filter(pa.array(~numbered(*(found[f"original_{side}"].combine_chunks() for side in "ab"))))


def _unsettled(f: Any, facts: Any, labels: Any) -> Any:
    """The titled records of clusters that have no DOI, or one that another cluster has."""
    placed = _labelled(f, facts.select("node", "title", "final_doi"), labels)
    dois = placed.groupBy("label").agg(f.max("final_doi").alias("doi"))
    alone = dois.groupBy("doi").agg(f.count(f.lit(1)).alias("n")).where((f.col("n") == 1) & f.col("doi").isNotNull())
    settled = dois.join(alone, on="doi", how="inner").select(f.col("label").alias("settled"))
    placed = placed.where(f.col("title").isNotNull())
    return placed.join(settled, on=f.col("label") == f.col("settled"), how="left").where(f.col("settled").isNull())


def _labelled(f: Any, frame: Any, labels: Any) -> Any:
    """The frame's records with the label of their cluster: their own number where they are alone."""
    labels = labels.select(f.col("node").alias("member"), f.col("label").alias("found"))
    joined = frame.join(labels, on=f.col("node") == f.col("member"), how="left")
    return joined.select(*frame.columns, f.coalesce("found", "node").alias("label"))


def _placed(f: Any, facts: Any, titles: Any) -> Any:
    """The records of titles, with their place by year and node."""
    placed = facts.select("node", "title", *_COMPARED.split()).join(titles, on="title", how="inner")
    place = f.expr("row_number() over (partition by id order by year, node)").alias("place")
    return placed.select(*placed.columns, place)


def _as_edges(f: Any, pairs: Any, reason: Any, strength: Any, near: int) -> Any:
    return pairs.select(
        f.least("left", "right").alias("left"),
        f.greatest("left", "right").alias("right"),
        reason.cast("int").alias("reason"),
        f.lit(near).cast("int").alias("near"),
        strength.cast("double").alias("strength"),
    )


def _agree(f: Any, max_preprint_years: int, *, exact: bool) -> Any:
    """See `clustering.agreement.agree`."""
    in_volume = "volume_a <> 0 and volume_a = volume_b"
    on_page = "page_a <> 0 and page_a = page_b"
    kinds = f"(page_a & {ELECTRONIC}) <> (page_b & {ELECTRONIC})"
    located = f"({in_volume} and (({on_page}) or page_a = 0 or page_b = 0 or {kinds}))"
    sure = "true" if exact else f"({located} or size(surnames_a) + size(surnames_b) > 0 or strength > {UNNAMED_SCORE})"
    return f.expr(
        f"""(final_doi_a is null or final_doi_b is null or final_doi_a = final_doi_b)
        and (year_a = 0 or year_b = 0 or abs(year_a - year_b) <=
             case when preprint_a <> preprint_b then {max_preprint_years} when {located} then 1 else 0 end)
        and (({str(exact).lower()} and {in_volume} and {on_page})
             or 2 * size(array_intersect(surnames_a, surnames_b)) >= least(size(surnames_a), size(surnames_b)))
        and {sure}"""
    )


def _agree_strictly(f: Any) -> Any:
    """See `clustering.agreement.agree_strictly`."""
    return f.expr(
        """(final_doi_a is null or final_doi_b is null or final_doi_a = final_doi_b) and year_a <> 0 and year_a = year_b
        and size(surnames_a) > 0 and size(surnames_a) = size(surnames_b)
        and size(array_intersect(surnames_a, surnames_b)) = size(surnames_a)"""
    )
