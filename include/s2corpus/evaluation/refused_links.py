"""Find the nearest paper that linking refused for each bibliography entry without a link, and the fact that decided (SPEC §7).

The search reads the tables of a release, one bucket of papers at a time. It compares an entry with all papers, as linking does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import interpret_if_small
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.pipeline.trace import read_spec
from s2corpus.spec import LinkRules
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.schema import paper_shard
from s2corpus.tables.texts import ENTRIES, FILTERED
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.comparison import (
    CUT,
    EVIDENCE,
    MIN_LINK_EVIDENCE,
    MISSING,
    describe,
)
from s2corpus.titles.facts import IDENTIFIERS
from s2corpus.titles.linking import compare_facts, judge_titles, read_entries, read_papers
from s2corpus.titles.threegrams import grams, score_pairs

MAX_SEARCHED_PAPERS = 1_000_000
"""maximum number of papers of a release that is searched"""
MIN_NEAR_SCORE = 0.6
"""A paper is near if S of the titles is at least this value, or if volume and first page are equal."""


_NEAR = ("volume", "page", "year")
_SHARED = ("title", "authors", "volume", "pages", "venue", *IDENTIFIERS)
_ENTRY = (*_SHARED, "parse_kind", "ref_id", "year", "raw_text")
_PAPER = (*_SHARED, "paper_id", "journal", "date")


@dataclass(frozen=True, slots=True)
class RefusedLink:
    """A bibliography entry without a link, and the nearest paper."""

    parse_kind: str
    ref_id: str
    cited: str
    """title of the entry, or else its printed text"""
    paper_id: str
    title: str | None
    similarity: float
    """S of the titles, 0 without one"""
    reason: str
    evidence: str

    def __str__(self) -> str:
        return (
            f"{self.parse_kind} {self.ref_id} “{self.cited}” does not link to {self.paper_id} “{self.title or ''}”: {self.reason} "
            f"({self.evidence})"
        )


def find_refused_links(
    tables: ReleaseTables, paper_id: str, unlinked: set[tuple[str, str]]
) -> list[RefusedLink] | None:
    """Return the refused link of each entry (kind of parse, id) that has a near paper; None if the release has too many papers."""
    if not unlinked:
        return []
    if tables.table(PAPERS).committed().rows > MAX_SEARCHED_PAPERS:
        return None
    spec, shard = read_spec(tables), paper_shard(paper_id, tables.paper_shards)
    entries = tables.table(ENTRIES).read(_ENTRY, shard=shard, where=pc.field("paper_id") == paper_id)
    keys = zip(entries["parse_kind"].to_pylist(), entries["ref_id"].to_pylist(), strict=True)
    entries = entries.filter(pa.array([key in unlinked for key in keys], pa.bool_())).rename_columns(
        {"venue": "journal"}
    )
    entries = read_entries(entries, by_title=False)
    best: dict[int, tuple[float, pa.Table]] = {}
    with interpret_if_small(len(entries) * tables.table(PAPERS).committed().rows * 200):
        for bucket in range(tables.paper_shards):
            papers = tables.table(PAPERS).read(_PAPER, shard=bucket)
            outcomes = tables.table(FILTERED).read(["paper_id", "outcome"], shard=bucket)
            kept = outcomes["paper_id"].filter(pc.equal(outcomes["outcome"], "kept"))
            papers = read_papers(papers.filter(pc.is_in(papers["paper_id"], kept.combine_chunks())), by_title=False)
            for row, nearness, paper in _find_near(entries, papers, paper_id):
                if nearness > best.get(row, (0.0,))[0]:
                    best[row] = nearness, paper
        rows = sorted(best)
        if not rows:
            return []
        papers = pa.concat_tables([best[row][1] for row in rows])
        return list(_explain(entries.take(pa.array(rows)), papers, spec.link if spec else LinkRules()))


def _find_near(entries: pa.Table, papers: pa.Table, citing: str) -> Iterator[tuple[int, float, pa.Table]]:
    """Yield the row of each entry with a near paper of a bucket: S, increased a little by each other fact that agrees, and the paper."""
    cited, given = (grams(pc.fill_null(rows["normalized"], "")) for rows in (entries, papers))
    volume, page, year = (_read(papers, name).to_numpy() for name in _NEAR)
    is_other = pc.not_equal(papers["paper_id"], citing).to_numpy()
    facts = [_read(entries, name).to_pylist() for name in _NEAR]
    for row, (cited_volume, cited_page, cited_year) in enumerate(zip(*facts, strict=True)):
        places = np.arange(len(papers))
        score = score_pairs(cited, np.full(len(papers), row), given, places, MIN_NEAR_SCORE)
        is_place = (volume == cited_volume) & (page == cited_page) & (cited_volume != 0) & (cited_page != 0)
        nearness = score + 0.02 * is_place + 0.01 * ((year == cited_year) & (cited_year > 0))
        nearness[~is_other | ((score == 0) & ~is_place)] = 0
        if len(papers) and nearness.max() > 0:
            yield row, float(nearness.max()), papers.slice(int(nearness.argmax()), 1)


def _explain(entries: pa.Table, papers: pa.Table, rules: LinkRules) -> Iterator[RefusedLink]:
    """Yield the reason and the evidence of each pair of an entry and a paper."""
    cited, given = (grams(pc.fill_null(table["normalized"], "")) for table in (entries, papers))
    places = np.arange(len(entries))
    similarity = score_pairs(cited, places, given, places)
    same_title = pc.fill_null(pc.equal(entries["normalized"], papers["normalized"]), False)
    little = pc.or_(entries["is_uninformative"], papers["is_uninformative"])
    pairs = pa.table(
        [entries["facts"], papers["facts"], little, same_title, entries["title"], papers["title"]],
        ["cited", "given", "is_uninformative", "same_title", "entry_title", "title"],
    )
    has_titles = np.asarray(pc.and_(entries["normalized"].is_valid(), papers["normalized"].is_valid()))
    is_other = has_titles & ~np.asarray(same_title) & (similarity <= rules.min_score)
    scores = np.where(has_titles, similarity, np.nan)
    title, number, document = judge_titles(pairs, scores, rules.min_score, has_titles, is_other)
    found = compare_facts(pairs, title, number, document=document)
    against = [list(EVIDENCE)[fact] if fact >= 0 else None for fact in found.strongest_against().tolist()]
    texts = [
        title or text or ""
        for title, text in zip(entries["title"].to_pylist(), entries["raw_text"].to_pylist(), strict=True)
    ]
    for row, code in enumerate(found.codes().tolist()):
        if document[row]:
            reason = "one is a notice, a reply or a review (§7.19)"
        elif title[row] == MISSING:
            reason = "an entry without a title needs equal journal, volume, page and year (§7.16)"
        elif rules.evidence != "title" and title[row] == CUT and against[row] not in (None, "number"):
            reason = f"the shorter title needs equal year and surname; {against[row]} differs (§7.7)"
        elif similarity[row] <= rules.min_score:
            reason = f"S = {similarity[row]:.2f} of the titles is not above {rules.min_score:g} (§7.4)"
        elif little[row].as_py():
            reason = "a short or generic title needs equal year and surname, or volume and page (§7.6)"
        else:
            reason = "the search did not propose this paper (§7.14)"
        yield RefusedLink(
            entries["parse_kind"][row].as_py(), entries["ref_id"][row].as_py(), texts[row][:200], papers["paper_id"][row].as_py(),
            papers["title"][row].as_py(), float(similarity[row]), reason, describe(code, MIN_LINK_EVIDENCE),
        )  # fmt: skip


def _read(rows: pa.Table, fact: str) -> pa.Array:
    return pc.fill_null(pc.struct_field(one_chunk(rows["facts"]), fact), 0)
