"""Functions of `stages/link.sql`: each makes the rows of a table from rows of a statement, as Arrow tables (SPEC §7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.outcomes import LinkReason, LinkWarning
from s2corpus.rules import MIN_SCORE_WITHOUT_AUTHORS
from s2corpus.titles import similarity
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.comparison import (
    ALMOST,
    EQUAL,
    EVIDENCE,
    KINDS,
    MIN_LINK_EVIDENCE,
    MISSING,
    OTHER,
    SIMILAR,
    Comparison,
    Descriptions,
    compare,
    compare_titles,
)
from s2corpus.titles.facts import COMPARED, FACTS, IDENTIFIERS, add_facts
from s2corpus.titles.places import Places
from s2corpus.titles.rules import Difference, differences, find_documents

_TEXT, _FLAG, _REAL = pa.string(), pa.bool_(), pa.float64()
_NAMES = dict.fromkeys(("title", *IDENTIFIERS), _TEXT)
PAPER = pa.schema({"paper_id": _TEXT, **_NAMES, "preprint_dois": pa.list_(_TEXT)} | {f.name: f.type for f in FACTS})
ENTRY = pa.schema(
    dict.fromkeys(("entry", "citing_paper_id", "raw_text"), _TEXT) | _NAMES | {f.name: f.type for f in FACTS}
)
CANDIDATE = pa.schema(
    dict.fromkeys(("entry", "paper_id", "title", "normalized"), _TEXT)
    | {"same_title": _FLAG, "is_uninformative": _FLAG, "cited": COMPARED, "given": COMPARED}
    | {"reason": _TEXT, "score": _REAL, "is_crowded": _FLAG, "has_more": _FLAG}
)
KEY = pa.schema({"title_hash": pa.int64(), "key": pa.int64()})
SCORED = pa.schema({"title_a": _TEXT, "title_b": _TEXT, "score": _REAL})
BEST = pa.schema({"title_a": _TEXT, "score": _REAL})
JUDGED = pa.schema(
    {"entry": _TEXT, "paper_id": _TEXT, "reason": _TEXT, "warning": _TEXT, "score": _REAL, "similarity": _REAL}
    | {"agreement": pa.int32(), "is_crowded": _FLAG, "has_more": _FLAG}
)


def read_papers(rows: pa.Table, *, by_title: bool) -> pa.Table:
    """Return papers with FACTS; the journal is the venue if none is given. With `by_title`, every title is informative (S2ORC §2.6)."""
    journal = pc.coalesce(rows["journal"], rows["venue"])
    year = pc.utf8_slice_codeunits(rows["date"], 0, 4).cast(pa.int32())
    rows = rows.set_column(rows.column_names.index("journal"), "journal", journal).append_column("year", year)
    return _inform(add_facts(rows)) if by_title else add_facts(rows)


def read_entries(rows: pa.Table, *, by_title: bool) -> pa.Table:
    """Return bibliography entries with FACTS. With `by_title`, they state nothing but titles."""
    if by_title:
        stated = {"entry", "citing_paper_id", "title"}
        columns = [rows[f.name] if f.name in stated else pa.nulls(len(rows), f.type) for f in rows.schema]
        rows = pa.table(columns, rows.schema)
    return _inform(add_facts(rows)) if by_title else add_facts(rows)


def _inform(rows: pa.Table) -> pa.Table:
    name = "is_uninformative"
    return rows.set_column(rows.column_names.index(name), name, pa.array(np.zeros(len(rows), bool)))


def find_best_scores(rows: pa.Table, sample: pa.Array, threshold: float) -> pa.Table:
    """Return the highest S of each sampled title over all normalized titles of `rows`, if it is above the threshold."""
    score = similarity.find_best_scores(sample, one_chunk(rows["normalized"]), threshold)
    found = pa.array(score > 0.0)
    return pa.table([sample.filter(found), pa.array(score).filter(found)], BEST)


def keep_same(rows: pa.Table, is_same: Callable[[str, str], bool]) -> pa.Table:
    """Return the candidates whose printed titles or journals, `entry_text` and `paper_text`, are the same (SPEC §7.7, §7.16)."""
    texts = zip(rows["entry_text"].to_pylist(), rows["paper_text"].to_pylist(), strict=True)
    return rows.filter(pa.array([is_same(cited or "", given or "") for cited, given in texts], _FLAG))


def judge(rows: pa.Table, *, threshold: float, by_title: bool) -> pa.Table:
    """Return the candidates with S (null without a title), and the warning if their evidence does not suffice (SPEC §7.9).

    A notice, reply or review of the cited work, or the reverse, is refused (§7.19). `agreement` orders candidates with equal S: title,
    enough evidence, journal, volume, page, year, surname.
    """
    similar, found = weigh(rows, threshold, by_title=by_title)
    number, document = (found.values[list(EVIDENCE).index(fact)] for fact in ("number", "document"))
    against = found.strongest_against()
    has_evidence = (found.weights.sum(0) >= MIN_LINK_EVIDENCE) & (number != Difference.NUMBER)
    agrees = has_evidence | (against < 0) | by_title
    words = np.where(against == list(EVIDENCE).index("number"), LinkWarning.NUMERAL, LinkWarning.CONTRADICTION)
    sides = [pa.Table.from_struct_array(one_chunk(rows[side])) for side in ("cited", "given")]
    agreement = np.zeros(len(rows), np.int32)
    equal = (pc.fill_null(pc.equal(*(side[name] for side in sides)), False) for name in _ORDER)
    for agreeing in (rows["same_title"].to_numpy(), agrees, *equal):
        agreement = 2 * agreement + np.asarray(agreeing)
    columns = {
        "warning": pa.array(words, _TEXT, mask=agrees),
        "similarity": pa.array(similar, mask=np.isnan(similar)),
        "agreement": pa.array(agreement),
    }
    for name, column in columns.items():
        rows = rows.append_column(name, column)
    return rows.filter(pa.array(document == 0))  # Such evidence nothing outweighs.


def weigh(rows: pa.Table, threshold: float, *, by_title: bool = False) -> tuple[np.ndarray, Comparison]:
    """Return S of each candidate (NaN without a title), and its evidence. Equal titles need no comparison of numbers and documents."""
    reason = one_chunk(rows["reason"])
    is_id, is_prefix, is_fuzzy = (
        np.asarray(pc.equal(reason, word)) for word in (LinkReason.ID, LinkReason.PREFIX, LinkReason.FUZZY)
    )
    similar = pc.fill_null(rows["score"], np.nan).to_numpy().copy()
    normalized = one_chunk(rows["entry_normalized"]), one_chunk(rows["normalized"])
    scored = (is_id | is_prefix) & np.asarray(pc.and_(*(column.is_valid() for column in normalized)))
    cited, given = (column.filter(pa.array(scored)) for column in normalized)
    similar[scored] = similarity.score_titles(cited, np.arange(len(cited)), given, np.arange(len(cited)))
    is_above = [similar > MIN_SCORE_WITHOUT_AUTHORS, similar > threshold, similar >= 0]
    title = np.select([rows["same_title"].to_numpy(), *is_above], [EQUAL, ALMOST, SIMILAR, OTHER], MISSING)
    number, document = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.uint8)
    compared = np.flatnonzero((is_fuzzy | is_prefix) & (not by_title))
    titles = [one_chunk(rows[name].take(pa.array(compared))) for name in ("entry_title", "title")]
    document[compared] = 3 * (find_documents(titles[0]) != find_documents(titles[1]))
    number[compared] = differences(*titles)
    for row in np.flatnonzero(is_prefix & (not by_title)).tolist():
        title[row], number[row] = compare_titles(rows["entry_title"][row].as_py(), rows["title"][row].as_py())
    return similar, compare_facts(rows, title, number, is_id.astype(np.int64), document=document)


_ORDER = ("journal_key", "volume", "page", "year", "surname")


def compare_facts(rows: pa.Table, title: np.ndarray, *facts: np.ndarray, document: int | np.ndarray = 0) -> Comparison:
    """Compare the facts of the entry and of the paper of each candidate: columns `cited`, `given` and `is_uninformative`.

    An entry without a place in print may cite a preprint or another form of the paper.
    """
    sides = pa.concat_tables([pa.Table.from_struct_array(one_chunk(rows[side])) for side in ("cited", "given")])
    year, surname, volume, page = (
        pc.fill_null(sides[name], 0).to_numpy() for name in ("year", "surname", "volume", "page")
    )
    volume, page = volume.astype(np.uint32), page.astype(np.uint32)
    journal = one_chunk(sides["journal"]).dictionary_encode()
    codes = pc.fill_null(journal.indices, -1).to_numpy()
    places = Places(volume, np.zeros_like(volume), page, np.zeros(len(sides), np.int64), codes)
    left = np.arange(len(rows))
    is_unplaced = (volume == 0) & (page == 0) & (np.arange(len(sides)) < len(rows))
    little = np.tile(rows["is_uninformative"].to_numpy(), 2)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(surname != 0)])
    kind = np.append(np.broadcast_to(np.uint8(document), len(rows)), np.zeros(len(rows), np.uint8))
    names = surname[surname != 0].view(np.uint64) & ~KINDS  # full surnames
    described = Descriptions(
        np.ones(len(year), bool), is_unplaced, little, kind, year, offsets, names, places, journal.dictionary
    )
    return compare(described, left, left + len(rows), title, *facts)
