"""Records as arrays: what the rules of clustering look at, one node a record, in the order of record ids."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.parts import IDENTIFIERS, PREPRINT, PUBLISHED, Part, codes_of, part_of
from s2corpus.clustering.places import Places
from s2corpus.compiled import njit
from s2corpus.errors import UserError
from s2corpus.tables import RECORDS

_SHORT = 32
"""Nodes of a group that are sorted where they are; more are sorted by numpy."""
MAX_TEXT = 1 << 31
"""Bytes of text of one Arrow column, whose offsets have 32 bits."""
T = TypeVar("T")
R = TypeVar("R")

THREADS = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Nodes:
    """n records as columns. Codes are small integers for equal values, −1 for none."""

    record_ids: pa.Array  # string, ascending
    ready_at: pa.DictionaryArray  # string: when it was delivered
    trusted: np.ndarray  # bool: publisher or archive, not a PDF's own header
    declares: np.ndarray  # bool: a drop's own record of one of its files
    second_header: np.ndarray  # bool: ScienceParse's reading of a PDF that the extractor reads too
    identifiers: dict[str, np.ndarray]  # kind → int32 code
    final_doi: np.ndarray  # int32 code of a DOI that is not a preprint's
    preprint: np.ndarray  # bool: the record is of a preprint
    year: np.ndarray  # int32, 0 = unknown
    title: np.ndarray  # int32 code into `titles`
    titles: pa.Array  # string: the distinct normalised titles
    given: pa.ChunkedArray  # string: titles as records give them, in the order that they came in
    given_at: np.ndarray  # int64 per distinct title: where `given` has its first record's
    strict: np.ndarray  # bool per distinct title: too short or generic to say anything alone
    by_title: Groups  # records of each title, by year
    surname_offsets: np.ndarray  # int64, n + 1
    surnames: np.ndarray  # uint64 hashes, ascending within a record
    places: Places
    journals: pa.Array  # string: the distinct names by the codes of `places`

    def __len__(self) -> int:
        return len(self.record_ids)

    def originals(self, titles: np.ndarray) -> pa.Array:
        """Some of the distinct titles as their first records give them."""
        rows, begin, found = self.given_at[titles], 0, []
        order = np.argsort(rows)
        for chunk in self.given.chunks:  # `take` would make one of them all
            low, high = np.searchsorted(rows[order], (begin, begin + len(chunk)))
            found.append(chunk.take(pa.array(rows[order[low:high]] - begin)))
            begin += len(chunk)
        return pa.concat_arrays([pa.array([], pa.string()), *found]).take(pa.array(np.argsort(order)))


def nodes_of(records: pa.Table | Iterable[pa.RecordBatch], preprint_prefixes: Sequence[str]) -> Nodes:
    """The nodes of a table with the columns of `records`, in the order of their ids.

    Batches are let go as they pass: of each only its ids, titles and codes stay.

    Raises:
        ValueError: a record_id occurs twice.
        TooManyRecords: for one process: their ids or titles are 2 GiB or more.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        parts = _in_turn(pool, part_of, records.to_batches() if isinstance(records, pa.Table) else records)
    return nodes_from(parts or [part_of(pa.RecordBatch.from_pylist([], RECORDS.schema))], preprint_prefixes)


class TooManyRecords(UserError):
    """More records than one process can cluster."""


def nodes_from(parts: list[Part], preprint_prefixes: Sequence[str]) -> Nodes:
    """The nodes of what was read of records; `parts` is emptied. See `nodes_of`."""
    columns = {f.name: [getattr(part, f.name) for part in parts] for f in fields(Part)}
    parts.clear()
    for name in ("record_id", "normalised", "title"):
        if sum(column.nbytes for column in columns[name]) >= MAX_TEXT:
            raise TooManyRecords(
                f"{sum(map(len, columns[name]))} records have {MAX_TEXT >> 20} MiB of {name} or more, too much for one process: set ENGINE "
                "to a Spark (docs/sizing.md)"
            )
    with ThreadPoolExecutor(THREADS) as pool:
        coded = pool.submit(_title_codes, pa.chunked_array(columns.pop("normalised")))
        texts = {  # beside the sorting of ids, which takes as long
            name: pool.submit(codes_of, pa.chunked_array(columns.pop(name)))
            for name in (*IDENTIFIERS, "ready_at", "journal")
        }
        given = pa.concat_arrays(columns.pop("record_id"))
        order = pc.array_sort_indices(given)
        record_ids = given.take(order)
        if len(record_ids) > 1 and pc.any(same := pc.equal(record_ids[1:], record_ids[:-1])).as_py():
            raise ValueError(f"record_id {record_ids[1:].filter(same)[0].as_py()!r} occurs twice")
        place = order.to_numpy().view(np.int64)  # numpy takes no other type as it is
        # what needs no codes goes first: they take longer than the sorting
        surname_offsets, surnames = _in_order(
            np.concatenate([np.zeros(1, np.int32), *map(np.diff, columns["surname_offsets"])], dtype=np.int64).cumsum(),
            np.concatenate(columns.pop("surnames")), place,
        )  # fmt: skip
        publisher, trusted, declares, second, year, little, form, doi_form = (
            np.concatenate(columns.pop(name))[place]
            for name in ("publisher", "trusted", "declares", "second_header", "year", "little", "form", "doi_form")
        )
        volume, issue, page = (np.concatenate(columns.pop(name))[place] for name in ("volume", "issue", "page"))
        titled = pool.submit(_titles_in_order, coded, place, year)
        identifiers, values = {}, {}
        for name in IDENTIFIERS:
            codes, values[name] = texts.pop(name).result()
            identifiers[name] = codes[place]
        doi = identifiers["doi"]
        own_doi = np.where(identifiers["arxiv_id"] >= 0, np.int32(-1), doi)  # arXiv gives the published version's
        forms = forms_of(own_doi, form, publisher, doi, doi_form, len(values["doi"]))
        by_server = from_preprint_server(values["doi"], preprint_prefixes)
        is_preprint = np.where(forms == 0, by_server, forms == PREPRINT)
        of_preprint = np.append(is_preprint, False)[doi]  # code −1 reads the appended False
        final_doi = np.where(of_preprint, np.int32(-1), doi)
        final_doi[_overruled(identifiers["declared"], declares, final_doi)] = -1
        ready, times = texts.pop("ready_at").result()
        journal, journals = texts.pop("journal").result()
        title, distinct, first, by_title = titled.result()
    return Nodes(
        record_ids=record_ids,
        ready_at=pa.DictionaryArray.from_arrays(pa.array(ready[place], mask=ready[place] < 0), times),
        trusted=trusted,
        declares=declares,
        second_header=second,
        identifiers=identifiers,
        final_doi=final_doi,
        preprint=of_preprint | (form == PREPRINT) | ((identifiers["arxiv_id"] >= 0) & ~publisher),
        year=year,
        title=title,
        titles=distinct,
        given=pa.chunked_array(columns.pop("title"), pa.string()),
        given_at=place[first],
        strict=little[first],
        by_title=by_title,
        surname_offsets=surname_offsets,
        surnames=surnames,
        places=Places(volume, issue, page, journal[place]),
        journals=journals,
    )


def forms_of(
    own_doi: np.ndarray, form: np.ndarray, publisher: np.ndarray, doi: np.ndarray, doi_form: np.ndarray, count: int
) -> np.ndarray:
    """Return the form of each of `count` DOIs: PREPRINT if a record says so, else PUBLISHED if a publisher does, else 0.

    A record speaks for `own_doi`, a code or −1. A form of `doi` that was decided before counts for all its records.
    """
    forms = np.zeros(count, np.int8)
    for value in (PUBLISHED, PREPRINT):
        speaking = own_doi[(own_doi >= 0) & (form == value) & (publisher if value == PUBLISHED else True)]
        forms[speaking] = value
        forms[doi[(doi >= 0) & (doi_form == value)]] = value
    return forms


def _overruled(declared: np.ndarray, declares: np.ndarray, final_doi: np.ndarray) -> np.ndarray:
    """The headers of files whose drop gives them a DOI (bool a node): a DOI that was read from the file does not contradict it."""
    given = np.zeros(int(declared.max(initial=-1)) + 2, bool)  # code −1 reads the last, which stays False
    given[declared[declares & (declared >= 0) & (final_doi >= 0)]] = True
    overruled: np.ndarray = given[declared] & ~declares
    return overruled


def _in_turn(pool: Executor, work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """The work's results in order, with a few items taken ahead and no more."""
    ahead: deque[Future[R]] = deque()
    done = []
    for item in items:
        ahead.append(pool.submit(work, item))
        if len(ahead) > 2 * THREADS:
            done.append(ahead.popleft().result())
    return done + [one.result() for one in ahead]


@njit(cache=True, nogil=True)
def _in_order(offsets: np.ndarray, values: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists (offsets int64 into values) in another order."""
    ends, out, at = np.zeros(len(order) + 1, np.int64), np.empty(len(values), values.dtype), 0
    for place in range(len(order)):
        for k in range(offsets[order[place]], offsets[order[place] + 1]):
            out[at] = values[k]
            at += 1
        ends[place + 1] = at
    return ends, out


def _title_codes(normalised: pa.ChunkedArray) -> tuple[np.ndarray, pa.Array]:
    """(int32 code per row, −1 for none; the distinct normalised titles by code)."""
    codes, distinct = codes_of(normalised)
    if (empty := pc.index(distinct, "").as_py()) >= 0:
        codes[codes == empty] = -1
    return codes, distinct


def _titles_in_order(
    coded: Future[tuple[np.ndarray, pa.Array]], place: np.ndarray, year: np.ndarray
) -> tuple[np.ndarray, pa.Array, np.ndarray, Groups]:
    """(code of each node's title, by its first node; the distinct titles by code; the first node of each; the nodes of each by year)."""
    codes, distinct = coded.result()
    title, first, former = _by_first(codes[place], len(distinct))
    by_title = groups(title, len(first))
    order_within(by_title.nodes, by_title.starts, year)
    return title, distinct.take(pa.array(former)), first, by_title


@njit(cache=True, nogil=True)
def _by_first(codes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(the codes renumbered by first occurrence, −1 as it was; the first place of each; its former code)."""
    fresh = np.full(count, -1, np.int32)
    out = np.full(len(codes), -1, np.int32)
    first, former = np.empty(count, np.int64), np.empty(count, np.int32)
    n = 0
    for place in range(len(codes)):
        code = codes[place]
        if code < 0:
            continue
        if fresh[code] < 0:
            fresh[code] = n
            first[n], former[n] = place, code
            n += 1
        out[place] = fresh[code]
    return out, first[:n], former[:n]


@dataclass(frozen=True, slots=True)
class Groups:
    """Nodes of equal codes: group c is `nodes[starts[c]:starts[c + 1]]`, ascending where nothing else is said."""

    nodes: np.ndarray  # int32
    starts: np.ndarray  # int64, codes + 1


def groups(codes: np.ndarray, count: int) -> Groups:
    """Group the nodes by code, 0 … count−1; those of code −1 are in none."""
    return Groups(*_groups(codes, count))


@njit(cache=True, nogil=True)
def _groups(codes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    starts = np.zeros(count + 1, np.int64)
    for code in codes:
        if code >= 0:
            starts[code + 1] += 1
    for code in range(count):
        starts[code + 1] += starts[code]
    nodes = np.empty(starts[count], np.int32)
    filled = starts[:-1].copy()
    for node in range(len(codes)):
        if codes[node] >= 0:
            nodes[filled[codes[node]]] = node
            filled[codes[node]] += 1
    return nodes, starts


def order_within(nodes: np.ndarray, starts: np.ndarray, by: np.ndarray) -> None:
    """Put the nodes of each group in order of a value, then of node, where they are."""
    _order_short(nodes, starts, by)
    for group in np.flatnonzero(np.diff(starts) > _SHORT):
        long = nodes[starts[group] : starts[group + 1]]
        long[:] = long[np.argsort(by[long], kind="stable")]


@njit(cache=True, nogil=True)
def _order_short(nodes: np.ndarray, starts: np.ndarray, by: np.ndarray) -> None:
    for group in range(len(starts) - 1):
        begin, end = starts[group], starts[group + 1]
        if end - begin > _SHORT:
            continue
        for k in range(begin + 1, end):
            node, to = nodes[k], k
            while to > begin and by[nodes[to - 1]] > by[node]:
                nodes[to] = nodes[to - 1]
                to -= 1
            nodes[to] = node


def from_preprint_server(dois: pa.Array, prefixes: Sequence[str]) -> np.ndarray:
    """Which DOIs (none is null) start with one of the prefixes (regular expressions; one without a slash is a whole registrant)."""
    if not prefixes or not len(dois):
        return np.zeros(len(dois), bool)
    pattern = "^(?:" + "|".join(prefix if "/" in prefix else f"{prefix}/" for prefix in prefixes) + ")"
    return np.asarray(pc.match_substring_regex(dois, pattern))
