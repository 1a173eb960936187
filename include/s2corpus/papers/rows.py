"""Rows of `members` in, rows of `papers` out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, islice
from typing import Any

import pyarrow as pa

from s2corpus.papers.vote import Delivered, Paper, Pdf, canonical
from s2corpus.sources.arrow import record_of
from s2corpus.tables import PAPERS


def papers_of(
    members: Iterable[pa.RecordBatch],
    *,
    trust: Sequence[str],
    pdfs: Mapping[str, Pdf],
    all_open: bool,
    rows: int = 2_000,
) -> Iterator[pa.RecordBatch]:
    """Canonical metadata of every paper of `members`, which is sorted by paper_id; `rows` papers a batch."""
    by_paper = groupby((row for batch in members for row in batch.to_pylist()), key=lambda row: row["paper_id"])
    papers = (
        canonical(paper_id, map(_delivered, records), trust=trust, pdfs=pdfs, all_open=all_open)
        for paper_id, records in by_paper
    )
    while chunk := [_row(paper) for paper in islice(papers, rows)]:
        yield pa.RecordBatch.from_pylist(chunk, PAPERS.schema)


def _delivered(row: Mapping[str, Any]) -> Delivered:
    return Delivered(record_of(row), row["ready_at"] or "")


def _row(paper: Paper) -> dict[str, Any]:
    date, precision = paper.values.get("date", (None, None))
    return {
        **dict.fromkeys(PAPERS.schema.names),
        **paper.values,
        "authors": [author.as_dict() for author in paper.values.get("authors", ())],
        "date": date,
        "date_precision": precision,
        "fields_of_study": list(paper.values.get("fields_of_study", ())),
        "paper_id": paper.paper_id,
        "mag_ids": list(paper.mag_ids),
        "subjects": list(paper.subjects),
        "canonical_pdf": paper.canonical_pdf,
        "open_access": paper.openness.open,
        "oa_evidence": paper.openness.evidence,
        "licence": paper.openness.licence,
        "provenance": [(name, asdict(decision)) for name, decision in paper.provenance.items()],
        "record_ids": list(paper.record_ids),
    }
