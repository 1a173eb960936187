"""Rounds that find edges by identifier, and rounds that select the edges to take in each component."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.comparison import describe
from s2corpus.clustering.components import EdgeOutcome, components
from s2corpus.clustering.edges import REASONS, Edges, edges_of_kind
from s2corpus.clustering.facts import FACTS, IDENTIFIERS, PREPRINT, PUBLISHED, codes_of, nodes_from
from s2corpus.stages.cluster.rounds import EDGE, FORM, LABELS, NODE, Partition, Rounds
from s2corpus.tables.papers import EDGES
from s2corpus.titles.arrays import bucket_of

_FACTS = (
    "trusted", "declares", "second_header", "normalized", "surnames", "declared", "doi", "preprint", "year", "volume", "page",
)  # fmt: skip
_IDENTIFIED = pa.schema(
    [("node", pa.int64()), ("reason", pa.int8()), ("value", pa.string()), ("published", pa.bool_())]
    + [FACTS.field(name) for name in _FACTS]
)
_DOIS = pa.schema([("node", pa.int64()), *(FACTS.field(name) for name in ("doi", "arxiv_id", "form", "publisher"))])
_END = pa.schema(
    [*LABELS, *(FACTS.field(name) for name in ("final_doi", "year", "preprint", "record_id")), ("bucket", pa.int64())]
)
_GROUPED = pa.schema([*EDGE, ("label", pa.int64())])
OWNERS = pa.schema([FACTS.field("doi"), *LABELS, ("bucket", pa.int64())])


def send_by_doi(rounds: Rounds, task: int) -> None:
    """Send the records of a partition with a DOI to the bucket of the DOI."""
    partition = Partition(rounds, task)
    columns = {"node": partition.nodes, **{name: partition[name] for name in ("doi", "arxiv_id", "form", "publisher")}}
    rows = pa.table(columns, schema=_DOIS).filter(partition["doi"].is_valid())
    rounds.send("dois", task, rows, bucket_of(rows["doi"], rounds.partitions))


def doi_forms(rounds: Rounds, task: int) -> None:
    """Decide the form of each DOI of a bucket, and send it to its records: PREPRINT if any record has it, else the publisher's.

    A record of arXiv has the DOI of the published version, so its form does not count.
    """
    rows = rounds.receive("dois", task, _DOIS)
    doi, distinct = codes_of(rows["doi"])
    form, forms = rows["form"].to_numpy(), np.zeros(len(distinct), np.int8)
    form = np.where(np.asarray(rows["arxiv_id"].is_valid()), 0, form)
    forms[doi[(form == PUBLISHED) & np.asarray(rows["publisher"])]] = PUBLISHED
    forms[doi[form == PREPRINT]] = PREPRINT
    is_decided = forms[doi] != 0
    table = pa.table([rows["node"], forms[doi]], schema=FORM).filter(pa.array(is_decided))
    rounds.send("doi_forms", task, table, rounds.find_homes(table["node"].to_numpy()))


def send_by_identifier(rounds: Rounds, task: int) -> None:
    """Send every record of a partition to the buckets of its identifiers."""
    partition = Partition(rounds, task)
    published = np.asarray(partition["doi"].is_valid()) & ~partition.has_preprint_doi
    tables = []
    for reason, name in enumerate(IDENTIFIERS):
        rows = pa.array(np.flatnonzero(np.asarray(partition[name].is_valid())))
        columns = {
            "node": partition.nodes,
            "reason": np.full(len(partition.nodes), reason, np.int8),
            "value": partition[name],
        }
        columns |= {"published": published, **{column: partition[column] for column in _FACTS}}
        tables.append(pa.table(columns, schema=_IDENTIFIED).take(rows))
    table = pa.concat_tables(tables)
    rounds.send("identifiers", task, table, bucket_of(table["value"], rounds.partitions))


def identifier_edges(rounds: Rounds, task: int) -> None:
    """Write the edges between the records of a bucket of identifiers, and the records with a DOI that a declared DOI overrides."""
    rows = rounds.receive("identifiers", task, _IDENTIFIED).sort_by("node").combine_chunks()
    found, overruled = [], np.empty(0, np.int64)
    for reason, name in enumerate(IDENTIFIERS):
        of_kind = rows.filter(pc.equal(rows["reason"], reason)).combine_chunks()
        if name not in _FACTS:
            of_kind = of_kind.append_column(name, of_kind["value"])
        node = of_kind["node"].to_numpy()
        nodes = nodes_from(of_kind)
        edges = edges_of_kind(nodes, reason, rounds.rules.min_title_score)
        found.append((node[edges.left], node[edges.right], edges.reason, edges.strength, edges.evidence))
        if name == "declared":
            declares = np.asarray(of_kind["declares"])
            declared_values = of_kind[name].filter(pa.array(declares & np.asarray(of_kind["published"])))
            overruled = node[np.asarray(pc.is_in(of_kind[name], declared_values)) & ~declares]
    left, right, *columns = map(np.concatenate, zip(*found, strict=True))
    ends, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    edges = Edges(places[: len(left)], places[len(left) :], *columns)
    rounds.write_edges("edges-0", task, edges, ends, near=0)
    rounds.send("overruled", task, pa.table([overruled], schema=NODE), rounds.find_homes(overruled))


def send_by_component(number: int, rounds: Rounds, task: int) -> None:
    """Send the edges of a partition, and the facts of records with an edge, to the bucket of their component."""
    partition = Partition(rounds, task)
    label = rounds.exchange.array(f"components-{number}", task)
    edges = pa.concat_tables([rounds.read_edges(earlier, task) for earlier in range(number + 1)])
    component_of_edge = label[edges["left"].to_numpy() - partition.first]
    grouped = edges.append_column("label", pa.array(component_of_edge, pa.int64()))
    rounds.send(f"edges-of-{number}", task, grouped, bucket_of(component_of_edge, rounds.partitions))
    has_edge = label != partition.nodes
    has_edge[edges["left"].to_numpy() - partition.first] = True
    bucket = bucket_of(partition["normalized"], rounds.partitions)
    columns = [
        partition.nodes,
        label,
        partition.final_doi,
        partition["year"],
        partition.preprint,
        partition["record_id"],
        bucket,
    ]
    all_records = pa.table(columns, schema=_END)
    ends = all_records.filter(pa.array(has_edge))
    rounds.send(f"ends-{number}", task, ends, bucket_of(ends["label"].to_numpy(), rounds.partitions))
    if number == 1:  # Write the DOI of clusters with one record here; `decide` writes the DOIs of larger clusters.
        single = all_records.filter(pc.and_(pa.array(~has_edge), partition.final_doi.is_valid()))
        owners = pa.table([single[name] for name in ("final_doi", "node", "node", "bucket")], schema=OWNERS)
        rounds.send("alone", task, owners, bucket_of(owners["doi"], rounds.partitions))


def decide(number: int, rounds: Rounds, task: int) -> None:
    """Decide which edges of a bucket of components are taken; write them, and the cluster of each record."""
    ends = rounds.receive(f"ends-{number}", task, _END).sort_by("node").combine_chunks()
    rows = rounds.receive(f"edges-of-{number}", task, _GROUPED).sort_by(
        [("near", "ascending"), ("strength", "descending"), ("left", "ascending"), ("right", "ascending")]
    )
    node = ends["node"].to_numpy()
    doi, dois = codes_of(ends["final_doi"])
    left, right = (np.searchsorted(node, rows[side].to_numpy()) for side in ("left", "right"))
    edges = Edges(left, right, *(rows[name].to_numpy() for name in ("reason", "strength", "evidence")))
    label, outcomes = components(doi, ends["year"].to_numpy(), np.asarray(ends["preprint"]), edges)
    labels = pa.table([node, node[label]], schema=LABELS)
    rounds.send(f"labels-{number}", task, labels, rounds.find_homes(node))
    if number == 1:
        doi_of_cluster = np.full(len(node), -1, np.int32)
        np.maximum.at(doi_of_cluster, label, doi)
        with_doi = np.flatnonzero(doi_of_cluster[label] >= 0)
        columns = [
            dois.take(pa.array(doi_of_cluster[label[with_doi]])),
            node[with_doi],
            node[label[with_doi]],
            ends["bucket"].take(pa.array(with_doi)),
        ]
        owners = pa.table(columns, schema=OWNERS)
        rounds.send("owners", task, owners, bucket_of(owners["doi"], rounds.partitions))
    if number == 2:
        written = np.flatnonzero(outcomes != EdgeOutcome.REDUNDANT)
        columns = [ends["record_id"].take(pa.array(side[written])) for side in (left, right)]
        columns += [pa.array(REASONS).take(pa.array(edges.reason[written])), edges.strength[written]]
        codes, which = np.unique(edges.evidence[written], return_inverse=True)
        texts = pa.array([None if code < 0 else describe(code) for code in codes.tolist()], pa.string())
        columns += [outcomes[written] == EdgeOutcome.TAKEN, texts.take(pa.array(which))]
        table = pa.table(columns, schema=EDGES.schema)
        rounds.send("decided", task, table, rounds.find_homes(node[left[written]]))


def send_settled(rounds: Rounds, task: int) -> None:
    """Send the settled records to the buckets of their titles.

    A record is settled if its cluster is the only one with its DOI, because similar titles cannot join two such clusters.
    """
    rows = pa.concat_tables(rounds.receive(name, task, OWNERS) for name in ("alone", "owners"))
    doi, _ = codes_of(rows["doi"])
    label = rows["label"].to_numpy()
    least, most = np.full(len(doi), np.iinfo(np.int64).max), np.full(len(doi), -1)
    np.minimum.at(least, doi, label)
    np.maximum.at(most, doi, label)
    found = rows.filter(pa.array(least[doi] == most[doi]))
    rounds.send("settled", task, found.select(["node"]), found["bucket"].to_numpy())
