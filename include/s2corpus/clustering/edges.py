"""Find edges between records of one paper, by identifier and by title (SPEC §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.clustering import pairs
from s2corpus.clustering.facts import IDENTIFIERS, Nodes, group_nodes
from s2corpus.clustering.places import contradict, located, volumes_or_issues_differ
from s2corpus.rules import MIN_SCORE_WITHOUT_AUTHORS, UNRELATED_SCORE
from s2corpus.titles.rules import begins_with_number, differ_only_in_number, find_missing_part, is_cut, same_script
from s2corpus.titles.similarity import score_titles

_CLAIMED = ("doi", "arxiv_id", "file_sha1")
"""Identifiers that join a record without a title to a PDF."""
TITLE = len(IDENTIFIERS)
_FEW_AUTHORS = 2
"""Maximum number of authors of a column that appears in every issue."""
PLACE, PREFIX, CONTRADICTION, UNRELATED = TITLE + 1, TITLE + 2, TITLE + 3, TITLE + 4
REASONS = (*IDENTIFIERS, "title", "place", "prefix", "contradiction", "unrelated")
"""Reasons of edges, by number.

- title: similar titles with agreeing authors and years.
- place: similar titles with equal volume and first page.
- prefix: a title without its subtitle and the complete title, with equal authors, year and first page.
- contradiction (refuses): similar titles with contradicting journals, volumes, issues or pages.
- unrelated (refuses): equal identifiers of unrelated titles and authors.
"""


@dataclass(frozen=True)
class Edges:
    """Edges in columns; `left` < `right`."""

    left: np.ndarray  # node
    right: np.ndarray  # node
    reason: np.ndarray  # int8 index into REASONS
    strength: np.ndarray
    """float64. Identifiers: 8 (declared), 7 (DOI) … 2 (file_sha1). Titles: S. Prefix: at most the title threshold."""

    def __len__(self) -> int:
        return len(self.left)


def edges_of_kind(nodes: Nodes, reason: int, min_title_score: float, max_preprint_years: int) -> Edges:
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
        similar = _title_scores(nodes, left, right) > min_title_score
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
    if kind in _CLAIMED:
        found.append(_find_claimed(nodes, codes, is_file_hash, min_title_score, max_preprint_years))
    n_joined, n_refused = sum(len(side) for side, _ in found), int(refused.sum())
    found.append([left[refused], right[refused]])
    left, right = map(np.concatenate, zip(*found, strict=True))
    return _sort_by_strength(left, right, np.repeat([reason, UNRELATED], [n_joined, n_refused]), strength)


def _find_claimed(
    nodes: Nodes, codes: np.ndarray, is_file_hash: bool, min_title_score: float, max_preprint_years: int
) -> tuple[np.ndarray, np.ndarray]:
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
        result: np.ndarray = is_untitled[other] & ~pairs.agree(
            nodes, pdf, other, max_preprint_years, exact=True, near=True
        )
        is_reading = ~nodes.trusted[other] & (file[other] >= 0) & (file[other] == file[pdf])
        titled = np.flatnonzero((nodes.title[other] >= 0) & (other != pdf) & ~is_reading)
        result[titled] = _title_scores(nodes, pdf[titled], other[titled]) <= min_title_score
        return result

    members = pairs.expand(equal.starts[codes[pdfs]], np.diff(equal.starts)[codes[pdfs]])
    contradicted, *_ = pairs.select(([k, pdfs[k], equal.nodes[row]] for k, row in members), contradicts)
    pdfs = np.delete(pdfs, contradicted)
    return first_untitled[codes[pdfs]], pdfs


def equal_title_edges(nodes: Nodes, labels: np.ndarray, max_preprint_years: int) -> Edges:
    """Return the edges between records with equal titles, sorted by nodes: authors and years agree, and DOIs do not contradict.

    Pairs already in one cluster (`labels`) are skipped.
    """

    def may_join(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        is_candidate: np.ndarray = (labels[left] != labels[right]) & ~pairs.dois_differ(nodes.final_doi, left, right)
        return is_candidate

    def agree(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        strictly = pairs.agree_strictly(nodes, left, right)
        agreed = pairs.agree(nodes, left, right, max_preprint_years, exact=True, near=True)
        return np.where(nodes.strict[nodes.title[left]], strictly, agreed)

    left, right = pairs.select(pairs.windows(nodes.by_title), may_join, agree)
    return _add_reasons(nodes, left, right, np.ones(len(left)))


def edges_of_similar(nodes: Nodes, a: np.ndarray, b: np.ndarray, score: np.ndarray, max_preprint_years: int) -> Edges:
    """Return the edges between the records of similar titles. `a` and `b` are rows of `nodes.titles`, `score` their S."""
    left, right, pair = pairs.select(
        pairs.cross(nodes.by_title, a, b),
        lambda left, right, _: ~pairs.dois_differ(nodes.final_doi, left, right),
        lambda left, right, pair: pairs.agree(
            nodes, left, right, max_preprint_years, exact=False, near=score[pair] > MIN_SCORE_WITHOUT_AUTHORS
        ),
    )
    used = np.unique(pair)
    is_numbered = np.zeros(len(a), bool)
    is_numbered[used] = differ_in_number(*(nodes.original_titles.take(pa.array(side[used])) for side in (a, b)))
    accepted = ~is_numbered[pair]
    return _add_reasons(nodes, left[accepted], right[accepted], score[pair[accepted]])


def edges_of_cut(nodes: Nodes, group: np.ndarray, labels: np.ndarray, min_title_score: float) -> Edges:
    """Return the edges between a title without its subtitle and the complete title, sorted by strength and nodes.

    `group` encodes authors, year and first page, which must be equal; it is −1 if one of them is missing. Volumes, issues, journals and
    DOIs do not contradict. Titles that differ only in a number make no edge. Equal volumes are needed if the truncated title has few
    words, or if the missing part begins with a number, as in a series. The strength is at most the threshold of similar titles,
    which every edge by title exceeds. Pairs already in one cluster (`labels`) are skipped.
    """

    def may_join(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        is_candidate: np.ndarray = (nodes.title[left] != nodes.title[right]) & (labels[left] != labels[right])
        is_candidate &= (nodes.title[left] >= 0) & ~pairs.dois_differ(nodes.final_doi, left, right)
        return is_candidate

    def is_beginning(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        sides = (nodes.titles.take(pa.array(nodes.title[side])) for side in (left, right))
        return np.array([longer.startswith(cut) for cut, longer in _rows(*sides)], bool)

    # Sorted by title, a truncated title precedes its continuations.
    rank = np.append(np.asarray(pc.rank(nodes.titles), np.int64), 0)
    cut, longer = pairs.select(
        pairs.windows(group_nodes(group, rank[nodes.title])),
        may_join,
        lambda left, right: pairs.agree_strictly(nodes, left, right),
        is_beginning,
    )
    cut_titles, longer_titles = (nodes.original_titles.take(pa.array(nodes.title[side])) for side in (cut, longer))
    a, b = nodes.places.take(cut), nodes.places.take(longer)
    missing = [find_missing_part(*pair) for pair in _rows(cut_titles, longer_titles)]
    is_weak = nodes.strict[nodes.title[cut]] | np.array([begins_with_number(part or "") for part in missing], bool)
    accepted = np.array([is_cut(*pair) for pair in _rows(cut_titles, longer_titles)], bool)
    accepted &= ~differ_in_number(cut_titles, longer_titles) & (~is_weak | ((a.volume != 0) & (a.volume == b.volume)))
    all_false, all_true = np.zeros(len(cut), bool), np.ones(len(cut), bool)
    refused = contradict(a, b, nodes.journals, exact=all_false, strict=all_false, few_authors=all_true)
    refused |= volumes_or_issues_differ(a, b)
    accepted &= ~refused | nodes.preprint[cut] | nodes.preprint[longer]
    cut, longer = cut[accepted], longer[accepted]
    return _sort_by_strength(cut, longer, PREFIX, np.minimum(_title_scores(nodes, cut, longer), min_title_score))


def _rows(first: pa.Array, second: pa.Array) -> Iterator[tuple[str, str]]:
    return zip(first.to_pylist(), second.to_pylist(), strict=True)


def _add_reasons(nodes: Nodes, left: np.ndarray, right: np.ndarray, strength: np.ndarray) -> Edges:
    """Return edges between agreeing records with similar titles. Journals, volumes and pages decide the reason."""
    exact, strict = nodes.title[left] == nodes.title[right], nodes.strict[nodes.title[left]]
    a, b = nodes.places.take(left), nodes.places.take(right)
    authors = np.diff(nodes.surname_offsets)
    few_authors = np.maximum(authors[left], authors[right]) <= _FEW_AUTHORS
    refused = contradict(a, b, nodes.journals, exact, strict, few_authors)
    refused &= ~(nodes.preprint[left] | nodes.preprint[right])
    reason = np.where(refused, CONTRADICTION, np.where(located(a, b), PLACE, TITLE))
    return _sort_by_strength(left, right, reason, strength)


def are_unrelated(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs certainly belong to different papers (bool).

    The titles are in one script and have S < 0.3. Both records have surnames, but no common one.
    """
    names = nodes.surname_offsets, nodes.surnames
    sizes = np.diff(nodes.surname_offsets)
    unrelated: np.ndarray = (sizes[left] > 0) & (sizes[right] > 0) & (pairs.count_common(*names, left, right) == 0)
    unrelated &= (nodes.title[left] >= 0) & (nodes.title[right] >= 0)
    rows = np.flatnonzero(unrelated)
    scores = _title_scores(nodes, left[rows], right[rows])
    sides = (nodes.titles.take(pa.array(nodes.title[side[rows]])) for side in (left, right))
    unrelated[rows] = [
        s < UNRELATED_SCORE and same_script(*pair) for s, pair in zip(scores, _rows(*sides), strict=True)
    ]
    return unrelated


def _sort_by_strength(a: np.ndarray, b: np.ndarray, reason: np.ndarray | int, strength: np.ndarray | float) -> Edges:
    left, right = np.minimum(a, b), np.maximum(a, b)
    reasons, strengths = (np.broadcast_to(np.asarray(value), len(left)) for value in (reason, strength))
    order = np.lexsort((right, left, -strengths))
    return Edges(left[order], right[order], reasons[order].astype(np.int8), strengths[order])


def _title_scores(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return S of the titles of each pair of records; 0 if a title is missing."""
    a, b = nodes.title[left], nodes.title[right]
    scores, rows = np.zeros(len(a)), np.flatnonzero((a >= 0) & (b >= 0))
    scores[rows] = score_titles(nodes.titles, a[rows], nodes.titles, b[rows])
    return scores


_PART = re.compile(r"\b(?:part|pt|chapter)\b\W*(\w+)", re.IGNORECASE)


def _name_different_parts(x: str, y: str) -> bool:
    """Return whether two titles name different parts, or only one names a part: "Lemmas, part II" is not "Lemmas"."""
    parts = [[word for word in _PART.findall(title) if differ_only_in_number(word, "0")] for title in (x, y)]
    return len(parts[0]) != len(parts[1]) or any(map(differ_only_in_number, *parts))


def differ_in_number(first: pa.Array, second: pa.Array) -> np.ndarray:
    """Return which pairs of titles differ only in a number or numeral, or name different parts (bool)."""
    pairs = _rows(first, second)
    return np.array([differ_only_in_number(*pair) or _name_different_parts(*pair) for pair in pairs], bool)
