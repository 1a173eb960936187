"""Unpaywall: which DOIs have an open copy, and under which licence (JSONL).

Titles and authors are Crossref's there, so they are left out: they would vote twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.record import UNPAYWALL, Dropped, Entry, OpenVersion, RecordKind, RejectReason
from s2corpus.sources.streams import json_objects
from s2orc_parse.bibliography.identifiers import doi_key

NAME = UNPAYWALL
KIND = RecordKind.ARCHIVE


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield a record of each DOI."""
    for item in json_objects(stream):
        yield item if isinstance(item, Dropped) else _entry(item[1], item[0])


def _entry(line: dict[str, Any], where: str) -> Entry:
    doi = line.get("doi")
    if not isinstance(doi, str) or not doi.strip():
        return Dropped(RejectReason.NO_ID, where, "no doi")
    given = line.get("oa_locations")
    locations = [
        place
        for place in (line.get("best_oa_location"), *(given if isinstance(given, list) else ()))
        if isinstance(place, dict)
    ]
    published = [place for place in locations if _is_published(place)]
    telling = [place for place in locations if "host_type" in place or "version" in place]
    licences = (place.get("license") for place in published or locations)
    return RawRecord(
        f"{NAME}:{doi_key(doi)}", NAME, KIND, doi, doi=doi, open_access=line.get("is_oa"), type=line.get("genre"),
        licence=next((licence for licence in licences if licence), None),
        open_version=OpenVersion.PUBLISHED if published else OpenVersion.COPY if telling else None,
    ).normalize()  # fmt: skip


def _is_published(location: dict[str, Any]) -> bool:
    """Return whether a copy is the publisher's or has the published version."""
    return location.get("host_type") == "publisher" or location.get("version") == "publishedVersion"
