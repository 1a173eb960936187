"""Licence and evidence of every abstract and every parse that a snapshot has: rows of `tables/rights`.

The licence is an SPDX id, `LicenseRef-…` or `NOASSERTION`. Evidence of an open full text is what says that it is open; of an
abstract the source whose record gave it; of a closed full text that only its bibliography is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.papers.licences import to_spdx
from s2corpus.papers.vote import Rule
from s2corpus.storage.by_paper import ByPaper
from s2corpus.tables import MEMBERS, PAPERS

if TYPE_CHECKING:
    from s2corpus.snapshot.rows import TableOpener

ABSTRACT = "abstract"
BIBLIOGRAPHY_ONLY = "bibliography_only"
SPDX_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
"""What an SPDX id, a reference to another licence, and NOASSERTION look like."""

SCHEMA = pa.schema(
    [
        pa.field("paper_id", pa.string(), nullable=False),
        pa.field("of", pa.string(), nullable=False),
        pa.field("sha1", pa.string()),
        pa.field("open_access", pa.bool_(), nullable=False),
        pa.field("evidence", pa.string(), nullable=False),
        pa.field("licence", pa.string(), nullable=False),
    ]
)
"""`of` is `abstract` or the kind of a parse, `sha1` the file that a parse is of."""


@dataclass(frozen=True, slots=True)
class Abstract:
    """Where a paper's abstract is from."""

    source: str
    rule: str
    licence: str | None
    """of the record that gave it, as it says"""


def abstracts(tables: TableOpener, bucket: int, at_once: int) -> ByPaper[dict[str, Any]]:
    """The papers of a bucket that have an abstract: `paper_id`, and an `Abstract` as `found`; `at_once` are in memory at a time."""
    return ByPaper(_abstracts(tables, bucket, at_once))


def _abstracts(tables: TableOpener, bucket: int, at_once: int) -> Iterator[dict[str, Any]]:
    columns, said = ["paper_id", "record_id", "licence"], pc.field("licence").is_valid()
    members = ByPaper(tables(MEMBERS).rows(columns, shard=bucket, where=said, at_once=at_once))
    columns, there = ["paper_id", "provenance", "abstract"], pc.field("abstract").is_valid()
    for batch in tables(PAPERS).batches(columns, shard=bucket, where=there, rows=at_once):
        decided = pc.map_lookup(batch["provenance"], "abstract", "first")
        for paper_id, one in zip(batch["paper_id"].to_pylist(), decided.to_pylist(), strict=True):
            one = one or {}
            licences = {member["record_id"]: member["licence"] for member in members.at(paper_id)}
            found = Abstract(one.get("source") or "", one.get("rule") or "", licences.get(one.get("record_id") or ""))
            yield {"paper_id": paper_id, "found": found}


def of_abstract(paper: Mapping[str, Any], found: Abstract | None) -> tuple[str | None, str]:
    """(evidence, licence) of a paper's abstract: its source, and its record's licence, else that of the paper's open full text."""
    own = found.licence if found is not None and found.rule != Rule.PDF else None
    source = found.source if found is not None and found.source else None
    return source, to_spdx(own or paper["licence"])


def rows(paper: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a released paper (`rows.read_released_papers`): of its abstract first, then of its parses by kind."""
    key = {"paper_id": paper["paper_id"]}
    if paper["abstract"]:
        evidence, licence = of_abstract(paper, paper["abstract_from"])
        yield key | {"of": ABSTRACT, "open_access": True, "evidence": evidence or "", "licence": licence}
    for kind in sorted(paper["parses"]):
        text = paper["fulltexts"][kind]
        opened = text["open_access"]
        evidence = text["oa_evidence"] if opened else BIBLIOGRAPHY_ONLY
        yield key | {
            "of": kind,
            "sha1": text["file_sha1"],
            "open_access": opened,
            "evidence": evidence or "",
            "licence": to_spdx(text["licence"]),
        }


def fault(row: Mapping[str, Any]) -> str | None:
    """What a row of the table lacks; None if nothing."""
    if not row["evidence"]:
        return f"nothing says why the {row['of']} of {row['paper_id']} may be there"
    if row["open_access"] == (row["evidence"] == BIBLIOGRAPHY_ONLY):
        return (
            f"the {row['of']} of {row['paper_id']} is {'open' if row['open_access'] else 'closed'} by {row['evidence']}"
        )
    if not SPDX_FORM.fullmatch(row["licence"]):
        return f"the licence of the {row['of']} of {row['paper_id']} is {row['licence']!r}, which is not an SPDX id"
    return None
