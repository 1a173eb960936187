"""Bibliography entries to papers (S2ORC §2.6): equal identifier, else equal title, else the title with the highest S above 0.8."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import pyarrow as pa
from numba import njit

from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.candidates import Pairs, Search, candidates
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
    """what that search found: rows of `searched` and of the distinct titles of the papers"""


class Propose(Protocol):
    """How pairs of alike titles are found: `candidates`, or the same by a join on many machines."""

    def __call__(self, titles_a: pa.Array, titles_b: pa.Array, threshold: float, search: Search | None) -> Pairs:
        """See `candidates`."""


def link(entries: pa.Table, targets: Targets, search: Search | None = None, propose: Propose = candidates) -> Links:
    """Link entries with `title`, `year`, `surname`, the columns of IDENTIFIERS and `citing_paper_id`; any may be null.

    Order: `id`, `exact`, `fuzzy`. Ties: year agrees, then the first author's surname, then the smallest paper_id. A title
    that says little, on either side, needs year and surname to agree (identifiers need nothing). No paper cites itself.
    `score` is S of the two titles whatever the reason; `runner_up_score` is S of the next paper that could have been
    linked: for `id` and `exact` one with the same identifier or title.
    """
    search = search or Search()
    facts = Facts.of(entries)
    citing = np.append(targets.papers.first, np.int32(-1))[targets.papers.find(entries["citing_paper_id"])]
    by_id = np.full((len(entries), len(IDENTIFIERS)), -1, np.int32)
    before = len(targets.titles)
    for kind, (name, groups) in enumerate(zip(IDENTIFIERS, targets.identifiers, strict=True)):
        if len(groups) and entries[name].null_count < len(entries):
            found = groups.find(entries[name])
            by_id[:, kind] = np.where(found < 0, -1, found + before)
        before += len(groups)
    by_title = targets.titles.find(facts.normalised)
    known = (facts.year, facts.surname, citing, facts.little)
    papers = (targets.single, targets.keys, targets.rows, targets.facts.year, targets.facts.surname, targets.rank)
    row, second, reason, score, runner_up = _decide_equal(by_id, by_title, *known, targets.little, *papers)

    # What is left is compared by likeness. A title that says little needs to agree in what is not known: left out.
    unknown = facts.little & ((facts.year == NO_YEAR) | (facts.surname == 0))
    left = np.flatnonzero((row < 0) & ~unknown)
    strings = facts.normalised.take(pa.array(left))
    distinct = EqualStrings.of(strings)
    searched = strings.take(pa.array(distinct.first))
    pairs = propose(searched, targets.distinct, search.threshold, search)
    starts = np.searchsorted(pairs.a, np.arange(len(distinct) + 1))
    _decide_fuzzy(
        left, distinct.groups, starts, pairs.b, pairs.score, *known, targets.little, *papers,
        row, reason, score, runner_up,
    )  # fmt: skip
    for other, scores in ((row, score), (second, runner_up)):
        by_identifier = np.flatnonzero((reason == _ID) & (other >= 0))
        scores[by_identifier] = _score(facts.normalised, by_identifier, targets.facts.normalised, other[by_identifier])
    fuzzy = np.flatnonzero(reason == _FUZZY)
    numeral = only_numbers_differ(
        one_chunk(entries["title"]).take(pa.array(fuzzy)), targets.title.take(pa.array(row[fuzzy]))
    )
    warning = np.full(len(entries), None, object)
    warning[fuzzy[numeral]] = NUMERAL
    columns = [
        targets.paper_id.take(pa.array(row, mask=row < 0)),
        pa.array(score, mask=np.isnan(score)),
        pa.DictionaryArray.from_arrays(reason, [r.value for r in _REASONS]).cast(pa.string()),
        pa.array(warning, pa.string()),
        pa.array(runner_up, mask=np.isnan(runner_up)),
    ]
    return Links(pa.Table.from_arrays(columns, schema=SCHEMA), searched, pairs)


def _score(titles_a: pa.Array, a: np.ndarray, titles_b: pa.Array, b: np.ndarray) -> np.ndarray:
    """S of pairs of rows; NaN where one of the two has no title."""
    sets_a, sets_b = grams(titles_a.take(pa.array(a))), grams(titles_b.take(pa.array(b)))
    pairs = np.arange(len(a))
    return np.where((sets_a.sizes > 0) & (sets_b.sizes > 0), score_pairs(sets_a, pairs, sets_b, pairs), np.nan)


@njit(cache=True, nogil=True)
def _choose(
    group: int,
    year: np.int32,
    surname: np.uint64,
    citing: int,
    must_agree: bool,
    single: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    years: np.ndarray,
    surnames: np.ndarray,
) -> tuple[int, int, int]:
    """The paper of a group that the tie rules prefer, how far it agrees (2 year, 1 surname), and another that could be; else -1."""
    dated, named = year != NO_YEAR, surname != 0
    if single[group] >= 0:
        row = int(single[group])
        agreement = 2 * int(dated and years[row] == year) + int(named and surnames[row] == surname)
        return (row if row != citing and (agreement == 3 or not must_agree) else -1), agreement, -1
    for agreement in (3, 2, 1, 0):
        if (agreement & 2 and not dated) or (agreement & 1 and not named) or (must_agree and agreement < 3):
            continue
        best, second = -1, -1
        # Another candidate agrees as far where it must, and else may be any of the group.
        for wanted in (agreement, agreement if must_agree else 0):
            key = key_of(np.uint64(group), year, surname, wanted & 2 != 0, wanted & 1 != 0)
            at = np.searchsorted(keys, key)
            while at < len(keys) and keys[at] == key and second < 0:
                row = int(rows[at])
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
    by_id: np.ndarray,
    by_title: np.ndarray,
    year: np.ndarray,
    surname: np.ndarray,
    citing: np.ndarray,
    little: np.ndarray,
    little_group: np.ndarray,
    single: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    years: np.ndarray,
    surnames: np.ndarray,
    rank: np.ndarray,
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
            row, agreement, second = _choose(
                by_id[i, kind], year[i], surname[i], citing[i], False, single, keys, rows, years, surnames
            )
            if row < 0 or row == best:
                continue
            if best < 0 or (agreement, -rank[row]) > (best_agreement, -rank[best]):
                row, best, best_agreement = best, row, agreement
            if other < 0:
                other = row if row >= 0 else second
        if best >= 0:
            chosen[i], seconds[i], reason[i] = best, other, _ID
        elif by_title[i] >= 0:
            must_agree = little[i] or little_group[by_title[i]]
            best, best_agreement, other = _choose(
                by_title[i], year[i], surname[i], citing[i], must_agree, single, keys, rows, years, surnames
            )
            if best >= 0:
                chosen[i], seconds[i], reason[i], score[i] = best, other, _EXACT, 1.0
                if other >= 0:
                    runner_up[i] = 1.0
    return chosen, seconds, reason, score, runner_up


@njit(cache=True, nogil=True)
def _decide_fuzzy(
    left: np.ndarray,
    groups: np.ndarray,
    starts: np.ndarray,
    alike: np.ndarray,
    scores: np.ndarray,
    year: np.ndarray,
    surname: np.ndarray,
    citing: np.ndarray,
    little: np.ndarray,
    little_group: np.ndarray,
    single: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    years: np.ndarray,
    surnames: np.ndarray,
    rank: np.ndarray,
    chosen: np.ndarray,
    reason: np.ndarray,
    score: np.ndarray,
    runner_up: np.ndarray,
) -> None:
    """Links by likeness for the entries `left`, whose titles are like the title groups `alike[starts[g]:starts[g + 1]]`, best first."""
    for k in range(len(left)):
        i = left[k]
        if groups[k] < 0:
            continue
        best_agreement = 0
        for pair in range(starts[groups[k]], starts[groups[k] + 1]):
            must_agree = little[i] or little_group[alike[pair]]
            row, agreement, second = _choose(
                alike[pair], year[i], surname[i], citing[i], must_agree, single, keys, rows, years, surnames
            )
            if row < 0:
                continue
            if chosen[i] >= 0:
                if np.isnan(runner_up[i]):
                    runner_up[i] = scores[pair]
                if scores[pair] < score[i]:
                    break
                if (agreement, -rank[row]) < (best_agreement, -rank[chosen[i]]):
                    continue
            elif second >= 0:
                runner_up[i] = scores[pair]
            chosen[i], reason[i], score[i], best_agreement = row, _FUZZY, scores[pair], agreement
