"""Find edges between records of one paper, by identifier and by title (SPEC §4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering import pairs
from s2corpus.clustering.facts import IDENTIFIERS, Nodes, group_nodes
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

_CLAIMED = ("doi", "arxiv_id", "file_sha1")
"""Identifiers that join a record without a title to a PDF."""
_PRINTED = ("doi", "arxiv_id")
"""Identifiers that join a PDF without a title to a record."""
TITLE = len(IDENTIFIERS)
PLACE, PREFIX, CONTRADICTION, UNRELATED, DOCUMENT, NUMBER, AUTHORS, YEARS, WEAK, DOIS = range(TITLE + 1, TITLE + 11)
REASONS = (
    *IDENTIFIERS, "title", "place", "prefix", "contradiction", "unrelated", "document", "number", "authors", "years", "weak", "dois",
)  # fmt: skip
OPPOSING = (CONTRADICTION, UNRELATED, DOCUMENT, NUMBER)
"""Reasons of refused pairs that also keep the clusters of both records apart."""
"""Reasons of edges, by number.

- title: similar titles with agreeing authors and years.
- place: similar titles with equal volume and first page.
- prefix: different titles with equal authors, year and first page: a title without its subtitle, a translation, or no title.
- contradiction (refuses): similar titles, against which journals, volumes, issues or pages weigh most.
- unrelated (refuses): equal identifiers of unrelated titles, and of other authors or pages.
- document, number, authors, years (refuse): similar titles, against which this fact weighs most; weak: too little agrees.
- dois (refuses): similar titles with enough evidence, but two DOIs of published papers.
"""


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


def edges_of_kind(nodes: Nodes, reason: int) -> Edges:
    """Return the edges that one kind of identifier makes, sorted by strength and nodes.

    Their reason is `reason`, the number of the kind in IDENTIFIERS, or UNRELATED.

    - A drop's own record always joins the headers of its file (SPEC §4.2).
    - Records of publishers and archives form a star (§4.3); unrelated records are refused, and join only each other.
    - Identifiers from a PDF, and an equal `file_sha1`, join only titles with S above the threshold (§4.4): one "not found" page has the
      same SHA-1 for many papers. Two headers of one PDF always join.
    - A PDF without a readable title joins the records with its SHA-1 if these have one title.
    - A record without a title joins a PDF with its identifier (`_find_claimed`).
    """
    kind = IDENTIFIERS[reason]
    codes, strength = nodes.identifiers[kind], TITLE + 1.0 - reason
    if kind == "declared":
        left, right = pairs.stars(group_nodes(codes, ~nodes.declares))
        is_declared = nodes.declares[left]
        return _sort_by_strength(left[is_declared], right[is_declared], reason, strength)
    is_file_hash = kind == "file_sha1"
    may_form_star = nodes.trusted & (not is_file_hash)  # An equal file hash never forms a star.
    left, right = pairs.stars(group_nodes(np.where(may_form_star, codes, -1), nodes.title < 0))
    refused = are_unrelated(nodes, left, right)
    is_separated = np.isin(np.arange(len(nodes)), right[refused])

    def are_similar(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        similar = _title_scores(nodes, left, right) > MIN_TITLE_SCORE
        if is_file_hash:  # Two readings of one PDF belong together.
            for a, b in ((left, right), (right, left)):
                similar |= nodes.second_header[a] & ~nodes.trusted[b]
        return similar

    found: list[Sequence[np.ndarray]] = [
        [left[~refused], right[~refused]],
        pairs.select(
            pairs.windows(group_nodes(np.where(is_separated, codes, -1))), lambda *pair: ~are_unrelated(nodes, *pair)
        ),
        pairs.select(
            pairs.windows(group_nodes(codes)),
            lambda left, right: ~(may_form_star[left] & may_form_star[right]),
            are_similar,
        ),
    ]
    if is_file_hash:
        found.append(pairs.pair_untitled(nodes, codes))
    if kind in _PRINTED:
        found.append(_find_owners(nodes, codes))
    if kind in _CLAIMED:
        found.append(_find_claimed(nodes, codes, is_file_hash))
    n_joined, n_refused = sum(len(side) for side, _ in found), int(refused.sum())
    found.append([left[refused], right[refused]])
    left, right = map(np.concatenate, zip(*found, strict=True))
    return _sort_by_strength(left, right, np.repeat([reason, UNRELATED], [n_joined, n_refused]), strength)


def _find_owners(nodes: Nodes, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs (record of an identifier, PDF without a title that has it), if authors and years do not contradict."""
    owner, pdf = pairs.stars(group_nodes(codes, ~nodes.trusted * 2 + (nodes.title < 0)))
    is_untitled = ~nodes.trusted[pdf] & ((nodes.title[pdf] < 0) | _are_titled_by_journal(nodes, pdf, owner))
    accepted = np.flatnonzero(nodes.trusted[owner] & (nodes.title[owner] >= 0) & is_untitled)
    owner, pdf = owner[accepted], pdf[accepted]
    found = compare(nodes, owner, pdf, np.full(len(pdf), ALMOST))
    return owner[found.agrees], pdf[found.agrees]


def _are_titled_by_journal(nodes: Nodes, pdf: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return whether the first record of each pair is a PDF titled by the name of the other's journal (bool)."""
    code = np.append(pc.fill_null(pc.index_in(normalize(nodes.journals), nodes.titles), -2), -2)  # −1: no journal
    return np.asarray(~nodes.trusted[pdf] & (code[nodes.places.journal[other]] == nodes.title[pdf]))


def _find_claimed(nodes: Nodes, codes: np.ndarray, is_file_hash: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs (untitled record, PDF) with the same identifier.

    The PDF must agree in authors and years with all untitled records of the identifier. No record with a title, and no other PDF, may
    have the identifier and another title. An identifier of more than WINDOW PDFs makes no pair. Neither does the file of several
    untitled records, unless all have one DOI: one "not found" page is the file of many papers.
    """
    doi, file, equal = nodes.identifiers["doi"], nodes.identifiers["declared"], group_nodes(codes)
    is_untitled, is_pdf = (mask & (codes >= 0) for mask in (nodes.trusted & (nodes.title < 0), ~nodes.trusted))
    first, other = pairs.stars(group_nodes(np.where(is_untitled, codes, -1)))
    is_eligible = np.bincount(codes[is_pdf], minlength=len(equal.starts)) <= pairs.WINDOW
    first_untitled = np.full(len(equal.starts), -1)
    first_untitled[codes[is_untitled][::-1]] = np.flatnonzero(is_untitled)[::-1]
    if is_file_hash:
        is_eligible[codes[first[(doi[other] < 0) | (doi[other] != doi[first])]]] = False
        is_pdf &= nodes.title >= 0  # `pairs.pair_untitled` joins PDFs without a title.
    pdfs = np.flatnonzero(is_pdf & is_eligible[codes] & (first_untitled[codes] >= 0))

    def contradicts(_: np.ndarray, pdf: np.ndarray, other: np.ndarray) -> np.ndarray:
        found = compare(nodes, pdf, other, np.full(len(pdf), ALMOST))
        result: np.ndarray = is_untitled[other] & ~found.agrees
        is_reading = ~nodes.trusted[other] & (file[other] >= 0) & (file[other] == file[pdf])
        titled = np.flatnonzero((nodes.title[other] >= 0) & (other != pdf) & ~is_reading)
        result[titled] = _title_scores(nodes, pdf[titled], other[titled]) <= MIN_TITLE_SCORE
        return result

    members = pairs.expand(equal.starts[codes[pdfs]], np.diff(equal.starts)[codes[pdfs]])
    contradicted, *_ = pairs.select(([k, pdfs[k], equal.nodes[row]] for k, row in members), contradicts)
    pdfs = np.delete(pdfs, contradicted)
    return first_untitled[codes[pdfs]], pdfs


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

    Refused pairs of uninformative titles, and of titles with more than WINDOW records, are omitted.
    """
    differ, is_common = (rows[name].to_numpy() for name in ("dois_differ", "is_common"))
    reason = np.where(found.agrees, np.where(found.located, PLACE, TITLE), _REFUSALS[found.strongest_against()])
    reason[found.agrees & differ] = DOIS
    kept = np.flatnonzero((found.agrees & ~differ) | ~is_common)
    return Edges(kept, kept, reason[kept], strength[kept], found.codes()[kept])


def are_unrelated(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs certainly belong to different papers (bool).

    The titles are in one script and have S < 0.3. Both records have surnames but no common one, or different first pages: the abstracts
    of a supplement have one DOI.
    """
    sizes, (a, b) = np.diff(nodes.surname_offsets), (nodes.places.take(side) for side in (left, right))
    common = count_common(nodes.surname_offsets, nodes.surnames, left, right)
    unrelated: np.ndarray = ((sizes[left] > 0) & (sizes[right] > 0) & (common == 0)) | (relate_pages(a, b) < 0)
    unrelated &= (nodes.title[left] >= 0) & (nodes.title[right] >= 0)
    rows = np.flatnonzero(unrelated)
    scores = _title_scores(nodes, left[rows], right[rows])
    sides = (nodes.titles.take(pa.array(nodes.title[side[rows]])) for side in (left, right))
    unrelated[rows] = [
        s < UNRELATED_SCORE and same_script(*pair) for s, pair in zip(scores, _rows(*sides), strict=True)
    ]
    return unrelated


def _sort_by_strength(a: np.ndarray, b: np.ndarray, reason: np.ndarray | int, strength: float) -> Edges:
    left, right = np.minimum(a, b), np.maximum(a, b)
    columns = [np.broadcast_to(np.asarray(value), len(left)) for value in (reason, strength, -1)]
    order = np.lexsort((right, left, -columns[1]))
    reasons, strengths, codes = (column[order] for column in columns)
    return Edges(left[order], right[order], reasons.astype(np.int8), strengths, codes)


def _title_scores(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return S of the titles of each pair of records; 0 if a title is missing."""
    a, b = nodes.title[left], nodes.title[right]
    scores, rows = np.zeros(len(a)), np.flatnonzero((a >= 0) & (b >= 0))
    scores[rows] = score_titles(nodes.titles, a[rows], nodes.titles, b[rows])
    return scores
