"""Classify the files of a drop or delivery by their names, and read the entries of its record files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from s2corpus import sources
from s2corpus.deliveries.declarations import FILE as RECORDS_FILE
from s2corpus.deliveries.ready import Delivery, Refused
from s2corpus.ids import RecordId
from s2corpus.outcomes import Refusal
from s2corpus.sources import jsonl, scienceparse
from s2corpus.sources.json_values import RepeatedKeys
from s2corpus.sources.jsonl import DECISIVE_KEYS, find_type_error, quote_json
from s2corpus.sources.streams import open_stream, stop_at_damage
from s2orc_parse.bibliography.identifiers import normalize_arxiv


def has_records(delivery: Delivery, name: str) -> bool:
    """Return whether a file of a drop or delivery contains records."""
    if delivery.kind == "drop":
        return name == RECORDS_FILE
    return (delivery.source, name) != (scienceparse.NAME, scienceparse.NAMES_FILE)


def kind_of(name: str) -> str:
    """Return the kind of a file of a drop by its name: pdf, latex or other."""
    lower = name.lower()
    if lower.endswith(".pdf"):
        return "pdf"
    return "latex" if lower.endswith((".gz", ".tgz", ".tar", ".tex")) else "other"


def arxiv_id_of(name: str) -> str | None:
    """Return the arXiv id in the name of a source archive: `2004.14974v2.gz`, `hep-th9711200.gz`."""
    if kind_of(name) != "latex":
        return None
    stem = name.rpartition("/")[2]
    return normalize_arxiv(re.sub(r"^([a-z-]+(?:\.[A-Z]{2})?)_?(\d{7})", r"\1/\2", stem))


def read_entries(path: Path, delivery: Delivery, name: str, pdf_names: Mapping[str, str]) -> Iterator[sources.Entry]:
    """Yield the entries of a file of a delivery: generic for `records.jsonl`, else from the adapter of its source.

    Raises:
        Refused: an entry belongs to another source.
    """
    if name.rpartition("/")[2] == RECORDS_FILE or delivery.source == jsonl.NAME:
        yield from _read_generic(path, delivery, name)
        return
    if delivery.source == scienceparse.NAME:
        with open_stream(path) as stream:
            yield from stop_at_damage(scienceparse.read(stream, pdf_names, name))
        return
    own = sources.SOURCES.load(delivery.source).NAME
    for entry in sources.read(delivery.source, path):
        if not isinstance(entry, sources.Dropped) and not entry.record_id.startswith(f"{own}:"):
            raise Refused(
                Refusal.BAD_RECORDS, f"{name}: record_id: {quote_json(entry.record_id)} is not of the source {own}"
            )
        yield entry


def _read_generic(path: Path, delivery: Delivery, name: str) -> Iterator[sources.Entry]:
    """Yield the entries of a generic file.

    Raises:
        Refused: a line claims a record, source or kind of another source, or an access claim has a wrong type.
    """
    own = {delivery.source}
    kind = None
    if delivery.source in sources.SOURCES.names:
        adapter = sources.SOURCES.load(delivery.source)
        own, kind = own | {adapter.NAME}, adapter.KIND

    def check(where: str, line: dict[str, Any], repeated: RepeatedKeys) -> None:
        if misleading := sorted(DECISIVE_KEYS.intersection(repeated.values)):
            raise Refused(Refusal.BAD_RECORDS, f"{name}, {where}: {misleading[0]}: the key is repeated")
        if repeated.names:
            return
        native = line.get("record_id", line.get("id"))
        claimed = RecordId(native).source if isinstance(native, str) and ":" in native else delivery.source
        wrong = find_type_error(line)
        if wrong is None and line.get("source") is not None and line["source"] not in own:
            given = quote_json(line["source"])
            wrong = (
                f"source: expected {delivery.source}, found {given}: a delivery contains only records of its own source"
            )
        elif wrong is None and claimed not in own:
            wrong = f"record_id: expected an id that begins with {delivery.source}:, found {quote_json(native)}"
        elif wrong is None and line.get("kind") == sources.RecordKind.PDF and kind is not sources.RecordKind.PDF:
            wrong = "kind: expected publisher or archive, found pdf"
        if wrong:
            raise Refused(Refusal.BAD_RECORDS, f"{name}, {where}: {wrong}")

    with open_stream(path) as stream:
        yield from stop_at_damage(jsonl.read(stream, delivery.source, check))
