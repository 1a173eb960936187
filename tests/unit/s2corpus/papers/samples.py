"""Records of one paper and its PDF A, for the tests of the vote and of openness."""

from dataclasses import fields, replace
from typing import Any

from s2corpus.sources import Record, RecordKind

A, B, C = (letter * 40 for letter in "abc")
DOI, PREPRINT = "10.1016/x", "10.1101/p"


def record(source: str, native: str = "1", kind: RecordKind = RecordKind.ARCHIVE, **values: Any) -> Record:
    """Return a record with new string objects of equal value, as after reading it from a file."""
    if "date" in values:
        values["date_precision"] = {4: "year", 7: "month", 10: "day"}[len(values["date"])]
    made = Record(f"{source}:{native}", source, kind, **values)
    strings: dict[str, Any] = {
        f.name: "".join(list(v)) for f in fields(made) if type(v := getattr(made, f.name)) is str
    }
    return replace(made, **strings)


def header(sha1: str = A, source: str = "grobid", **values: Any) -> Record:
    """Return the record that an extractor made of a PDF."""
    return record(source, sha1, RecordKind.PDF, file_sha1=sha1, **values)


def declare(native: str = "d/a.pdf", **values: Any) -> Record:
    """Return the record that a delivery declares for a PDF."""
    return record("declared", native, file_sha1=A, **values)


def publisher(source: str = "crossref", native: str = "1", **values: Any) -> Record:
    """Return a publisher's record."""
    return record(source, native, RecordKind.PUBLISHER, **values)


def is_preprint(doi: str) -> bool:
    """Return whether a DOI has the prefix of bioRxiv or arXiv."""
    return doi.startswith(("10.1101/", "10.48550/"))
