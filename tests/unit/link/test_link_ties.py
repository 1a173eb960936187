"""Ties, contradictions, cut titles and entries without a title link by the rules (SPEC §7.7–7.9, §7.16).

The references are printed as in real papers.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devtools.bench.link_tables import link_tables
from s2corpus.titles import score
from s2corpus.titles.facts import IDENTIFIERS
from s2corpus.titles.journals import journal_key, same_journal
from s2corpus.titles.linking import MAX_GROUP

Row = dict[str, Any]
TEXT = ("title", "surname", "journal", "volume", "pages", *IDENTIFIERS)
SCHEMA = pa.schema([("year", pa.int32()), *((name, pa.string()) for name in TEXT)])


def link_all(entries: list[Row], papers: list[Row]) -> list[Row]:
    targets = pa.Table.from_pylist(papers, schema=SCHEMA.append(pa.field("paper_id", pa.string())))
    asked = pa.Table.from_pylist(entries, schema=SCHEMA.append(pa.field("citing_paper_id", pa.string())))
    rows: list[Row] = link_tables(asked, targets).rows.to_pylist()
    return rows


def link_one(entry: Row, *papers: Row) -> Row:
    return link_all([entry], list(papers))[0]


# One statement was published in two journals (Grundy et al. 2005). Two companion reviews share one title (J. Lipid Res.
# 2008).
SYNDROME = "Diagnosis and management of the metabolic syndrome"
CIRCULATION = {
    "paper_id": "10.1161/circulationaha.105.169404", "title": SYNDROME, "surname": "Grundy", "year": 2005, "journal": "Circulation",
    "volume": "112", "pages": "2735-2752",
}  # fmt: skip
CARDIOLOGY = {
    "paper_id": "10.1097/01.hco.0000200416.65370.a0", "title": SYNDROME, "surname": "Grundy", "year": 2006,
    "journal": "Current Opinion in Cardiology", "volume": "21", "pages": "1–6",
}  # fmt: skip
SUMMARY = {**CIRCULATION, "paper_id": "10.1161/circulationaha.105.169405", "pages": "e285–e290"}


@pytest.mark.parametrize(
    ("said", "chosen", "warning"),
    [
        ({"journal": "Curr Opin Cardiol"}, CARDIOLOGY, None),
        # The journal has priority over the year.
        ({"journal": "Curr. Opin. Cardiol.", "year": 2005}, CARDIOLOGY, None),
        ({"volume": "21(1)"}, CARDIOLOGY, None),
        ({"volume": "112", "pages": "e285-90"}, SUMMARY, None),
        ({"journal": "Circulation", "volume": "112", "pages": "2735-52", "year": 2006}, CIRCULATION, None),
        ({"pages": "pp. 2735–2752"}, CIRCULATION, None),
        ({"year": 2006}, CARDIOLOGY, None),
        ({"year": 2005}, CIRCULATION, "tie"),  # Two papers are from 2005: the smaller id wins, with a warning.
        ({"journal": "Circulation", "volume": "112"}, CIRCULATION, "tie"),
        ({}, CARDIOLOGY, "tie"),
        ({"surname": "Grundy"}, CARDIOLOGY, "tie"),
    ],
)
@pytest.mark.parametrize("title", [SYNDROME, SYNDROME + "s"])
def test_place_year_and_surname_break_ties_of_equal_titles(
    title: str, said: Row, chosen: Row, warning: str | None
) -> None:
    found = link_one({"title": title, **said}, CIRCULATION, CARDIOLOGY, SUMMARY)
    assert (found["paper_id"], found["warning"]) == (chosen["paper_id"], warning)
    assert found["reason"] == ("exact" if title == SYNDROME else "fuzzy")


def test_papers_with_one_identifier_tie() -> None:
    meeting = {"title": "Abstracts of the annual meeting", "doi": "10.1/supplement", "year": 2001}
    one, other = {**meeting, "paper_id": "b", "pages": "12"}, {**meeting, "paper_id": "a", "pages": "30"}
    assert link_one({"doi": "10.1/supplement"}, one, other)["warning"] == "tie"
    found = link_one({"doi": "10.1/supplement", "pages": "12"}, one, other)
    assert (found["paper_id"], found["reason"], found["warning"]) == ("b", "id", None)
    titled = link_one(
        {"doi": "10.1/supplement", "title": "A study of sleep"}, one, {**other, "title": "A study of sleep"}
    )
    assert (titled["paper_id"], titled["warning"]) == ("a", None)


def test_identifiers_of_two_papers_tie() -> None:
    by_doi, by_pmid = (
        {"paper_id": "b", "doi": "10.1/x", "title": "One"},
        {"paper_id": "a", "pubmed_id": "7", "title": "Two"},
    )
    found = link_one({"doi": "10.1/x", "pubmed_id": "7"}, by_doi, by_pmid)
    assert (found["paper_id"], found["reason"], found["warning"]) == ("a", "id", "tie")
    found = link_one({"doi": "10.1/x", "pubmed_id": "7", "title": "One"}, by_doi, by_pmid)
    assert (found["paper_id"], found["warning"]) == ("b", None)
    assert link_one({"doi": "10.1/x", "pubmed_id": "7"}, {**by_doi, "pubmed_id": "7"})["warning"] is None


@pytest.mark.parametrize(
    ("said", "warning"),
    [
        ({"year": 2011, "surname": "Hinton"}, "contradiction"),
        ({"year": 2011, "surname": "Vaswani"}, None),
        ({"year": 2017, "surname": "Hinton"}, None),
        ({"year": 2011}, None),
        ({"surname": "Hinton"}, None),
    ],
)
@pytest.mark.parametrize(
    "how", [{"title": "Attention is all you need"}, {"title": "Attention is all you needed"}, {"doi": "10.1/a"}]
)
def test_year_and_surname_both_different_is_a_contradiction(how: Row, said: Row, warning: str | None) -> None:
    paper = {"paper_id": "p", "title": "Attention is all you need", "year": 2017, "surname": "Vaswani", "doi": "10.1/a"}
    assert link_one({**how, **said}, paper)["warning"] == warning


def test_contradicting_paper_is_the_last_choice() -> None:
    """An equal journal does not outweigh a different year and author."""
    wrong = {"paper_id": "a", "title": SYNDROME, "year": 1990, "surname": "Jones", "journal": "Circulation"}
    right = {"paper_id": "b", "title": SYNDROME, "year": 2005, "surname": "Grundy"}
    found = link_one({"title": SYNDROME, "year": 2005, "surname": "Grundy", "journal": "Circulation"}, wrong, right)
    assert (found["paper_id"], found["warning"]) == ("b", None)


KIDNEY = {
    "paper_id": "k",
    "title": "Editorial",
    "surname": "Chertow",
    "year": 2000,
    "journal": "Kidney Int",
    "volume": "58",
    "pages": "2512",
}


@pytest.mark.parametrize(
    ("said", "linked"),
    [
        ({"year": 2000, "surname": "Chertow"}, True),
        ({"volume": "58", "pages": "2512–2517"}, True),  # Volume and page count as much as year and author.
        ({"volume": "58", "pages": "2513"}, False),
        ({"volume": "58", "journal": "Kidney Int"}, False),
        ({"year": 2000}, False),
        ({"surname": "Chertow"}, False),
        ({}, False),
    ],
)
@pytest.mark.parametrize("title", ["Editorial", "Self-harm", "Job burnout"])
def test_generic_title_needs_year_surname_or_volume_page(title: str, said: Row, linked: bool) -> None:
    found = link_one({"title": title, **said}, {**KIDNEY, "title": title})
    assert (found["paper_id"] == "k") is linked


CUT = {
    "paper_id": "c", "title": "Cellular senescence in cancer and aging: mechanisms and consequences", "surname": "Collado", "year": 2007,
    "journal": "Cell", "volume": "130", "pages": "223-233",
}  # fmt: skip


@pytest.mark.parametrize(
    ("title", "said", "reason"),
    [
        ("Cellular senescence", {"year": 2007, "surname": "Collado"}, "prefix"),
        ("Cellular senescence in cancer and aging", {"year": 2007, "surname": "Collado"}, "prefix"),
        ("Cellular senescence in can", {"year": 2007, "surname": "Collado"}, "none"),  # The title is cut inside a word.
        ("Cellular senescence", {"year": 2008, "surname": "Collado"}, "none"),
        ("Cellular senescence", {"year": 2007, "surname": "Serrano"}, "none"),
        ("Cellular senescence", {"year": 2007}, "none"),
        ("Cellular senescence", {"year": 2007, "surname": "Collado", "volume": "131"}, "none"),
        ("Cellular senescence", {"year": 2007, "surname": "Collado", "volume": "130", "pages": "223"}, "prefix"),
        ("Cellular senescence", {"year": 2007, "surname": "Collado", "pages": "224"}, "none"),
        ("Cellular senescence", {"year": 2007, "surname": "Collado", "volume": "130", "pages": "224"}, "none"),
        ("Cancer and aging", {"year": 2007, "surname": "Collado"}, "none"),  # The full title has another beginning.
        # Words of the same length, but different.
        ("Cellular mechanisms", {"year": 2007, "surname": "Collado"}, "none"),
        ("Cellular senescencf", {"year": 2007, "surname": "Collado"}, "none"),
    ],
)
def test_cut_title_links_if_year_and_surname_agree(title: str, said: Row, reason: str) -> None:
    found = link_one({"title": title, **said}, CUT)
    assert found["reason"] == reason
    assert (found["paper_id"] == "c") is (reason == "prefix")
    assert (found["score"] is not None) is (reason == "prefix")


@pytest.mark.parametrize("year", [None, 2000])
def test_generic_title_without_years_does_not_link(year: int | None) -> None:
    """Two missing years do not count as an agreement."""
    found = link_one({"title": "Editorial", "surname": "Chertow", "year": year}, {**KIDNEY, "year": year})
    assert (found["paper_id"] is not None) is (year is not None)


def test_generic_title_does_not_link_as_prefix() -> None:
    paper = {"paper_id": "p", "title": "Introduction to algorithms", "surname": "Cormen", "year": 2009}
    assert link_one({"title": "Introduction", "surname": "Cormen", "year": 2009}, paper)["reason"] == "none"


def test_cut_title_of_two_papers_ties() -> None:
    other = {**CUT, "paper_id": "b", "title": "Cellular senescence in the skin", "volume": "7", "pages": "1"}
    entry = {"title": "Cellular senescence", "year": 2007, "surname": "Collado"}
    found = link_one(entry, CUT, other)
    assert (found["paper_id"], found["warning"]) == ("b", "tie")
    assert found["runner_up_score"] == score("Cellular senescence", str(CUT["title"])) != found["score"]
    assert link_one(entry, CUT)["runner_up_score"] is None
    found = link_one({**entry, "volume": "130"}, CUT, other)
    assert (found["paper_id"], found["warning"]) == ("c", None)
    assert link_one({**entry, "citing_paper_id": "b"}, CUT, other)["warning"] is None  # A paper never links to itself.


def test_number_is_not_a_prefix_of_two_numbers() -> None:
    paper = {"paper_id": "p", "title": "Spectra of atoms 2", "surname": "Fermi", "year": 1930}
    found = link_one({"title": "Spectra of atoms", "surname": "Fermi", "year": 1930}, paper)
    assert (found["paper_id"], found["warning"]) == ("p", "numeral")


POLYAKOV = {
    "paper_id": "b", "title": "Quantum geometry of bosonic strings", "surname": "Polyakov", "year": 1981, "journal": "Physics Letters B",
    "volume": "103", "pages": "207-210",
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "linked"),
    [
        ({"journal": "Phys. Lett. B", "volume": "103", "pages": "207", "year": 1981}, True),
        ({"journal": "Phys. Lett. B", "volume": "103", "pages": "207–210", "year": 1981, "surname": "Polyakov"}, True),
        ({"journal": "Phys. Lett. B", "volume": "103", "pages": "207", "year": 1982}, False),
        ({"journal": "Phys. Lett. B", "volume": "104", "pages": "207", "year": 1981}, False),
        ({"journal": "Phys. Lett. B", "volume": "103", "pages": "208", "year": 1981}, False),
        ({"journal": "Phys. Lett. A", "volume": "103", "pages": "207", "year": 1981}, False),
        ({"journal": "Phil. Law B", "volume": "103", "pages": "207", "year": 1981}, False),  # The initials are equal.
        ({"journal": "Phys. Lett. B", "volume": "103", "pages": "207"}, False),
        ({"volume": "103", "pages": "207", "year": 1981, "surname": "Polyakov"}, False),
        ({"journal": "Phys. Lett. B", "pages": "207", "year": 1981}, False),
        (
            {
                "title": "An altogether different title",
                "journal": "Phys. Lett. B",
                "volume": "103",
                "pages": "207",
                "year": 1981,
            },
            False,
        ),
    ],
)
def test_entry_without_title_links_by_complete_locator(said: Row, linked: bool) -> None:
    found = link_one(said, POLYAKOV)
    assert (found["paper_id"], found["reason"]) == (("b", "locator") if linked else (None, "none"))
    assert found["score"] is None


def test_papers_on_one_page_tie() -> None:
    letter = {**POLYAKOV, "paper_id": "a", "title": "A letter", "surname": "Migdal"}
    place = {"journal": "Phys Lett B", "volume": "103", "pages": "207", "year": 1981}
    found = link_one(place, POLYAKOV, letter)
    assert (found["paper_id"], found["warning"]) == ("a", "tie")
    found = link_one({**place, "surname": "Polyakov"}, POLYAKOV, letter)
    assert (found["paper_id"], found["warning"]) == ("b", None)


@pytest.mark.parametrize(
    ("short", "long", "same"),
    [
        ("J. Biol. Chem.", "The Journal of Biological Chemistry", True),
        ("Proc Natl Acad Sci U S A", "Proceedings of the National Academy of Sciences", True),
        ("PNAS", "Proceedings of the National Academy of Sciences of the United States of America", True),
        ("JAMA", "Journal of the American Medical Association", True),
        ("Acta Cryst. D", "Acta Crystallographica Section D: Biological Crystallography", True),
        ("Nature (London)", "Nature", True),
        ("Phys. Rev. Lett.", "Physical Review Letters", True),
        ("J. Phys. A", "Journal of Physics B", False),
        ("J Bacteriol", "Journal of Biological Chemistry", False),
        ("Cancer Res", "Cancer Letters", False),
        ("Z. Phys.", "Zeitschrift für Physik", True),
        ("Ztg. Chem.", "Zeitung Chemie", True),  # Three letters may be anywhere in the word, two at its start.
        ("Zg. Chem.", "Zeitung Chemie", False),
        ("LANCET", "Lancet", True),  # A pronounceable word in capitals is not an acronym.
        ("PNAS", "Proceedings of Natural Science", False),
        ("BMCMJ", "Blood Medicine Cells Muscles Joints", True),
        ("BMJ (Clinical research ed.)", "BMJ", True),
        ("N Engl J Med", "New England Journal of Medicine", True),
        ("Blood", "British Journal of Haematology", False),
        ("Gynecologic Oncology", "American Journal of Obstetrics & Gynecology", False),
        ("Nature Medicine", "Nature Genetics", False),
    ],
)
def test_abbreviated_journals_are_equal(short: str, long: str, same: bool) -> None:
    assert same_journal(short, long) is same_journal(long, short) is same
    assert not same or journal_key(short) == journal_key(long)


def test_journal_may_have_a_word_that_its_abbreviation_lacks() -> None:
    assert same_journal("CA: a Cancer Journal for Clinicians", "CA Cancer J Clin")


def test_crowded_title_is_narrowed_and_warns() -> None:
    notes = [
        {
            "paper_id": f"p{i:04d}",
            "title": "Report of the annual meeting",
            "year": 1900 + i % 4,
            "volume": str(i),
            "pages": str(i % 7),
        }
        for i in range(4 * MAX_GROUP)
    ]
    entry = {"title": "Report of the annual meeting"}
    assert link_one(entry, *notes)["warning"] == "tie"
    assert link_one({**entry, "year": 1901}, *notes)["warning"] == "tie"
    found = link_one({**entry, "volume": "201", "pages": str(201 % 7)}, *notes)
    assert (found["paper_id"], found["warning"]) == ("p0201", None)
    assert found["runner_up_score"] == 1.0, "others have the title"


@pytest.mark.parametrize(
    "known",
    [{"year": 1999}, {"surname": "Name99"}, {"year": 1999, "surname": "Name99"}, {"volume": "99", "pages": "7"}],
)
def test_each_known_fact_narrows_a_crowded_title(known: Row) -> None:
    title = "Proceedings of the geological survey of the coast"
    papers = [
        {
            "paper_id": f"p{i:04d}",
            "title": title,
            "year": 1900 + i,
            "surname": f"Name{i}",
            "volume": str(i),
            "pages": "7",
        }
        for i in range(100)
    ]
    found = link_one({"title": title, **known}, *papers)
    assert (found["paper_id"], found["warning"], found["runner_up_score"]) == ("p0099", None, 1.0)


def test_batch_does_not_change_links() -> None:
    """Each entry links alone as in any batch: cut titles, journal locators and entries without a link."""
    said = {"year": 2007, "surname": "Collado"}
    entries: list[Row] = [
        {"title": "Cellular senescence", **said},
        {"title": "Cellular senescence in cancer and aging", **said},
        {"title": "Cellular sense", **said},
        {"journal": "Phys. Lett. B", "volume": "103", "pages": "207", "year": 1981},
        {"title": "Cellular senescence in cancer", **said, "volume": "131"},
        {"title": SYNDROME, "year": 2006},
        {"title": "Cellular senescence in cancer", **said, "pages": "223"},
    ]
    papers = [CUT, POLYAKOV, CIRCULATION, CARDIOLOGY]
    alone = [link_one(entry, *papers) for entry in entries]
    assert [row["reason"] for row in alone] == ["prefix", "prefix", "none", "locator", "none", "exact", "prefix"]
    for turned in (entries, entries[::-1], entries[1:] + entries[:1]):
        assert link_all(turned, papers) == [alone[entries.index(entry)] for entry in turned]
        assert link_all(turned, papers[::-1]) == [alone[entries.index(entry)] for entry in turned]


TITLES = (
    "Editorial",
    "On the motion of bodies",
    "On the motion of bodies in air",
    "On the motion of bodies, part 2",
    "",
)
facts = st.fixed_dictionaries(
    {
        "title": st.sampled_from(TITLES),
        "year": st.sampled_from([None, 1999, 2000]),
        "surname": st.sampled_from([None, "Reynolds", "Stokes"]),
        "journal": st.sampled_from([None, "J. Fluid Mech.", "Nature"]),
        "volume": st.sampled_from([None, "3", "4"]),
        "pages": st.sampled_from([None, "7-9", "8"]),
        "doi": st.sampled_from([None, None, "10.1/x", "10.1/y"]),
    }
)


@settings(max_examples=60)
@given(
    st.lists(facts, min_size=1, max_size=6), st.lists(facts, min_size=1, max_size=8), st.randoms(use_true_random=False)
)
def test_order_of_papers_does_not_matter(entries: list[Row], papers: list[Row], rng: Any) -> None:
    papers = [{**paper, "paper_id": f"p{i}"} for i, paper in enumerate(papers)]
    shuffled = papers.copy()
    rng.shuffle(shuffled)
    assert link_all(entries, papers) == link_all(entries, shuffled)


@settings(max_examples=60)
@given(st.lists(facts, min_size=1, max_size=6), st.lists(facts, min_size=1, max_size=8))
def test_tie_always_has_a_warning(entries: list[Row], papers: list[Row]) -> None:
    """Each paper has a copy under another id, so each link is a tie. It has a warning and uses the smaller id."""
    first = [{**paper, "paper_id": f"a{i}"} for i, paper in enumerate(papers)]
    copies = [{**paper, "paper_id": f"b{i}"} for i, paper in enumerate(papers)]
    for found in link_all(entries, first + copies):
        if found["paper_id"] is not None:
            assert found["warning"] is not None
            assert found["paper_id"].startswith("a")


FACTS: Row = {"journal": "Nature", "volume": "7", "pages": "5", "year": 1990, "surname": "Hooke"}
"""facts of an entry, in the order in which they decide (SPEC §7.8)"""


@pytest.mark.parametrize("how", [{"title": SYNDROME}, {"title": SYNDROME + "s"}, {"doi": "10.1/x"}])
@pytest.mark.parametrize("first", range(len(FACTS)))
def test_earlier_fact_outweighs_all_later_facts(how: Row, first: int) -> None:
    """The journal decides first, then the volume, the first page, the year and the surname; the smaller id decides last."""
    names = list(FACTS)
    paper = {"title": SYNDROME if "title" in how else "Another title", "doi": "10.1/x" if "doi" in how else None}
    better = {**paper, "paper_id": "z", names[first]: FACTS[names[first]]}
    worse = {**paper, "paper_id": "a", **{name: FACTS[name] for name in names[first + 1 :]}}
    found = link_one({**how, **FACTS}, worse, better)
    assert (found["paper_id"], found["warning"]) == ("z", None)


@pytest.mark.parametrize("how", [{"title": SYNDROME}, {"title": SYNDROME + "s"}, {"doi": "10.1/x"}])
def test_agreement_of_year_and_surname_outweighs_the_place(how: Row) -> None:
    paper = {"title": SYNDROME, "doi": "10.1/x" if "doi" in how else None}
    wrong = {**paper, "paper_id": "a", **FACTS, "year": 1991, "surname": "Boyle"}
    found = link_one({**how, **FACTS}, wrong, {**paper, "paper_id": "z", "year": 1990})
    assert (found["paper_id"], found["warning"]) == ("z", None)
    assert link_one({**how, **FACTS}, wrong)["warning"] == "contradiction"


def test_equal_title_outweighs_agreement_of_identifier() -> None:
    titled = {"paper_id": "z", "title": SYNDROME, "doi": "10.1/x"}
    other = {"paper_id": "a", "title": "Another title", "doi": "10.1/x", **FACTS}
    found = link_one({"title": SYNDROME, "doi": "10.1/x", **FACTS}, other, titled)
    assert (found["paper_id"], found["warning"], found["score"]) == ("z", None, 1.0)
    assert found["runner_up_score"] == score(SYNDROME, "Another title")


@pytest.mark.parametrize(
    ("entry", "chosen", "reason", "second"),
    [
        ({"title": SYNDROME}, "equal", "exact", None),  # An equal title excludes similar titles.
        ({"title": SYNDROME + "s"}, "equal", "fuzzy", "similar"),
        ({"title": SYNDROME, "doi": "10.1/y"}, "identified", "id", None),  # An identifier excludes all titles.
        ({"title": SYNDROME, "citing_paper_id": "equal"}, "similar", "fuzzy", None),
        ({"title": "On something else", "doi": "10.1/unknown"}, None, "none", None),
    ],
)
def test_identifier_precedes_equal_title_precedes_similar_title(
    entry: Row, chosen: str | None, reason: str, second: str | None
) -> None:
    titles = {"equal": SYNDROME, "similar": SYNDROME + " xyz", "identified": "Another title"}
    papers = [
        {"paper_id": id_, "title": title, "doi": "10.1/y"[: 6 * (id_ == "identified")]} for id_, title in titles.items()
    ]
    found = link_one(entry, *papers)
    assert (found["paper_id"], found["reason"]) == (chosen, reason)
    assert found["runner_up_score"] == (score(entry["title"], titles[second]) if second else None)


@pytest.mark.parametrize(("others", "warning"), [(MAX_GROUP - 1, None), (MAX_GROUP, "tie")])
def test_number_of_examined_papers_per_title_is_bounded(others: int, warning: str | None) -> None:
    """Beyond the limit, an unexamined paper could tie. The citing paper does not count."""
    title = "Proceedings of the geological survey of the coast"
    papers = [{"paper_id": f"p{i:04d}", "title": title} for i in range(others)]
    papers.append({"paper_id": "a", "title": title, "journal": "Nature"})
    found = link_one({"title": title, "journal": "Nature"}, *papers)
    assert (found["paper_id"], found["warning"], found["runner_up_score"]) == ("a", warning, 1.0)
    found = link_one({"title": title, "journal": "Nature", "citing_paper_id": "p0003"}, *papers)
    assert (found["paper_id"], found["warning"]) == ("a", None)


@pytest.mark.parametrize(("count", "reason"), [(256, "prefix"), (257, "none")])
def test_cut_title_of_too_many_papers_does_not_link(count: int, reason: str) -> None:
    papers = [{**CUT, "paper_id": f"p{i:04d}", "title": f"Cellular senescence {i}"} for i in range(count)]
    found = link_one({"title": "Cellular senescence", "year": 2007, "surname": "Collado"}, *papers)
    assert (found["reason"], found["warning"]) == (reason, "tie" if reason == "prefix" else None) or found[
        "warning"
    ] == "numeral"


@pytest.mark.parametrize(
    ("known", "chosen", "warning"),
    [
        ({"year": 1990, "surname": "Hooke"}, "p065", None),
        ({"volume": "7", "pages": "5"}, "p064", None),
        ({"year": 1990}, None, None),
        ({"surname": "Hooke"}, None, None),
        ({"year": 1990, "surname": "Boyle"}, "p000", "tie"),  # 64 papers agree equally.
    ],
)
def test_crowded_uninformative_title_needs_agreement(known: Row, chosen: str | None, warning: str | None) -> None:
    papers = [
        {"paper_id": f"p{i:03d}", "title": "Editorial", "year": 1990, "surname": "Boyle"} for i in range(MAX_GROUP)
    ]
    papers += [
        {"paper_id": "p064", "title": "Editorial", "volume": "7", "pages": "5"},
        {"paper_id": "p065", "title": "Editorial", "year": 1990, "surname": "Hooke"},
    ]
    found = link_one({"title": "Editorial", **known}, *papers)
    assert (found["paper_id"], found["warning"]) == (chosen, warning)


ONE, TWO, THREE = "Attention is all you need", "A survey of deep parsing", "Graphs of citations in time"


@pytest.mark.parametrize(
    ("said", "papers", "chosen", "warning", "second"),
    [
        # Each paper matches by one identifier: the better agreement wins, then the smaller id.
        ({}, [("b", "doi", ONE, {}), ("a", "pubmed_id", TWO, {})], "a", "tie", ONE),
        ({}, [("a", "doi", ONE, {}), ("b", "pubmed_id", TWO, {})], "a", "tie", TWO),
        ({"year": 1999}, [("b", "doi", ONE, {"year": 1999}), ("a", "pubmed_id", TWO, {})], "b", None, TWO),
        ({"year": 1999}, [("b", "doi", ONE, {}), ("a", "pubmed_id", TWO, {"year": 1999})], "a", None, ONE),
        ({"year": 1999}, [("a", "doi", ONE, {}), ("b", "pubmed_id", TWO, {"year": 1999})], "b", None, ONE),
        ({"title": TWO}, [("a", "doi", ONE, {}), ("b", "pubmed_id", TWO, {})], "b", None, ONE),
        # Three papers match.
        ({}, [("c", "doi", ONE, {}), ("b", "arxiv_id", TWO, {}), ("a", "pubmed_id", THREE, {})], "a", "tie", TWO),
        ({}, [("a", "doi", ONE, {}), ("b", "arxiv_id", TWO, {}), ("c", "pubmed_id", THREE, {})], "a", "tie", TWO),
        ({"year": 1999}, [("a", "doi", ONE, {}), ("b", "arxiv_id", TWO, {}), ("c", "pubmed_id", THREE, {"year": 1999})], "c", None, ONE),
        # Two papers share one identifier.
        ({}, [("a", "doi", ONE, {}), ("b", "doi", TWO, {})], "a", "tie", TWO),
        ({"year": 1999}, [("a", "doi", ONE, {}), ("b", "doi", TWO, {"year": 1999})], "b", None, ONE),
        ({"year": 1999}, [("a", "doi", ONE, {}), ("b", "doi", TWO, {}), ("c", "pubmed_id", THREE, {"year": 1999})], "c", None, ONE),
        (
            {"year": 1999},
            [("a", "doi", ONE, {}), ("b", "pubmed_id", TWO, {"year": 1999}), ("c", "pubmed_id", THREE, {"year": 1999})],
            "b", "tie", THREE,
        ),
        ({"year": 1999}, [("a", "doi", ONE, {"year": 1999}), ("b", "pubmed_id", TWO, {}), ("c", "pubmed_id", THREE, {})], "a", None, TWO),
        # One paper matches by both identifiers; the citing paper is excluded.
        ({}, [("a", "doi pubmed_id", ONE, {})], "a", None, None),
        ({}, [("a", "doi pubmed_id", ONE, {}), ("b", "pubmed_id", TWO, {})], "a", "tie", TWO),
        ({"citing_paper_id": "a"}, [("a", "doi", ONE, {}), ("b", "pubmed_id", TWO, {})], "b", None, None),
        ({"citing_paper_id": "b"}, [("a", "doi", ONE, {}), ("b", "pubmed_id", TWO, {})], "a", None, None),
        ({"citing_paper_id": "a"}, [("a", "doi", ONE, {})], None, None, None),
    ],
)  # fmt: skip
def test_several_identifiers_choose_one_paper(
    said: Row, papers: list[tuple[str, str, str, Row]], chosen: str | None, warning: str | None, second: str | None
) -> None:
    title = said.get("title", "Citations")
    rows = [
        {"paper_id": id_, "title": paper_title, **dict.fromkeys(kinds.split(), "7"), **facts_}
        for id_, kinds, paper_title, facts_ in papers
    ]
    found = link_one({"title": title, "doi": "7", "arxiv_id": "7", "pubmed_id": "7", **said}, *rows)
    assert (found["paper_id"], found["reason"]) == (chosen, "id" if chosen else "none")
    assert found["warning"] == warning
    assert found["runner_up_score"] == (score(title, second) if second else None)


@pytest.mark.parametrize(("entry", "paper"), [("", ONE), (None, ONE), (ONE, ""), (ONE, None), ("—", ONE), (None, None)])
def test_link_without_title_has_no_score(entry: str | None, paper: str | None) -> None:
    papers = [{"paper_id": id_, "title": paper, "doi": "10.1/x"} for id_ in "ab"]
    found = link_one({"title": entry, "doi": "10.1/x"}, *papers)
    assert (found["paper_id"], found["reason"], found["warning"]) == ("a", "id", "tie")
    assert found["score"] is found["runner_up_score"] is None


@pytest.mark.parametrize("title", ["A", "ab", "Abc", "abcd"])
def test_shortest_titles_have_a_score(title: str) -> None:
    papers = [{"paper_id": id_, "title": title.upper(), "doi": "10.1/x"} for id_ in "ab"]
    found = link_one({"title": title, "doi": "10.1/x"}, *papers)
    assert (found["reason"], found["score"], found["runner_up_score"]) == ("id", 1.0, 1.0)


def test_only_titles_of_unlinked_entries_are_searched() -> None:
    """Each title of an unlinked entry is searched once.

    Uninformative titles are left out if the entry lacks the facts that they require.
    """
    entries: list[Row] = [
        {"title": "Attention is what you need"}, {"title": "Attention is what YOU need"}, {"title": ONE}, {"title": ""},
        {"title": "Editorial"},
        {"title": "Preface", "year": 1999}, {"title": "Foreword", "surname": "X"}, {"title": "Errata", "volume": "7"},
        {"title": "Index", "pages": "7"}, {"title": "Epilogue", "year": 1999, "surname": "X"},
        {"title": "Keynote", "volume": "7", "pages": "7"},
        {"title": "By its DOI", "doi": "10.1/x"},
    ]  # fmt: skip
    targets = pa.Table.from_pylist(
        [{"paper_id": "a", "title": ONE, "doi": "10.1/x"}], schema=SCHEMA.append(pa.field("paper_id", pa.string()))
    )
    asked = pa.Table.from_pylist(entries, schema=SCHEMA.append(pa.field("citing_paper_id", pa.string())))
    found = link_tables(asked, targets)
    assert sorted(found.searched.to_pylist()) == ["attentioniswhatyouneed", "epilogue", "keynote"]
    assert found.rows["reason"].to_pylist() == ["none", "none", "exact", *["none"] * 8, "id"]


GRAPHS, NEAR, OTHER, FAR = (
    f"Inductive representation learning on large graphs{end}" for end in ("", " xq", " yq", " zqkwvpf")
)


@pytest.mark.parametrize(
    ("said", "papers", "chosen", "warning", "second"),
    [
        ({}, [("b", NEAR, {}), ("a", OTHER, {})], "a", "tie", NEAR),  # Two titles have equal S.
        ({}, [("a", NEAR, {}), ("b", OTHER, {})], "a", "tie", NEAR),
        ({"year": 1999}, [("a", NEAR, {}), ("b", OTHER, {"year": 1999})], "b", None, NEAR),
        ({"year": 1999}, [("a", NEAR, {"year": 1999}), ("b", OTHER, {})], "a", None, NEAR),
        ({"year": 1999}, [("b", NEAR, {"year": 1999}), ("a", OTHER, {})], "b", None, NEAR),
        ({}, [("b", NEAR, {}), ("c", NEAR, {}), ("d", OTHER, {"journal": "Nature"})], "b", "tie", NEAR),
        ({"year": 1999}, [("b", NEAR, {}), ("c", NEAR, {}), ("d", OTHER, {"year": 1999})], "d", None, NEAR),
        (
            {"year": 1999},
            [("b", NEAR, {"year": 1999}), ("c", NEAR, {"year": 1999}), ("a", OTHER, {})],
            "b",
            "tie",
            NEAR,
        ),
        (
            {"year": 1999},
            [("c", NEAR, {}), ("b", OTHER, {"year": 1999}), ("a", OTHER, {"year": 1999})],
            "a",
            "tie",
            NEAR,
        ),
        (
            {"year": 1999},
            [("b", NEAR, {}), ("a", FAR, {"year": 1999})],
            "b",
            None,
            FAR,
        ),  # A lower S loses, regardless of agreement.
        ({"year": 1999}, [("b", NEAR, {}), ("a", OTHER, {}), ("0", FAR, {"year": 1999})], "a", "tie", NEAR),
        ({}, [("b", NEAR, {})], "b", None, None),
        ({"citing_paper_id": "a"}, [("b", NEAR, {}), ("a", OTHER, {})], "b", None, None),
        ({"citing_paper_id": "b"}, [("b", NEAR, {}), ("a", FAR, {})], "a", None, None),
    ],
)
def test_similar_titles_of_several_papers_are_ranked(
    said: Row, papers: list[tuple[str, str, Row]], chosen: str, warning: str | None, second: str | None
) -> None:
    assert score(GRAPHS, NEAR) == score(GRAPHS, OTHER) > score(GRAPHS, FAR) > 0.8
    rows = [{"paper_id": id_, "title": title, **facts_} for id_, title, facts_ in papers]
    found = link_one({"title": GRAPHS, **said}, *rows)
    titles = {row["paper_id"]: row["title"] for row in rows}
    assert (found["paper_id"], found["reason"], found["score"]) == (chosen, "fuzzy", score(GRAPHS, titles[chosen]))
    assert found["warning"] == warning
    assert found["runner_up_score"] == (score(GRAPHS, second) if second else None)


SURVEY = "Proceedings of the geological survey of the coast"


@pytest.mark.parametrize("at", [0, 50, 99])
def test_runner_up_of_shared_identifier_is_smallest_id(at: int) -> None:
    """Volume and page decide. The runner-up is the smallest other id in any row order, and never the citing paper."""
    ends = [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
    papers = [
        {"paper_id": f"p{i:03d}", "title": f"{SURVEY} {end}", "doi": "10.1/x", "volume": str(i), "pages": "7"}
        for i, end in enumerate(ends)
    ]
    entry = {"title": SURVEY, "doi": "10.1/x", "volume": str(at), "pages": "7"}
    for rows in (papers, papers[::-1]):
        for citing in (None, "p000", "p001"):
            others = [p for p in papers if p["paper_id"] not in (f"p{at:03d}", citing)]
            found = link_one({**entry, "citing_paper_id": citing}, *rows)
            if citing != f"p{at:03d}":
                assert (found["paper_id"], found["reason"], found["warning"]) == (f"p{at:03d}", "id", None)
                assert found["runner_up_score"] == score(SURVEY, others[0]["title"])


@pytest.mark.parametrize("at", [0, 50, 99])
def test_citing_paper_does_not_narrow_a_crowded_title(at: int) -> None:
    papers = [{"paper_id": f"p{i:03d}", "title": SURVEY, "year": 1900 + i, "surname": f"Name{i}"} for i in range(100)]
    entry = {"title": SURVEY, "year": 1900 + at, "citing_paper_id": f"p{at:03d}"}
    found = link_one(entry, *papers)
    assert (found["paper_id"], found["warning"], found["runner_up_score"]) == (
        "p001" if at == 0 else "p000",
        "tie",
        1.0,
    )
    found = link_one({**entry, "surname": "Name7"}, *papers)
    assert (found["paper_id"], found["warning"], found["runner_up_score"]) == ("p007", None, 1.0)


@pytest.mark.parametrize("other", ["A history of the coast", "Zoology of the coast"])
def test_citing_paper_is_never_the_runner_up(other: str) -> None:
    """Papers that follow in the order, with another title, are no runner-up either."""
    papers = [
        {"paper_id": "p0", "title": SURVEY, "year": 1900},
        {"paper_id": "p1", "title": SURVEY, "year": 1901},
        *({"paper_id": f"q{n}", "title": f"{other} {n}" if n > 1 else other, "year": 1900} for n in range(4)),
    ]
    for rows in (papers, papers[::-1]):
        found = link_one({"title": SURVEY, "year": 1900, "citing_paper_id": "p1"}, *rows)
        assert (found["paper_id"], found["warning"], found["runner_up_score"]) == ("p0", None, None)
