"""Rounds that find edges by title. Equal titles are in one bucket by text; similar titles share a bucket by MinHash key.

Different titles of one paper are in one bucket by year, first page and surnames ("front").
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.edges import edges_of_front, edges_of_similar, equal_title_edges
from s2corpus.clustering.facts import FACTS, nodes_from
from s2corpus.clustering.pairs import WINDOW
from s2corpus.stages.cluster.rounds import LABELS, NODE, Partition, Rounds
from s2corpus.titles.arrays import bucket_of, hash_strings, one_chunk, read_only
from s2corpus.titles.similarity import (
    SortedKeys,
    compute_keys,
    expand_ranges,
    pair_equal_keys,
    score_titles,
    select_best,
    sort_keys,
    unique_pairs,
)

BANDS = 16
"""number of MinHash keys of one title; two titles with Jaccard index J share a key with probability 1 − (1 − J⁶)¹⁶: 0.99 at J = 0.8.

Linking uses more keys. Here, a third record usually joins the two sides of a missed pair.
"""
_NODE_BITS = 40
_KEYS_PER_BLOCK = 1 << 16
"""number of keys in one lookup"""
_FACTS = (
    "title", "normalized", "little", "trusted", "translated", "document", "preprint",
    "year", "final_doi", "surnames", "journal", "volume", "issue", "page",
)  # fmt: skip
_TITLED = pa.schema([*LABELS, *(FACTS.field(name) for name in _FACTS)])
_KEYS = pa.schema([("key", pa.uint64()), ("title", pa.int64()), ("is_open", pa.bool_())])
_PAIR = pa.schema([("a", pa.int64()), ("b", pa.int64())])
_TEXTS = pa.schema([*_PAIR, ("text", pa.string())])
_SCORED = pa.schema([*_PAIR, ("score", pa.float64())])
_FRONT = pa.schema([*_TITLED, ("front", pa.uint64())])
_NEAR = pa.schema([*_TITLED, ("of", pa.int64())])


def send_by_title(rounds: Rounds, task: int) -> None:
    """Send every record of a partition with a title to the bucket of its title."""
    partition = Partition(rounds, task)
    label = rounds.labels(0, task)
    columns = {"node": partition.nodes, "label": label, **{name: partition[name] for name in _FACTS}}
    rows = pa.table(columns, schema=_TITLED).take(pa.array(partition.titled))
    rounds.send("titles", task, rows, bucket_of(rows["normalized"], rounds.partitions))


def _read_titled(rounds: Rounds, bucket: int) -> pa.Table:
    return rounds.receive("titles", bucket, _TITLED).sort_by("node").combine_chunks()


def equal_titles(rounds: Rounds, task: int) -> None:
    """Write the edges between records with equal titles of a bucket."""
    rows = _read_titled(rounds, task)
    nodes = nodes_from(rows)
    _, label = np.unique(rows["label"].to_numpy(), return_inverse=True)
    edges = equal_title_edges(nodes, label)
    rounds.write_edges("edges-1", task, edges, rows["node"].to_numpy(), near=0)


def keys(rounds: Rounds, task: int) -> None:
    """Send each informative title of a bucket to the buckets of its MinHash keys, with the node of its first record."""
    rows = _read_titled(rounds, task)
    node = rows["node"].to_numpy()
    nodes = nodes_from(rows)
    settled = rounds.receive("settled", task, NODE)["node"].to_numpy()
    is_open = np.zeros(len(nodes.titles), bool)  # A pair is searched only if at least one of its records is unsettled.
    is_open[nodes.title[~np.isin(node, settled)]] = True
    first = np.unique(nodes.title, return_index=True)[1]
    informative = np.flatnonzero(~nodes.strict)
    key = compute_keys(nodes.titles.take(pa.array(informative)), BANDS)
    band = (np.arange(BANDS, dtype=np.uint64) << np.uint64(32))[:, None]
    title = task << _NODE_BITS | node[first[informative]]
    columns = [(key | band).ravel(), np.tile(title, BANDS), np.tile(is_open[informative], BANDS)]
    table = pa.table(columns, schema=_KEYS).filter(pa.array(key.ravel() != 0))
    rounds.send("keys", task, table, bucket_of(table["key"].to_numpy(), rounds.partitions))


def propose(rounds: Rounds, task: int) -> None:
    """Write the candidate pairs of a bucket of keys: two titles with an equal key; the second one has an unsettled record."""
    rows = rounds.receive("keys", task, _KEYS)
    key, order = sort_keys(rows["key"].to_numpy())  # Lookups of ascending keys are several times faster.
    title, is_open = (rows[name].to_numpy()[order] for name in ("title", "is_open"))
    open_rows = np.flatnonzero(is_open)
    open_keys = SortedKeys(key[open_rows], open_rows)
    found = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for begin in range(0, len(key), _KEYS_PER_BLOCK):
        row, other = pair_equal_keys(key[begin : begin + _KEYS_PER_BLOCK], open_keys)
        row = row + begin
        a, b = title[row], title[other]
        is_new = (_node(a) < _node(b)) | (~is_open[row] & (a != b))  # A pair of two open titles occurs twice.
        found.append(unique_pairs(a[is_new], b[is_new]))
    a, b = unique_pairs(*map(np.concatenate, zip(*found, strict=True)))
    rounds.send("proposed", task, pa.table([a, b], schema=_PAIR), a >> _NODE_BITS)


def send_texts(rounds: Rounds, task: int) -> None:
    """Send the text of the first title of each pair to the bucket of the second title."""
    pairs = rounds.receive("proposed", task, _PAIR)
    a, b = unique_pairs(pairs["a"].to_numpy(), pairs["b"].to_numpy())
    rows = _read_titled(rounds, task)
    text = rows["normalized"].take(_places(rows, a))
    rounds.send("texts", task, pa.table([a, b, text], schema=_TEXTS), b >> _NODE_BITS)


def score(rounds: Rounds, task: int) -> None:
    """Compute S of the pairs with the second title in a bucket; send similar pairs to the bucket of the first title."""
    pairs = rounds.receive("texts", task, _TEXTS)
    rows = _read_titled(rounds, task)
    a, b = pairs["a"].to_numpy(), pairs["b"].to_numpy()
    of_b, place = np.unique(b, return_inverse=True)
    texts = one_chunk(rows["normalized"].take(_places(rows, of_b)))
    found = score_titles(one_chunk(pairs["text"]), np.arange(len(a)), texts, place, rounds.rules.min_title_score)
    kept = found > 0.0
    table = pa.table([a[kept], b[kept], found[kept]], schema=_SCORED)
    rounds.send("scored", task, table, a[kept] >> _NODE_BITS)


def send_records(rounds: Rounds, task: int) -> None:
    """Send the best pairs of each first title, with its records, to the bucket of the second title, which writes the edges."""
    scored = rounds.receive("scored", task, _SCORED)
    a, b = (_node(scored[name].to_numpy()) for name in ("a", "b"))
    best = select_best(a, b, scored["score"].to_numpy())
    pairs = scored.take(pa.array(best))
    a, bucket = pairs["a"].to_numpy(), pairs["b"].to_numpy() >> _NODE_BITS
    rounds.send("pairs", task, pairs, bucket)
    rows = _with_titles(_read_titled(rounds, task), a)
    nodes = nodes_from(rows)
    to, a = np.unique(np.stack([bucket, a]), axis=1)
    place = _places(rows, a).to_numpy()
    title = nodes.title[place]
    size = np.minimum(np.diff(nodes.by_title.starts)[title], WINDOW)
    pair, member = expand_ranges(nodes.by_title.starts[title], size)
    sent = rows.take(pa.array(nodes.by_title.nodes[member])).append_column("of", pa.array(a[pair]))
    originals = rows["title"].take(pa.array(place[pair]))
    sent = sent.set_column(sent.column_names.index("title"), "title", originals)
    rounds.send("near", task, sent, to[pair])


def similar_titles(rounds: Rounds, task: int) -> None:
    """Write the edges between records with similar titles."""
    pairs = rounds.receive("pairs", task, _SCORED)
    sent = rounds.receive("near", task, _NEAR)
    own = _with_titles(_read_titled(rounds, task), pairs["b"].to_numpy())
    both = pa.concat_tables([own, sent.select(own.column_names)])
    both = both.drop_columns(["little"])  # Uninformative titles have no keys.
    node, first = np.unique(both["node"].to_numpy(), return_index=True)
    nodes = nodes_from(both.take(pa.array(first)))
    ids, where = np.unique(sent["of"].to_numpy(), return_index=True)
    title_a = nodes.title[np.searchsorted(node, sent["node"].to_numpy()[where])]
    a = title_a[np.searchsorted(ids, pairs["a"].to_numpy())]
    b = nodes.title[np.searchsorted(node, _node(pairs["b"].to_numpy()))]
    edges = edges_of_similar(nodes, a, b, pairs["score"].to_numpy())
    rounds.write_edges("edges-2", task, edges, node, near=1)


def _node(title: np.ndarray) -> np.ndarray:
    """Return the first node of each title. It is the lower 40 bits of the number of a title; the upper bits are its bucket."""
    return title & ((1 << _NODE_BITS) - 1)


def _places(rows: pa.Table, titles: np.ndarray) -> pa.Array:
    return pa.array(np.searchsorted(rows["node"].to_numpy(), _node(titles)))


def _with_titles(rows: pa.Table, titles: np.ndarray) -> pa.Table:
    texts = rows["normalized"].take(_places(rows, np.unique(titles))).combine_chunks()
    return rows.filter(pc.is_in(rows["normalized"], texts)).combine_chunks()


def send_by_front(rounds: Rounds, task: int) -> None:
    """Send each record of a partition to the bucket of its year, first page and surnames, if it has these facts, and a title or a PDF."""
    partition = Partition(rounds, task)
    surnames, year, page = partition["surnames"], partition["year"].to_numpy(), partition["page"].to_numpy()
    names = hash_strings(
        read_only(surnames.offsets.to_numpy() * 8), surnames.values.to_numpy(zero_copy_only=False).view(np.uint8)
    )
    front = np.where((year == 0) | (page == 0) | (names == 0), 0, names ^ (year.astype(np.uint64) << 32 | page))
    columns = {"node": partition.nodes, "label": rounds.labels(1, task), **{name: partition[name] for name in _FACTS}}
    sent = ~np.asarray(partition["trusted"])
    sent[partition.titled] = True
    rows = pa.table({**columns, "front": front}, schema=_FRONT).filter(pa.array(sent & (front != 0)))
    rounds.send("fronts", task, rows, bucket_of(rows["front"].to_numpy(), rounds.partitions))


def cut_titles(rounds: Rounds, task: int) -> None:
    """Write the edges between different titles of one paper, in a bucket of `send_by_front`."""
    rows = rounds.receive("fronts", task, _FRONT).sort_by("node")
    _, group, size = np.unique(rows["front"].to_numpy(), return_inverse=True, return_counts=True)
    shared = np.flatnonzero(size[group] > 1)
    rows = rows.take(pa.array(shared)).combine_chunks()
    nodes = nodes_from(rows)
    rules, labels = rounds.rules, rows["label"].to_numpy()
    edges = edges_of_front(nodes, group[shared], labels, rules.min_title_score)
    rounds.write_edges("prefix-edges", task, edges, rows["node"].to_numpy(), near=1)
