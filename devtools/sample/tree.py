"""Arrange the drops, deliveries and suppression list of a cast, with their paths and release dates."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path
from typing import Any

from devtools.sample.cast import Cast, PdfCase
from devtools.sample.deliver import jsonl, write_ready
from devtools.sample.formats import files_of

DROPS = {  # drop → first release that includes it, ready_at
    "2023-01-a": (1, "2023-01-12T06:00:00Z"),
    "2023-01-b": (1, "2023-01-26T06:00:00Z"),
    "2023-02-a": (2, "2023-02-09T06:00:00Z"),
}
DELIVERIES = {  # in chronological order: first release that includes it, delivery_id, ready_at, mode
    "full": (1, "2023-01-full", "2023-01-08T04:00:00Z", "full"),
    "delta": (1, "2023-01-delta", "2023-01-25T04:00:00Z", "delta"),
    "february": (2, "2023-02-delta", "2023-02-08T04:00:00Z", "delta"),
}
_ARXIV_READY = "2023-01-05T04:00:00Z"  # before all others, so that a preprint's paper is the older of two merged papers


def sha1(content: bytes) -> str:
    """Return the SHA-1 of a file, 40 hex digits."""
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def drops_of(cast: Cast) -> dict[str, dict[str, PdfCase | None]]:
    """Return drop → file name → the case of the PDF; None for a file that is not the PDF of a case."""
    drops: dict[str, dict[str, PdfCase | None]] = defaultdict(dict)
    for case in cast.cases:
        for pdf in case.pdfs:
            for drop in pdf.drops:
                drops[drop][pdf.name] = pdf
    for name in (*cast.extras, *(case.full_text for case in cast.cases if case.full_text)):
        drops["2023-01-a"][name] = None
    return drops


def write_drops(out: Path, cast: Cast, contents: dict[str, bytes]) -> None:
    """Write `drops/`; `contents` are the files by name."""
    for drop, pdfs in sorted(drops_of(cast).items()):
        files = {name: contents[name] for name in pdfs}
        declared = [{"name": name, **pdf.declared} for name, pdf in sorted(pdfs.items()) if pdf and pdf.declared]
        if declared:
            files["records.jsonl"] = jsonl(declared)
        write_ready(out / "drops" / drop, files, DROPS[drop][1])


def write_sources(out: Path, cast: Cast, contents: dict[str, bytes]) -> None:
    """Write `sources/`, each source in its own format."""
    deliveries: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for case in cast.cases:
        for delivery, row in case.records:
            named = row.get("file_sha1")
            if named is not None:
                row = row | {"file_sha1": sha1(contents[named.removeprefix("@")])}
            deliveries[row["source"], delivery].append(row)
    for (source, delivery), rows in sorted(deliveries.items()):
        _, delivery_id, ready_at, mode = DELIVERIES[delivery]
        if (source, delivery) == ("arxiv", "full"):
            ready_at = _ARXIV_READY
        rows.sort(key=lambda r: str(r["record_id"]))
        write_ready(out / "sources" / source / delivery_id, files_of(source, rows), ready_at, mode)


def write_suppressions(out: Path, cast: Cast, contents: dict[str, bytes]) -> None:
    """Write `suppress.jsonl`."""
    rows = []
    for case in cast.cases:
        if case.key == "suppressed-doi":
            rows.append({"doi": case.paper.doi, "reason": "withdrawn by its authors"})
        if case.key == "suppressed-sha1":
            rows.append({"sha1": sha1(contents[case.pdfs[0].name]), "reason": "copyright holder's request"})
    (out / "suppress.jsonl").write_bytes(jsonl(rows))
