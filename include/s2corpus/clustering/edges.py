"""Find edges between records of one paper, by identifier and by title (SPEC §4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering.facts import IDENTIFIERS, Nodes
from s2corpus.rules import MIN_TITLE_SCORE, UNRELATED_SCORE
from s2corpus.titles.comparison import (
    ALMOST,
    EVIDENCE,
    MISSING,
    OTHER,
    Comparison,
    compare,
    compare_titles,
    count_common,
)
from s2corpus.titles.places import relate_pages
from s2corpus.titles.rules import same_script
from s2corpus.titles.similarity import score_titles
from s2corpus.titles.threegrams import normalize

TITLE = len(IDENTIFIERS)
PLACE, PREFIX, CONTRADICTION, UNRELATED, DOCUMENT, NUMBER, AUTHORS, YEARS, WEAK, DOIS = range(TITLE + 1, TITLE + 11)
REASONS = (
    *IDENTIFIERS, "title", "place", "prefix", "contradiction", "unrelated", "document", "number", "authors", "years", "weak", "dois",
)  # fmt: skip
"""Reasons of edges, by number.

- title: similar titles with agreeing authors and years.
- place: similar titles with equal volume and first page, or two equal pages.
- prefix: different titles with equal authors, year and first page: a title without its subtitle, a translation, or no title.
- contradiction (refuses): similar titles, against which journals, volumes, issues or pages weigh most.
- unrelated (refuses): equal identifiers of unrelated titles, and of other authors or pages.
- document, number, authors, years (refuse): similar titles, against which this fact weighs most; weak: too little agrees.
- dois (refuses): similar titles with enough evidence, but two DOIs of published papers.
"""
OPPOSING = (CONTRADICTION, UNRELATED, DOCUMENT, NUMBER)
"""Reasons for refusing a pair that also prevent a join of the clusters of both records."""


@dataclass(frozen=True)
class Edges:
    """Edges in columns; `left` < `right`."""

    left: np.ndarray  # node
    right: np.ndarray  # node
    reason: np.ndarray  # int8 index into REASONS
    strength: np.ndarray
    """float64. Identifiers: 8 (declared), 7 (DOI) … 2 (file_sha1). Titles: S. Prefix: at most the title threshold."""
    evidence: np.ndarray
    """int64: a number of `Comparison.codes`, −1 for identifiers"""

    def __len__(self) -> int:
        return len(self.left)


def _are_similar(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(_title_scores(nodes, left, right) > MIN_TITLE_SCORE)


def _agree(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs are one paper if their titles are (bool)."""
    return compare(nodes, left, right, np.full(len(left), ALMOST)).agrees


def _may_print(nodes: Nodes, owner: np.ndarray, pdf: np.ndarray) -> np.ndarray:
    """Return which PDFs agree with a record of their identifier, and have no title or the title of the journal (bool)."""
    may: np.ndarray = (nodes.title[pdf] < 0) | _are_titled_by_journal(nodes, pdf, owner)
    may[may] = _agree(nodes, owner[may], pdf[may])
    return may


def _may_claim(nodes: Nodes, pdf: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return which PDFs do not contradict another record of their identifier: it has a similar title, or agrees without one (bool)."""
    is_titled = nodes.title[other] >= 0
    may = _are_similar(nodes, pdf, other)
    may[~is_titled] = _agree(nodes, pdf[~is_titled], other[~is_titled])
    return may


def _are_titled_by_journal(nodes: Nodes, pdf: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return whether the first record of each pair is a PDF titled by the name of the other's journal (bool)."""
    code = np.append(pc.fill_null(pc.index_in(normalize(nodes.journals), nodes.titles), -2), -2)  # −1: no journal
    return np.asarray(~nodes.trusted[pdf] & (code[nodes.places.journal[other]] == nodes.title[pdf]))


def judge_cut_titles(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> Edges:
    """Return the edges between records with different titles, but equal authors, year and first page.

    One title lacks the subtitle of the other or is within the other, a title is a translation, or the header of a PDF has no title. A cut
    title with few words, or before a number as in a series, needs more evidence. The strength is at most the threshold of similar
    titles, which every edge by title exceeds.
    """
    title, number = np.full(len(left), OTHER), np.zeros(len(left), np.int64)
    is_titled = (nodes.title[left] >= 0) & (nodes.title[right] >= 0)
    is_titled &= ~(_are_titled_by_journal(nodes, left, right) | _are_titled_by_journal(nodes, right, left))
    title[~is_titled & ~(nodes.trusted[left] & nodes.trusted[right])] = MISSING
    rows = np.flatnonzero(is_titled)
    columns = (nodes.given_titles.take(pa.array(side[rows])) for side in (left, right))
    is_translated = nodes.translated[left] | nodes.translated[right]
    for row, pair in zip(rows.tolist(), _rows(*columns), strict=True):
        title[row], number[row] = compare_titles(*pair, is_translated=bool(is_translated[row]))
    found = compare(nodes, left, right, title, number)
    kept = np.flatnonzero(found.agrees)
    scores = np.minimum(_title_scores(nodes, left[kept], right[kept]), MIN_TITLE_SCORE)
    return Edges(kept, kept, np.full(len(kept), PREFIX), scores, found.codes()[kept])


def _rows(first: pa.Array, second: pa.Array) -> Iterator[tuple[str, str]]:
    return zip(first.to_pylist(), second.to_pylist(), strict=True)


_AGAINST = {"number": NUMBER, "document": DOCUMENT, "authors": AUTHORS, "year": YEARS}
_REFUSALS = np.array([_AGAINST.get(fact, CONTRADICTION) for fact in EVIDENCE] + [WEAK])


def judge(rows: pa.Table, found: Comparison, strength: np.ndarray) -> Edges:
    """Return the edges of pairs with similar titles; a refused pair has the fact that weighs most against it as reason.

    Refused pairs of uninformative titles, and of titles with more than 64 records, are omitted.
    """
    differ, is_common = (rows[name].to_numpy() for name in ("dois_differ", "is_common"))
    reason = np.where(found.agrees, np.where(found.located, PLACE, TITLE), _REFUSALS[found.strongest_against()])
    reason[found.agrees & differ] = DOIS
    kept = np.flatnonzero((found.agrees & ~differ) | ~is_common)
    return Edges(kept, kept, reason[kept], strength[kept], found.codes()[kept])


def _are_related(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs do not certainly belong to different papers (bool).

    They do if the titles are in one script and have S < 0.3, and both records have surnames but no common one, or different first pages:
    the abstracts of a supplement have one DOI.
    """
    sizes, (a, b) = np.diff(nodes.surname_offsets), (nodes.places.take(side) for side in (left, right))
    common = count_common(nodes.surname_offsets, nodes.surnames, left, right)[0]
    unrelated: np.ndarray = ((sizes[left] > 0) & (sizes[right] > 0) & (common == 0)) | (relate_pages(a, b) < 0)
    unrelated &= (nodes.title[left] >= 0) & (nodes.title[right] >= 0)
    rows = np.flatnonzero(unrelated)
    scores = _title_scores(nodes, left[rows], right[rows])
    sides = (nodes.titles.take(pa.array(nodes.title[side[rows]])) for side in (left, right))
    unrelated[rows] = [
        s < UNRELATED_SCORE and same_script(*pair) for s, pair in zip(scores, _rows(*sides), strict=True)
    ]
    return ~unrelated


def _title_scores(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return S of the titles of each pair of records; 0 if a title is missing."""
    a, b = nodes.title[left], nodes.title[right]
    scores, rows = np.zeros(len(a)), np.flatnonzero((a >= 0) & (b >= 0))
    scores[rows] = score_titles(nodes.titles, a[rows], nodes.titles, b[rows])
    return scores


QUESTIONS = {"related": _are_related, "similar": _are_similar, "printed": _may_print, "claimed": _may_claim}
"""Functions that `stages/cluster.sql` applies to pairs of records with a common identifier. `none`: the pair certainly joins. The pair is

- `related`: not certainly two papers;
- `similar`: alike in title;
- `printed`: a record, and a PDF without a title that agrees with it;
- `claimed`: a PDF, and any other record of the identifier of a record without a title, that does not contradict it.
"""
