"""Why a cluster is one: its records, the edges that joined them, and what was cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_CUTS = {
    "contradiction": "their journals, volumes, issues or first pages contradict",
    "unrelated": "unrelated titles and authors",
}


@dataclass(frozen=True, slots=True)
class Why:
    """One edge: why two records are, or would have been, one paper."""

    left: str
    right: str
    reason: str
    strength: float
    taken: bool

    def __str__(self) -> str:
        similar = f"S_title = {self.strength:.3f}"
        why = {
            "title": similar,
            "place": f"{similar}, equal volume, pages that agree",
            "prefix": "one title lacks the end of the other, equal authors, year and first page",
            "contradiction": similar,
            "unrelated": "equal identifier",
            "declared": "a drop's own record of the file",
        }.get(self.reason, f"equal {self.reason}")
        cut = _CUTS.get(self.reason, "their clusters have different DOIs, or years or records that contradict")
        return f"{self.left} — {self.right}: {why}" + ("" if self.taken else f"; cut: {cut}")


@dataclass(frozen=True)
class Explanation:
    """One cluster: `joined` are its edges, strongest first; `cut` those that would have joined it to another."""

    paper_id: str
    record_ids: list[str]
    joined: list[Why]
    cut: list[Why]


def explanations(clusters: pa.Table, edges: pa.Table, paper_ids: set[str] | None = None) -> Iterator[Explanation]:
    """The explanation of each paper asked for (all that have an edge, if none are), by paper_id."""
    if paper_ids is None:
        ends = pa.chunked_array([*edges["left"].chunks, *edges["right"].chunks], pa.string())
        paper_ids = set(clusters.filter(pc.is_in(clusters["record_id"], ends.unique()))["paper_id"].to_pylist())
    asked = clusters.filter(pc.is_in(clusters["paper_id"], pa.array(sorted(paper_ids), pa.string())))
    paper_of = dict(zip(asked["record_id"].to_pylist(), asked["paper_id"].to_pylist(), strict=True))
    records: dict[str, list[str]] = {paper: [] for paper in sorted(paper_ids)}
    for record_id, paper in paper_of.items():
        records[paper].append(record_id)
    near = pc.or_(pc.is_in(edges["left"], asked["record_id"]), pc.is_in(edges["right"], asked["record_id"]))
    joined: dict[str, list[Why]] = {paper: [] for paper in records}
    cut: dict[str, list[Why]] = {paper: [] for paper in records}
    for row in edges.filter(near).to_pylist():
        why = Why(**row)
        for paper in {paper_of.get(why.left), paper_of.get(why.right)} - {None}:
            (joined if why.taken else cut)[str(paper)].append(why)
    for paper, found in records.items():
        yield Explanation(
            paper,
            sorted(found),
            *(sorted(w[paper], key=lambda y: (-y.strength, y.left, y.right)) for w in (joined, cut)),
        )


def told(explanation: Explanation) -> str:
    """The explanation in words, one line a record and edge."""
    lines = [f"paper {explanation.paper_id}: {len(explanation.record_ids)} record(s)"]
    lines += [f"  {record_id}" for record_id in explanation.record_ids]
    lines += [f"  joined {why}" for why in explanation.joined]
    lines += [f"  cut    {why}" for why in explanation.cut]
    return "\n".join(lines)
