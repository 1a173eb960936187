"""Show the evidence of links with a warning, and of papers that linking refused for entries without a link (SPEC §7).

A refused paper has the most similar title, or a title that the printed entry contains. The search reads the tables of a release, one
bucket of papers at a time. It compares an entry with all papers, as linking does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.compiled import interpret_if_small
from s2corpus.outcomes import LinkReason, LinkWarning
from s2corpus.pipeline.run import ReleaseTables, Row
from s2corpus.pipeline.trace import read_spec
from s2corpus.spec import LinkRules
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.schema import paper_shard
from s2corpus.tables.texts import ENTRIES, FILTERED
from s2corpus.titles.arrays import one_chunk
from s2corpus.titles.comparison import CUT, EVIDENCE, MIN_LINK_EVIDENCE, MISSING, describe
from s2corpus.titles.contained import HEADS, judge_contained, split_references
from s2corpus.titles.facts import COMPARED, IDENTIFIERS
from s2corpus.titles.linking import read_entries, read_papers, weigh
from s2corpus.titles.threegrams import grams, score_pairs

MAX_SEARCHED_PAPERS = 1_000_000
"""maximum number of papers of a release that is searched"""
MAX_CONTAINED = 64
"""Papers of a title that are compared with an entry that contains it."""
MIN_NEAR_SCORE = 0.6
"""A paper is near if S of the titles is at least this value, or if volume and first page are equal."""


_NEAR = ("volume", "page", "year")
_SHARED = ("title", "authors", "volume", "pages", "venue", *IDENTIFIERS)
_ENTRY = (*_SHARED, "parse_kind", "ref_id", "year", "raw_text")
_PAPER = (*_SHARED, "paper_id", "journal", "date")
_TEXTS = ("entry", "paper_id", "title", "normalized", "raw_text")
CONTAINED = pa.schema(
    dict.fromkeys(_TEXTS, pa.string())
    | {"is_uninformative": pa.bool_(), "facts": COMPARED, "year": pa.int32(), "place": pa.int64()}
)
"""Papers whose title a printed entry contains, as `judge_contained` reads them."""


@dataclass(frozen=True, slots=True)
class DoubtfulLink:
    """A bibliography entry and a paper: a link with a warning, or the refused paper of an entry without a link."""

    parse_kind: str
    ref_id: str
    cited: str
    """title of the entry, or else its printed text"""
    paper_id: str
    title: str | None
    similarity: float
    """S of the titles, 0 without one"""
    warning: str | None
    """warning of the link; null if the paper is refused"""
    reason: str
    evidence: str

    def __str__(self) -> str:
        verb = f"links with the warning {self.warning} to" if self.warning else "does not link to"
        return (
            f"{self.parse_kind} {self.ref_id} “{self.cited}” {verb} {self.paper_id} “{self.title or ''}”: {self.reason} "
            f"({self.evidence})"
        )


def find_warned_links(tables: ReleaseTables, paper_id: str, links: Sequence[Row]) -> list[DoubtfulLink]:
    """Return the links with a warning among the rows of a citing paper in `links`, in the order of the table of entries."""
    warned = {(row["parse_kind"], row["ref_id"]): row for row in links if row["warning"]}
    if not warned:
        return []
    entries = _read_entries(tables, paper_id, set(warned))
    rows = [warned[key] for key in _list_keys(entries)]
    cited = [row for link in rows for row in tables.of_paper(PAPERS, link["cited_paper_id"], _PAPER)]
    schema = pa.schema([PAPERS.schema.field(name) for name in _PAPER])
    papers = read_papers(pa.Table.from_pylist(cited, schema), by_title=False)
    pairs = _pair(entries, papers, [row["reason"] for row in rows], [row["score"] for row in rows])
    with interpret_if_small(len(pairs) * 200):
        similarity, found = weigh(pairs, _read_rules(tables).min_score)
        codes = found.codes()
        for number, row in enumerate(rows):
            if row["reason"] == LinkReason.CONTAINED:
                one = [side.slice(number, 1) for side in (entries, papers)]
                codes[number] = judge_contained(_find_contained(*one))[1].codes()[0]
    reasons = [f"{row['reason']}; {LinkWarning(row['warning']).meaning}" for row in rows]
    return list(_describe(entries, papers, similarity, [row["warning"] for row in rows], reasons, codes.tolist()))


def find_refused_links(
    tables: ReleaseTables, paper_id: str, unlinked: set[tuple[str, str]]
) -> list[DoubtfulLink] | None:
    """Return the refused papers of each entry (kind of parse, id): a near one, and one whose title it contains.

    Return None if the release has too many papers.
    """
    if not unlinked:
        return []
    if tables.table(PAPERS).committed().rows > MAX_SEARCHED_PAPERS:
        return None
    entries = _read_entries(tables, paper_id, unlinked)
    best: dict[int, tuple[float, pa.Table]] = {}
    parts = [CONTAINED.empty_table()]
    with interpret_if_small(len(entries) * tables.table(PAPERS).committed().rows * 200):
        for bucket in range(tables.paper_shards):
            papers = tables.table(PAPERS).read(_PAPER, shard=bucket)
            outcomes = tables.table(FILTERED).read(["paper_id", "outcome"], shard=bucket)
            kept = outcomes["paper_id"].filter(pc.equal(outcomes["outcome"], "kept"))
            papers = read_papers(papers.filter(pc.is_in(papers["paper_id"], kept.combine_chunks())), by_title=False)
            papers = papers.filter(pc.not_equal(papers["paper_id"], paper_id))
            parts.append(_find_contained(entries, papers))
            for row, nearness, paper in _find_near(entries, papers):
                if nearness > best.get(row, (0.0,))[0]:
                    best[row] = nearness, paper
        found = list(_explain_contained(entries, pa.concat_tables(parts)))
        if rows := sorted(best):
            papers = pa.concat_tables([best[row][1] for row in rows])
            found += _explain_near(entries.take(pa.array(rows)), papers, _read_rules(tables))
    of_entry = {
        (row.parse_kind, row.ref_id, row.paper_id): row for row in found
    }  # Near papers replace contained titles.
    order = {key: number for number, key in enumerate(_list_keys(entries))}
    return sorted(of_entry.values(), key=lambda row: (order[row.parse_kind, row.ref_id], -row.similarity))


def _read_rules(tables: ReleaseTables) -> LinkRules:
    spec = read_spec(tables)
    return spec.link if spec else LinkRules()


def _read_entries(tables: ReleaseTables, paper_id: str, keys: set[tuple[str, str]]) -> pa.Table:
    """Return entries of a citing paper with their facts; `entry` is their number."""
    shard = paper_shard(paper_id, tables.paper_shards)
    rows = tables.table(ENTRIES).read(_ENTRY, shard=shard, where=pc.field("paper_id") == paper_id)
    rows = rows.filter(pa.array([key in keys for key in _list_keys(rows)], pa.bool_()))
    return read_entries(rows.rename_columns({"venue": "journal"}), by_title=False)


def _list_keys(entries: pa.Table) -> list[tuple[str, str]]:
    return list(zip(entries["parse_kind"].to_pylist(), entries["ref_id"].to_pylist(), strict=True))


def _pair(entries: pa.Table, papers: pa.Table, reasons: Sequence[str], scores: Sequence[float | None]) -> pa.Table:
    """Return pairs of an entry and a paper as rows that `weigh` reads."""
    columns = {
        "cited": entries["facts"], "given": papers["facts"], "entry_title": entries["title"], "title": papers["title"],
        "entry_normalized": entries["normalized"], "normalized": papers["normalized"],
        "same_title": pc.fill_null(pc.equal(entries["normalized"], papers["normalized"]), False),
        "is_uninformative": pc.or_(entries["is_uninformative"], papers["is_uninformative"]),
        "reason": pa.array(reasons, pa.string()), "score": pa.array(scores, pa.float64()),
    }  # fmt: skip
    return pa.table(columns)


def _describe(
    entries: pa.Table, papers: pa.Table, similarity: np.ndarray, warnings: Sequence[str | None], reasons: Sequence[str],
    codes: Sequence[int],
) -> Iterator[DoubtfulLink]:  # fmt: skip
    for row, (kind, ref_id) in enumerate(_list_keys(entries)):
        cited = entries["title"][row].as_py() or entries["raw_text"][row].as_py() or ""
        paper, title = papers["paper_id"][row].as_py(), papers["title"][row].as_py()
        score, evidence = float(np.nan_to_num(similarity[row])), describe(codes[row], MIN_LINK_EVIDENCE)
        yield DoubtfulLink(kind, ref_id, cited[:200], paper, title, score, warnings[row], reasons[row], evidence)


def _find_contained(entries: pa.Table, papers: pa.Table) -> pa.Table:
    """Return the longest titles of papers that each printed entry contains: rows of CONTAINED; `entry` is the row of the entry."""
    numbers = pa.array(map(str, range(len(entries))), pa.string())
    year = pc.struct_field(one_chunk(entries["facts"]), "year")
    printed = pa.table({"entry": numbers, "year": year, "raw_text": entries["raw_text"]})
    printed = printed.filter(pc.fill_null(pc.greater_equal(pc.utf8_length(printed["raw_text"]), HEADS[0]), False))
    places = defaultdict[str, list[tuple[Row, int]]](list)
    for row in split_references(printed).to_pylist():
        for head in row["heads"]:
            places[row["text"][head["place"] : head["place"] + head["length"]]].append((row, head["place"]))
    normalized = papers["normalized"]
    is_long = pc.greater_equal(pc.utf8_length(normalized), HEADS[1])
    heads = pc.if_else(is_long, *(pc.utf8_slice_codeunits(normalized, 0, length) for length in reversed(HEADS)))
    found = defaultdict[str, list[Row]](list)
    for paper in papers.filter(pc.is_in(heads, pa.array(list(places), pa.string()))).to_pylist():
        title = paper["normalized"]
        for row, place in places[title[: HEADS[1] if len(title) >= HEADS[1] else HEADS[0]]]:
            if row["text"].startswith(title, place) and place + len(title) in row["ends"]:
                found[row["entry"]].append(
                    {**paper, **{name: row[name] for name in ("entry", "year", "raw_text")}, "place": place}
                )
    for rows in found.values():
        rows.sort(key=lambda row: (-len(row["normalized"]), row["paper_id"], row["place"]))
    return pa.Table.from_pylist([row for rows in found.values() for row in rows[:MAX_CONTAINED]], CONTAINED)


def _explain_contained(entries: pa.Table, rows: pa.Table) -> Iterator[DoubtfulLink]:
    """Yield the refused paper with the longest title in each entry, then with the most evidence."""
    if not len(rows):
        return
    described, compared, refusals = judge_contained(rows)
    totals, codes = compared.weights.sum(0).tolist(), compared.codes().tolist()
    best: dict[int, tuple[tuple[int, int], int]] = {}
    for row, (entry, title) in enumerate(
        zip(*(rows[name].to_pylist() for name in ("entry", "normalized")), strict=True)
    ):
        rank = len(title), totals[row]
        if rank > best.get(int(entry), ((0, 0), 0))[0]:
            best[int(entry)] = rank, row
    for entry, (_, row) in sorted(best.items()):
        reason = refusals[row] or "the search did not propose this paper (§7.18)"
        yield from _describe(
            entries.slice(entry, 1), described.slice(row, 1), np.zeros(1), [None], [reason], [codes[row]]
        )


def _find_near(entries: pa.Table, papers: pa.Table) -> Iterator[tuple[int, float, pa.Table]]:
    """Yield the row of each entry with a near paper of a bucket: S, increased a little by each other fact that agrees, and the paper."""
    cited, given = (grams(pc.fill_null(rows["normalized"], "")) for rows in (entries, papers))
    volume, page, year = (_read(papers, name).to_numpy() for name in _NEAR)
    facts = [_read(entries, name).to_pylist() for name in _NEAR]
    for row, (cited_volume, cited_page, cited_year) in enumerate(zip(*facts, strict=True)):
        places = np.arange(len(papers))
        score = score_pairs(cited, np.full(len(papers), row), given, places, MIN_NEAR_SCORE)
        is_place = (volume == cited_volume) & (page == cited_page) & (cited_volume != 0) & (cited_page != 0)
        nearness = score + 0.02 * is_place + 0.01 * ((year == cited_year) & (cited_year > 0))
        nearness[(score == 0) & ~is_place] = 0
        if len(papers) and nearness.max() > 0:
            yield row, float(nearness.max()), papers.slice(int(nearness.argmax()), 1)


def _explain_near(entries: pa.Table, papers: pa.Table, rules: LinkRules) -> Iterator[DoubtfulLink]:
    """Yield each pair of an entry and a refused paper, with the reason and the evidence."""
    cited, given = (grams(pc.fill_null(table["normalized"], "")) for table in (entries, papers))
    places = np.arange(len(entries))
    has_titles = np.asarray(pc.and_(entries["normalized"].is_valid(), papers["normalized"].is_valid()))
    scores = np.where(has_titles, score_pairs(cited, places, given, places), np.nan)
    compared = np.select(
        [~has_titles, scores > rules.min_score], [LinkReason.LOCATOR, LinkReason.FUZZY], LinkReason.PREFIX
    )
    pairs = _pair(entries, papers, compared.tolist(), scores.tolist())
    similarity, found = weigh(pairs, rules.min_score)
    against = [list(EVIDENCE)[fact] if fact >= 0 else None for fact in found.strongest_against().tolist()]
    title, document = (found.values[list(EVIDENCE).index(fact)] for fact in ("title", "document"))
    reasons = []
    for row, score in enumerate(similarity.tolist()):
        if document[row]:
            reason = "one is a notice, a reply or a review (§7.19)"
        elif title[row] == MISSING:
            reason = "an entry without a title needs equal journal, volume, page and year (§7.16)"
        elif rules.evidence != "title" and title[row] == CUT and against[row] not in (None, "number"):
            reason = f"the shorter title needs equal year and surname; {against[row]} differs (§7.7)"
        elif score <= rules.min_score:
            reason = f"S = {score:.2f} of the titles is not above {rules.min_score:g} (§7.4)"
        elif pairs["is_uninformative"][row].as_py():
            reason = "a short or generic title needs equal year and surname, or volume and page (§7.6)"
        else:
            reason = "the search did not propose this paper (§7.14)"
        reasons.append(reason)
    yield from _describe(entries, papers, similarity, [None] * len(pairs), reasons, found.codes().tolist())


def _read(rows: pa.Table, fact: str) -> pa.Array:
    return pc.fill_null(pc.struct_field(one_chunk(rows["facts"]), fact), 0)
