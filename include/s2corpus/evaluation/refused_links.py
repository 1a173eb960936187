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
from s2corpus.rules import MIN_SCORE_WITHOUT_AUTHORS
from s2corpus.sources.documents import find_document
from s2corpus.spec import LinkRules
from s2corpus.stages.link.index import read_entries_where, read_papers
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.schema import paper_shard
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.comparison import (
    ALMOST,
    CUT,
    EQUAL,
    EVIDENCE,
    MIN_LINK_EVIDENCE,
    MISSING,
    SIMILAR,
    compare_titles,
    describe,
)
from s2corpus.titles.facts import add_facts, number_keys, page_keys
from s2corpus.titles.linking import compare_facts
from s2corpus.titles.rules import compare_numbers
from s2corpus.titles.threegrams import grams, normalize, score_pairs

MAX_SEARCHED_PAPERS = 1_000_000
"""maximum number of papers of a release that is searched"""
MIN_NEAR_SCORE = 0.6
"""A paper is near if S of the titles is at least this value, or if volume and first page are equal."""


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
    spec = read_spec(tables)
    entries = read_entries_where(
        tables, pc.field("paper_id") == paper_id, shard=paper_shard(paper_id, tables.paper_shards)
    )
    keys = zip(entries["parse_kind"].to_pylist(), entries["ref_id"].to_pylist(), strict=True)
    entries = add_facts(entries.filter(pa.array([key in unlinked for key in keys], pa.bool_())))
    best: dict[int, tuple[float, pa.Table]] = {}
    with interpret_if_small(len(entries) * tables.table(PAPERS).committed().rows * 200):
        for bucket in range(tables.paper_shards):
            for row, nearness, paper in _find_near(entries, read_papers(tables, bucket), paper_id):
                if nearness > best.get(row, (0.0,))[0]:
                    best[row] = nearness, paper
        rows = sorted(best)
        if not rows:
            return []
        papers = add_facts(pa.concat_tables([best[row][1] for row in rows]))
        return list(_explain(entries.take(pa.array(rows)), papers, spec.link if spec else LinkRules()))


def _find_near(entries: pa.Table, papers: pa.Table, citing: str) -> Iterator[tuple[int, float, pa.Table]]:
    """Yield the row of each entry with a near paper of a bucket: S, increased a little by each other fact that agrees, and the paper."""
    titles = normalize(papers["title"])
    cited, given = grams(pc.fill_null(entries["normalized"], "")), grams(titles)
    volume, page, year = (
        number_keys(papers["volume"]),
        page_keys(papers["pages"]),
        pc.fill_null(papers["year"], 0).to_numpy(),
    )
    is_other = pc.not_equal(papers["paper_id"], citing).to_numpy()
    facts = [pc.fill_null(entries[name], 0).to_pylist() for name in ("volume_key", "page_key", "year")]
    for row, (cited_volume, cited_page, cited_year) in enumerate(zip(*facts, strict=True)):
        places = np.arange(len(papers))
        score = score_pairs(cited, np.full(len(papers), row), given, places, MIN_NEAR_SCORE)
        is_place = (volume == cited_volume) & (page == cited_page) & (cited_volume > 0) & (cited_page > 0)
        nearness = score + 0.02 * is_place + 0.01 * ((year == cited_year) & (cited_year > 0))
        nearness[~is_other | ((score == 0) & ~is_place)] = 0
        if len(papers) and nearness.max() > 0:
            yield row, float(nearness.max()), papers.slice(int(nearness.argmax()), 1)


def _explain(entries: pa.Table, papers: pa.Table, rules: LinkRules) -> Iterator[RefusedLink]:
    """Yield the reason and the evidence of each pair of an entry and a paper."""
    titles = list(zip(entries["title"].to_pylist(), papers["title"].to_pylist(), strict=True))
    cited, given = (grams(pc.fill_null(table["normalized"], "")) for table in (entries, papers))
    places = np.arange(len(titles))
    similarity = score_pairs(cited, places, given, places)
    title, number, document = (np.zeros(len(titles), np.int64) for _ in range(3))
    equal = pc.fill_null(pc.equal(entries["normalized"], papers["normalized"]), False).to_pylist()
    for row, (a, b) in enumerate(titles):
        if not a or not b:
            title[row] = MISSING
        elif equal[row] or similarity[row] > rules.min_score:
            title[row] = EQUAL if equal[row] else ALMOST if similarity[row] > MIN_SCORE_WITHOUT_AUTHORS else SIMILAR
            number[row] = compare_numbers(a, b)
        else:
            title[row], number[row] = compare_titles(a, b)
        document[row] = 3 * (find_document(a or "") != find_document(b or ""))
    little = pc.or_(entries["is_uninformative"], papers["is_uninformative"])
    described = pa.table([_describe(entries), _describe(papers), little], ["cited", "given", "is_uninformative"])
    kinds = np.concatenate([document, np.zeros_like(document)]).astype(np.uint8)
    found = compare_facts(described, title, number, document=kinds)
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
            titles[row][1], float(similarity[row]), reason, describe(code, MIN_LINK_EVIDENCE),
        )  # fmt: skip


def _describe(rows: pa.Table) -> pa.Array:
    """Return the compared facts of entries or papers."""
    names = {"year": "year", "surname": "surname_key", "journal": "journal", "volume": "volume_key", "page": "page_key"}
    columns = [one_chunk(rows[column]) for column in names.values()]
    return pa.StructArray.from_arrays(columns, names=list(names))
