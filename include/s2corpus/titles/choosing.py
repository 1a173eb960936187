"""Which paper of several an entry links to: the tie rules (SEMANTICS §7), compiled."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from s2corpus.compiled import njit
from s2corpus.titles.arrays import place_of, read_only
from s2corpus.titles.targets import NARROWED, NO_YEAR, Facts, Targets, key_of

MOST = 64
"""Papers of one title or identifier that are looked at for one entry; a group of more is narrowed first."""
_ID, _EXACT, _FUZZY = 1, 2, 3
TITLE, AGREES, JOURNAL, VOLUME, PAGE, YEAR, SURNAME = 64, 32, 16, 8, 4, 2, 1
"""How far an entry and a paper agree: a sum, whose order is that of the tie rules. AGREES: year and surname do not both differ."""


FiveFacts: TypeAlias = tuple[np.int32, np.uint64, np.uint32, np.uint32, np.uint32]
"""year, surname, journal, volume and page of one row"""


class Known(NamedTuple):
    """What is known of each entry beside its title."""

    year: np.ndarray
    surname: np.ndarray
    journal: np.ndarray
    volume: np.ndarray
    page: np.ndarray
    citing: np.ndarray
    """hash of the citing paper's id, uint64, 0 where there is none"""
    little: np.ndarray


_PAPER = np.dtype(
    [("year", "i4"), ("journal", "u4"), ("volume", "u4"), ("page", "u4"), ("surname", "u8"), ("id_hash", "u8")]
)
"""What is known of a paper beside its title, in one place: papers are looked at in no order, and each place is waited for."""


class Tied(NamedTuple):
    """The papers as the tie rules look at them (see `Targets`)."""

    single: np.ndarray
    keys: np.ndarray
    rows: np.ndarray
    paper: np.ndarray
    """of _PAPER"""
    rank: np.ndarray
    little: np.ndarray
    """by title group"""
    title: np.ndarray
    """title group of each paper"""


class Chosen(NamedTuple):
    """The links of entries, a value each."""

    row: np.ndarray
    """the paper, or -1"""
    second: np.ndarray
    """another equal candidate, or -1"""
    reason: np.ndarray
    score: np.ndarray
    runner_up: np.ndarray
    agreement: np.ndarray
    tied: np.ndarray
    """whether another candidate agrees as far, boolean"""

    @staticmethod
    def nothing(count: int) -> Chosen:
        """No links yet."""
        rows = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
        scores = np.full(count, np.nan), np.full(count, np.nan)
        return Chosen(*rows, np.zeros(count, np.int8), *scores, np.zeros(count, np.int8), np.zeros(count, np.bool_))


def known_of(facts: Facts, citing: np.ndarray) -> Known:
    """The facts of entries, and the hashes of their own papers' ids."""
    place = facts.journal, facts.volume, facts.page
    return Known(*map(read_only, (facts.year, facts.surname, *place, citing, facts.little)))


def tied_of(targets: Targets) -> Tied:
    """The papers, as the kernels take them."""
    facts, paper = targets.facts, np.empty(len(targets.rank), _PAPER)
    _put_together(paper, facts.year, facts.journal, facts.volume, facts.page, facts.surname, targets.id_hash)
    groups = targets.single, targets.keys, targets.rows
    return Tied(*map(read_only, (*groups, paper, targets.rank, targets.little, targets.titles.groups)))


@njit(cache=True, nogil=True)
def _put_together(
    paper: np.ndarray,
    year: np.ndarray,
    journal: np.ndarray,
    volume: np.ndarray,
    page: np.ndarray,
    surname: np.ndarray,
    id_hash: np.ndarray,
) -> None:
    for row in range(len(paper)):
        here = paper[row]
        here["year"], here["journal"], here["volume"] = year[row], journal[row], volume[row]
        here["page"], here["surname"], here["id_hash"] = page[row], surname[row], id_hash[row]


@njit(cache=True, nogil=True)
def _agree(one: FiveFacts, other: FiveFacts) -> int:
    """How far the facts of an entry and of a paper agree, their titles left aside."""
    year, surname, journal, volume, page = one
    their_year, their_surname, their_journal, their_volume, their_page = other
    dated, named = year != NO_YEAR and their_year != NO_YEAR, surname != 0 and their_surname != 0
    same_year, same_surname = dated and year == their_year, named and surname == their_surname
    value = YEAR * int(same_year) + SURNAME * int(same_surname)
    if not (dated and named) or same_year or same_surname:
        value += AGREES
    if journal != 0 and journal == their_journal:
        value += JOURNAL
    if volume != 0 and volume == their_volume:
        value += VOLUME
    if page != 0 and page == their_page:
        value += PAGE
    return value


@njit(cache=True, nogil=True)
def _agreement(i: int, row: int, title: int | np.int32, known: Known, papers: Tied) -> int:
    """How far entry `i` and a paper agree; `title` is the title group equal to the entry's, or -1 where it does not matter."""
    paper = papers.paper[row]
    value = _agree(
        (known.year[i], known.surname[i], known.journal[i], known.volume[i], known.page[i]),
        (paper["year"], paper["surname"], paper["journal"], paper["volume"], paper["page"]),
    )
    return value + TITLE if title >= 0 and papers.title[row] == title else value


@njit(cache=True, nogil=True)
def _enough(agreement: int) -> bool:
    """Whether a title that says little may link: year and surname agree, or volume and first page do."""
    return agreement & (YEAR | SURNAME) == YEAR | SURNAME or agreement & (VOLUME | PAGE) == VOLUME | PAGE


@njit(cache=True, nogil=True)
def _may_link(paper: np.uint64, citing: np.uint64, must_agree: bool | np.bool_, agreement: int) -> bool:
    """Whether a paper is not the citing one (hashes of their ids), and agrees enough where it must."""
    return bool(paper != citing and (not must_agree or _enough(agreement)))


@njit(cache=True, nogil=True)
def _run(group: int, i: int, must_agree: bool | np.bool_, known: Known, papers: Tied) -> tuple[np.uint64, int, bool]:
    """The papers of a group that are looked at: their key, its first place, and whether there are others."""
    key, at = _narrowed(group, i, np.int64(0), known, papers)
    if at + MOST >= len(papers.keys) or papers.keys[at + MOST] != key:
        return key, at, False
    for by in range(1, 3 if must_agree else NARROWED + 1):
        narrow, first = _narrowed(group, i, by, known, papers)
        while narrow != 0 and first < len(papers.keys) and papers.keys[first] == narrow:
            if papers.paper[papers.rows[first]]["id_hash"] != known.citing[i]:
                return narrow, first, True
            first += 1
    return key, at, True


@njit(cache=True, nogil=True)
def _narrowed(group: int, i: int, by: int | np.int64, known: Known, papers: Tied) -> tuple[np.uint64, int]:
    """The key of the group's papers that have what is known of the entry, and its first place."""
    key = key_of(np.uint64(group), by, known.year[i], known.surname[i], known.volume[i], known.page[i])
    return key, place_of(papers.keys, key)


@njit(cache=True, nogil=True)
def choose(
    group: int, i: int, title: int | np.int32, must_agree: bool | np.bool_, known: Known, papers: Tied
) -> tuple[int, int, int, bool]:
    """The paper of a group that the tie rules prefer for entry `i` (else -1), how far it agrees, another that could be (else -1), and
    whether one agrees as far.
    """  # fmt: skip
    citing = known.citing[i]
    if papers.single[group] >= 0:
        only = int(papers.single[group])
        agreed = _agreement(i, only, title, known, papers)
        return (only if _may_link(papers.paper[only]["id_hash"], citing, must_agree, agreed) else -1), agreed, -1, False
    key, at, narrowed = _run(group, i, must_agree, known, papers)
    best, best_agreement, second, tied, seen = -1, -1, -1, False, 0
    while at < len(papers.keys) and papers.keys[at] == key:
        row = int(papers.rows[at])
        at += 1
        if papers.paper[row]["id_hash"] == citing:
            continue
        seen += 1
        if seen > MOST:  # what is not looked at may agree as far
            tied = True
            break
        agreed = _agreement(i, row, title, known, papers)
        if must_agree and not _enough(agreed):
            continue
        if agreed > best_agreement:
            if best >= 0:
                second = best
            best, best_agreement, tied = row, agreed, False
        else:
            tied = tied or agreed == best_agreement
            if second < 0:
                second = row
    if narrowed and best >= 0 and second < 0 and not must_agree:
        _, at = _narrowed(group, i, np.int64(0), known, papers)
        while second < 0:
            row = int(papers.rows[at])
            if row != best and papers.paper[row]["id_hash"] != citing:
                second = row
            at += 1
    return best, max(best_agreement, 0), second, tied


@njit(cache=True, nogil=True)
def decide_equal(by_id: np.ndarray, by_title: np.ndarray, known: Known, papers: Tied, out: Chosen) -> None:
    """Links by identifier, else by equal title."""
    # Arrays that a loop takes out of a tuple are counted every time: what most entries need is taken out once.
    years, surnames, journals, volumes, pages = known.year, known.surname, known.journal, known.volume, known.page
    single, papers_of, little = papers.single, papers.paper, papers.little
    citing, known_little = known.citing, known.little
    rows, reasons, scores, agreements = out.row, out.reason, out.score, out.agreement
    for i in range(len(by_title)):
        title = by_title[i]
        named = False
        for kind in range(by_id.shape[1]):
            named |= by_id[i, kind] >= 0
        if named or (title >= 0 and single[title] < 0):
            _decide_among(i, by_id, int(title), known, papers, out)
        elif title >= 0:
            row = single[title]
            paper = papers_of[row]
            agreed = _agree(
                (years[i], surnames[i], journals[i], volumes[i], pages[i]),
                (paper["year"], paper["surname"], paper["journal"], paper["volume"], paper["page"]),
            )
            if _may_link(paper["id_hash"], citing[i], known_little[i] or little[title], agreed):
                rows[i], reasons[i], scores[i], agreements[i] = row, _EXACT, 1.0, agreed


@njit(cache=True, nogil=True)
def _decide_among(i: int, by_id: np.ndarray, title: int, known: Known, papers: Tied, out: Chosen) -> None:
    """The link of one entry that has an identifier, or whose title several papers have."""
    best, best_agreement, other, tied = -1, 0, -1, False
    for kind in range(by_id.shape[1]):
        if by_id[i, kind] < 0:
            continue
        row, agreement, second, also = choose(int(by_id[i, kind]), i, title, np.bool_(False), known, papers)
        if row < 0 or row == best:
            continue
        if best < 0 or agreement > best_agreement:
            row, best, best_agreement, tied = best, row, agreement, also
        elif agreement == best_agreement:
            tied = True
            if papers.rank[row] < papers.rank[best]:
                row, best = best, row
        if other < 0:
            other = row if row >= 0 else second
    if best >= 0:
        out.row[i], out.second[i], out.reason[i] = best, other, _ID
    elif title >= 0:
        must_agree = known.little[i] or papers.little[title]
        best, best_agreement, other, tied = choose(title, i, np.int32(-1), must_agree, known, papers)
        if best >= 0:
            out.row[i], out.second[i], out.reason[i], out.score[i] = best, other, _EXACT, 1.0
            if other >= 0:
                out.runner_up[i] = 1.0
    if best >= 0:
        out.agreement[i], out.tied[i] = best_agreement, tied


@njit(cache=True, nogil=True)
def decide_fuzzy(
    left: np.ndarray,
    searched: np.ndarray,
    starts: np.ndarray,
    groups: np.ndarray,
    scores: np.ndarray,
    known: Known,
    papers: Tied,
    out: Chosen,
) -> None:
    """Links by similarity for the entries `left`: the title `s` of each is similar to those of `groups[starts[s]:starts[s + 1]]`, best
    first.
    """  # fmt: skip
    for k in range(len(left)):
        i = int(left[k])
        for pair in range(starts[searched[k]], starts[searched[k] + 1]):
            must_agree = known.little[i] or papers.little[groups[pair]]
            row, agreement, second, tied = choose(int(groups[pair]), i, np.int32(-1), must_agree, known, papers)
            if row < 0:
                continue
            if out.row[i] >= 0:
                if np.isnan(out.runner_up[i]):
                    out.runner_up[i] = scores[pair]
                if scores[pair] < out.score[i]:
                    break
                if agreement < out.agreement[i]:
                    continue
                if agreement == out.agreement[i]:
                    tied = True
                    if papers.rank[row] > papers.rank[out.row[i]]:
                        row = out.row[i]
            elif second >= 0:
                out.runner_up[i] = scores[pair]
            out.row[i], out.reason[i], out.score[i] = row, _FUZZY, scores[pair]
            out.agreement[i], out.tied[i] = agreement, tied
