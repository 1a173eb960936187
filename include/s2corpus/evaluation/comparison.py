"""Compare a release with corpora that others publish.

The comparison reports which papers both contain, how much the texts differ, and why a paper is missing from the release.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

from s2corpus.evaluation.external import KINDS, ExternalPaper
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.storage.duck import duckdb_connection
from s2corpus.storage.parts import NotCommitted
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.parses import SELECTIONS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS, SPLITS
from s2corpus.text.near_duplicates import text_key
from s2corpus.titles import normalize_one

NOT_DELIVERED = "not delivered"
_MEMORY_MB = 2048
_KEYS = pa.schema([("line", pa.int64()), ("kind", pa.string()), ("value", pa.string())])
_MATCHES = """
  WITH ours AS (
    SELECT 'sha1' AS kind, file_sha1 AS value, paper_id FROM members WHERE file_sha1 IS NOT NULL
    UNION ALL SELECT 'record_id', record_id, paper_id FROM members
    UNION ALL SELECT kind, value, paper_id FROM (
      UNPIVOT (SELECT paper_id, doi, arxiv_id, pubmed_id, pmc_id, acl_id FROM papers)
      ON doi, arxiv_id, pubmed_id, pmc_id, acl_id INTO NAME kind VALUE value
    )
  )
  SELECT line, kind, min(paper_id) FROM theirs JOIN ours USING (kind, value) GROUP BY line, kind
"""


@dataclass(frozen=True, slots=True)
class ComparedPaper:
    """One paper of the other corpus, compared with the release."""

    id: str
    title: str
    paper_id: str | None
    """paper id in the release; None if no paper was found"""
    found_by: str | None
    outcome: str
    """`both`, or why the release has no text (or no paper): the stage and its outcome"""
    same: bool | None
    """whether the texts are equal except for case, accents, white space and punctuation; None unless both have text"""
    overlap: float | None
    """words in common, counted as often as both texts contain them: 2·common / (ours + theirs)"""
    words: tuple[int, int] | None
    """number of words in our text and in theirs"""


def compared(tables: ReleaseTables, others: Iterable[ExternalPaper]) -> Iterator[ComparedPaper]:
    """Yield a row for every paper of the other corpus, in order."""
    found = list(others)
    matches = _match_papers(tables, found)
    for at, other in enumerate(found):
        paper_id, kind = matches.get(at, (None, None))
        if paper_id is None:
            yield ComparedPaper(other.id, other.title, None, None, _explain_missing(tables, other), None, None, None)
            continue
        outcome, text = _read_text(tables, paper_id, other.kind)
        if text is None or other.text is None:
            yield ComparedPaper(other.id, other.title, paper_id, kind, outcome, None, None, None)
            continue
        one, two = Counter(text.split()), Counter(other.text.split())
        total = one.total() + two.total()
        overlap = round(2 * (one & two).total() / total, 4) if total else 1.0
        same = text_key(text) == text_key(other.text)
        yield ComparedPaper(other.id, other.title, paper_id, kind, outcome, same, overlap, (one.total(), two.total()))


def _match_papers(tables: ReleaseTables, others: list[ExternalPaper]) -> dict[int, tuple[str, str]]:
    """Return the index of each matched paper → (our paper id, kind of key).

    The most reliable matching key is used. The last choice is a title that only one paper has.
    """
    keys = [{"line": at, "kind": kind, "value": value} for at, other in enumerate(others) for kind, value in other.keys]
    with (
        tempfile.TemporaryDirectory(prefix="s2corpus-compare-") as scratch,
        duckdb_connection(memory_mb=_MEMORY_MB, scratch=Path(scratch)) as connection,
    ):
        connection.register("theirs", pa.Table.from_pylist(keys, _KEYS))
        for table in (MEMBERS, PAPERS):
            tables(table).view(connection)
        rows = connection.execute(_MATCHES).fetchall()
    best: dict[int, tuple[str, str]] = {}
    for at, kind, paper_id in sorted(rows, key=lambda row: (row[0], KINDS.index(row[1]))):
        best.setdefault(at, (paper_id, kind))
    wanted: dict[str, list[int]] = {}
    for at, other in enumerate(others):
        if at not in best and (plain := normalize_one(other.title)):
            wanted.setdefault(plain, []).append(at)
    titled: dict[str, set[str]] = {}
    for row in tables.rows(PAPERS, None, ["paper_id", "title"], size=16_384) if wanted else ():
        if row["title"] and (plain := normalize_one(row["title"])) in wanted:
            titled.setdefault(plain, set()).add(row["paper_id"])
    return best | {at: (min(ids), "title") for plain, ids in titled.items() if len(ids) == 1 for at in wanted[plain]}


def _read_text(tables: ReleaseTables, paper_id: str, kind: str) -> tuple[str, str | None]:
    """Return the outcome of our paper, and its text of the given kind, or None without a text."""
    filtered = [row["outcome"] for row in tables.of_paper(FILTERED, paper_id, ["paper_id", "outcome"])]
    if filtered != ["kept"]:
        return f"filter: {filtered[0] if filtered else 'not reached'}", None
    if kind == "document":
        return _read_document(tables, paper_id)
    for row in tables.of_paper(FULLTEXTS, paper_id, ["paper_id", "parse_kind", "open_access", "parse"]):
        if row["parse_kind"] == kind:
            if not row["open_access"]:
                return "assemble: closed", None
            return "both", "\n".join(paragraph["text"] for paragraph in orjson.loads(row["parse"])["body_text"])
    return f"assemble: no {kind} full text", None


def _read_document(tables: ReleaseTables, paper_id: str) -> tuple[str, str | None]:
    rows = tables.of_paper(DOCUMENTS, paper_id, ["paper_id", "set", "outcome", "text"])
    for row in sorted(rows, key=lambda row: row["set"], reverse=True):  # s2orc before s2ag
        if row["outcome"] == "kept":
            splits = tables.of_paper(SPLITS, paper_id, ["paper_id", "set", "split"])
            split = next((s["split"] for s in splits if s["set"] == row["set"]), "not reached")
            return "both" if split in ("train", "valid") else f"split: {split}", row["text"]
    return "clean: " + (", ".join(f"{row['set']} {row['outcome']}" for row in rows) or "not reached"), None


def _explain_missing(tables: ReleaseTables, other: ExternalPaper) -> str:
    """Return why no paper matches: its PDF was delivered but not selected, or it was not delivered."""
    sha1 = dict(other.keys).get("sha1")
    is_sha1 = sha1 and len(sha1) == 40 and not set(sha1) - set("0123456789abcdef")
    try:
        rows = tables.of_pdf(SELECTIONS, sha1) if sha1 and is_sha1 else []
    except NotCommitted:
        rows = []
    return f"select: {rows[0]['outcome']}" if rows and rows[0]["outcome"] != "selected" else NOT_DELIVERED


def summary(rows: Sequence[ComparedPaper]) -> dict[str, Any]:
    """Return counts over the rows: outcomes, keys that found papers, and agreement of texts."""
    import pandas

    table = pandas.DataFrame(rows, columns=[field.name for field in fields(ComparedPaper)])
    overlaps = table["overlap"].dropna()
    by_name = table["outcome"].value_counts().sort_index()
    return {
        "papers": len(table), "outcomes": by_name.sort_values(ascending=False, kind="stable").to_dict(),
        "found_by": table["found_by"].value_counts().sort_index().to_dict(), "texts": len(overlaps),
        "same": int(table["same"].eq(True).sum()), "median_overlap": overlaps.median(), "below_0.9": int((overlaps < 0.9).sum()),
    }  # fmt: skip
