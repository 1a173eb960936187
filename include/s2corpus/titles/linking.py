"""Bibliography entries to papers (S2ORC §2.6): equal identifier, else equal title, else the title with the highest S above 0.8."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import njit
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.candidates import Pairs, Passing, Search, Titles, candidates
from s2corpus.titles.equal import EqualStrings
from s2corpus.titles.rules import only_numbers_differ
from s2corpus.titles.targets import IDENTIFIERS, NO_YEAR, Facts, Targets, key_of
from s2corpus.titles.threegrams import grams, score_pairs


class Reason(StrEnum):
    """Why an entry is linked, or that it is not."""

    ID = "id"
    EXACT = "exact"
    FUZZY = "fuzzy"
    NONE = "none"


NUMERAL = "numeral"
"""Warning on a link between titles that differ only in a number (`Part I`, `Part II`)."""

SCHEMA = pa.schema(
    [
        ("paper_id", pa.string()),
        ("score", pa.float64()),
        ("reason", pa.string()),
        ("warning", pa.string()),
        ("runner_up_score", pa.float64()),
    ]
)
_REASONS = (Reason.NONE, Reason.ID, Reason.EXACT, Reason.FUZZY)
_ID, _EXACT, _FUZZY = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Links:
    """Links of some entries, a row each in their order, and what it took to find them."""

    rows: pa.Table
    """paper_id (null: not linked), score (S), reason, warning, runner_up_score"""
    searched: pa.Array
    """the distinct normalised titles that were searched by likeness, because equality had linked none of their entries"""
    pairs: Pairs
    """what that search found: rows of `searched` and numbers of the papers' distinct titles"""


class Papers(Protocol):
    """The papers that entries may link to, wherever they are kept."""

    def equal(self, wanted: Mapping[str, EqualStrings]) -> Targets:
        """All papers equal to a wanted string in its column (`normalised`, `paper_id` or an identifier), and maybe others."""

    @property
    def titles(self) -> Passing:
        """The distinct normalised titles."""

    def alike(self, titles: pa.Array, search: Search) -> Pairs:
        """Pairs of these normalised titles with the papers' distinct ones, by number."""

    def titled(self, numbers: np.ndarray) -> tuple[Targets, np.ndarray]:
        """All papers with the distinct titles of these numbers, and maybe others; and the title group of each number in them."""


@dataclass(frozen=True, slots=True)
class PapersInMemory:
    """Papers that fit."""

    targets: Targets

    @staticmethod
    def of(papers: pa.Table) -> PapersInMemory:
        """Papers as `Targets.of` takes them."""
        return PapersInMemory(Targets.of(papers))

    def equal(self, wanted: Mapping[str, EqualStrings]) -> Targets:
        """See `Papers`."""
        return self.targets

    @property
    def titles(self) -> Passing:
        """See `Papers`."""
        return Titles(self.targets.distinct, Search())

    def alike(self, titles: pa.Array, search: Search) -> Pairs:
        """See `Papers`."""
        return candidates(titles, self.targets.distinct, search.threshold, search)

    def titled(self, numbers: np.ndarray) -> tuple[Targets, np.ndarray]:
        """See `Papers`."""
        return self.targets, numbers


def link(entries: pa.Table, papers: Papers, search: Search | None = None) -> Links:
    """Link entries with `title`, `year`, `surname`, the columns of IDENTIFIERS and `citing_paper_id`; any may be null.

    Order: `id`, `exact`, `fuzzy`. Ties: year agrees, then the first author's surname, then the smallest paper_id. A title
    that says little, on either side, needs year and surname to agree (identifiers need nothing). No paper cites itself.
    `score` is S of the two titles whatever the reason; `runner_up_score` is S of the next paper that could have been
    linked: for `id` and `exact` one with the same identifier or title.
    """
    search = search or Search()
    facts = Facts.of(entries)
    titles = EqualStrings.of(facts.normalised)
    distinct = facts.normalised.take(pa.array(titles.first))
    given = [name for name in IDENTIFIERS if entries[name].null_count < len(entries)]
    wanted = {"normalised": titles, **{name: EqualStrings.of(entries[name]) for name in given}}
    equal = papers.equal(wanted)
    del wanted
    by_id = np.full((len(entries), len(IDENTIFIERS)), -1, np.int32)
    before = len(equal.titles)
    for kind, (name, groups) in enumerate(zip(IDENTIFIERS, equal.identifiers, strict=True)):
        if len(groups) and name in given:
            group_of = groups.find(entries[name])
            by_id[:, kind] = np.where(group_of < 0, -1, group_of + before)
        before += len(groups)
    by_title = np.append(equal.titles.find(distinct), np.int32(-1))[titles.groups]
    citing = EqualStrings.of(entries["citing_paper_id"])
    citing_id = entries["citing_paper_id"].take(pa.array(citing.first))
    known = _known(facts, citing, citing_id, equal)
    row, second, reason, score, runner_up = _decide_equal(by_id, by_title, known, _tied(equal))

    # What is left is compared by likeness. A title that says little needs to agree in what is not known: left out.
    unknown = facts.little & ((facts.year == NO_YEAR) | (facts.surname == 0))
    left = np.flatnonzero((row < 0) & ~unknown & (titles.groups >= 0))
    asked, among = np.unique(titles.groups[left], return_inverse=True)
    searched = distinct.take(pa.array(asked))
    for other, scores in ((row, score), (second, runner_up)):
        by_identifier = np.flatnonzero((reason == _ID) & (other >= 0))
        scores[by_identifier] = _score(facts.normalised, by_identifier, equal.facts.normalised, other[by_identifier])
    paper_id = equal.paper_id.take(pa.array(row, mask=row < 0))
    del equal, distinct, known, titles

    pairs = papers.alike(searched, search)
    alike, group = papers.titled(pairs.b)
    starts = np.searchsorted(pairs.a, np.arange(len(searched) + 1))
    known = _known(facts, citing, citing_id, alike)
    row[:] = -1
    _decide_fuzzy(left, among, starts, group, pairs.score, known, _tied(alike), row, reason, score, runner_up)
    fuzzy = np.flatnonzero(reason == _FUZZY)
    chosen = pa.array(row[fuzzy])
    numeral = only_numbers_differ(one_chunk(entries["title"]).take(pa.array(fuzzy)), alike.title.take(chosen))
    is_fuzzy = reason == _FUZZY
    is_numeral = np.zeros(len(entries), np.bool_)
    is_numeral[fuzzy[numeral]] = True
    columns = [
        pc.replace_with_mask(paper_id, pa.array(is_fuzzy), alike.paper_id.take(chosen)),
        pa.array(score, mask=np.isnan(score)),
        pa.DictionaryArray.from_arrays(reason, [r.value for r in _REASONS]).cast(pa.string()),
        pc.if_else(pa.array(is_numeral), NUMERAL, pa.scalar(None, pa.string())),
        pa.array(runner_up, mask=np.isnan(runner_up)),
    ]
    return Links(pa.Table.from_arrays(columns, schema=SCHEMA), searched, pairs)


class _Known(NamedTuple):
    """What is known of each entry beside its title."""

    year: np.ndarray
    surname: np.ndarray
    citing: np.ndarray
    """row of the citing paper among those it may link to, -1 where it is not there"""
    little: np.ndarray


class _Tied(NamedTuple):
    """The papers as the tie rules look at them (see `Targets`)."""

    single: np.ndarray
    keys: np.ndarray
    rows: np.ndarray
    year: np.ndarray
    surname: np.ndarray
    rank: np.ndarray
    little: np.ndarray
    """by title group"""


def _known(facts: Facts, citing: EqualStrings, citing_id: pa.ChunkedArray, targets: Targets) -> _Known:
    row = np.append(targets.papers.first, np.int32(-1))[targets.papers.find(citing_id)]
    return _Known(facts.year, facts.surname, np.append(row, np.int32(-1))[citing.groups], facts.little)


def _tied(targets: Targets) -> _Tied:
    facts = targets.facts
    return _Tied(targets.single, targets.keys, targets.rows, facts.year, facts.surname, targets.rank, targets.little)


def _score(titles_a: pa.Array, a: np.ndarray, titles_b: pa.Array, b: np.ndarray) -> np.ndarray:
    """S of pairs of rows; NaN where one of the two has no title."""
    sets_a, sets_b = grams(titles_a.take(pa.array(a))), grams(titles_b.take(pa.array(b)))
    pairs = np.arange(len(a))
    return np.where((sets_a.sizes > 0) & (sets_b.sizes > 0), score_pairs(sets_a, pairs, sets_b, pairs), np.nan)


@njit(cache=True, nogil=True)
def _choose(group: int, i: int, must_agree: bool, known: _Known, papers: _Tied) -> tuple[int, int, int]:
    """The paper of a group that the tie rules prefer for entry `i`, how far it agrees (2 year, 1 surname), and another that could
    be; else -1.
    """  # fmt: skip
    year, surname, citing = known.year[i], known.surname[i], known.citing[i]
    dated, named = year != NO_YEAR, surname != 0
    if papers.single[group] >= 0:
        row = int(papers.single[group])
        agreement = 2 * int(dated and papers.year[row] == year) + int(named and papers.surname[row] == surname)
        return (row if row != citing and (agreement == 3 or not must_agree) else -1), agreement, -1
    for agreement in (3, 2, 1, 0):
        if (agreement & 2 and not dated) or (agreement & 1 and not named) or (must_agree and agreement < 3):
            continue
        best, second = -1, -1
        # Another candidate agrees as far where it must, and else may be any of the group.
        for wanted in (agreement, agreement if must_agree else 0):
            key = key_of(np.uint64(group), year, surname, wanted & 2 != 0, wanted & 1 != 0)
            at = np.searchsorted(papers.keys, key)
            while at < len(papers.keys) and papers.keys[at] == key and second < 0:
                row = int(papers.rows[at])
                if row != citing and best < 0:
                    best = row
                elif row != citing and row != best:
                    second = row
                at += 1
            if best < 0:
                break
        if best >= 0:
            return best, agreement, second
    return -1, 0, -1


@njit(cache=True, nogil=True)
def _decide_equal(
    by_id: np.ndarray, by_title: np.ndarray, known: _Known, papers: _Tied
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Links by identifier, else by equal title: paper or -1, another equal candidate or -1, reason, score, runner-up's score."""
    count = len(by_title)
    chosen = np.full(count, -1, np.int32)
    seconds = np.full(count, -1, np.int32)
    reason = np.zeros(count, np.int8)
    score = np.full(count, np.nan)
    runner_up = np.full(count, np.nan)
    for i in range(count):
        best, best_agreement, other = -1, 0, -1
        for kind in range(by_id.shape[1]):
            if by_id[i, kind] < 0:
                continue
            row, agreement, second = _choose(by_id[i, kind], i, False, known, papers)
            if row < 0 or row == best:
                continue
            if best < 0 or (agreement, -papers.rank[row]) > (best_agreement, -papers.rank[best]):
                row, best, best_agreement = best, row, agreement
            if other < 0:
                other = row if row >= 0 else second
        if best >= 0:
            chosen[i], seconds[i], reason[i] = best, other, _ID
        elif by_title[i] >= 0:
            must_agree = known.little[i] or papers.little[by_title[i]]
            best, best_agreement, other = _choose(by_title[i], i, must_agree, known, papers)
            if best >= 0:
                chosen[i], seconds[i], reason[i], score[i] = best, other, _EXACT, 1.0
                if other >= 0:
                    runner_up[i] = 1.0
    return chosen, seconds, reason, score, runner_up


@njit(cache=True, nogil=True)
def _decide_fuzzy(
    left: np.ndarray,
    searched: np.ndarray,
    starts: np.ndarray,
    groups: np.ndarray,
    scores: np.ndarray,
    known: _Known,
    papers: _Tied,
    chosen: np.ndarray,
    reason: np.ndarray,
    score: np.ndarray,
    runner_up: np.ndarray,
) -> None:
    """Links by likeness for the entries `left`: the title `s` of each is like those of `groups[starts[s]:starts[s + 1]]`, best first."""
    for k in range(len(left)):
        i = left[k]
        best_agreement = 0
        for pair in range(starts[searched[k]], starts[searched[k] + 1]):
            must_agree = known.little[i] or papers.little[groups[pair]]
            row, agreement, second = _choose(groups[pair], i, must_agree, known, papers)
            if row < 0:
                continue
            if chosen[i] >= 0:
                if np.isnan(runner_up[i]):
                    runner_up[i] = scores[pair]
                if scores[pair] < score[i]:
                    break
                if (agreement, -papers.rank[row]) < (best_agreement, -papers.rank[chosen[i]]):
                    continue
            elif second >= 0:
                runner_up[i] = scores[pair]
            chosen[i], reason[i], score[i], best_agreement = row, _FUZZY, scores[pair], agreement
