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
from s2corpus.rules import MIN_SCORE_WITHOUT_AUTHORS
from s2corpus.storage.statements import read_statements
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.comparison import (
    ALMOST,
    EQUAL,
    EVIDENCE,
    MIN_LINK_EVIDENCE,
    MISSING,
    OTHER,
    SIMILAR,
    Comparison,
    Descriptions,
    compare,
    compare_titles,
)
from s2corpus.titles.contained import HEADS, MIN_TITLE, choose_contained, read_references, split_references
from s2corpus.titles.facts import FACTS, IDENTIFIERS, add_facts, same_journal
from s2corpus.titles.index import LinkIndex
from s2corpus.titles.places import Places
from s2corpus.titles.rules import Difference, differences, find_documents, is_cut
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
        Path(__file__).with_suffix(".sql"), max_group=MAX_GROUP, max_partial=MAX_PARTIAL, head=HEADS[0], long_head=HEADS[1],
        min_title=MIN_TITLE,
    ).items()
}  # fmt: skip


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
    _add_partial(connection, LinkReason.PREFIX)
    _add_partial(connection, LinkReason.LOCATOR)
    if "raw_text" in entries.column_names and not search.by_title:
        _add_contained(connection, entries)
    connection.register("judged", _judge(connection, entries, search))
    chosen = _fetch(connection, "chosen")
    for name in ("given", "similar_titles", "judged"):
        connection.unregister(name)
    entry, warning = chosen["entry"].to_numpy(), chosen["warning"].to_numpy()
    is_tied = np.asarray(chosen["is_tied"]) & np.asarray(pc.is_null(chosen["warning"])) & (not search.by_title)
    warning[is_tied] = LinkWarning.TIE
    columns = [chosen[name] if name != "warning" else pa.array(warning, pa.string()) for name in SCHEMA.names]
    linked = pa.table(columns, schema=SCHEMA)
    place = np.full(len(entries), -1)
    place[entry] = np.arange(len(chosen))
    rows = linked.take(pa.array(place, mask=place < 0))
    reason = pc.fill_null(rows["reason"], LinkReason.NONE)
    return Links(rows.set_column(2, SCHEMA.field("reason"), reason), searched, pairs)


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
    described = f"*{informative}, {_SQL['described']}"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE entries AS SELECT {described} FROM (SELECT {names} FROM given)")
    _create_papers(connection, index, by_title=by_title)
    connection.execute(_SQL["no_candidates"])
    return entries


def _create_papers(connection: DuckDBPyConnection, index: LinkIndex, *, by_title: bool) -> None:
    files = ", ".join("'" + str(path).replace("'", "''") + "'" for path in index.papers)
    informative = " REPLACE (false AS is_uninformative)" if by_title else ""
    described = f"*{informative}, {_SQL['described']}"
    connection.execute(f"CREATE OR REPLACE TEMP VIEW papers AS SELECT {described} FROM read_parquet([{files}])")


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
    found = _fetch(connection, reason)
    texts = zip(found["entry_text"].to_pylist(), found["paper_text"].to_pylist(), strict=True)
    is_same = is_cut if reason == LinkReason.PREFIX else same_journal
    accepted = [is_same(a or "", b or "") for a, b in texts]
    found = found.filter(pa.array(accepted, pa.bool_()))
    _add_rows(connection, found.drop_columns(["entry_text", "paper_text"]), reason)


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
    _add_rows(connection, choose_contained(references, found, compare_facts), LinkReason.CONTAINED)


def _take_titles(index: LinkIndex, numbers: np.ndarray) -> pa.Array:
    distinct, inverse = np.unique(numbers, return_inverse=True)
    found, first = [pa.array([], pa.string())], 0
    for piece in index.titles:
        low, high = np.searchsorted(distinct, (first, first + len(piece)))
        if high > low:
            found.append(piece.texts().take(pa.array(distinct[low:high] - first)))
        first += len(piece)
    return pa.concat_arrays(found).take(pa.array(inverse))


def _judge(connection: DuckDBPyConnection, entries: pa.Table, search: Search) -> pa.Table:
    """Return the candidates with S, whether their evidence suffices, and the warning if it does not (SPEC §7.9).

    A notice, reply or review of the cited work, or the reverse, is refused (§7.19).
    """
    rows = connection.execute("FROM candidates").to_arrow_table()
    entry, reason = (one_chunk(rows[name]) for name in ("entry", "reason"))
    is_id, is_prefix, is_fuzzy = (
        np.asarray(pc.equal(reason, word)) for word in (LinkReason.ID, LinkReason.PREFIX, LinkReason.FUZZY)
    )
    similarity = rows["score"].to_numpy().astype(np.float64)
    normalized = entries["normalized"].take(entry), rows["normalized"]
    scored = (is_id | is_prefix) & np.asarray(pc.and_(*(column.is_valid() for column in normalized)))
    cited, given = (one_chunk(column.filter(pa.array(scored))) for column in normalized)
    similarity[scored] = score_titles(cited, np.arange(len(cited)), given, np.arange(len(cited)))
    is_above = [similarity > MIN_SCORE_WITHOUT_AUTHORS, similarity > search.threshold, similarity >= 0]
    title = np.select([np.asarray(rows["same_title"]), *is_above], [EQUAL, ALMOST, SIMILAR, OTHER], MISSING)
    number, document = np.zeros(len(rows), np.int64), np.zeros(2 * len(rows), np.uint8)
    compared = pa.array(np.flatnonzero((is_fuzzy | is_prefix) & (not search.by_title)))
    titles = entries["title"].take(entry.take(compared)), rows["title"].take(compared)
    document[compared] = 3 * (find_documents(titles[0]) != find_documents(titles[1]))
    number[compared] = differences(*titles)
    for row in np.flatnonzero(is_prefix & (not search.by_title)).tolist():
        pair = entries["title"][entry[row].as_py()], rows["title"][row]
        title[row], number[row] = compare_titles(*(text.as_py() for text in pair))
    found = compare_facts(rows, title, number, is_id.astype(np.int64), document=document)
    against = found.strongest_against()
    has_evidence = (found.weights.sum(0) >= MIN_LINK_EVIDENCE) & (number != Difference.NUMBER)
    agrees = has_evidence | (against < 0) | search.by_title
    is_number = against == list(EVIDENCE).index("number")
    words = np.where(is_number, LinkWarning.NUMERAL, LinkWarning.CONTRADICTION)
    warning = pa.array(words, pa.string(), mask=agrees)
    rows = rows.append_column("similarity", pa.array(similarity, mask=np.isnan(similarity)))
    rows = rows.append_column("agrees", pa.array(agrees)).append_column("warning", warning)
    return rows.filter(pa.array(document[: len(rows)] == 0))  # Such evidence nothing outweighs.


def compare_facts(rows: pa.Table, title: np.ndarray, *facts: np.ndarray, document: int | np.ndarray = 0) -> Comparison:
    """Compare the facts of the entry and of the paper of each candidate.

    An entry without a place in print may cite a preprint or another form of the paper.
    """
    sides = pa.concat_tables([pa.Table.from_struct_array(one_chunk(rows[side])) for side in ("cited", "given")])
    year, surname, volume, page = (
        pc.fill_null(sides[name], 0).to_numpy() for name in ("year", "surname", "volume", "page")
    )
    journal = one_chunk(sides["journal"]).dictionary_encode()
    places = Places(volume, np.zeros_like(volume), page, pc.fill_null(journal.indices, -1).to_numpy())
    left = np.arange(len(rows))
    is_unplaced = (volume == 0) & (page == 0) & (np.arange(len(sides)) < len(rows))
    little = np.tile(rows["is_uninformative"].to_numpy(), 2)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(surname != 0)])
    kind = np.broadcast_to(np.uint8(document), len(sides))
    names = surname[surname != 0]
    described = Descriptions(is_unplaced, little, kind, year, offsets, names, places, journal.dictionary)
    return compare(described, left, left + len(rows), title, *facts)
