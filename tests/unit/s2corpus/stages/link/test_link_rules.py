"""SPEC §7.4–7.6, §7.10, §7.12: an equal identifier is first, then an equal string, then the paper with the highest S above 0.8.

Generic titles and titles of fewer than 3 words need year and surname to agree. If titles differ only in a number or numeral, the link
has `warning=numeral`. A paper never links to itself.
"""

import pyarrow as pa

from s2corpus.titles import score
from s2corpus.titles.facts import first_surname
from tests.unit.s2corpus.stages.link.samples import Row, link_all, link_cases

ATTENTION, GRAPHS = "Attention is all you need", "Inductive representation learning on large graphs"
KNOWN: list[Row] = [
    {"paper_id": "a", "title": ATTENTION, "doi": "10.1/a"},
    {"paper_id": "g", "title": GRAPHS, "arxiv_id": "1706.02216"},
    {"paper_id": "similar", "title": GRAPHS + " xyz"},
]
PRECEDENCE: list[tuple[Row, str | None, str, str | None]] = [
    ({"title": "unheard of", "doi": "10.1/a"}, "a", "id", None),
    ({"title": GRAPHS, "doi": "10.1/a"}, "a", "id", None),  # An identifier has priority over an equal title.
    ({"title": "", "arxiv_id": "1706.02216"}, "g", "id", None),
    ({"title": GRAPHS}, "g", "exact", None),  # An equal title excludes similar titles.
    ({"title": "Attention Is All\nYou Need!"}, "a", "exact", None),
    ({"title": "Attention is all you neeed"}, "a", "fuzzy", None),
    ({"title": GRAPHS + "s"}, "g", "fuzzy", "similar"),
    ({"title": GRAPHS, "citing_paper_id": "g"}, "similar", "fuzzy", None),  # A paper never links to itself.
    ({"title": ATTENTION, "citing_paper_id": "a"}, None, "none", None),
    ({"doi": "10.1/a", "citing_paper_id": "a"}, None, "none", None),
    ({"title": "Attention is what you need"}, None, "none", None),
    ({"title": ""}, None, "none", None),
    ({"title": None}, None, "none", None),
]


def test_identifier_precedes_equal_title_precedes_similar_title() -> None:
    titles = {row["paper_id"]: row["title"] for row in KNOWN}
    for (entry, chosen, reason, second), found in zip(
        PRECEDENCE, link_all([entry for entry, *_ in PRECEDENCE], KNOWN), strict=True
    ):
        assert (found["paper_id"], found["reason"]) == (chosen, reason), entry
        assert found["score"] == (score(entry["title"], titles[chosen]) if chosen and entry.get("title") else None)
        assert found["runner_up_score"] == (score(entry["title"], titles[second]) if second else None)


def test_equal_title_precedes_unequal_title_with_s_of_1() -> None:
    repeated = "abcabcabcabc abcabc"  # A different string with the same 3-grams.
    papers = [{"paper_id": "a", "title": repeated + " abc abc"}, {"paper_id": "b", "title": repeated + " abc"}]
    assert score(papers[0]["title"], papers[1]["title"]) == 1.0
    (found,) = link_all([{"title": papers[1]["title"]}], papers)
    assert (found["paper_id"], found["reason"], found["runner_up_score"]) == ("b", "exact", None)


UNINFORMATIVE = ("Editorial", "Self-harm", "Job burnout", "深度学习")
CHERTOW = {"year": 2000, "surname": "Chertow", "journal": "Kidney Int", "volume": "58", "pages": "2512"}
NEEDED: list[tuple[Row, bool]] = [
    ({"year": 2000, "surname": "Chertow"}, True),
    ({"volume": "58", "pages": "2512–2517"}, True),  # Volume and page count as much as year and author.
    ({"volume": "58", "pages": "2513"}, False),
    ({"volume": "58", "journal": "Kidney Int"}, False),
    ({"year": 2000}, False),
    ({"year": 2001, "surname": "Chertow"}, False),
    ({"surname": "Chertow"}, False),
    ({}, False),
]


def test_uninformative_title_needs_year_and_surname_or_volume_and_page() -> None:
    papers = [{"paper_id": "k", "title": title, "doi": f"10.1/{title}", **CHERTOW} for title in UNINFORMATIVE]
    papers += [{**paper, "paper_id": "a", "doi": None, "year": 1990, "volume": "7"} for paper in papers]
    for title in UNINFORMATIVE:
        entries = [{"title": title, **said} for said, _ in NEEDED]
        found = link_all([*entries, {"title": title, "doi": f"10.1/{title}"}], papers)
        assert [row["paper_id"] for row in found] == ["k" if linked else None for _, linked in NEEDED] + ["k"]
    undated = {"title": "Editorial", "surname": "Chertow"}  # Two missing years are no agreement.
    cut = {"title": "Introduction", "surname": "Chertow", "year": 2000}  # A generic title is no prefix.
    papers = [{**undated, "paper_id": "p"}, {**cut, "paper_id": "q", "title": "Introduction to algorithms"}]
    found = link_all([undated, cut], papers)
    assert [row["reason"] for row in found] == ["none", "none"]


SERIES = "Improving the use of research evidence in guideline development"
FRETHEIM = {"surname": "Fretheim", "year": 2006}
SUBTITLES = ("Guidelines", "Priority setting", "Group")
MEMBERS: list[Row] = [
    {"paper_id": f"p{n}", "title": f"{SERIES}: {n}. {subtitle}", "volume": "4", "pages": str(n), **FRETHEIM}
    for n, subtitle in enumerate(SUBTITLES, 1)
]


def test_series_cited_without_number_gets_a_warning() -> None:
    entries: list[Row] = [{"title": title} for title in (SERIES, SERIES.upper(), SERIES + ".")]
    entries += [{"title": SERIES, "volume": "4", "pages": pages, **FRETHEIM} for pages in ("1-9", "2-9")]
    found = link_all(entries, MEMBERS)
    assert [(row["reason"], row["warning"]) for row in found[:3]] == [("fuzzy", "numeral")] * 3
    # The shortest subtitle has the highest S. The place in print confirms the link, or shows that another member was cited.
    assert [(row["paper_id"], row["warning"]) for row in found[3:]] == [("p1", None), ("p1", "numeral")]
    # S cannot distinguish the members: the entry omits their subtitles, which differ in length.
    for number, row in enumerate(link_all([{"title": f"{SERIES}: {n}"} for n in (1, 2, 3)], MEMBERS), 1):
        assert (row["warning"] is None) is (row["paper_id"] == f"p{number}")


def test_number_that_only_one_title_has_gives_a_warning() -> None:
    other = {"paper_id": "q", "title": "Improving the use of research evidence in health development"}
    part = "Foundations of graph learning{}, part {}".format
    place = {"journal": "Health Research", "volume": "4", "pages": "1-9", **FRETHEIM}
    found = link_cases(
        [
            ({"title": part("", "2")}, [{"paper_id": "p", "title": part("", "1")}]),
            ({"title": part("s", "1")}, [{"paper_id": "p", "title": part("", "1")}]),
            ({"title": SERIES, **FRETHEIM}, [MEMBERS[0]]),  # A single member of a series.
            ({"title": SERIES}, [MEMBERS[0], other]),
            ({"title": SERIES}, [{"paper_id": "p", "title": f"{SERIES} 1"}]),  # A footnote mark.
            ({"title": part("", "2"), **place}, [{"paper_id": "p", "title": part("", "1"), **place}]),
        ]
    )
    assert [(row["reason"], row["warning"]) for row in found] == [
        ("fuzzy", warning) for warning in ("numeral", None, "numeral", "numeral", None, "numeral")
    ]


def test_surname_is_that_of_the_first_author() -> None:
    kind = pa.list_(pa.struct([("first", pa.string()), ("last", pa.string())]))
    turing, x, plato = ({"first": first, "last": last} for first, last in (("A", "Turing"), ("B", "X"), ("Plato", "")))
    authors, expected = [[turing, x], [], None, [plato]], ["Turing", None, None, "Plato"]
    assert first_surname(pa.array(authors, kind)).to_pylist() == expected
    assert first_surname(pa.array(authors, kind).slice(2)).to_pylist() == expected[2:]


def test_years_far_apart_give_a_warning() -> None:
    """SPEC §7.9: an equal surname, volume and first page outweigh the year."""
    paper: Row = {"paper_id": "p", "title": SERIES, "year": 2001, "surname": "Chertow", "volume": "4", "pages": "7-9"}
    entry: Row = {"title": SERIES, "surname": "Chertow"}
    years: list[Row] = [
        {"year": 2004},
        {"year": 2006},
        {"year": 2006, "volume": "4", "pages": "7"},
        {"year": 2006, "doi": "10.1016/p"},
    ]
    found = link_cases([({**entry, **more}, [{**paper, "doi": "10.1016/p"}]) for more in years])
    assert [row["warning"] for row in found] == [None, "contradiction", None, None]
