"""Rounds that find edges by identifier, and rounds that decide in each component which edges are taken."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.components import EdgeOutcome, components
from s2corpus.clustering.edges import Edges, edges_of_kind
from s2corpus.clustering.nodes import forms_of, nodes_from
from s2corpus.clustering.parts import FACTS, IDENTIFIERS, codes_of
from s2corpus.stages.cluster.rounds import EDGE, FORM, LABELS, NODE, Home, Rounds
from s2corpus.titles.buckets import bucket_of

_FACTS = (
    "trusted", "declares", "second_header", "normalised", "surnames", "declared", "doi", "arxiv_id", "publisher", "form", "doi_form",
    "year", "volume", "page",
)  # fmt: skip
_IDENTIFIED = pa.schema(
    [("node", pa.int64()), ("reason", pa.int8()), ("value", pa.string()), ("published", pa.bool_())]
    + [FACTS.field(name) for name in _FACTS]
)
_DOIS = pa.schema([("node", pa.int64()), *(FACTS.field(name) for name in ("doi", "arxiv_id", "form", "publisher"))])
_END = pa.schema([*LABELS, ("final_doi", pa.string()), ("year", pa.int32()), ("preprint", pa.bool_())])
_GROUPED = pa.schema([*EDGE, ("label", pa.int64())])
DECIDED = pa.schema([*EDGE, ("taken", pa.bool_())])
OWNERS = pa.schema([("doi", pa.string()), *LABELS])


def by_doi(rounds: Rounds, task: int) -> None:
    """Send the records of a home with a DOI to the bucket of the DOI."""
    home = Home(rounds, task)
    columns = {"node": home.nodes, **{name: home[name] for name in ("doi", "arxiv_id", "form", "publisher")}}
    rows = pa.table(columns, schema=_DOIS).filter(home["doi"].is_valid())
    rounds.exchange.write("dois", task, rows, bucket_of(rows["doi"], rounds.homes), rounds.homes)


def doi_forms(rounds: Rounds, task: int) -> None:
    """Send the form of each DOI of a bucket to its records."""
    rows = rounds.exchange.read("dois", rounds.tasks, task, _DOIS).combine_chunks()
    doi, distinct = codes_of(rows["doi"])
    own_doi = np.where(np.asarray(rows["arxiv_id"].is_valid()), np.int32(-1), doi)
    none = np.zeros(len(doi), np.int8)
    forms = forms_of(own_doi, rows["form"].to_numpy(), np.asarray(rows["publisher"]), doi, none, len(distinct))[doi]
    node = rows["node"].to_numpy()[forms != 0]
    table = pa.table([node, forms[forms != 0]], schema=FORM)
    rounds.exchange.write("doi_forms", task, table, rounds.home_of(node), rounds.homes)


def by_identifier(rounds: Rounds, task: int) -> None:
    """Send every record of a home to the buckets of its identifiers."""
    home = Home(rounds, task)
    published = np.asarray(home["doi"].is_valid()) & ~home.has_preprint_doi
    tables = []
    for reason, name in enumerate(IDENTIFIERS):
        rows = pa.array(np.flatnonzero(np.asarray(home[name].is_valid())))
        columns = {"node": home.nodes, "reason": np.full(len(home.nodes), reason, np.int8), "value": home[name]}
        columns |= {"published": published, **{column: home[column] for column in _FACTS}}
        tables.append(pa.table(columns, schema=_IDENTIFIED).take(rows))
    table = pa.concat_tables(tables)
    rounds.exchange.write("identifiers", task, table, bucket_of(table["value"], rounds.homes), rounds.homes)


def identifier_edges(rounds: Rounds, task: int) -> None:
    """Write the edges between the records of a bucket of identifiers, and the records whose DOI a declared DOI replaces."""
    rows = rounds.exchange.read("identifiers", rounds.tasks, task, _IDENTIFIED).sort_by("node").combine_chunks()
    found, overruled = [], np.empty(0, np.int64)
    for reason, name in enumerate(IDENTIFIERS):
        mine = rows.filter(pc.equal(rows["reason"], reason)).combine_chunks()
        if name not in _FACTS:
            mine = mine.append_column(name, mine["value"])
        node = mine["node"].to_numpy()
        nodes = nodes_from(mine, rounds.preprint_prefixes)
        edges = edges_of_kind(nodes, reason, rounds.min_title_score, rounds.max_preprint_years)
        found.append((node[edges.left], node[edges.right], edges.reason, edges.strength))
        if name == "declared":
            declares = np.asarray(mine["declares"])
            given = mine[name].filter(pa.array(declares & np.asarray(mine["published"])))
            overruled = node[np.asarray(pc.is_in(mine[name], given)) & ~declares]
    left, right, reasons, strength = map(np.concatenate, zip(*found, strict=True))
    ends, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    edges = Edges(places[: len(left)], places[len(left) :], reasons, strength)
    rounds.write_edges("edges-0", task, edges, ends, near=0)
    rounds.exchange.write(
        "overruled", task, pa.table([overruled], schema=NODE), rounds.home_of(overruled), rounds.homes
    )


def by_component(number: int, rounds: Rounds, task: int) -> None:
    """Send the edges of a home, and the facts of records with an edge, to the bucket of their component."""
    home = Home(rounds, task)
    label = rounds.exchange.array(f"components-{number}", task)
    edges = pa.concat_tables([rounds.read_edges(earlier, task) for earlier in range(number + 1)])
    of_edge = label[edges["left"].to_numpy() - home.first]
    grouped = edges.append_column("label", pa.array(of_edge, pa.int64()))
    rounds.exchange.write(f"edges-of-{number}", task, grouped, bucket_of(of_edge, rounds.homes), rounds.homes)
    has_edge = label != home.nodes
    has_edge[edges["left"].to_numpy() - home.first] = True
    every = pa.table([home.nodes, label, home.final_doi, home["year"], home.preprint], schema=_END)
    ends = every.filter(pa.array(has_edge))
    rounds.exchange.write(f"ends-{number}", task, ends, bucket_of(ends["label"].to_numpy(), rounds.homes), rounds.homes)
    if number == 1:  # Write the DOI of clusters with one record here; `decide` writes the DOIs of larger clusters.
        alone = every.filter(pc.and_(pa.array(~has_edge), home.final_doi.is_valid()))
        _write_owners(rounds, "alone", task, alone["final_doi"], alone["node"], alone["node"])


def decide(number: int, rounds: Rounds, task: int) -> None:
    """Write which edges of a bucket of components are taken, and the cluster of each record."""
    ends = rounds.exchange.read(f"ends-{number}", rounds.tasks, task, _END).sort_by("node").combine_chunks()
    rows = rounds.exchange.read(f"edges-of-{number}", rounds.tasks, task, _GROUPED).sort_by(
        [("near", "ascending"), ("strength", "descending"), ("left", "ascending"), ("right", "ascending")]
    )
    node = ends["node"].to_numpy()
    doi, _ = codes_of(ends["final_doi"])
    left, right = (np.searchsorted(node, rows[side].to_numpy()) for side in ("left", "right"))
    edges = Edges(left, right, rows["reason"].to_numpy(), rows["strength"].to_numpy())
    years = ends["year"].to_numpy()
    label, outcomes = components(doi, years, np.asarray(ends["preprint"]), edges, rounds.max_preprint_years)
    labels = pa.table([node, node[label]], schema=LABELS)
    rounds.exchange.write(f"labels-{number}", task, labels, rounds.home_of(node), rounds.homes)
    if number == 1:
        of_cluster = np.full(len(node), -1, np.int32)
        np.maximum.at(of_cluster, label, doi)
        has = np.flatnonzero(of_cluster[label] >= 0)
        first = np.zeros(int(doi.max(initial=-1)) + 1, np.int64)
        first[doi[doi >= 0]] = np.flatnonzero(doi >= 0)
        names = ends["final_doi"].take(pa.array(first[of_cluster[label[has]]]))
        _write_owners(rounds, "owners", task, names, node[has], node[label[has]])
    if number == 2:
        written = pa.array(np.flatnonzero(outcomes != EdgeOutcome.REDUNDANT))
        kept = rows.select(EDGE.names).append_column("taken", pa.array(outcomes == EdgeOutcome.TAKEN)).take(written)
        rounds.exchange.write("decided", task, kept, rounds.home_of(kept["right"].to_numpy()), rounds.homes)


def _write_owners(
    rounds: Rounds,
    name: str,
    task: int,
    doi: pa.ChunkedArray,
    node: pa.Array | np.ndarray,
    label: pa.Array | np.ndarray,
) -> None:
    rounds.exchange.write(
        name, task, pa.table([doi, node, label], schema=OWNERS), bucket_of(doi, rounds.homes), rounds.homes
    )


def settled(rounds: Rounds, task: int) -> None:
    """Write the records of clusters with a DOI that no other cluster has. Similar titles cannot join two such clusters."""
    rows = pa.concat_tables(rounds.exchange.read(name, rounds.tasks, task, OWNERS) for name in ("alone", "owners"))
    doi, _ = codes_of(rows["doi"])
    label = rows["label"].to_numpy()
    least, most = np.full(len(doi), np.iinfo(np.int64).max), np.full(len(doi), -1)
    np.minimum.at(least, doi, label)
    np.maximum.at(most, doi, label)
    found = rows["node"].to_numpy()[least[doi] == most[doi]]
    rounds.exchange.write("settled", task, pa.table([found], schema=NODE), rounds.home_of(found), rounds.homes)
