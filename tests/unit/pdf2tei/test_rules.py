"""Each rule of the extractor is tested on strings as papers print them."""

import re
from dataclasses import replace

import pytest

from pdf2tei.body.callouts import Linker, Style, detect_style
from pdf2tei.floats.captions import CAPTION
from pdf2tei.front.abstract import INTRODUCTION
from pdf2tei.front.affiliations import assign_affiliations
from pdf2tei.front.authors import FrontAuthor, get_names_type, parse_printed_name, read_authors
from pdf2tei.front.byline import find_byline, measure_names
from pdf2tei.front.front_lines import Front, FrontLabel, LineLabel
from pdf2tei.pages.text import Joiner, Text, clean
from pdf2tei.references.fields import parse_reference
from pdf2tei.references.reference_list import PrintedEntry
from tests.unit.pdf2tei.samples import HEAD, PROSE, ROMAN, draw_line

NO_NAMES = """Allen Institute for Artificial Intelligence|INRIA LaBRI|
CNRS Toulouse|United Kingdom|lguerdan@cs.cmu.edu|Pittsburgh|of the people|Room 7|
Veterinary Medicine|Computational Linguistics|Veterinary World|Clinical Management|Tel Aviv University Israel|STATES OF THE LITTER|
Anonymous Affiliations|John F Kennedy Boulevard|студентка кафедры системного программирования|Springer-Verlag Berlin Heidelberg|
Emu Analytics|Associate Professor|Teknik Informatika|Lima Peru|European Studies|SSG Sozialwissenschaften|Noda City|Ingeniero de Sistemas|
Verlag Barbara Budrich|Programa de Ingeniería Electrónica"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MILAD KAZEMI", "Milad|Kazemi"),
        ("王小明", "小明|王"),
        ("Laura van ’t Veer", "Laura|van ’t Veer"),
        ("Ryo Doi", "Ryo|Doi"),
        ("Gianni d’Amico", "Gianni|d’Amico"),
        ("Vilson Vieira da Silva Junior", "Vilson Vieira|da Silva Junior"),
        ("Jean\u2011Luc Picard\u200d", "Jean-Luc|Picard"),
    ],
)
def test_name_is_split_into_parts(text: str, expected: str) -> None:
    first, last = expected.split("|")
    assert parse_printed_name(text) == FrontAuthor(tuple(first.split()), last)


@pytest.mark.parametrize("text", NO_NAMES.replace("\n", "").split("|"))
def test_text_without_name_gives_no_author(text: str) -> None:
    assert parse_printed_name(text) is None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Borugă O*, Jianu C**, Denver DR***"], ["O|Borugă", "C|Jianu", "D R|Denver"]),
        (["van Anken E, Gómez Puerta S, Walter P"], ["E|van Anken", "S|Gómez Puerta", "P|Walter"]),
        (["Rosany Lopes Martins, Ana Luzia", "Ferreira Farias, João Fernandes"],
         ["Rosany Lopes|Martins", "Ana Luzia Ferreira|Farias", "João|Fernandes"]),
        (["John Smith MD, Kees Berg PhD and Maria Lo"], ["John|Smith", "Kees|Berg", "Maria|Lo"]),
        (["ADA BYRON, The Analytical Society, Iceland", "LUIGI MENABREA, Accademia Paris-Torino, Italy"],
         ["Ada|Byron", "Luigi|Menabrea"]),
        (["Edward Judokusumo, Guil-", "laume Carmona, Silvia Gómez-", "Puerta, Peter Walter"],
         ["Edward|Judokusumo", "Guillaume|Carmona", "Silvia|Gómez-Puerta", "Peter|Walter"]),
        (["JohnSmith,KeesBerg,MariaLo"], ["John|Smith", "Kees|Berg", "Maria|Lo"]),
        (["Abold, Roland; Linke Sonderegger, Marion"], ["Roland|Abold", "Marion|Linke Sonderegger"]),
        (["Aman Ullah¹, Riaz Ahmed Gul², Salman Aslam⁶"], ["Aman|Ullah", "Riaz Ahmed|Gul", "Salman|Aslam"]),
    ],
)  # fmt: skip
def test_bylines_are_split_into_names(lines: list[str], expected: list[str]) -> None:
    found = read_authors([draw_line((text, ROMAN), y=12.0 * i) for i, text in enumerate(lines)])
    people = [FrontAuthor(tuple(first.split()), last) for first, last in (text.split("|") for text in expected)]
    assert found == people


def test_name_continues_on_next_line_of_double_spaced_byline() -> None:
    lines = ("Christian Helker, Friedemann Kiefer, Bruno", 0.0), ("Reversade, Wiebke Herzog", 24.0)
    found = read_authors([draw_line((text, ROMAN), y=y) for text, y in lines])
    assert [author.surname for author in found] == ["Helker", "Kiefer", "Reversade", "Herzog"]


def test_names_in_two_columns_stay_apart() -> None:
    left, right = ("Loïc Desgeorges, Francesco Bronzino", 0.0), ("Francescomaria Faticanti", 300.0)
    found = read_authors([draw_line((text, ROMAN), x=x) for text, x in (left, right)])
    assert [author.surname for author in found] == ["Desgeorges", "Bronzino", "Faticanti"]


def test_detached_ogonek_belongs_to_its_letter() -> None:
    assert clean("Andrzej Wa˛sowski") == "Andrzej Wąsowski"


def test_surnames_before_initials_are_names() -> None:
    line = draw_line(("Nazzi F, Brown SP, Annoscia D, Del Piccolo F, Della Vedova G", ROMAN))
    assert measure_names(line) == (1.0, 5)


def test_name_in_another_column_continues_no_name() -> None:
    left = draw_line(("Ivan Seskar, Dipankar Raychaudhuri", ROMAN), y=137.0)
    right = draw_line(("Abhimanyu Gosain", ROMAN), x=400.0, y=150.0)
    assert [x.surname for x in read_authors([left, right])] == ["Seskar", "Raychaudhuri", "Gosain"]


def test_raised_identifiers_are_not_the_type_of_names() -> None:
    raised = replace(ROMAN, family="cmr7", size=7.0, raised=True)
    line = draw_line(("Lukas Galke", ROMAN), ("1[0000−0002−4842−931X]", raised))
    assert get_names_type(line) == (ROMAN.family, round(ROMAN.size))


def test_permissions_are_no_affiliation() -> None:
    name = draw_line(("Ada Byron", ROMAN))
    places = [
        draw_line((text, ROMAN), y=y)
        for text, y in (
            ("WINLAB, Rutgers University", 14.0),
            ("a fee. Request permissions from permissions@acm.org", 400.0),
        )
    ]
    certain: dict[str, float] = {label: float(label is FrontLabel.AFFILIATION) for label in FrontLabel}
    front = Front([name, *places], {id(x): LineLabel(FrontLabel.AFFILIATION, certain) for x in places})
    author = assign_affiliations([FrontAuthor(("Ada",), "Byron")], [name], front)[0]
    assert ([x.text for x in author.affiliations], author.email) == (["WINLAB, Rutgers University"], "")


def test_degrees_and_hyphen_do_not_hide_names() -> None:
    assert measure_names(draw_line(("Hugo Botha, MB, ChB, Jennifer M. Martinez-", ROMAN))) == (1.0, 2)


@pytest.mark.parametrize(
    ("text", "is_author"),
    [("Richard C. Thurlow", True), ("Corrosion Quarterly", False), ("Corrosion Abstracts, 2016", False)],
)
def test_likely_author_close_above_the_title_is_found(text: str, is_author: bool) -> None:
    name, title, prose = (
        draw_line((text, ROMAN), y=106.0),
        draw_line(("The Flame", HEAD), y=122.0),
        draw_line((PROSE, ROMAN), y=180.0),
    )
    unlikely: dict[str, float] = {label: 0.4 * (label is FrontLabel.AUTHOR) for label in FrontLabel}
    front = Front([name, title, prose], {id(name): LineLabel(FrontLabel.OTHER, unlikely)})
    assert find_byline(front, [title], [], 600.0) == [name] * is_author


def test_head_of_introduction_is_found_in_other_languages() -> None:
    assert all(map(INTRODUCTION.match, ("Introdução", "Introducción", "Introduzione", "1. Einführung", "Введение")))


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["a multi-", "lingual corpus"], "a multilingual corpus"),
        (["the decision-", "making of all. Decision-making matters"], "the decision-making of all. Decision-making matters"),
        (["本文调查了十", "二个公园"], "本文调查了十二个公园"),
        (["Avaliac¸ão", "O´leos"], "Avaliação Óleos"),
    ],
)  # fmt: skip
def test_lines_and_accents_are_joined(lines: list[str], text: str) -> None:
    made = [draw_line((re.sub("([´¸ˆ])", r" \1", x), ROMAN), y=12.0 * i) for i, x in enumerate(lines)]
    for line in made:
        line.tokens = [replace(t, space=t.space and t.text[0] not in "´¸ˆ") for t in line.tokens]
    assert Joiner(made).text(made).text == text


ENTRIES = [
    "Wu, J. and Giles, C. L. (2014). CiteSeerX: AI in a digital library search engine. In AAAI, pp. 2930–2937.",
    "Brousseau, P. M., Gravel, D., and Handa, I. T. (2018a). Trait matching and phylogeny. Journal of Animal Ecology, 87:1209–20.",
    "Brousseau, P. M., Gravel, D., and Handa, I. T. (2018b). A predictive trait approach. Functional Ecology, 32:20–35.",
    "van der Maaten, L. and Hinton, G. (2008). Visualizing data using t-SNE. Journal of Machine Learning Research, 9:2579–2605.",
]
PARSED = [parse_reference(raw) for raw in ENTRIES]
BARE = [PrintedEntry("", raw) for raw in ENTRIES]
LABELED = [PrintedEntry(str(i), raw) for i, raw in enumerate(ENTRIES, 1)]
KEYED = [PrintedEntry(key, raw) for key, raw in zip(("WG14", "BGH+18a", "BGH+18b", "vdM08"), ENTRIES, strict=True)]


@pytest.mark.parametrize(
    ("style", "text", "found"),
    [
        (Style.NAME_YEAR, "Brousseau et al. (2018b) disagree", {"Brousseau et al. (2018b)": "b2"}),
        (Style.NAME_YEAR, "(Brousseau et al., 2018a,b)", {"Brousseau et al., 2018a": "b1", "b)": "b2"}),
        (Style.NAME_YEAR, "plots of van der Maaten and Hinton (2008)", {"van der Maaten and Hinton (2008)": "b3"}),
        (Style.NAME_YEAR, "In March 2014 it rained.", {}),
        (Style.NAME_YEAR, "Nach Harsanyis (1953) wird", {"Harsanyis (1953)": ""}),
        (Style.NAME_YEAR, "Véase Le Goff (1988)", {"Le Goff (1988)": ""}),
        (Style.NAME_YEAR, "However, Goodwin and So (2010) say", {"Goodwin and So (2010)": ""}),
        (Style.NAME_YEAR, "So (2010) says", {"So (2010)": ""}),
        (Style.NAME_YEAR, "(vgl. hierzu Wu/Giles 2014: 23)", {"Wu/Giles 2014": "b0"}),
        (Style.NAME_YEAR, "(Brousseau u. a. 2018a)", {"Brousseau u. a. 2018a)": "b1"}),
        (Style.BRACKET, "others [2, 4] too", {"[2,": "b1", "4]": "b3"}),
        (Style.BRACKET, "ranges [1–3] too", {"[1": "b0", "3]": "b2"}),
        (Style.BRACKET, "the interval [17, 99] is none", {}),
        (Style.BRACKET, "see Fig. 2 and Table 1", {"Fig. 2": "fig_1", "Table 1": "tab_0"}),
        (Style.KEY, "earlier [BGH + 18b, WG14] and [Lup16]", {"[BGH + 18b,": "b2", "WG14]": "b0"}),
        (Style.RAISED, "as before 2,3 and in CO 2", {"2,": "b1", "3": "b2"}),
    ],
)  # fmt: skip
def test_callouts_are_linked(style: Style, text: str, found: dict[str, str]) -> None:
    floats = {(False, "2"): "fig_1", (True, "1"): "tab_0"}
    entries = {Style.NAME_YEAR: BARE, Style.KEY: KEYED}.get(style, LABELED)
    linker = Linker(style, entries, PARSED, floats)
    raised = [(10, 13)] if style is Style.RAISED else []
    assert [(text[c.start : c.end], c.target) for c in linker.find(Text(text, raised))] == list(found.items())


def test_numbers_in_round_brackets_are_citations() -> None:
    assert detect_style([Text("One (1). Two (2, 3). Three (4).")], LABELED) is Style.ROUND


@pytest.mark.parametrize("printed", ["1", "1,2", "2-4,", "1, 3–4"])
def test_raised_numbers_and_ranges_are_citations(printed: str) -> None:
    text = f"One {printed} and two {printed}"
    raised = [(4, 4 + len(printed)), (len(text) - len(printed), len(text))]
    assert detect_style([Text(text, raised)], LABELED) is Style.RAISED


def test_caption_label_may_follow_hyphen() -> None:
    match = CAPTION.match("Figure-1 A map of the sites")
    assert match and (match["kind"], match["label"]) == ("Figure", "1")
    assert not CAPTION.match("Table-top experiments")
