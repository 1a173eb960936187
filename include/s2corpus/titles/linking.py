"""Link bibliography entries to papers (SPEC §7): candidates, agreement and choice, as SQL in DuckDB.

An entry gets candidates by identifier; without any, by equal title; then by similar title; then by the opening of a cut title, or,
without a title, by its place in print. The first candidate in the order of `_CHOOSE` is the link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.outcomes import LinkReason, LinkWarning
from s2corpus.sources.documents import DOCUMENT_WORDS, find_document
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.contained import MIN_YEARS_APART, find_contained
from s2corpus.titles.facts import FACTS, IDENTIFIERS, add_facts, same_journal
from s2corpus.titles.index import LinkIndex
from s2corpus.titles.rules import Difference, begins_with_number, differences, find_missing_part, find_undecided, is_cut
from s2corpus.titles.similarity import Pairs, Search, find_similar, score_titles

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_GROUP = 64
"""Papers of one title or identifier that are compared with an entry. A larger group is narrowed first; see `_ADD_CROWDED`."""
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


_AGREEMENT = f"""
    coalesce(p.normalized = e.normalized, false) AS same_title,
    NOT coalesce(
      (p.year <> e.year AND p.surname_key <> e.surname_key) OR (
        $reason <> 'id' AND abs(p.year - e.year) >= {MIN_YEARS_APART}
        AND NOT coalesce(p.surname_key = e.surname_key AND p.volume_key = e.volume_key AND p.page_key = e.page_key, false)
      ), false
    ) AS agrees,
    coalesce(p.journal_key = e.journal_key, false) AS same_journal,
    coalesce(p.volume_key = e.volume_key, false) AS same_volume,
    coalesce(p.page_key = e.page_key, false) AS same_page,
    coalesce(p.year = e.year, false) AS same_year,
    coalesce(p.surname_key = e.surname_key, false) AS same_surname
"""
_CANDIDATE = f"e.entry, p.paper_id, p.title, p.normalized, {_AGREEMENT}"
_CANDIDATES = """
CREATE OR REPLACE TEMP TABLE candidates (
  entry INTEGER, paper_id VARCHAR, title VARCHAR, normalized VARCHAR, same_title BOOLEAN, agrees BOOLEAN, same_journal BOOLEAN,
  same_volume BOOLEAN, same_page BOOLEAN, same_year BOOLEAN, same_surname BOOLEAN, reason VARCHAR, score DOUBLE,
  is_crowded BOOLEAN, has_more BOOLEAN
)
"""
_OPEN = "(SELECT * FROM entries ANTI JOIN candidates USING (entry))"
"""Entries without a candidate."""
_BY_IDENTIFIER = " UNION ALL ".join(
    f"SELECT *, '{name} ' || {name} AS value, NULL::DOUBLE AS score FROM entries WHERE {name} <> ''"
    for name in IDENTIFIERS
)
_BY_TITLE = f"SELECT *, normalized AS value, 1.0 AS score FROM {_OPEN} WHERE normalized IS NOT NULL"
_TO_SEARCH = f"""
SELECT DISTINCT normalized FROM {_OPEN}
WHERE normalized IS NOT NULL AND (
  NOT is_uninformative OR (year IS NOT NULL AND surname_key IS NOT NULL) OR (volume_key IS NOT NULL AND page_key IS NOT NULL)
)
"""
"""An uninformative title needs year and surname, or volume and first page, to agree (SPEC §7.6)."""
_BY_SIMILARITY = f"SELECT * FROM {_OPEN} JOIN similar_titles USING (normalized)"
_FACTS = f"""
paper_id, CASE WHEN $reason = 'fuzzy' THEN title END AS title, year, {", ".join(name for name in FACTS.names if name != "opening")}
"""
_MEMBERS_BY_IDENTIFIER = (
    " UNION ALL ".join(
        f"SELECT '{name} ' || {name} AS value, {_FACTS} FROM papers SEMI JOIN entries e ON papers.{name} = e.{name} AND e.{name} <> ''"
        for name in IDENTIFIERS
    )
    + f"""
UNION ALL SELECT 'doi ' || preprint_doi AS value, {_FACTS} FROM (SELECT *, unnest(preprint_dois) AS preprint_doi FROM papers)
SEMI JOIN entries e ON preprint_doi = e.doi AND e.doi <> ''
"""
)
_MEMBERS_BY_TITLE = f"""
SELECT value, {_FACTS} FROM (SELECT *, normalized AS value FROM papers) SEMI JOIN (SELECT value FROM proposals) USING (value)
"""
_GROUPS = """
CREATE OR REPLACE TEMP TABLE groups AS
SELECT value, count(*) AS size, bool_or(is_uninformative) AS is_uninformative FROM members GROUP BY value HAVING size > 1
"""
_ADD = f"""
INSERT INTO candidates
SELECT {{distinct}} {_CANDIDATE}, $reason, e.score, false, false
FROM proposals e JOIN members p USING (value) LEFT JOIN groups g USING (value)
WHERE coalesce(g.size, 1) <= {MAX_GROUP} AND p.paper_id IS DISTINCT FROM e.citing_paper_id AND (
  $reason = 'id' OR NOT (e.is_uninformative OR p.is_uninformative OR coalesce(g.is_uninformative, false))
  OR (same_year AND same_surname) OR (same_volume AND same_page)
)
"""
_NARROW_KEYS = """
unnest([
  {'step': 1, 'key': volume_key::VARCHAR || ' ' || page_key::VARCHAR}, {'step': 2, 'key': year::VARCHAR || ' ' || surname_key::VARCHAR},
  {'step': 3, 'key': year::VARCHAR}, {'step': 4, 'key': surname_key::VARCHAR}, {'step': 5, 'key': ''}
], recursive := true)
"""
_ADD_CROWDED = f"""
INSERT INTO candidates
WITH over_full AS (
  SELECT * FROM groups WHERE size > {MAX_GROUP}
), narrowed AS (
  SELECT *, {_NARROW_KEYS} FROM members SEMI JOIN over_full USING (value)
), keys AS (
  SELECT value, step, key, count(*) AS size FROM narrowed WHERE key IS NOT NULL GROUP BY ALL
), first_papers AS (
  SELECT *, row_number() OVER (PARTITION BY value, step, key ORDER BY paper_id) AS place FROM narrowed WHERE key IS NOT NULL
  QUALIFY place <= {MAX_GROUP} + 2
), crowded_entries AS (
  SELECT c.*, c.is_uninformative OR g.is_uninformative AS is_strict, {_NARROW_KEYS} FROM proposals c JOIN over_full g USING (value)
), steps AS (
  SELECT c.*, own.place AS own_place, k.size - (own.place IS NOT NULL)::INTEGER AS size
  FROM crowded_entries c JOIN keys k USING (value, step, key)
  LEFT JOIN first_papers own
    ON own.value = c.value AND own.step = c.step AND own.key = c.key AND own.paper_id = c.citing_paper_id
  WHERE k.size > (own.place IS NOT NULL)::INTEGER AND ($reason = 'id' OR NOT is_strict OR c.step IN (1, 2, 5))
  QUALIFY c.step = min(c.step) OVER (PARTITION BY entry, c.value) OR ($reason = 'id' AND c.step = 5)
)
SELECT {_CANDIDATE}, $reason, e.score, e.size > {MAX_GROUP}, e.step < 5 AND $reason <> 'id' AND NOT is_strict
FROM steps e JOIN first_papers p USING (value, step, key)
WHERE p.place <> coalesce(own_place, 0) AND p.place - coalesce(own_place < p.place, false)::INTEGER <= {MAX_GROUP}
  AND ($reason = 'id' OR NOT is_strict OR (same_year AND same_surname) OR (same_volume AND same_page))
"""
"""Of a group of more than MAX_GROUP papers, compare those with the volume and page of the entry, else with its year and surname, its
year, its surname; else the first ones. A paper that is not compared may agree equally: such a link is a tie."""
_DROP_REPEATED = """
CREATE OR REPLACE TEMP TABLE candidates AS SELECT DISTINCT ON (entry, paper_id) * FROM candidates ORDER BY is_crowded
"""
_PARTIAL = """
WITH wanted AS (
  SELECT * FROM {open} WHERE normalized IS {title}
), found AS (
  SELECT * FROM papers SEMI JOIN wanted USING ({key})
), few AS (
  SELECT {key} FROM found GROUP BY ALL HAVING count(*) <= {most}
)
SELECT {candidate}, p.journal, e.title AS entry_title, e.journal AS entry_journal
FROM wanted e JOIN found p USING ({key}) SEMI JOIN few USING ({key})
WHERE starts_with(coalesce(p.normalized, ''), coalesce(e.normalized, ''))
  AND coalesce(p.volume_key = e.volume_key, true) AND coalesce(p.page_key = e.page_key, true)
  AND p.paper_id IS DISTINCT FROM e.citing_paper_id
"""
_OF_A_KIND = """
SELECT entry, paper_id, e.title, c.title FROM candidates c JOIN entries e USING (entry)
WHERE c.reason = 'fuzzy' AND (regexp_matches(c.title, $kind) OR regexp_matches(e.title, $kind))
"""
_KEYS = pa.schema([("entry", pa.int32()), ("paper_id", pa.string())])
_CHOOSE = """
WITH several AS (
  SELECT entry FROM candidates GROUP BY entry HAVING count(*) > 1
), ranked AS (
  SELECT *, row_number() OVER best AS place, lead(normalized) OVER best AS next_normalized,
    lead(score) OVER best AS next_score, lead(agreement) OVER best AS next_agreement
  FROM (SELECT *, [same_title, agrees, same_journal, same_volume, same_page, same_year, same_surname] AS agreement
    FROM candidates SEMI JOIN several USING (entry))
  WINDOW best AS (
    PARTITION BY entry
    ORDER BY score DESC NULLS LAST, same_title DESC, agrees DESC, same_journal DESC, same_volume DESC, same_page DESC,
      same_year DESC, same_surname DESC, paper_id
  )
)
SELECT entry, paper_id, title, normalized, reason, score, NOT agrees AS contradicts, next_normalized,
  same_volume AND same_page AS is_placed,
  CASE WHEN has_more THEN score ELSE next_score END AS next_score,
  is_crowded OR coalesce(next_agreement = agreement AND next_score IS NOT DISTINCT FROM score, false) AS is_tied
FROM (FROM ranked WHERE place = 1 UNION ALL BY NAME FROM candidates ANTI JOIN several USING (entry))
"""


def link(connection: DuckDBPyConnection, entries: pa.Table, index: LinkIndex, search: Search) -> Links:
    """Link entries with `title`, `year`, `surname`, the columns of IDENTIFIERS, `citing_paper_id` and, if given, PLACES.

    `score` is S of the two titles for any reason, or null without a title. `runner_up_score` is S of the next candidate. With
    `search.by_title`, an entry links to the paper with the highest S, whatever else agrees, and has no warning (S2ORC §2.6).
    """
    entries = _prepare(connection, entries, index, by_title=search.by_title)
    _add_candidates(connection, LinkReason.ID, _BY_IDENTIFIER)
    _add_candidates(connection, LinkReason.EXACT, _BY_TITLE)
    searched = one_chunk(connection.execute(_TO_SEARCH).to_arrow_table()["normalized"])
    pairs = find_similar(searched, index.titles, search)
    similar = [searched.take(pa.array(pairs.a)), _take_titles(index, pairs.b), pairs.score]
    connection.register("similar_titles", pa.table(similar, ["normalized", "value", "score"]))
    _add_candidates(connection, LinkReason.FUZZY, _BY_SIMILARITY)
    if not search.by_title:
        _drop_other_kinds(connection)
    _add_partial(connection, LinkReason.PREFIX, "NOT NULL", "year, surname_key, opening")
    _add_partial(connection, LinkReason.LOCATOR, "NULL", "year, journal_key, volume_key, page_key")
    if "raw_text" in entries.column_names and not search.by_title:
        _add_contained(connection, entries)
    chosen = connection.execute(_CHOOSE).to_arrow_table()
    undecided = [] if search.by_title else find_undecided(connection, chosen)
    for name in ("given", "similar_titles"):
        connection.unregister(name)
    rows = _links(entries, chosen, undecided)
    if search.by_title:
        rows = rows.set_column(3, SCHEMA.field("warning"), pa.nulls(len(rows), pa.string()))
    return Links(rows, searched, pairs)


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
    connection.execute(_CANDIDATES)
    return entries


def _create_papers(connection: DuckDBPyConnection, index: LinkIndex, *, by_title: bool) -> None:
    files = ", ".join("'" + str(path).replace("'", "''") + "'" for path in index.papers)
    informative = " REPLACE (false AS is_uninformative)" if by_title else ""
    connection.execute(f"CREATE OR REPLACE TEMP VIEW papers AS SELECT *{informative} FROM read_parquet([{files}])")


def _add_candidates(connection: DuckDBPyConnection, reason: LinkReason, proposals: str) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP VIEW proposals AS {proposals}")
    members = _MEMBERS_BY_IDENTIFIER if reason == LinkReason.ID else _MEMBERS_BY_TITLE
    connection.execute(f"CREATE OR REPLACE TEMP TABLE members AS {members}", {"reason": reason})
    connection.execute(_GROUPS)
    distinct = "DISTINCT" if reason == LinkReason.ID else ""  # A paper may have several identifiers of an entry.
    connection.execute(_ADD.format(distinct=distinct), {"reason": reason})
    (has_large_group,) = connection.execute(f"SELECT bool_or(size > {MAX_GROUP}) FROM groups").fetchone() or (False,)
    if has_large_group:
        connection.execute(_ADD_CROWDED, {"reason": reason})
        connection.execute(_DROP_REPEATED)


def _add_partial(connection: DuckDBPyConnection, reason: LinkReason, title: str, key: str) -> None:
    """Add the papers with an equal key, if the printed titles or journals agree too (SPEC §7.7, §7.16)."""
    query = _PARTIAL.format(open=_OPEN, title=title, key=key, most=MAX_PARTIAL, candidate=_CANDIDATE)
    found = connection.execute(query, {"reason": reason}).to_arrow_table()
    if reason == LinkReason.PREFIX:
        accepted = [
            is_cut(*titles) and find_document(titles[0]) == find_document(titles[1])
            for titles in _rows(found, "entry_title", "title")
        ]
    else:
        accepted = [same_journal(a or "", b or "") for a, b in _rows(found, "entry_journal", "journal")]
    connection.register("partial", found.filter(pa.array(accepted, pa.bool_())))
    connection.execute(
        "INSERT INTO candidates SELECT * EXCLUDE (journal, entry_title, entry_journal), $reason, NULL, false, false FROM partial",
        {"reason": reason},
    )
    connection.unregister("partial")


def _drop_other_kinds(connection: DuckDBPyConnection) -> None:
    """Remove candidates that are a notice, reply or review of the cited work, or the reverse (SPEC §7.19)."""
    rows = connection.execute(_OF_A_KIND, {"kind": DOCUMENT_WORDS}).fetchall()
    other = [(entry, id_) for entry, id_, cited, title in rows if find_document(cited) != find_document(title)]
    connection.register(
        "other_kinds", pa.table({"entry": [e for e, _ in other], "paper_id": [p for _, p in other]}, _KEYS)
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE candidates AS FROM candidates ANTI JOIN other_kinds USING (entry, paper_id)"
    )
    connection.unregister("other_kinds")


def _add_contained(connection: DuckDBPyConnection, entries: pa.Table) -> None:
    """Add the papers whose title is in the printed reference of an entry without a candidate (SPEC §7.18)."""
    is_open = np.ones(len(entries), bool)
    is_open[connection.execute("SELECT DISTINCT entry FROM candidates").to_arrow_table()["entry"].to_numpy()] = False
    connection.register("contained", find_contained(connection, entries.filter(pa.array(is_open)), MAX_PARTIAL))
    connection.execute(
        "INSERT INTO candidates SELECT *, $reason, NULL, false, false FROM contained", {"reason": LinkReason.CONTAINED}
    )
    connection.unregister("contained")


def _rows(table: pa.Table, *names: str) -> zip:  # type: ignore[type-arg]
    return zip(*(table[name].to_pylist() for name in names), strict=True)


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
