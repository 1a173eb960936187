"""Resolve the names of PDFs in ScienceParse's files to SHA-1s: by the drop's own PDFs, or by `file_sha1.csv` of a delivery."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from s2corpus import sources
from s2corpus.deliveries.ready import Delivery, Refused
from s2corpus.outcomes import Refusal
from s2corpus.sources import scienceparse
from s2corpus.sources.jsonl import quote_json
from s2corpus.storage.lake import Lake

_MAX_BYTES = 64 << 20  # of the mapping file: about a million names


def map_pdf_names(lake: Lake, delivery: Delivery, sha1_of: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-1s of PDFs by their short names; a name of several PDFs is absent. `sha1_of` covers the delivery's files.

    Raises:
        Refused: a line of `file_sha1.csv` has no name or no SHA-1.
    """
    pairs: list[tuple[str, str]] = []
    if delivery.kind == "drop":
        pairs = [(name, sha1) for name, sha1 in sha1_of.items() if name.lower().endswith(".pdf")]
    elif delivery.source == scienceparse.NAME and scienceparse.NAMES_FILE in sha1_of:
        pairs = list(_read_names(lake, delivery.key(scienceparse.NAMES_FILE)))
    found: dict[str, set[str]] = {}
    for name, sha1 in pairs:
        found.setdefault(scienceparse.short_name(name), set()).add(sha1)
    return {name: sha1s.pop() for name, sha1s in found.items() if len(sha1s) == 1}


def _read_names(lake: Lake, key: str) -> Iterator[tuple[str, str]]:
    if (lake.size(key) or 0) > _MAX_BYTES:
        raise Refused(Refusal.BAD_RECORDS, f"{scienceparse.NAMES_FILE}: over {_MAX_BYTES >> 20} MB: split the delivery")
    lines = lake.get(key)[0].decode("utf-8-sig", "replace").splitlines()
    if lines[:1] != ["name,file_sha1"]:
        raise Refused(Refusal.BAD_RECORDS, f"{scienceparse.NAMES_FILE}, line 1: expected the header name,file_sha1")
    for number, line in enumerate(lines[1:], 2):
        name, _, sha1 = (cell.strip().strip('"') for cell in line.rpartition(","))
        if not name or not re.fullmatch("[0-9a-fA-F]{40}", sha1):
            wrong = f"{scienceparse.NAMES_FILE}, line {number}: expected name,file_sha1 with 40 hex digits"
            raise Refused(Refusal.BAD_RECORDS, f"{wrong}, found {quote_json(line)}")
        yield name, sha1.lower()


def select_own(entries: Iterator[sources.Entry], name: str, sha1_of: Mapping[str, str]) -> Iterator[sources.Entry]:
    """Yield the entries of a drop's file; a record of a PDF that the drop does not contain is `NO_ID`."""
    for entry in entries:
        is_foreign = isinstance(entry, sources.Record) and entry.file_sha1 not in sha1_of.values()
        yield sources.Dropped(sources.RejectReason.NO_ID, name, "the drop has no such PDF") if is_foreign else entry
