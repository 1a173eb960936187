"""Paper ids that stay the same over releases: new ids, kept ids, aliases, and what changed (SEMANTICS: Cluster)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

Age = tuple[str, str]
"""(ready_at, record_id): the smaller is the older; a record without ready_at is older than all that have one."""


@dataclass(frozen=True)
class Parent:
    """What the parent release knew: papers of records, and former ids."""

    paper_of: Mapping[str, str] = field(default_factory=dict)  # record_id → paper_id
    first_ready: Mapping[str, str] = field(default_factory=dict)  # record_id → when it was first delivered
    aliases: Mapping[str, str] = field(default_factory=dict)  # former paper id → paper_id


@dataclass(frozen=True)
class Identity:
    """Ids of a release's clusters."""

    paper_ids: list[str]  # by cluster, in the order given
    aliases: dict[str, str]  # former paper id → the paper that took it over


def new_paper_id(record_id: str) -> str:
    """The first 15 hex digits of SHA-256 over a cluster's earliest delivered record_id."""
    return hashlib.sha256(record_id.encode()).hexdigest()[:15]


def parent_of(clusters: pa.Table | None, aliases: pa.Table | None) -> Parent:
    """The parent from its tables `clusters` and `aliases`; of no release where there are none."""
    if clusters is None:
        return Parent()
    ids = clusters["record_id"].to_pylist()
    first_ready = zip(ids, clusters["first_ready"].to_pylist(), strict=True)
    former = [] if aliases is None else zip(aliases["alias"].to_pylist(), aliases["paper_id"].to_pylist(), strict=True)
    return Parent(
        dict(zip(ids, clusters["paper_id"].to_pylist(), strict=True)),
        {record_id: ready for record_id, ready in first_ready if ready is not None},
        dict(former),
    )


def identify(clusters: Sequence[Sequence[str]], ready_at: Mapping[str, str | None], parent: Parent) -> Identity:
    """The paper id of every cluster (its record_ids), given the parent's.

    - A cluster with no record of the parent gets the id of its earliest delivered record.
    - Of the clusters that share a parent paper's records, the one with the oldest keeps its id (split).
    - A cluster that may keep several keeps that of the oldest paper; the others become aliases (merge).
    - A parent paper whose records all vanished leaves no alias; an alias whose paper was merged follows it.
    """

    def age(record_id: str) -> Age:
        return (earlier(ready_at.get(record_id), parent.first_ready.get(record_id)) or "", record_id)

    holders: dict[str, tuple[Age, int]] = {}  # parent paper → (its oldest record that is left, the cluster that has it)
    for number, cluster in enumerate(clusters):
        for record_id in cluster:
            if (paper := parent.paper_of.get(record_id)) is not None:
                found = (age(record_id), number)
                holders[paper] = min(holders.get(paper, found), found)
    kept: dict[int, list[tuple[Age, str]]] = defaultdict(list)
    for paper, (oldest, number) in holders.items():
        kept[number].append((oldest, paper))

    paper_ids = [min(kept[number])[1] if number in kept else "" for number in range(len(clusters))]
    taken = {paper_id for paper_id in paper_ids if paper_id}
    fresh = sorted((min(map(age, cluster)), number) for number, cluster in enumerate(clusters) if number not in kept)
    for _, number in fresh:
        paper_ids[number] = next(
            candidate for candidate in _candidates(clusters[number], age) if candidate not in taken
        )
        taken.add(paper_ids[number])

    aliases = {paper: paper_ids[number] for number, papers in kept.items() for _, paper in papers}
    for former, paper in parent.aliases.items():
        if (now := aliases.get(paper)) is not None:
            aliases.setdefault(former, now)
    return Identity(paper_ids, {former: paper for former, paper in sorted(aliases.items()) if former not in taken})


def earlier(now: str | None, then: str | None) -> str | None:
    """The earlier of two times of which one may not be known."""
    return min(now, then) if now and then else now or then


def _candidates(cluster: Iterable[str], age: Callable[[str], Age]) -> Iterator[str]:
    """Ids a new cluster may have: that of its earliest record unless another paper holds it, then those of the next."""
    ordered = sorted(cluster, key=age)
    yield from map(new_paper_id, ordered)
    number = 2
    while True:
        yield new_paper_id(f"{ordered[0]}#{number}")
        number += 1


@dataclass(frozen=True)
class Difference:
    """What became of papers from one release to the next; every list is sorted."""

    added: list[str]  # papers none of whose records the parent had in a paper
    removed: list[str]  # parent papers that are no more, and left no alias
    merged: dict[
        str, list[str]
    ]  # paper → parent papers (itself included) whose records it holds, where these are several
    split: dict[str, list[str]]  # parent paper → papers that hold its records, where these are several
    changed: list[str]  # papers that kept their id, with other records than before, and were neither merged nor split


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> Difference:
    """The difference between two releases, each given as record_id → paper_id."""
    origins: dict[str, set[str]] = defaultdict(set)
    heirs: dict[str, set[str]] = defaultdict(set)
    members_before: dict[str, set[str]] = defaultdict(set)
    members_after: dict[str, set[str]] = defaultdict(set)
    for record_id, paper in before.items():
        members_before[paper].add(record_id)
    for record_id, paper in after.items():
        members_after[paper].add(record_id)
        if (origin := before.get(record_id)) is not None:
            origins[paper].add(origin)
            heirs[origin].add(paper)
    merged = {paper: sorted(found) for paper, found in sorted(origins.items()) if len(found) > 1}
    split = {paper: sorted(found) for paper, found in sorted(heirs.items()) if len(found) > 1}
    touched = {*merged, *split, *(paper for found in split.values() for paper in found)}
    return Difference(
        added=sorted(set(members_after) - set(origins)),
        removed=sorted(set(members_before) - set(heirs)),
        merged=merged,
        split=split,
        changed=sorted(
            paper
            for paper in set(members_before) & set(members_after) - touched
            if members_before[paper] != members_after[paper]
        ),
    )
