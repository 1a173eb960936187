"""Bibliography entries to papers (S2ORC §2.6): equal identifier, else equal title, else the title with the highest S above 0.8; and then
cut titles, and entries without a title by the place in print.
"""  # fmt: skip

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import pyarrow as pa

from s2corpus.titles.arrays import one_chunk, taken
from s2corpus.titles.candidates import Pairs, Passing, Search, Titles, candidates
from s2corpus.titles.choosing import AGREES, Chosen, decide_equal, decide_fuzzy, known_of, tied_of
from s2corpus.titles.equal import EqualStrings, hashes_of
from s2corpus.titles.partial import Sought, link_partial
from s2corpus.titles.rules import only_numbers_differ
from s2corpus.titles.targets import IDENTIFIERS, NO_YEAR, Facts, Targets
from s2corpus.titles.threegrams import grams, score_pairs


class Reason(StrEnum):
    """Why an entry is linked, or that it is not."""

    ID = "id"
    EXACT = "exact"
    FUZZY = "fuzzy"
    PREFIX = "prefix"
    LOCATOR = "locator"
    NONE = "none"


class Warning(StrEnum):
    """Why a link is kept and, unless the release says otherwise, not counted as a citation."""

    NUMERAL = "numeral"
    """the titles differ only in a number (`Part I`, `Part II`)"""
    TIE = "tie"
    """another paper agrees as far"""
    CONTRADICTION = "contradiction"
    """year and first author's surname both differ"""


SCHEMA = pa.schema(
    [
        ("paper_id", pa.string()),
        ("score", pa.float64()),
        ("reason", pa.string()),
        ("warning", pa.string()),
        ("runner_up_score", pa.float64()),
    ]
)
_REASONS = (Reason.NONE, Reason.ID, Reason.EXACT, Reason.FUZZY, Reason.PREFIX, Reason.LOCATOR)
_ID, _EXACT, _FUZZY, _PREFIX, _LOCATOR = range(1, 6)
_NUMERAL, _TIE, _CONTRADICTION = range(1, 4)


@dataclass(frozen=True, slots=True)
class Links:
    """Links of some entries, a row each in their order, and what it took to find them."""

    rows: pa.Table
    """paper_id (null: not linked), score (S), reason, warning, runner_up_score"""
    searched: pa.Array
    """the distinct normalised titles that were searched by similarity, because equality had linked none of their entries"""
    pairs: Pairs
    """what that search found: rows of `searched` and numbers of the papers' distinct titles"""


class Papers(Protocol):
    """The papers that entries may link to, wherever they are kept."""

    def equal(self, wanted: Mapping[str, EqualStrings]) -> tuple[Targets, np.ndarray]:
        """All papers equal to a wanted string in its column (`normalised`, `paper_id` or an identifier), and maybe others; and the title
        group of each wanted `normalised` in them, int32, -1 for none. Maybe without titles as printed, and without normalised ones
        of papers that are wanted for nothing else.
        """  # fmt: skip

    @property
    def titles(self) -> Passing:
        """The distinct normalised titles."""

    def similar(self, titles: pa.Array, search: Search) -> Pairs:
        """Pairs of these normalised titles with the papers' distinct ones, by number."""

    def titled(self, numbers: np.ndarray) -> tuple[Targets, np.ndarray]:
        """All papers with the distinct titles of these numbers, and maybe others, maybe without their normalised titles; and the title
        group of each number in them.
        """  # fmt: skip

    def having(self, sought: Sought) -> pa.Table:
        """The papers that are fitting: paper_id, title, journal and FACTS."""


@dataclass(frozen=True, slots=True)
class PapersInMemory:
    """Papers held in memory."""

    targets: Targets
    _by_title: EqualStrings

    @staticmethod
    def of(papers: pa.Table) -> PapersInMemory:
        """Papers as `Targets.of` takes them."""
        facts = Facts.of(papers)
        by_title = EqualStrings.of(facts.normalised)
        return PapersInMemory(Targets.of(papers, facts, by_title), by_title)

    def equal(self, wanted: Mapping[str, EqualStrings]) -> tuple[Targets, np.ndarray]:
        """See `Papers`."""
        titles = wanted.get("normalised")
        return self.targets, self._by_title.find(titles.distinct if titles else pa.array([], pa.string()))

    @property
    def titles(self) -> Passing:
        """See `Papers`."""
        return Titles(self._by_title.distinct, Search())

    def similar(self, titles: pa.Array, search: Search) -> Pairs:
        """See `Papers`."""
        return candidates(titles, self._by_title.distinct, search.threshold, search)

    def titled(self, numbers: np.ndarray) -> tuple[Targets, np.ndarray]:
        """See `Papers`."""
        return self.targets, numbers

    def having(self, sought: Sought) -> pa.Table:
        """See `Papers`."""
        table = self.targets.facts.table()
        for name in ("paper_id", "title", "journal"):
            table = table.append_column(name, getattr(self.targets, name).cast(pa.string()))
        return table.filter(pa.array(sought.fitting(self.targets.facts)))


def link(entries: pa.Table, papers: Papers, search: Search | None = None) -> Links:
    """Link entries with `title`, `year`, `surname`, the columns of IDENTIFIERS and `citing_paper_id`, and maybe PLACES; any may be null.

    Order: `id`, `exact`, `fuzzy`, `prefix`, `locator`. Ties: a paper whose year and surname do not both differ; then journal, volume,
    first page, year, first author's surname; then the smallest paper_id, with a warning. A title that says little, on either side,
    needs year and surname, or volume and first page, to agree (identifiers need nothing). No paper cites itself. `score` is S of the
    two titles whatever the reason (null without a title); `runner_up_score` is S of the next paper that could have been linked: for
    `id` and `exact` one with the same identifier or title.
    """
    search = search or Search()
    facts = Facts.of(entries)
    titles = EqualStrings.of(facts.normalised)
    given = [name for name in IDENTIFIERS if entries[name].null_count < len(entries)]
    wanted = {"normalised": titles, **{name: EqualStrings.of(entries[name]) for name in given}}
    equal, group = papers.equal(wanted)
    del wanted
    by_id = np.full((len(entries), len(given)), -1, np.int32)
    before = len(equal.titles)
    for name, groups in zip(IDENTIFIERS, equal.identifiers, strict=True):
        if len(groups) and name in given:
            group_of = groups.find(entries[name])
            by_id[:, given.index(name)] = np.where(group_of < 0, -1, group_of + before)
        before += len(groups)
    by_title = np.append(group, np.int32(-1))[titles.groups]
    known = known_of(facts, hashes_of(entries["citing_paper_id"]))
    out = Chosen.nothing(len(entries))
    decide_equal(by_id, by_title, known, tied_of(equal), out)

    # What is left is compared by similarity. A title that says little needs to agree in what is not known: left out.
    unknown = (
        facts.little & ((facts.year == NO_YEAR) | (facts.surname == 0)) & ((facts.volume == 0) | (facts.page == 0))
    )
    left = np.flatnonzero((out.row < 0) & ~unknown & (titles.groups >= 0))
    at = titles.groups[left]
    is_asked = np.zeros(len(titles), np.bool_)
    is_asked[at] = True
    asked = np.flatnonzero(is_asked)
    among = (np.cumsum(is_asked) - 1)[at]
    searched = facts.normalised.take(pa.array(titles.first[asked]))
    for other, scores in ((out.row, out.score), (out.second, out.runner_up)):
        by_identifier = np.flatnonzero((out.reason == _ID) & (other >= 0))
        scores[by_identifier] = _score(facts.normalised, by_identifier, equal.facts.normalised, other[by_identifier])
    ids, chosen = [equal.paper_id], out.row.copy()
    del equal, titles

    pairs = papers.similar(searched, search)
    similar, group = papers.titled(pairs.b)
    starts = np.searchsorted(pairs.a, np.arange(len(searched) + 1))
    out.row[:] = -1
    decide_fuzzy(left, among, starts, group, pairs.score, known, tied_of(similar), out)
    fuzzy = np.flatnonzero(out.reason == _FUZZY)
    chosen[fuzzy] = len(ids[0]) + out.row[fuzzy]
    ids.append(similar.paper_id)
    warning = np.where(out.tied & (out.reason > 0), _TIE, 0).astype(np.int8)
    numeral = only_numbers_differ(taken(entries["title"], fuzzy), similar.title.take(pa.array(out.row[fuzzy])))
    warning[fuzzy[numeral]] = _NUMERAL
    warning[(out.reason > 0) & (out.agreement & AGREES == 0)] = _CONTRADICTION
    del similar, known, group
    partial, of_partial = _partial(entries, facts, papers, out, warning)
    chosen[partial] = sum(map(len, ids)) + np.arange(len(partial))
    columns = [
        pa.concat_arrays([*ids, of_partial]).take(pa.array(chosen, mask=chosen < 0)),
        pa.array(out.score, mask=np.isnan(out.score)),
        pa.DictionaryArray.from_arrays(out.reason, [r.value for r in _REASONS]).cast(pa.string()),
        pa.DictionaryArray.from_arrays(pa.array(warning, mask=warning == 0), ["", *Warning]).cast(pa.string()),
        pa.array(out.runner_up, mask=np.isnan(out.runner_up)),
    ]
    return Links(pa.Table.from_arrays(columns, schema=SCHEMA), searched, pairs)


def _partial(
    entries: pa.Table, facts: Facts, papers: Papers, out: Chosen, warning: np.ndarray
) -> tuple[np.ndarray, pa.Array]:
    """Link cut titles, and entries without a title, among what is left; return their rows, and the paper ids."""
    sought = Sought.of(facts, out.reason == 0)
    table = papers.having(sought)
    if not len(table):
        return np.empty(0, np.int64), pa.array([], pa.string())
    found = link_partial(entries, sought, table)
    title = Facts.of(table).normalised
    out.reason[found.entry] = np.where(found.prefix, _PREFIX, _LOCATOR)
    for other, scores in ((found.paper, out.score), (found.second, out.runner_up)):
        some = np.flatnonzero(found.prefix & (other >= 0))
        scores[found.entry[some]] = _score(facts.normalised, found.entry[some], title, other[some])
    numeral = only_numbers_differ(
        taken(entries["title"], found.entry).fill_null(""),
        one_chunk(table["title"]).take(pa.array(found.paper)),
    )
    warning[found.entry] = np.where(numeral & found.prefix, _NUMERAL, np.where(found.tied, _TIE, 0))
    return found.entry, one_chunk(table["paper_id"]).take(pa.array(found.paper))


def _score(titles_a: pa.Array, a: np.ndarray, titles_b: pa.Array, b: np.ndarray) -> np.ndarray:
    """S of pairs of rows; NaN where one of the two has no title."""
    sets_a, sets_b = grams(titles_a.take(pa.array(a))), grams(titles_b.take(pa.array(b)))
    pairs = np.arange(len(a))
    return np.where((sets_a.sizes > 0) & (sets_b.sizes > 0), score_pairs(sets_a, pairs, sets_b, pairs), np.nan)
