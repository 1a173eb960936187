"""Build the rows of `tables/rights`: license and evidence of every abstract and parse in a snapshot.

The license is an SPDX id, `LicenseRef-…` or `NOASSERTION`. The evidence depends on the text:

- open full text: the evidence for open access;
- abstract: the source of the record that supplied it;
- closed full text: `bibliography_only`, since only its bibliography is published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Protocol, TypedDict, TypeVar

import pyarrow.compute as pc

from s2corpus.outcomes import CorrectionOutcome
from s2corpus.papers.corrections import LICENSE, parse_value
from s2corpus.papers.licenses import select_strictest, to_spdx
from s2corpus.papers.vote import VoteRule
from s2corpus.storage.by_paper import ByPaper
from s2corpus.storage.parts import TableRef
from s2corpus.tables.papers import CORRECTIONS, MEMBERS, PAPERS
from s2corpus.tables.published import PublishedId
from s2corpus.tables.schema import Table, file_schema

T = TypeVar("T")
ABSTRACT = "abstract"
BIBLIOGRAPHY_ONLY = "bibliography_only"
SPDX_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
"""Pattern of an SPDX id, a `LicenseRef-…` and `NOASSERTION`."""


class RightsRow(TypedDict):
    """The rights of each abstract and parse."""

    paper_id: PublishedId
    of: Annotated[str, "abstract, or the kind of a parse"]
    sha1: Annotated[str | None, "SHA-1 of the parse's file; null for abstracts"]
    open_access: Annotated[bool, "false for closed files: only their bibliography is published"]
    evidence: Annotated[str, "evidence of open access; the source of an abstract; bibliography_only for closed files"]
    license: Annotated[str, "license of the abstract or file, SPDX id"]


SCHEMA = file_schema(RightsRow)
"""Columns of `tables/rights`."""


class TableOpener(Protocol):
    """A function that opens a table of a release."""

    def __call__(self, table: Table[T]) -> TableRef[T]:
        """Return a reference to the table."""


def read_abstract_origins(tables: TableOpener, bucket: int, batch_rows: int) -> Iterator[dict[str, Any]]:
    """Yield the origin of each abstract in a bucket: `paper_id`, `source`, `rule`, and the `license` that its record states.

    A stricter license of a correction replaces the license of the record (SPEC §5.26). Read batches of `batch_rows` rows.
    """
    is_license = (pc.field("field") == LICENSE) & (pc.field("outcome") == CorrectionOutcome.APPLIED)
    lines = tables(CORRECTIONS).rows(["paper_id", "field", "value"], shard=bucket, where=is_license)
    corrected = {line["paper_id"]: parse_value(LICENSE, line["value"]) for line in lines}
    columns, has_license = ["paper_id", "record_id", "license"], pc.field("license").is_valid()
    members = ByPaper(tables(MEMBERS).rows(columns, shard=bucket, where=has_license, batch_size=batch_rows))
    columns, has_abstract = ["paper_id", "provenance", "abstract"], pc.field("abstract").is_valid()
    for batch in tables(PAPERS).batches(columns, shard=bucket, where=has_abstract, rows=batch_rows):
        provenances = pc.map_lookup(batch["provenance"], "abstract", "first")
        for paper_id, provenance in zip(batch["paper_id"].to_pylist(), provenances.to_pylist(), strict=True):
            source, rule, record_id = ((provenance or {}).get(name) or "" for name in ("source", "rule", "record_id"))
            licenses = {member["record_id"]: member["license"] for member in members.at(paper_id)}
            license = (
                select_strictest([licenses[record_id], corrected.get(paper_id)]) if record_id in licenses else None
            )
            yield {"paper_id": paper_id, "source": source, "rule": rule, "license": license}


def find_abstract_rights(paper: Mapping[str, Any], origin: Mapping[str, Any] | None) -> tuple[str | None, str]:
    """Return (evidence, license) of an abstract: its source, and the license of its record or else of the paper's open full text."""
    origin = origin or {"source": None, "rule": None, "license": None}
    record_license = origin["license"] if origin["rule"] != VoteRule.PDF else None
    return origin["source"] or None, to_spdx(record_license or paper["license"])


def rows(paper: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a released paper (`rows.read_released_papers`): first its abstract, then its parses by kind."""
    key = {"paper_id": paper["paper_id"]}
    if paper["abstract"]:
        evidence, license = find_abstract_rights(paper, paper["abstract_from"])
        yield key | {"of": ABSTRACT, "open_access": True, "evidence": evidence or "", "license": license}
    for kind in sorted(paper["parses"]):
        text = paper["fulltexts"][kind]
        is_open = text["open_access"]
        evidence = text["oa_evidence"] if is_open else BIBLIOGRAPHY_ONLY
        yield key | {
            "of": kind,
            "sha1": text["file_sha1"],
            "open_access": is_open,
            "evidence": evidence or "",
            "license": to_spdx(text["license"]),
        }


def find_fault(row: Mapping[str, Any]) -> str | None:
    """Return a message about the first fault of a row, or None."""
    if not row["evidence"]:
        return f"the {row['of']} of {row['paper_id']} has no evidence"
    if row["open_access"] == (row["evidence"] == BIBLIOGRAPHY_ONLY):
        access = "open" if row["open_access"] else "closed"
        return f"the {row['of']} of {row['paper_id']} is {access}, but its evidence is {row['evidence']}"
    if not SPDX_FORM.fullmatch(row["license"]):
        return f"the license of the {row['of']} of {row['paper_id']} is {row['license']!r}; expected an SPDX id"
    return None
