"""Explain clusters: their records, the edges that joined them, and the edges that were cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_CUTS = {
    "contradiction": "their journals, volumes, issues or first pages contradict",
    "unrelated": "unrelated titles and other authors or pages",
    "document": "one is a notice, a reply or another kind of document",
    "number": "their titles differ in a number or part",
    "authors": "their authors differ",
    "years": "their years differ",
    "weak": "too little agrees",
    "dois": "they have different DOIs",
}


@dataclass(frozen=True, slots=True)
class EdgeExplanation:
    """An edge that joined two records, or was cut."""

    left: str
    right: str
    reason: str
    strength: float
    taken: bool
    evidence: str | None = None

    def __str__(self) -> str:
        similar = f"S_title = {self.strength:.3f}"
        why = {
            "title": similar,
            "place": f"{similar}, equal volume or equal pages",
            "prefix": "one title is cut, translated or missing; equal authors, year and first page",
            "unrelated": "equal identifier",
            "declared": "a drop's own record of the file",
        }.get(self.reason, similar if self.reason in _CUTS else f"equal {self.reason}")
        cut = _CUTS.get(self.reason, "their clusters have different DOIs, contradicting years or contradicting records")
        evidence = f" ({self.evidence})" if self.evidence else ""
        return f"{self.left} — {self.right}: {why}" + ("" if self.taken else f"; cut: {cut}") + evidence


@dataclass(frozen=True)
class Explanation:
    """A cluster with its edges, strongest first: `joined` inside the cluster, `cut` to other clusters."""

    paper_id: str
    record_ids: list[str]
    joined: list[EdgeExplanation]
    cut: list[EdgeExplanation]


def explanations(clusters: pa.Table, edges: pa.Table, paper_ids: set[str] | None = None) -> Iterator[Explanation]:
    """Yield the explanation of each requested paper, by paper_id; without a request, of all papers with an edge."""
    if paper_ids is None:
        ends = pa.chunked_array([*edges["left"].chunks, *edges["right"].chunks], pa.string())
        paper_ids = set(clusters.filter(pc.is_in(clusters["record_id"], ends.unique()))["paper_id"].to_pylist())
    requested = clusters.filter(pc.is_in(clusters["paper_id"], pa.array(sorted(paper_ids), pa.string())))
    paper_of = dict(zip(requested["record_id"].to_pylist(), requested["paper_id"].to_pylist(), strict=True))
    records: dict[str, list[str]] = {paper: [] for paper in sorted(paper_ids)}
    for record_id, paper in paper_of.items():
        records[paper].append(record_id)
    has_end = pc.or_(pc.is_in(edges["left"], requested["record_id"]), pc.is_in(edges["right"], requested["record_id"]))
    edges_of: dict[str, list[EdgeExplanation]] = {paper: [] for paper in records}
    for row in edges.filter(has_end).to_pylist():
        why = EdgeExplanation(**row)
        for paper in {paper_of.get(why.left), paper_of.get(why.right)} - {None}:
            edges_of[str(paper)].append(why)
    for paper, record_ids in records.items():
        strongest_first = sorted(edges_of[paper], key=lambda why: (-why.strength, why.left, why.right))
        joined, cut = ([why for why in strongest_first if why.taken is taken] for taken in (True, False))
        yield Explanation(paper, sorted(record_ids), joined, cut)


def format_explanation(explanation: Explanation) -> str:
    """Return the explanation as text: one line for each record and edge."""
    lines = [f"paper {explanation.paper_id}: {len(explanation.record_ids)} record(s)"]
    lines += [f"  {record_id}" for record_id in explanation.record_ids]
    lines += [f"  joined {why}" for why in explanation.joined]
    lines += [f"  cut    {why}" for why in explanation.cut]
    return "\n".join(lines)
