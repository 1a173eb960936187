"""Each linking rule chooses the expected paper (S2ORC §2.6; SPEC §7)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from devtools.bench.link_tables import link_tables
from s2corpus.stages.link.local import open_local_index
from s2corpus.titles import score
from s2corpus.titles.facts import first_surname
from s2corpus.titles.linking import SCHEMA, Links, link
from s2corpus.titles.recall import measure
from s2corpus.titles.series import cites_other_member
from s2corpus.titles.similarity import Search

COLUMNS = pa.schema(
    [
        ("title", pa.string()),
        ("year", pa.int32()),
        ("surname", pa.string()),
        ("doi", pa.string()),
        ("arxiv_id", pa.string()),
        ("pubmed_id", pa.string()),
        ("pmc_id", pa.string()),
    ]
)
ENTRIES = COLUMNS.append(pa.field("citing_paper_id", pa.string()))
PAPERS = COLUMNS.append(pa.field("paper_id", pa.string()))
Row = dict[str, Any]

ATTENTION = "Attention is all you need"
GRAPHS = "Inductive representation learning on large graphs"


def _link(entries: list[Row], papers: list[Row]) -> Links:
    links = link_tables(pa.Table.from_pylist(entries, schema=ENTRIES), pa.Table.from_pylist(papers, schema=PAPERS))
    assert links.rows.schema == SCHEMA
    assert len(links.rows) == len(entries)
    return links


def _one(entry: Row, *papers: Row) -> Row:
    row: Row = _link([entry], list(papers)).rows.to_pylist()[0]
    return row


@pytest.mark.parametrize(
    ("entry", "paper_id", "reason"),
    [
        ({"title": "unheard of", "doi": "10.1/a"}, "a", "id"),
        ({"title": GRAPHS, "doi": "10.1/a"}, "a", "id"),  # An identifier has priority over an equal title.
        ({"title": "", "arxiv_id": "1706.02216"}, "g", "id"),
        ({"title": "Attention Is All\nYou Need!"}, "a", "exact"),
        ({"title": "Attention is all you neeed"}, "a", "fuzzy"),
        ({"title": "Attention is what you need"}, None, "none"),
        ({"title": "Attention", "doi": "10.1/z"}, None, "none"),
        ({"title": ""}, None, "none"),
        ({"title": None}, None, "none"),
    ],
)
def test_identifier_precedes_equal_title_and_similar_title(entry: Row, paper_id: str | None, reason: str) -> None:
    papers = [
        {"paper_id": "a", "title": ATTENTION, "doi": "10.1/a"},
        {"paper_id": "g", "title": GRAPHS, "arxiv_id": "1706.02216"},
    ]
    found = _one(entry, *papers)
    assert (found["paper_id"], found["reason"]) == (paper_id, reason)
    titles = {p["paper_id"]: p["title"] for p in papers}
    if paper_id is None:
        assert found["score"] is found["runner_up_score"] is None
    elif entry["title"]:
        assert found["score"] == score(entry["title"], titles[paper_id])
    else:
        assert found["score"] is None


def test_threshold_is_exclusive() -> None:
    papers = pa.Table.from_pylist([{"paper_id": "p", "title": GRAPHS}], schema=PAPERS)
    entries = pa.Table.from_pylist([{"title": GRAPHS + "s"}], schema=ENTRIES)
    s = score(GRAPHS, GRAPHS + "s")
    for threshold, linked in ((s, 0), (s - 1e-9, 1)):
        rows = link_tables(entries, papers, Search(threshold)).rows
        assert rows["paper_id"].null_count == 1 - linked


@pytest.mark.parametrize(
    ("entry", "chosen"),
    [
        ({"year": 2017, "surname": "Vaswani"}, "p4"),  # Year and surname agree.
        ({"year": 2018, "surname": "Gomez"}, "p2"),  # Year has priority over surname.
        ({"year": 1999, "surname": "VASWANI"}, "p4"),  # Only the surname agrees, regardless of case.
        ({"year": 1999, "surname": None}, "p1"),  # Nothing agrees, so the smallest id wins.
        ({"year": None, "surname": "Nobody"}, "p1"),
        # A paper never links to itself; the next paper wins.
        ({"year": 2017, "surname": "Vaswani", "citing_paper_id": "p4"}, "p5"),
        ({"year": None, "surname": None, "citing_paper_id": "p1"}, "p2"),
    ],
)
@pytest.mark.parametrize("title", [ATTENTION, ATTENTION + "ed", "something else altogether"])
def test_ties_are_broken_by_year_surname_and_id(entry: Row, chosen: str, title: str) -> None:
    """Ties go to the paper with an equal year, then an equal surname, then the smallest id.

    The papers have equal titles, equal S or equal identifiers.
    """
    papers: list[Row] = [
        {"paper_id": "p5", "year": 2017, "surname": "Shazeer"},
        {"paper_id": "p1", "year": 2016, "surname": None},
        {"paper_id": "p2", "year": 2018, "surname": "Polosukhin"},
        {"paper_id": "p4", "year": 2017, "surname": "Vaswani"},
        {"paper_id": "p3", "year": None, "surname": "Gomez"},
    ]
    papers = [{**p, "title": ATTENTION, "doi": "10.1/x"} for p in papers]
    by_id = not title.startswith(ATTENTION)
    found = _one({**entry, "title": title, "doi": "10.1/x" if by_id else None}, *papers)
    assert found["paper_id"] == chosen
    assert found["runner_up_score"] == score(title, ATTENTION)


def test_ties_of_different_titles_with_equal_s_are_broken() -> None:
    papers = [
        {"paper_id": "b", "title": GRAPHS + " x1", "year": 2017},
        {"paper_id": "a", "title": GRAPHS + " y1", "year": 2018},
    ]
    assert _one({"title": GRAPHS, "year": 2017}, *papers)["paper_id"] == "b"
    assert _one({"title": GRAPHS}, *papers)["paper_id"] == "a"
    assert _one({"title": GRAPHS}, *papers[:1])["runner_up_score"] is None


def test_equal_title_precedes_unequal_title_with_s_of_1() -> None:
    repeated = "abcabcabcabc abcabc"  # A different string with the same 3-grams.
    papers = [{"paper_id": "a", "title": repeated + " abc abc"}, {"paper_id": "b", "title": repeated + " abc"}]
    assert score(papers[0]["title"], papers[1]["title"]) == 1.0
    found = _one({"title": papers[1]["title"]}, *papers)
    assert (found["paper_id"], found["reason"], found["runner_up_score"]) == ("b", "exact", None)


@pytest.mark.parametrize("title", ["Editorial", "Deep learning", "深度学习"])
@pytest.mark.parametrize(
    ("year", "surname", "linked"), [(2001, "Snodgrass", True), (2002, "Snodgrass", False), (2001, None, False)]
)
def test_generic_titles_need_year_and_surname(title: str, year: int, surname: str, linked: bool) -> None:
    paper = {"paper_id": "p", "title": title, "year": 2001, "surname": "Snodgrass", "doi": "10.1/p"}
    entry = {"title": title, "year": year, "surname": surname}
    assert (_one(entry, paper)["paper_id"] == "p") is linked
    assert (_one(entry, paper, {**paper, "paper_id": "a", "year": 1990})["paper_id"] == "p") is linked
    assert _one({**entry, "doi": "10.1/p"}, paper)["reason"] == "id"


def test_different_number_in_title_gives_a_warning() -> None:
    paper = {"paper_id": "p", "title": "Foundations of graph learning, part I"}
    found = _one({"title": "Foundations of graph learning, part II"}, paper)
    assert (found["paper_id"], found["reason"], found["warning"]) == ("p", "fuzzy", "numeral")
    assert _one({"title": "Foundations of graph learnings, part I"}, paper)["warning"] is None


SERIES = "Improving the use of research evidence in guideline development"
MEMBERS = [
    {"paper_id": f"p{n}", "title": f"{SERIES}: {n}. {subtitle}", "year": 2006, "surname": surname}
    for n, subtitle, surname in (
        (1, "Guidelines", "Schünemann"),
        (2, "Priority setting", "Oxman"),
        (3, "Group", "Fretheim"),
    )
]


@pytest.mark.parametrize("title", [SERIES, SERIES.upper(), SERIES + "."])
def test_series_cited_without_number_gets_a_warning(title: str) -> None:
    found = _one({"title": title}, *MEMBERS)
    assert (found["reason"], found["warning"]) == ("fuzzy", "tie")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_link_to_another_member_gets_a_warning(number: int) -> None:
    """S cannot distinguish the members: the entry omits their subtitles, which differ in length."""
    found = _one({"title": f"{SERIES}: {number}"}, *MEMBERS)
    assert (found["warning"] is None) is (found["paper_id"] == f"p{number}")


def test_place_in_print_decides_between_members() -> None:
    place = {"volume": "4", "pages": "12-20"}
    columns = (pa.field("volume", pa.string()), pa.field("pages", pa.string()))
    papers = [{**MEMBERS[0], "volume": "4", "pages": "2-11"}, {**MEMBERS[1], **place}]
    links = link_tables(
        pa.Table.from_pylist([{"title": SERIES, **place}], schema=pa.schema([*ENTRIES, *columns])),
        pa.Table.from_pylist(papers, schema=pa.schema([*PAPERS, *columns])),
    )
    assert links.rows["warning"].to_pylist() == [None]


def test_single_member_of_a_series_has_no_warning() -> None:
    assert _one({"title": SERIES}, MEMBERS[0])["warning"] is None
    other = {"paper_id": "q", "title": "Improving the use of research evidence in health development"}
    assert _one({"title": SERIES}, MEMBERS[0], other)["warning"] is None


@pytest.mark.parametrize(
    ("cited", "title", "other", "cites"),
    [
        ("Graph learning at scale", "Graph learning at scale, part I", "Graph learning at scale, part II", True),
        (
            "Graph learning at scale, part II",
            "Graph learning at scale, part II",
            "Graph learning at scale, part I",
            False,
        ),
        ("Graph learning at scale", "Graph learning at scale, part I", "Graph learning at scale, revisited", False),
        ("COVID-19 in rural Spain", "COVID-19 in rural Spain", "COVID-19 in rural Italy", False),
        ("Deep nets", "Deep nets 1", "Deep nets 2", False),  # Fewer than three words precede the number.
    ],
)
def test_member_is_named_by_its_number(cited: str, title: str, other: str, cites: bool) -> None:
    assert cites_other_member(cited, title, other) is cites


def test_paper_never_links_to_itself() -> None:
    paper = {"paper_id": "p", "title": ATTENTION, "doi": "10.1/p"}
    for entry in ({"title": ATTENTION}, {"title": ATTENTION + "s"}, {"doi": "10.1/p"}):
        assert _one({**entry, "citing_paper_id": "p"}, paper)["reason"] == "none"
    found = _one({"title": ATTENTION, "citing_paper_id": "p"}, paper, {"paper_id": "q", "title": ATTENTION + "s"})
    assert (found["paper_id"], found["reason"]) == ("q", "fuzzy")


@pytest.mark.long
def test_half_a_million_papers_may_share_a_title() -> None:
    """With one title for all entries and papers (skew), the tie rules compare only two papers per entry."""
    n = 30_000
    papers = pa.table(
        {
            "paper_id": [f"{i:06d}" for i in range(n)],
            "title": ["Report of the annual meeting"] * n,
            "year": pa.array(np.arange(n) % 50 + 1970, pa.int32()),
            **{c: pa.nulls(n, pa.string()) for c in ("surname", "doi", "arxiv_id", "pubmed_id", "pmc_id")},
        }
    )
    entries = papers.rename_columns({"paper_id": "citing_paper_id"})
    links = link_tables(entries, papers)
    rows = links.rows.slice(n - 3).to_pylist()
    assert [r["paper_id"] for r in rows] == [f"{i % 50:06d}" for i in range(n - 3, n)]
    assert links.rows["paper_id"][0].as_py() == "000050"  # The first paper of that year, except the citing paper.


@pytest.fixture(scope="module")
def real(shared_data: Path) -> pa.Table:
    with gzip.open(shared_data / "titles" / "titles_dev.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.split("\t") for line in lines.read().split("\n")[1:] if line][::40]
    return pa.Table.from_pylist(
        [
            {
                "paper_id": f"p{i:05d}",
                "title": title,
                "year": int(year) if year.isdigit() else None,
                "surname": next(iter(authors.split(";")[0].split()[-1:]), None),
                "doi": f"10.1/{i}" if i % 3 == 0 else None,
            }
            for i, (_, _, year, _, title, authors) in enumerate(rows)
        ],
        schema=PAPERS,
    )


def _entries_of(papers: pa.Table) -> pa.Table:
    rng = np.random.default_rng(1)
    titles = []
    for i, title in enumerate(papers["title"].to_pylist()):
        at = rng.integers(0, len(title), 2)
        titles.append(title if i % 2 else title[: at[0]] + "q" + title[at[0] + 1 :])
    kept = papers.drop_columns(["paper_id"]).set_column(0, "title", pa.array(titles))
    return kept.append_column("citing_paper_id", pa.nulls(len(kept), pa.string()))


def test_order_of_papers_and_entries_does_not_matter(real: pa.Table) -> None:
    entries = _entries_of(real)
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(len(entries)), rng.permutation(len(real))
    straight = link_tables(entries, real).rows
    shuffled = link_tables(entries.take(pa.array(rows)), real.take(pa.array(columns))).rows
    assert shuffled.take(pa.array(np.argsort(rows))).equals(straight)
    right = np.equal(straight["paper_id"].to_numpy(), real["paper_id"].to_numpy())
    assert right.mean() > 0.95


def test_recall_is_measured(real: pa.Table) -> None:
    entries, weak = _entries_of(real), Search(bands=2)
    with open_local_index(real, Search(), 1024) as (connection, index):
        good = measure(link(connection, entries, index, Search()), index, Search(), 500)
    with open_local_index(real, weak, 1024) as (connection, index):
        poor = measure(link(connection, entries, index, weak), index, weak, 500)
    assert good.sampled == 500
    assert good.similar > 400
    assert good.found >= 0.99 * good.similar
    assert poor.similar == good.similar
    assert poor.found < 0.8 * poor.similar


def test_surname_is_that_of_the_first_author() -> None:
    kind = pa.list_(pa.struct([("first", pa.string()), ("last", pa.string())]))
    authors = [
        [{"first": "A", "last": "Turing"}, {"first": "B", "last": "X"}],
        [],
        None,
        [{"first": "Plato", "last": ""}],
    ]
    expected = ["Turing", None, None, "Plato"]
    assert first_surname(pa.array(authors, kind)).to_pylist() == expected
    assert first_surname(pa.array(authors, kind).slice(2)).to_pylist() == expected[2:]
