"""Link bibliography entries to papers (SPEC §7): candidates, agreement and choice, by the statements of `linking.sql` in DuckDB.

An entry gets candidates by identifier; without any, by equal title; then by similar title; then by the opening of a cut title, or,
without a title, by its place in print; then by a title in its printed text. The first candidate in the order of `chosen` is the link.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.outcomes import LinkReason, LinkWarning
from s2corpus.sources.documents import DOCUMENT_WORDS, find_document
from s2corpus.storage.statements import read_statements
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.contained import (
    HEADS,
    MIN_TITLE,
    MIN_YEARS_APART,
    choose_contained,
    read_references,
    split_references,
)
from s2corpus.titles.facts import FACTS, IDENTIFIERS, add_facts, same_journal
from s2corpus.titles.index import LinkIndex
from s2corpus.titles.rules import (
    HAS_NUMBER,
    Difference,
    begins_with_number,
    differences,
    find_missing_part,
    find_undecided,
    is_cut,
)
from s2corpus.titles.similarity import Pairs, Search, find_similar, score_titles

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_GROUP = 64
"""Papers of one title or identifier that are compared with an entry. A larger group is narrowed first."""
MAX_PARTIAL = 256
"""Papers with one opening, or at one place in print, that are compared with an entry. An entry with more does not link."""


SCHEMA = pa.schema(
    [
        ("paper_id", pa.string()),
        ("score", pa.float64()),
        ("reason", pa.string()),
        ("warning", pa.string()),
        ("runner_up_score", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Links:
    """The links of some entries, and the similarity search behind them."""

    rows: pa.Table
    """SCHEMA, one row for each entry in their order; `paper_id` is null without a link"""
    searched: pa.Array
    """the distinct normalized titles of the similarity search"""
    pairs: Pairs
    """its result: rows of `searched`, and numbers of the papers' distinct titles"""


_SQL = {
    name: statement.sql
    for name, statement in read_statements(
        Path(__file__).with_suffix(".sql"), max_group=MAX_GROUP, max_partial=MAX_PARTIAL, years_apart=MIN_YEARS_APART,
        head=HEADS[0], long_head=HEADS[1], min_title=MIN_TITLE,
    ).items()
}  # fmt: skip
_KEYS = pa.schema([("entry", pa.int32()), ("paper_id", pa.string())])


def link(connection: DuckDBPyConnection, entries: pa.Table, index: LinkIndex, search: Search) -> Links:
    """Link entries with `title`, `year`, `surname`, the columns of IDENTIFIERS, `citing_paper_id` and, if given, PLACES.

    `score` is S of the two titles for any reason, or null without a title. `runner_up_score` is S of the next candidate. With
    `search.by_title`, an entry links to the paper with the highest S, whatever else agrees, and has no warning (S2ORC §2.6).
    """
    entries = _prepare(connection, entries, index, by_title=search.by_title)
    _add_candidates(connection, LinkReason.ID)
    _add_candidates(connection, LinkReason.EXACT)
    searched = one_chunk(_fetch(connection, "searched")["normalized"])
    pairs = find_similar(searched, index.titles, search)
    similar = [searched.take(pa.array(pairs.a)), _take_titles(index, pairs.b), pairs.score]
    connection.register("similar_titles", pa.table(similar, ["normalized", "value", "score"]))
    _add_candidates(connection, LinkReason.FUZZY)
    if not search.by_title:
        _drop_other_kinds(connection)
    _add_partial(connection, LinkReason.PREFIX)
    _add_partial(connection, LinkReason.LOCATOR)
    if "raw_text" in entries.column_names and not search.by_title:
        _add_contained(connection, entries)
    chosen = _fetch(connection, "chosen")
    undecided = [] if search.by_title else find_undecided(_fetch(connection, "of_series", number=HAS_NUMBER), chosen)
    for name in ("given", "similar_titles"):
        connection.unregister(name)
    rows = _links(entries, chosen, undecided)
    if search.by_title:
        rows = rows.set_column(3, SCHEMA.field("warning"), pa.nulls(len(rows), pa.string()))
    return Links(rows, searched, pairs)


def _fetch(connection: DuckDBPyConnection, name: str, **parameters: str) -> pa.Table:
    return connection.execute(_SQL[name], parameters or None).to_arrow_table()


def _make(connection: DuckDBPyConnection, table: str, name: str, **parameters: str) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {_SQL[name]}", parameters or None)


def _add(connection: DuckDBPyConnection, name: str, reason: LinkReason) -> None:
    connection.execute(f"INSERT INTO candidates {_SQL[name]}", {"reason": reason})


def _add_rows(connection: DuckDBPyConnection, rows: pa.Table, reason: LinkReason) -> None:
    connection.register("found", rows)
    connection.execute("INSERT INTO candidates SELECT *, $reason, NULL, false, false FROM found", {"reason": reason})
    connection.unregister("found")


def read_titles(connection: DuckDBPyConnection, index: LinkIndex, paper_ids: pa.Array) -> pa.Table:
    """Return `paper_id` and `normalized` of papers."""
    connection.register("wanted_ids", pa.table({"paper_id": paper_ids}))
    _create_papers(connection, index, by_title=False)
    return connection.execute(
        "SELECT paper_id, normalized FROM papers SEMI JOIN wanted_ids USING (paper_id)"
    ).to_arrow_table()


def _prepare(connection: DuckDBPyConnection, entries: pa.Table, index: LinkIndex, *, by_title: bool) -> pa.Table:
    """Create the tables `entries` (with facts) and `candidates`, and the view `papers`."""
    if by_title:
        evidence = [name for name in entries.column_names if name not in ("title", "citing_paper_id")]
        columns = {name: pa.nulls(len(entries), entries.schema.field(name).type) for name in evidence}
        entries = pa.table({name: columns.get(name, entries[name]) for name in entries.column_names})
    entries = add_facts(entries)
    entries = entries.append_column("entry", pa.array(np.arange(len(entries), dtype=np.int32)))
    connection.register("given", entries)
    names = ", ".join(("entry", "title", "journal", "citing_paper_id", "year", *IDENTIFIERS, *FACTS.names))
    informative = " REPLACE (false AS is_uninformative)" if by_title else ""
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE entries AS SELECT *{informative} FROM (SELECT {names} FROM given)"
    )
    _create_papers(connection, index, by_title=by_title)
    connection.execute(_SQL["no_candidates"])
    return entries


def _create_papers(connection: DuckDBPyConnection, index: LinkIndex, *, by_title: bool) -> None:
    files = ", ".join("'" + str(path).replace("'", "''") + "'" for path in index.papers)
    informative = " REPLACE (false AS is_uninformative)" if by_title else ""
    connection.execute(f"CREATE OR REPLACE TEMP VIEW papers AS SELECT *{informative} FROM read_parquet([{files}])")


def _add_candidates(connection: DuckDBPyConnection, reason: LinkReason) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP VIEW proposals AS {_SQL[f'proposals_{reason}']}")
    _make(connection, "members", "members_id" if reason == LinkReason.ID else "members_title", reason=reason)
    _make(connection, "groups", "groups")
    _add(connection, "by_identifier" if reason == LinkReason.ID else "by_title", reason)
    (largest,) = connection.execute("SELECT max(size) FROM groups").fetchone() or (None,)
    if (largest or 0) > MAX_GROUP:
        _add(connection, "crowded", reason)
        _make(connection, "candidates", "once")


def _add_partial(connection: DuckDBPyConnection, reason: LinkReason) -> None:
    """Add the papers with an equal key, if the printed titles or journals agree too (SPEC §7.7, §7.16)."""
    found = _fetch(connection, reason, reason=reason)
    texts = zip(found["entry_text"].to_pylist(), found["paper_text"].to_pylist(), strict=True)
    if reason == LinkReason.PREFIX:
        accepted = [is_cut(a, b) and find_document(a) == find_document(b) for a, b in texts]
    else:
        accepted = [same_journal(a or "", b or "") for a, b in texts]
    found = found.filter(pa.array(accepted, pa.bool_()))
    _add_rows(connection, found.drop_columns(["entry_text", "paper_text"]), reason)


def _drop_other_kinds(connection: DuckDBPyConnection) -> None:
    """Remove candidates that are a notice, reply or review of the cited work, or the reverse (SPEC §7.19)."""
    rows = connection.execute(_SQL["of_a_kind"], {"kind": DOCUMENT_WORDS}).fetchall()
    other = [(entry, id_) for entry, id_, cited, title in rows if find_document(cited) != find_document(title)]
    connection.register(
        "other_kinds", pa.table({"entry": [e for e, _ in other], "paper_id": [p for _, p in other]}, _KEYS)
    )
    _make(connection, "candidates", "of_equal_kinds")
    connection.unregister("other_kinds")


def _add_contained(connection: DuckDBPyConnection, entries: pa.Table) -> None:
    """Add the papers whose title is in the printed reference of an entry without a candidate (SPEC §7.18)."""
    is_open = np.ones(len(entries), bool)
    is_open[connection.execute("SELECT DISTINCT entry FROM candidates").to_arrow_table()["entry"].to_numpy()] = False
    references = read_references(entries.filter(pa.array(is_open)))
    tables = split_references(references)
    for name, table in tables.items():
        connection.register(name, table)
    found = _fetch(connection, "contained").to_pylist()
    for name in tables:
        connection.unregister(name)
    _add_rows(connection, choose_contained(references, found), LinkReason.CONTAINED)


def _take_titles(index: LinkIndex, numbers: np.ndarray) -> pa.Array:
    distinct, inverse = np.unique(numbers, return_inverse=True)
    found, first = [pa.array([], pa.string())], 0
    for piece in index.titles:
        low, high = np.searchsorted(distinct, (first, first + len(piece)))
        if high > low:
            found.append(piece.texts().take(pa.array(distinct[low:high] - first)))
        first += len(piece)
    return pa.concat_arrays(found).take(pa.array(inverse))


def _links(entries: pa.Table, chosen: pa.Table, undecided: list[int]) -> pa.Table:
    """Return one row of SCHEMA for each entry, with warnings, and the scores that SQL left null."""
    entry = chosen["entry"].to_numpy()
    reason = chosen["reason"].combine_chunks()
    rows = np.flatnonzero(np.asarray(pc.is_in(reason, pa.array([LinkReason.ID, LinkReason.PREFIX], pa.string()))))
    scores = []
    for score, other in (("score", "normalized"), ("next_score", "next_normalized")):
        known = chosen[score].to_numpy().astype(np.float64)
        known[rows] = _score(entries["normalized"].take(pa.array(entry[rows])), chosen[other].take(pa.array(rows)))
        scores.append(pa.array(known, mask=np.isnan(known)))
    warning = np.full(len(chosen), None, object)
    warning[np.asarray(chosen["is_tied"]) | np.isin(entry, undecided)] = LinkWarning.TIE
    contradicts = np.asarray(chosen["contradicts"])
    compared = np.asarray(pc.is_in(reason, pa.array([LinkReason.FUZZY, LinkReason.PREFIX], pa.string())))
    rows = np.flatnonzero(compared & ~contradicts)
    cited, titles = entries["title"].take(pa.array(entry[rows])), chosen["title"].take(pa.array(rows))
    warning[rows[differences(cited, titles) >= Difference.PART]] = LinkWarning.NUMERAL
    pairs = zip(cited.to_pylist(), titles.to_pylist(), strict=True)
    is_open = ~(np.asarray(chosen["is_placed"]) | warning.astype(bool))[rows]
    lacks_number = np.array([begins_with_number(find_missing_part(*pair) or "") for pair in pairs], bool)
    warning[rows[is_open & lacks_number]] = (
        LinkWarning.NUMERAL
    )  # The cited title ends before the number of a member of a series.
    warning[contradicts] = LinkWarning.CONTRADICTION  # assigned last, because it takes precedence
    linked = pa.table([chosen["paper_id"], scores[0], reason, pa.array(warning, pa.string()), scores[1]], schema=SCHEMA)
    place = np.full(len(entries), -1)
    place[entry] = np.arange(len(entry))
    rows_of_entries = linked.take(pa.array(place, mask=place < 0))
    filled = pc.fill_null(rows_of_entries["reason"], LinkReason.NONE)
    return rows_of_entries.set_column(2, SCHEMA.field("reason"), filled)


def _score(titles_a: pa.ChunkedArray, titles_b: pa.ChunkedArray) -> np.ndarray:
    """Return S of the titles of each row; NaN if one is missing."""
    is_known = np.asarray(pc.and_(titles_a.is_valid(), titles_b.is_valid()))
    scores = np.full(len(is_known), np.nan)
    a, b = (one_chunk(titles.filter(pa.array(is_known))) for titles in (titles_a, titles_b))
    scores[is_known] = score_titles(a, np.arange(len(a)), b, np.arange(len(a)))
    return scores
