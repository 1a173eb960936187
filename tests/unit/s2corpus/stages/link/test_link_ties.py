"""SPEC §7.7: a short or cut title links to a longer title that begins with it if year and surname agree (`prefix`).

§7.8: ties are broken by journal, volume, first page, year and surname; a remaining tie links with `warning=tie`. §7.9: if year and
first surname are both given and both differ, the link has `warning=contradiction`. §7.16: an entry without a title links by its complete
place in print (`locator`). Each table is linked in one call. The references are printed as in real papers.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.titles import score
from tests.unit.s2corpus.stages.link.samples import Case, Row, link_all, link_cases

Links = list[tuple[Any, ...]]


def choices(rows: list[Row], *names: str) -> Links:
    return [tuple(row[name] for name in (names or ("paper_id", "warning"))) for row in rows]


# One statement was published in two journals (Grundy et al. 2005); its summary is in the same volume.
SYNDROME = "Diagnosis and management of the metabolic syndrome"
STATEMENT = {"title": SYNDROME, "surname": "Grundy", "year": 2005, "journal": "Circulation", "volume": "112"}
STATEMENTS: list[Row] = [
    {**STATEMENT, "paper_id": "circulation", "pages": "2735-2752"},
    {**STATEMENT, "paper_id": "summary", "pages": "e285–e290"},
    {**STATEMENT, "paper_id": "cardiology", "journal": "Current Opinion in Cardiology", "volume": "21", "pages": "1–6", "year": 2006},
]  # fmt: skip
TIES: list[tuple[Row, str, str | None]] = [
    ({"journal": "Curr Opin Cardiol"}, "cardiology", None),
    ({"volume": "112", "pages": "e285-90"}, "summary", None),
    ({"journal": "Circulation", "volume": "112", "pages": "2735-52", "year": 2006}, "circulation", None),
    ({"year": 2005}, "circulation", "tie"),  # Two papers are from 2005: the smaller id wins, with a warning.
    ({}, "cardiology", "tie"),
]


@pytest.mark.parametrize(("title", "reason"), [(SYNDROME, "exact"), (SYNDROME + "s", "fuzzy")])
def test_place_year_and_surname_break_ties_of_equal_titles(title: str, reason: str) -> None:
    found = link_all([{"title": title, **said} for said, *_ in TIES], STATEMENTS)
    assert choices(found, "paper_id", "warning", "reason") == [(*expected, reason) for _, *expected in TIES]


FACTS: Row = {"journal": "Nature", "volume": "7", "pages": "5", "year": 1990, "surname": "Hooke"}
"""facts of an entry, in the order in which they decide (§7.8)"""


def test_earlier_fact_outweighs_all_later_facts() -> None:
    """An equal title decides first, then the absence of a contradiction, then each fact in its order; the smaller id decides last."""
    cases: list[Case] = []
    for how in ({"title": SYNDROME}, {"title": SYNDROME + "s"}, {"doi": "10.1/x"}):
        paper = {"title": "Another title", **how} | ({"title": SYNDROME} if "title" in how else {})
        for first, name in enumerate(FACTS):
            better, worse = {name: FACTS[name]}, dict(list(FACTS.items())[first + 1 :])
            papers = [{**paper, "paper_id": "a", **worse}, {**paper, "paper_id": "z", **better}]
            cases.append(({**how, **FACTS}, papers))
        contradicting = {**paper, "paper_id": "a", "journal": "Nature", "year": 1996, "surname": "Boyle"}
        cases.append(({**how, **FACTS}, [contradicting, {**paper, "paper_id": "z", "year": 1990}]))
    titled, other = ({"title": title, "doi": "10.1/x"} for title in (SYNDROME, "Another title"))
    cases.append(({**titled, **FACTS}, [{**other, "paper_id": "a", **FACTS}, {**titled, "paper_id": "z"}]))
    found = link_cases(cases)
    assert choices(found) == [("z", None)] * 19
    assert (found[-1]["score"], found[-1]["runner_up_score"]) == (1.0, score(SYNDROME, "Another title"))


def test_evidence_below_seven_is_a_contradiction() -> None:
    title = "Attention is all you need"
    paper = {"paper_id": "p", "title": title, "year": 2017, "surname": "Vaswani", "doi": "10.1/a"}
    by_title: list[tuple[Row, str | None]] = [
        ({"year": 2013, "surname": "Hinton"}, "contradiction"),
        ({"year": 2015, "surname": "VASWANI"}, None),  # An entry without a place may cite a preprint.
        ({"year": 2012, "surname": "VASWANI"}, "contradiction"),
        ({"year": 2017, "surname": "VASWANI", "volume": "30"}, None),
        ({"year": 2015}, None),
        ({"year": 2012}, "contradiction"),
    ]
    by_id = [(said, warning if "Hinton" in said.values() else None) for said, warning in by_title]
    for how, table in (({"title": title}, by_title), ({"title": title + "ed"}, by_title), ({"doi": "10.1/a"}, by_id)):
        found = link_all([{**how, **said} for said, _ in table], [paper])
        assert [row["warning"] for row in found] == [warning for _, warning in table], how


CUT = {
    "paper_id": "c", "title": "Cellular senescence in cancer and aging: mechanisms and consequences", "surname": "Collado", "year": 2007,
    "journal": "Cell", "volume": "130", "pages": "223-233",
}  # fmt: skip
BY = {"year": 2007, "surname": "Collado"}
PREFIXES: list[tuple[str, Row, bool]] = [
    ("Cellular senescence", BY, True),
    ("Cellular senescence in can", BY, False),  # The title is cut inside a word.
    ("Cellular senescence", {**BY, "year": 2008}, False),
    ("Cellular senescence", {**BY, "surname": "Serrano"}, False),
    ("Cellular senescence", {"year": 2007}, False),
    ("Cellular senescence", {**BY, "volume": "131"}, False),
    ("Cellular senescence", {**BY, "volume": "130", "pages": "223"}, True),
    ("Cellular senescence", {**BY, "volume": "130", "pages": "224"}, False),
    ("Cancer and aging", BY, False),  # The full title has another beginning.
]


def test_cut_title_links_if_year_and_surname_agree() -> None:
    found = link_all([{"title": title, **said} for title, said, _ in PREFIXES], [CUT])
    assert choices(found, "paper_id", "reason") == [
        ("c", "prefix") if linked else (None, "none") for *_, linked in PREFIXES
    ]
    assert [row["score"] is not None for row in found] == [linked for *_, linked in PREFIXES]


def test_cut_title_of_several_papers_ties() -> None:
    other = {**CUT, "paper_id": "b", "title": "Cellular senescence in the skin", "volume": "7", "pages": "1"}
    entry = {"title": "Cellular senescence", **BY}
    found = link_cases(
        [
            (entry, [CUT, other]),
            (entry, [CUT]),
            ({**entry, "volume": "130"}, [CUT, other]),
            ({"title": "Spectra of atoms", **BY}, [{**CUT, "title": "Spectra of atoms 1901–1950"}]),
        ]
    )
    chosen = [("b", "tie"), ("c", None), ("c", None), ("c", "numeral")]
    assert choices(found) == chosen
    assert found[0]["runner_up_score"] == score("Cellular senescence", str(CUT["title"])) != found[0]["score"]
    assert found[1]["runner_up_score"] is None


POLYAKOV = {
    "paper_id": "b", "title": "Quantum geometry of bosonic strings", "surname": "Polyakov", "year": 1981, "journal": "Physics Letters B",
    "volume": "103", "pages": "207-210",
}  # fmt: skip
AT = {"journal": "Phys. Lett. B", "volume": "103", "pages": "207", "year": 1981}
LOCATORS: list[tuple[Row, bool]] = [
    (AT, True),
    ({**AT, "pages": "207–210", "surname": "Polyakov"}, True),
    ({**AT, "citing_paper_id": "b"}, False),
    ({**AT, "year": 1982}, False),
    ({**AT, "volume": "104"}, False),
    ({**AT, "pages": "208"}, False),
    ({**AT, "journal": "Phil. Law B"}, False),  # The initials are equal.
    ({**AT, "title": "An altogether different title"}, False),
]


def test_entry_without_title_links_by_complete_locator() -> None:
    found = link_all([said for said, _ in LOCATORS], [POLYAKOV])
    assert choices(found, "paper_id", "reason") == [
        ("b", "locator") if linked else (None, "none") for _, linked in LOCATORS
    ]
    assert all(row["score"] is None for row in found)
    letter = {**POLYAKOV, "paper_id": "a", "title": "A letter", "surname": "Migdal"}
    on_one_page = link_all([AT, {**AT, "surname": "Polyakov"}], [POLYAKOV, letter])
    assert choices(on_one_page) == [("a", "tie"), ("b", None)]


ONE, TWO, THREE = "Attention is all you need", "A survey of deep parsing", "Graphs of citations in time"
YEAR = {"year": 1999}
Given = list[tuple[Any, ...]]
BY_IDENTIFIER: list[tuple[Row, Given, str, str | None, str | None]] = [
    # Each paper matches by one identifier: the better agreement wins, then the smaller id.
    ({}, [("b", "doi", ONE), ("a", "pubmed_id", TWO)], "a", "tie", ONE),
    ({"title": TWO}, [("a", "doi", ONE), ("b", "pubmed_id", TWO)], "b", None, ONE),
    # Three papers match.
    ({}, [("c", "doi", ONE), ("b", "arxiv_id", TWO), ("a", "pubmed_id", THREE)], "a", "tie", TWO),
    (YEAR, [("a", "doi", ONE), ("b", "pubmed_id", TWO, 1999), ("c", "pubmed_id", THREE, 1999)], "b", "tie", THREE),
    # Two papers share one identifier.
    (YEAR, [("a", "doi", ONE), ("b", "doi", TWO), ("c", "pubmed_id", THREE, 1999)], "c", None, ONE),
    # One paper matches by both identifiers; the citing paper is excluded.
    ({}, [("a", "doi pubmed_id", ONE), ("b", "pubmed_id", TWO)], "a", "tie", TWO),
    ({"citing_paper_id": "a"}, [("a", "doi", ONE), ("b", "pubmed_id", TWO)], "b", None, None),
]  # fmt: skip


def test_several_identifiers_choose_one_paper() -> None:
    cases: list[Case] = []
    for said, papers, *_ in BY_IDENTIFIER:
        entry = {"title": "Citations", "doi": "7", "arxiv_id": "7", "pubmed_id": "7", **said}
        rows = [
            {"paper_id": id_, "title": title, **dict.fromkeys(kinds.split(), "7"), "year": (*year, None)[0]}
            for id_, kinds, title, *year in papers
        ]
        cases.append((entry, rows))
    expected = [
        (chosen, "id", warning, score(said.get("title", "Citations"), second) if second else None)
        for said, _, chosen, warning, second in BY_IDENTIFIER
    ]
    assert choices(link_cases(cases), "paper_id", "reason", "warning", "runner_up_score") == expected


def test_link_without_title_has_no_score() -> None:
    missing = [("", ONE), (ONE, None), ("—", ONE), (None, None)]
    pairs = [*missing, ("abcd", "ABCD")]
    cases = [
        ({"title": entry, "doi": "10.1/x"}, [{"paper_id": id_, "title": paper, "doi": "10.1/x"} for id_ in "ab"])
        for entry, paper in pairs
    ]
    scores = [None] * len(missing) + [1.0]
    expected = [("a", "id", "tie", s, s) for s in scores]
    assert choices(link_cases(cases), "paper_id", "reason", "warning", "score", "runner_up_score") == expected


# -- More papers of one title or identifier than an entry is compared with

SURVEY = "A geological survey of the coast and its islands"
CROWD: list[Row] = [
    {"paper_id": f"p{i:03d}", "title": SURVEY, "year": 1900 + i, "surname": f"Name{i}", "volume": str(i), "pages": "7"}
    for i in range(100)
]
CROWDED: list[tuple[Row, str, str | None]] = [
    ({}, "p000", "tie"),
    ({"year": 1999}, "p099", None),
    ({"year": 1900, "citing_paper_id": "p000"}, "p001", "tie"),  # The citing paper does not narrow the title.
    ({"year": 1999, "surname": "Name7", "citing_paper_id": "p099"}, "p007", "contradiction"),  # Its year is 1907.
]


def test_each_known_fact_narrows_a_crowded_title() -> None:
    found = link_all([{"title": SURVEY, **said} for said, *_ in CROWDED], CROWD)
    assert choices(found) == [(chosen, warning) for _, chosen, warning in CROWDED]
    assert all(row["runner_up_score"] == 1.0 for row in found)


# -- Laws

TITLES = ("Editorial", "On the motion of bodies", "On the motion of bodies in air", "On the motion of bodies, part 2")
ROWS = st.fixed_dictionaries(
    {
        "title": st.sampled_from([*TITLES, ""]),
        "year": st.sampled_from([None, 1999, 2000]),
        "surname": st.sampled_from([None, "Reynolds", "Stokes"]),
        "journal": st.sampled_from([None, "J. Fluid Mech.", "Nature"]),
        "volume": st.sampled_from([None, "3", "4"]),
        "pages": st.sampled_from([None, "7-9", "8"]),
        "doi": st.sampled_from([None, None, "10.1/x", "10.1/y"]),
    }
)
SOME_ENTRIES, SOME_PAPERS = st.lists(ROWS, min_size=1, max_size=12), st.lists(ROWS, min_size=1, max_size=10)


@settings(max_examples=60)
@given(SOME_ENTRIES, SOME_PAPERS, st.randoms(use_true_random=False))
def test_order_of_papers_and_entries_does_not_matter(entries: list[Row], papers: list[Row], rng: Any) -> None:
    papers = [{**paper, "paper_id": f"p{i}"} for i, paper in enumerate(papers)]
    links = list(enumerate(link_all(entries, papers)))
    order = rng.sample(range(len(entries)), len(entries))
    shuffled = link_all([entries[place] for place in order], rng.sample(papers, len(papers)))
    assert sorted(zip(order, shuffled, strict=True), key=lambda row: row[0]) == links


@settings(max_examples=60)
@given(SOME_ENTRIES, SOME_PAPERS)
def test_tie_always_has_a_warning(entries: list[Row], papers: list[Row]) -> None:
    """Each paper has a copy under another id, so each link is a tie. It has a warning and uses the smaller id."""
    copies = [{**paper, "paper_id": f"{copy}{i}"} for copy in "ab" for i, paper in enumerate(papers)]
    for found in link_all(entries, copies):
        assert found["paper_id"] is None or (found["paper_id"].startswith("a") and found["warning"] is not None)
