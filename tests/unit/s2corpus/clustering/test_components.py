"""Clusters of edges agree with the written rule: edges are applied one by one if they break no rule."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from s2corpus.clustering.components import EdgeOutcome, components
from s2corpus.clustering.edges import AUTHORS, CONTRADICTION, OPPOSING, PLACE, PREFIX, TITLE, UNRELATED, Edges
from s2corpus.titles.comparison import MAX_PREPRINT_YEARS

NODES = 7
Facts = list[tuple[int, int, bool]]
"""DOI, year and whether it is a preprint, for each node"""
FACTS = st.lists(
    st.tuples(st.sampled_from([-1, -1, -1, 0, 1]), st.sampled_from([0, 0, 2000, 2001, 2002, 2003]), st.booleans()),
    min_size=NODES,
    max_size=NODES,
)
EDGES = st.lists(
    st.tuples(
        st.integers(0, NODES - 1), st.integers(0, NODES - 1),
        st.sampled_from([0, 3, TITLE, TITLE, PLACE, PREFIX, CONTRADICTION, UNRELATED, AUTHORS]),
    ).filter(lambda edge: edge[0] < edge[1]),
    max_size=14,
)  # fmt: skip


def taken_one_by_one(facts: Facts, edges: list[tuple[int, int, int]]) -> tuple[list[int], list[EdgeOutcome]]:
    cluster = [{node} for node in range(len(facts))]
    refused = [edge for edge in edges if edge[2] in OPPOSING]
    fates = []
    for left, right, reason in edges:
        one, other = cluster[left], cluster[right]
        if reason >= CONTRADICTION:
            fates.append(EdgeOutcome.CONFLICT)
        elif one is other:
            fates.append(EdgeOutcome.REDUNDANT)
        elif (
            len({facts[node][0] for node in one | other} - {-1}) > 1
            or (reason in (TITLE, PREFIX) and not years_agree(facts, one, other))
            or any(
                (why == UNRELATED or reason >= TITLE) and ((a in one and b in other) or (b in one and a in other))
                for a, b, why in refused
            )
        ):
            fates.append(EdgeOutcome.CONFLICT)
        else:
            fates.append(EdgeOutcome.TAKEN)
            joined = one | other
            for node in joined:
                cluster[node] = joined
    labels = [min(members) for members in cluster]
    told = set()
    for at, (left, right, _) in enumerate(edges):
        between = frozenset((labels[left], labels[right]))
        if fates[at] is EdgeOutcome.CONFLICT and (len(between) == 1 or between in told):
            fates[at] = EdgeOutcome.REDUNDANT
        elif fates[at] is EdgeOutcome.CONFLICT:
            told.add(between)
    return labels, fates


def years_agree(facts: Facts, one: set[int], other: set[int]) -> bool:
    for a_preprint in (False, True):
        for b_preprint in (False, True):
            a = [facts[node][1] for node in one if facts[node][1] and facts[node][2] is a_preprint]
            b = [facts[node][1] for node in other if facts[node][1] and facts[node][2] is b_preprint]
            apart = max(min(a) - max(b), min(b) - max(a)) if a and b else 0
            is_series = a_preprint == b_preprint and apart > 0 and max(a + b) - min(a + b) > 1
            if is_series or apart > (1 if a_preprint == b_preprint else MAX_PREPRINT_YEARS):
                return False
    return True


@settings(max_examples=300)
@given(FACTS, EDGES)
@example([(-1, year, False) for year in (2000, 2001, 0, 0, 0, 0, 0)], [(0, 1, TITLE), (0, 1, PLACE)])
def test_edges_are_taken_if_they_break_no_rule(facts: Facts, edges: list[tuple[int, int, int]]) -> None:
    left, right, reason = (
        np.array([edge[at] for edge in edges], kind) for at, kind in enumerate((np.int32, np.int32, np.int8))
    )
    labels, fates = components(
        np.array([doi for doi, _, _ in facts], np.int32),
        np.array([year for _, year, _ in facts], np.int32),
        np.array([preprint for _, _, preprint in facts]),
        Edges(left, right, reason, np.ones(len(edges)), np.full(len(edges), -1)),
    )
    assert (labels.tolist(), fates.tolist()) == taken_one_by_one(facts, edges)
