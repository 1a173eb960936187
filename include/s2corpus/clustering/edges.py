"""Find edges between records of one paper, by identifier and by title (SPEC §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus import titles
from s2corpus.clustering import pairs
from s2corpus.clustering.agreement import WINDOW, count_common, facts
from s2corpus.clustering.nodes import Groups, Nodes, group_nodes
from s2corpus.clustering.parts import IDENTIFIERS
from s2corpus.clustering.places import contradict, located, volumes_or_issues_differ
from s2corpus.clustering.scripts import same_script
from s2corpus.compiled import njit
from s2corpus.rules.cluster import UNRELATED_SCORE
from s2corpus.titles.arrays import text_of
from s2corpus.titles.rules import begins_with_number, find_missing_part, is_cut, only_numbers_differ

_CLAIMED = ("doi", "arxiv_id", "file_sha1")
"""Identifiers by which a record without a title joins a PDF."""
TITLE = len(IDENTIFIERS)
_FEW_AUTHORS = 2
"""Most authors of a column that appears in every issue."""
PLACE, PREFIX, CONTRADICTION, UNRELATED = TITLE + 1, TITLE + 2, TITLE + 3, TITLE + 4
REASONS = (*IDENTIFIERS, "title", "place", "prefix", "contradiction", "unrelated")
"""Similar titles join with agreeing authors and years ("title") or with equal volume and first page ("place"). A title without its
subtitle joins the complete title with equal authors, year and first page ("prefix"). The last two refuse: similar titles whose journals,
volumes, issues or pages contradict, and equal identifiers of unrelated titles and authors."""


@dataclass(frozen=True)
class Edges:
    """Edges in columns; `left` < `right`."""

    left: np.ndarray  # int32 node
    right: np.ndarray  # int32 node
    reason: np.ndarray  # int8 index into REASONS
    strength: (
        np.ndarray
    )  # float64: identifier kinds 8 (declared), 7 (DOI) … 2 (file_sha1), titles S, `prefix` at most the threshold

    def __len__(self) -> int:
        return len(self.left)


def identifier_strength(reason: int) -> float:
    """Return the strength of an identifier edge, which exceeds the strength of every title edge."""
    return float(TITLE + 1 - reason)


def edges_of_kind(nodes: Nodes, reason: int, min_title_score: float, max_preprint_years: int) -> Edges:
    """Return the edges by one kind of identifier, by ids. Their reason is the number of the kind in IDENTIFIERS.

    Records of publishers and archives form a star (SPEC §4.3). Identifiers that a PDF gives, and an equal `file_sha1`, join only
    titles with S above the threshold (§4.4): one "not found" page is the same SHA-1 for many papers. A PDF without a readable title
    joins the records with its SHA-1 if these have one title. Two headers of one PDF always join, as does a drop's own record (§4.2).
    """
    codes = nodes.identifiers[IDENTIFIERS[reason]]
    equal = group_nodes(codes, int(codes.max(initial=-1)) + 1)
    if IDENTIFIERS[reason] == "declared":
        left, right = pairs.around(equal.nodes, equal.starts, nodes.declares)
        return _sort_by_ids(left, right, reason, identifier_strength(reason))
    of_pdf = IDENTIFIERS[reason] == "file_sha1"
    trusted = np.zeros(len(nodes), bool) if of_pdf else nodes.trusted
    left, right = pairs.stars(equal.nodes, equal.starts, trusted, nodes.title)
    refused = are_unrelated(nodes, left, right)
    outcast = right[refused]
    among = group_nodes(_select_codes(codes, outcast), len(equal.starts) - 1)
    others_left, others_right = pairs.doubtful(among.nodes, among.starts, np.zeros(len(nodes), bool), WINDOW)
    kept = ~are_unrelated(nodes, others_left, others_right)
    apart_left, apart_right = left[refused], outcast
    left, right = (
        np.concatenate([left[~refused], others_left[kept]]),
        np.concatenate([right[~refused], others_right[kept]]),
    )
    doubtful_left, doubtful_right = pairs.doubtful(equal.nodes, equal.starts, trusted, WINDOW)
    same = _title_scores(nodes, doubtful_left, doubtful_right) > min_title_score
    if of_pdf:  # two readings of one PDF are of one PDF
        same |= (nodes.second_header[doubtful_left] & ~nodes.trusted[doubtful_right]) | (
            nodes.second_header[doubtful_right] & ~nodes.trusted[doubtful_left]
        )
    left = np.concatenate([left, doubtful_left[same]])
    right = np.concatenate([right, doubtful_right[same]])
    if of_pdf:
        doi = nodes.identifiers["doi"]
        untitled_left, untitled_right = pairs.untitled(equal.nodes, equal.starts, nodes.trusted, nodes.title, doi)
        left, right = np.concatenate([left, untitled_left]), np.concatenate([right, untitled_right])
    if IDENTIFIERS[reason] in _CLAIMED:
        claimed_left, claimed_right = _claimed(nodes, equal, of_pdf, min_title_score, max_preprint_years)
        left, right = np.concatenate([left, claimed_left]), np.concatenate([right, claimed_right])
    reasons = np.repeat(np.array([reason, UNRELATED], np.int8), [len(left), len(apart_left)])
    left, right = np.concatenate([left, apart_left]), np.concatenate([right, apart_right])
    return _sort_by_strength(left, right, reasons, np.full(len(left), identifier_strength(reason)))


def _claimed(
    nodes: Nodes, equal: Groups, of_pdf: bool, min_title_score: float, max_preprint_years: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a record without a title and a PDF with its identifier.

    A PDF is left out if another PDF, or a record with a title, has the identifier and a different title.
    """
    places = nodes.places
    left, right, pdf, rival = pairs.claims(
        equal.nodes, equal.starts, nodes.trusted, nodes.title, nodes.identifiers["doi"], nodes.identifiers["declared"], WINDOW,
        of_pdf, max_preprint_years, nodes.year, nodes.preprint, nodes.surname_offsets, nodes.surnames, places.volume, places.page,
    )  # fmt: skip
    contested = np.zeros(len(nodes), bool)
    contested[pdf[_title_scores(nodes, pdf, rival) <= min_title_score]] = True
    return left[~contested[right]], right[~contested[right]]


def equal_title_edges(nodes: Nodes, labels: np.ndarray, max_preprint_years: int) -> Edges:
    """Return the edges between records with equal titles, by ids: authors and years agree, and DOIs do not contradict.

    Records of one cluster by `labels` need no edge.
    """
    left, right = pairs.equal_titles(
        nodes.by_title.nodes, nodes.by_title.starts, nodes.strict, labels, WINDOW, *facts(nodes, max_preprint_years)
    )
    return _add_reasons(nodes, left, right, np.ones(len(left)))


def edges_of_similar(nodes: Nodes, a: np.ndarray, b: np.ndarray, score: np.ndarray, max_preprint_years: int) -> Edges:
    """Return the edges between the records of similar titles. `a` and `b` are rows of `nodes.titles`, `score` their S."""
    left, right, pair = pairs.near_titles(
        nodes.by_title.nodes, nodes.by_title.starts, a, b, score, WINDOW, *facts(nodes, max_preprint_years)
    )
    used = np.unique(pair)
    is_numbered = np.zeros(len(a), bool)
    is_numbered[used] = differ_in_number(*(nodes.original_titles.take(pa.array(side[used])) for side in (a, b)))
    accepted = ~is_numbered[pair]
    return _add_reasons(nodes, left[accepted], right[accepted], score[pair[accepted]])


def edges_of_cut(nodes: Nodes, group: np.ndarray, labels: np.ndarray, min_title_score: float) -> Edges:
    """Return the edges between a title without its subtitle and the complete title, by strength, then ids.

    Authors, year and first page are equal: `group` is equal for such records, −1 for a record that lacks one of them. Volumes, issues,
    journals and DOIs do not contradict. Titles that differ only in a number make no edge. Equal volumes are needed if the cut title
    has few words, or if the missing part begins with a number, as in a series. The strength is at most the threshold of similar
    titles, which every edge by title exceeds. Records of one cluster by `labels` need no edge.
    """
    texts = pc.fill_null(nodes.titles.take(pa.array(nodes.title, mask=nodes.title < 0)), "")
    grouped = np.flatnonzero(group >= 0)
    table = pa.table({"group": group[grouped], "title": texts.take(pa.array(grouped))})
    order = grouped[np.asarray(pc.sort_indices(table, [("group", "ascending"), ("title", "ascending")]))]
    cut, longer = pairs.cut_titles(
        order,
        group,
        *text_of(texts),
        labels,
        WINDOW,
        nodes.final_doi,
        nodes.year,
        nodes.surname_offsets,
        nodes.surnames,
    )
    cut_titles, longer_titles = (nodes.original_titles.take(pa.array(nodes.title[side])) for side in (cut, longer))
    a, b = nodes.places.take(cut), nodes.places.take(longer)
    missing = [find_missing_part(*pair) for pair in _rows(cut_titles, longer_titles)]
    is_weak = nodes.strict[nodes.title[cut]] | np.array([begins_with_number(part or "") for part in missing], bool)
    accepted = np.array([is_cut(*pair) for pair in _rows(cut_titles, longer_titles)], bool)
    accepted &= ~differ_in_number(cut_titles, longer_titles) & (~is_weak | ((a.volume != 0) & (a.volume == b.volume)))
    no, yes = np.zeros(len(cut), bool), np.ones(len(cut), bool)
    refused = contradict(a, b, nodes.journals, exact=no, strict=no, few_authors=yes) | volumes_or_issues_differ(a, b)
    accepted &= ~refused | nodes.preprint[cut] | nodes.preprint[longer]
    cut, longer = cut[accepted], longer[accepted]
    strength = np.minimum(_title_scores(nodes, cut, longer), min_title_score)
    return _sort_by_strength(cut, longer, np.full(len(cut), PREFIX), strength)


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
    return _sort_by_strength(left, right, reasons_of(located(a, b), refused), strength)


def reasons_of(located: np.ndarray, refused: np.ndarray) -> np.ndarray:
    """Return the reasons of title edges (int8)."""
    return np.where(refused, np.int8(CONTRADICTION), np.where(located, np.int8(PLACE), np.int8(TITLE)))


def _select_codes(codes: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return the codes of the given nodes, and −1 for all others."""
    selected = np.full(len(codes), -1, codes.dtype)
    selected[nodes] = codes[nodes]
    return selected


def are_unrelated(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs certainly belong to different papers (bool).

    The titles are in one script and have S < 0.3. Both records have surnames, but no common one.
    """
    unrelated = np.zeros(len(left), bool)
    rows = np.flatnonzero(_share_no_surname(left, right, nodes.title, nodes.surname_offsets, nodes.surnames))
    rows = rows[_title_scores(nodes, left[rows], right[rows]) < UNRELATED_SCORE]
    sides = (nodes.titles.take(pa.array(nodes.title[side[rows]])) for side in (left, right))
    unrelated[rows] = [same_script(*pair) for pair in _rows(*sides)]
    return unrelated


@njit(cache=True, nogil=True)
def _share_no_surname(
    left: np.ndarray, right: np.ndarray, title: np.ndarray, offsets: np.ndarray, names: np.ndarray
) -> np.ndarray:
    """Return which pairs have two different titles and two lists of surnames without a common one (bool)."""
    result = np.zeros(len(left), np.bool_)
    for k in range(len(left)):
        i, j = left[k], right[k]
        if title[i] < 0 or title[j] < 0 or title[i] == title[j]:
            continue
        both_have_names = offsets[i + 1] > offsets[i] and offsets[j + 1] > offsets[j]
        result[k] = both_have_names and count_common(offsets, names, i, j) == 0
    return result


def _sort_by_strength(a: np.ndarray, b: np.ndarray, reason: np.ndarray, strength: np.ndarray) -> Edges:
    """Return edges by descending strength, then ids."""
    left, right = np.minimum(a, b).astype(np.int32), np.maximum(a, b).astype(np.int32)
    order = np.argsort(left.astype(np.int64) << 32 | right, kind="stable")
    if np.any(strength != strength[:1]):
        order = order[np.argsort(-strength[order], kind="stable")]
    return Edges(left[order], right[order], reason[order].astype(np.int8), strength[order])


def _sort_by_ids(a: np.ndarray, b: np.ndarray, reason: int, strength: float) -> Edges:
    """Return edges of equal strength, by ids."""
    packed = np.minimum(a, b).astype(np.uint64) << np.uint64(32) | np.maximum(a, b).astype(np.uint64)
    packed.sort()
    left, right = (packed >> np.uint64(32)).astype(np.int32), (packed & np.uint64(0xFFFFFFFF)).astype(np.int32)
    return Edges(left, right, np.full(len(packed), reason, np.int8), np.full(len(packed), strength))


def _title_scores(nodes: Nodes, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return S of the titles of each pair of records; 0 if a title is missing."""
    a, b = nodes.title[left], nodes.title[right]
    scores = np.where((a == b) & (a >= 0), 1.0, 0.0)
    differ = np.flatnonzero((a != b) & (a >= 0) & (b >= 0))
    if len(differ):
        used, position = np.unique(np.concatenate([a[differ], b[differ]]), return_inverse=True)
        grams = titles.grams(nodes.titles.take(pa.array(used)))
        scores[differ] = titles.score_pairs(grams, position[: len(differ)], grams, position[len(differ) :])
    return scores


_PART = re.compile(r"\b(?:part|pt|chapter)\b\W*(\w+)", re.IGNORECASE)


def _name_different_parts(x: str, y: str) -> bool:
    """Return whether two titles name different parts, or only one names a part: "Lemmas, part II" is not "Lemmas"."""
    parts = [[word for word in _PART.findall(title) if titles.differ_only_in_number(word, "0")] for title in (x, y)]
    return len(parts[0]) != len(parts[1]) or any(map(titles.differ_only_in_number, *parts))


def differ_in_number(first: pa.Array, second: pa.Array) -> np.ndarray:
    """Return which pairs of titles differ only in a number or numeral, or name different parts (bool)."""
    found = only_numbers_differ(first, second)
    has_part = pc.or_(*(pc.match_substring_regex(side, r"(?i)\b(?:part|pt|chapter)\b") for side in (first, second)))
    rows = np.flatnonzero(np.asarray(has_part) & ~found)
    sides = (side.take(pa.array(rows)) for side in (first, second))
    found[rows] = [_name_different_parts(*pair) for pair in _rows(*sides)]
    return found
