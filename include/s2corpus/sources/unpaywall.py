"""Unpaywall: which DOIs have an open copy, and under which licence (JSONL).

Titles and authors are Crossref's there, so they are left out: they would vote twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import build
from s2corpus.sources.record import Dropped, Entry, Kind, Reason
from s2corpus.sources.streams import json_objects

NAME = "unpaywall"
KIND = Kind.ARCHIVE


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Records of the DOIs."""
    for item in json_objects(stream):
        yield item if isinstance(item, Dropped) else _entry(item[1], item[0])


def _entry(line: dict[str, Any], where: str) -> Entry:
    doi, location = line.get("doi"), line.get("best_oa_location")
    if not isinstance(doi, str) or not doi.strip():
        return Dropped(Reason.NO_ID, where, "no doi")
    return build(
        f"{NAME}:{doi.strip().lower()}", NAME, KIND, doi, doi=doi, open_access=line.get("is_oa"),
        licence=location.get("license") if isinstance(location, dict) else None,
    )  # fmt: skip
