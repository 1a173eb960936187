"""Unpaywall: data feed, JSON lines. It gives DOI, openness, version and license only. Ids: `unpaywall:<doi>`.

Titles and authors are omitted: Unpaywall copies them from Crossref, so they would vote twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.json_objects import parse_objects
from s2corpus.sources.json_values import read_list, read_objects, read_text
from s2corpus.sources.record import UNPAYWALL, Dropped, Entry, OpenVersion, RecordKind, RejectReason
from s2orc_parse.bibliography.identifiers import doi_key

NAME = UNPAYWALL
KIND = RecordKind.ARCHIVE


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield a record of each DOI."""
    return parse_objects(stream, _parse)


def _parse(line: dict[str, Any], where: str) -> Entry:
    doi = line.get("doi")
    if not isinstance(doi, str) or not doi.strip():
        return Dropped(RejectReason.NO_ID, where, "no doi")
    locations = read_objects([line.get("best_oa_location"), *read_list(line.get("oa_locations"))])
    published = [  # the publisher's copy, or a copy with the published version
        place
        for place in locations
        if place.get("host_type") == "publisher" or place.get("version") == "publishedVersion"
    ]
    with_version = [place for place in locations if "host_type" in place or "version" in place]
    licenses = (place.get("license") for place in published or locations)
    return RawRecord(
        f"{NAME}:{doi_key(doi)}", NAME, KIND, doi, doi=doi, issns=read_text(line.get("journal_issns")).split(","),
        open_access=line.get("is_oa"), type=line.get("genre"),
        license=next((license for license in licenses if license), None),
        open_version=OpenVersion.PUBLISHED if published else OpenVersion.COPY if with_version else None,
    ).normalize()  # fmt: skip
