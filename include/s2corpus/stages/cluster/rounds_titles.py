"""Rounds that find edges by title. Equal titles are in one bucket by text; similar titles share a bucket by MinHash key.

A title without its subtitle and the complete title are in one bucket by year, first page and surnames.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.agreement import WINDOW
from s2corpus.clustering.edges import edges_of_cut, edges_of_similar, equal_title_edges
from s2corpus.clustering.nodes import nodes_from
from s2corpus.clustering.pairs import hash_fronts
from s2corpus.clustering.parts import FACTS
from s2corpus.stages.cluster.rounds import LABELS, NODE, Home, Rounds
from s2corpus.titles.buckets import bucket_of
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
"""MinHash keys of one title. Two titles with Jaccard index J share a key with probability 1 − (1 − J⁶)¹⁶: 0.99 at J = 0.8.

Linking uses more keys. Here, a third record usually joins the two sides of a missed pair.
"""
_KEYS_PER_BLOCK = 1 << 16
"""Keys in one lookup."""
_FACTS = (
    "title", "normalised", "little", "form", "doi_form", "year", "doi", "arxiv_id", "publisher", "surnames", "journal",
    "volume", "issue", "page",
)  # fmt: skip
_TITLED = pa.schema([*LABELS, *(FACTS.field(name) for name in _FACTS)])
_KEYS = pa.schema([("key", pa.uint64()), ("title", pa.int64()), ("is_open", pa.bool_())])
_PAIR = pa.schema([("a", pa.int64()), ("b", pa.int64())])
_TEXTS = pa.schema([*_PAIR, ("text", pa.string())])
_SCORED = pa.schema([*_PAIR, ("score", pa.float64()), ("bucket", pa.int64())])
_FRONT = pa.schema([*_TITLED, ("front", pa.uint64())])
_NEAR = pa.schema([*_TITLED, ("of", pa.int64())])


def by_title(rounds: Rounds, task: int) -> None:
    """Send every record of a home with a title to the bucket of its title."""
    home = Home(rounds, task)
    label = rounds.labels(0, task)
    columns = {"node": home.nodes, "label": label, **{name: home[name] for name in _FACTS}, "doi": home.doi}
    rows = pa.table(columns, schema=_TITLED).take(pa.array(home.titled))
    rounds.exchange.write("titles", task, rows, bucket_of(rows["normalised"], rounds.homes), rounds.homes)


def _titled(rounds: Rounds, bucket: int) -> pa.Table:
    return rounds.exchange.read("titles", rounds.tasks, bucket, _TITLED).sort_by("node").combine_chunks()


def equal_titles(rounds: Rounds, task: int) -> None:
    """Write the edges between records with equal titles of a bucket."""
    rows = _titled(rounds, task)
    nodes = nodes_from(rows, rounds.preprint_prefixes)
    _, label = np.unique(rows["label"].to_numpy(), return_inverse=True)
    edges = equal_title_edges(nodes, label, rounds.max_preprint_years)
    rounds.write_edges("edges-1", task, edges, rows["node"].to_numpy(), near=0)


def unsettled(rounds: Rounds, task: int) -> None:
    """Send the unsettled records of a home with a title to the bucket of the title: the search needs a pair with one of them."""
    home = Home(rounds, task)
    is_unsettled = np.ones(len(home.nodes), bool)
    settled = rounds.exchange.read("settled", rounds.tasks, task, NODE)["node"].to_numpy()
    is_unsettled[settled - home.first] = False
    rows = home.titled[is_unsettled[home.titled]]
    bucket = bucket_of(home["normalised"].take(pa.array(rows)), rounds.homes)
    rounds.exchange.write("unsettled", task, pa.table([home.nodes[rows]], schema=NODE), bucket, rounds.homes)


def keys(rounds: Rounds, task: int) -> None:
    """Send each informative title of a bucket to the buckets of its MinHash keys, under the node of its first record."""
    rows = _titled(rounds, task)
    node = rows["node"].to_numpy()
    nodes = nodes_from(rows, rounds.preprint_prefixes)
    is_open = np.zeros(len(nodes.titles), bool)
    open_nodes = rounds.exchange.read("unsettled", rounds.tasks, task, NODE)["node"].to_numpy()
    is_open[nodes.title[np.searchsorted(node, open_nodes)]] = True
    first = np.unique(nodes.title, return_index=True)[1]
    informative = np.flatnonzero(~nodes.strict)
    texts = nodes.titles.take(pa.array(informative))
    key = compute_keys(texts, BANDS)
    band = (np.arange(BANDS, dtype=np.uint64) << np.uint64(32))[:, None]
    columns = [
        (key | band).ravel(),
        np.tile(node[first[informative]], BANDS),
        np.tile(is_open[informative], BANDS),
    ]
    table = pa.table(columns, schema=_KEYS).filter(pa.array(key.ravel() != 0))
    rounds.exchange.write("keys", task, table, bucket_of(table["key"].to_numpy(), rounds.homes), rounds.homes)


def propose(rounds: Rounds, task: int) -> None:
    """Write the candidate pairs of a bucket of keys: two titles with an equal key, of which the second is open."""
    rows = rounds.exchange.read("keys", rounds.tasks, task, _KEYS)
    key, order = sort_keys(rows["key"].to_numpy())  # Lookups of ascending keys are several times faster.
    title, is_open = (rows[name].to_numpy()[order] for name in ("title", "is_open"))
    open_rows = np.flatnonzero(is_open)
    open_keys = SortedKeys(key[open_rows], open_rows)
    found = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for begin in range(0, len(key), _KEYS_PER_BLOCK):
        row, other = pair_equal_keys(key[begin : begin + _KEYS_PER_BLOCK], open_keys)
        row = row + begin
        a, b = title[row], title[other]
        is_new = (a < b) | (~is_open[row] & (a != b))  # A pair of two open titles occurs twice.
        found.append(unique_pairs(a[is_new], b[is_new]))
    a, b = unique_pairs(*map(np.concatenate, zip(*found, strict=True)))
    rounds.exchange.write("proposed", task, pa.table([a, b], schema=_PAIR), rounds.home_of(a), rounds.homes)


def with_text(rounds: Rounds, task: int) -> None:
    """Send the text of the first title of each pair to the home of the second title."""
    rows = rounds.exchange.read("proposed", rounds.tasks, task, _PAIR)
    a, b = unique_pairs(rows["a"].to_numpy(), rows["b"].to_numpy())
    home = Home(rounds, task)
    text = home["normalised"].take(pa.array(a - home.first))
    rounds.exchange.write("texts", task, pa.table([a, b, text], schema=_TEXTS), rounds.home_of(b), rounds.homes)


def score(rounds: Rounds, task: int) -> None:
    """Compute S of the pairs with the second title in a home; send pairs above the threshold to the home of the first title."""
    rows = rounds.exchange.read("texts", rounds.tasks, task, _TEXTS).combine_chunks()
    home = Home(rounds, task)
    a, b = rows["a"].to_numpy(), rows["b"].to_numpy()
    of_b, place = np.unique(b, return_inverse=True)
    texts = home["normalised"].take(pa.array(of_b - home.first))
    first = pa.concat_arrays([pa.array([], pa.string()), *rows["text"].chunks])
    found = score_titles(first, np.arange(len(a)), texts, place, rounds.min_title_score)
    kept = np.flatnonzero(found > 0.0)
    bucket = bucket_of(texts, rounds.homes)[place]
    table = pa.table([a[kept], b[kept], found[kept], bucket[kept]], schema=_SCORED)
    rounds.exchange.write("scored", task, table, rounds.home_of(a[kept]), rounds.homes)


def choose(rounds: Rounds, task: int) -> None:
    """Send the best pairs of each first title of a home to the bucket of this title."""
    rows = rounds.exchange.read("scored", rounds.tasks, task, _SCORED).combine_chunks()
    home = Home(rounds, task)
    a, b, found = (rows[name].to_numpy() for name in ("a", "b", "score"))
    rows = rows.take(pa.array(select_best(a, b, found)))
    texts = home["normalised"].take(pa.array(rows["a"].to_numpy() - home.first))
    rounds.exchange.write("chosen", task, rows, bucket_of(texts, rounds.homes), rounds.homes)


def with_records(rounds: Rounds, task: int) -> None:
    """Send the compared records of the first title of each pair to the bucket of the second title."""
    pairs = rounds.exchange.read("chosen", rounds.tasks, task, _SCORED).combine_chunks()
    bucket = pairs["bucket"].to_numpy()
    rounds.exchange.write("pairs", task, pairs, bucket, rounds.homes)
    rows = _titled(rounds, task)
    rows = rows.filter(pc.is_in(rows["normalised"], _texts_of(rows, pairs["a"].to_numpy()))).combine_chunks()
    nodes = nodes_from(rows, rounds.preprint_prefixes)
    once = np.unique(np.stack([bucket, pairs["a"].to_numpy()]), axis=1)
    place = np.searchsorted(rows["node"].to_numpy(), once[1])
    title = nodes.title[place]
    begin = nodes.by_title.starts[title]
    size = np.minimum(nodes.by_title.starts[title + 1] - begin, WINDOW)
    pair, member = expand_ranges(begin, size)
    sent = rows.take(pa.array(nodes.by_title.nodes[member])).append_column("of", pa.array(once[1][pair]))
    originals = rows["title"].take(pa.array(place[pair]))
    sent = sent.set_column(sent.column_names.index("title"), "title", originals)
    rounds.exchange.write("near", task, sent, once[0][pair], rounds.homes)


def similar_titles(rounds: Rounds, task: int) -> None:
    """Write the edges between records with similar titles."""
    pairs = rounds.exchange.read("pairs", rounds.tasks, task, _SCORED).combine_chunks()
    sent = rounds.exchange.read("near", rounds.tasks, task, _NEAR).combine_chunks()
    own = _titled(rounds, task)
    own = own.filter(pc.is_in(own["normalised"], _texts_of(own, pairs["b"].to_numpy())))
    both = pa.concat_tables([own, sent.select(own.column_names)])
    both = both.set_column(
        both.column_names.index("little"), "little", pa.repeat(pa.scalar(False), len(both))
    )  # Uninformative titles have no keys.
    node, first = np.unique(both["node"].to_numpy(), return_index=True)
    nodes = nodes_from(both.take(pa.array(first)), rounds.preprint_prefixes)
    ids, where = np.unique(sent["of"].to_numpy(), return_index=True)
    title_a = nodes.title[np.searchsorted(node, sent["node"].to_numpy()[where])]
    a = title_a[np.searchsorted(ids, pairs["a"].to_numpy())]
    b = nodes.title[np.searchsorted(node, pairs["b"].to_numpy())]
    edges = edges_of_similar(nodes, a, b, pairs["score"].to_numpy(), rounds.max_preprint_years)
    rounds.write_edges("edges-2", task, edges, node, near=1)


def by_front(rounds: Rounds, task: int) -> None:
    """Send each record of a home with title, year, first page and surnames to the bucket of the last three."""
    home = Home(rounds, task)
    surnames = home["surnames"]
    offsets, names = surnames.offsets.to_numpy(), surnames.values.to_numpy(zero_copy_only=False)
    front = hash_fronts(home["year"].to_numpy(), home["page"].to_numpy(), offsets, names)
    columns = {
        "node": home.nodes,
        "label": rounds.labels(1, task),
        **{name: home[name] for name in _FACTS},
        "doi": home.doi,
    }
    rows = pa.table({**columns, "front": front}, schema=_FRONT).take(pa.array(home.titled[front[home.titled] != 0]))
    rounds.exchange.write("fronts", task, rows, bucket_of(rows["front"].to_numpy(), rounds.homes), rounds.homes)


def cut_titles(rounds: Rounds, task: int) -> None:
    """A bucket of `by_front`: write the edges between titles without their subtitle and complete titles."""
    rows = rounds.exchange.read("fronts", rounds.tasks, task, _FRONT).sort_by("node")
    _, group, size = np.unique(rows["front"].to_numpy(), return_inverse=True, return_counts=True)
    shared = np.flatnonzero(size[group] > 1)
    rows = rows.take(pa.array(shared)).combine_chunks()
    nodes = nodes_from(rows, rounds.preprint_prefixes)
    edges = edges_of_cut(nodes, group[shared], rows["label"].to_numpy(), rounds.min_title_score)
    rounds.write_edges("prefix-edges", task, edges, rows["node"].to_numpy(), near=1)


def _texts_of(rows: pa.Table, nodes: np.ndarray) -> pa.Array:
    places = np.searchsorted(rows["node"].to_numpy(), np.unique(nodes))
    return rows["normalised"].take(pa.array(places)).combine_chunks()
