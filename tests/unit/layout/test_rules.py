"""Each rule of the extractor is tested on strings as papers print them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdf2tei import authors
from pdf2tei.callouts import Linker, Style, detect_style
from pdf2tei.captions import CAPTION
from pdf2tei.crf import TokenLabel, label_references
from pdf2tei.fields import parse_reference, parse_reference_authors
from pdf2tei.heads import split_number
from pdf2tei.model import Font, Line, Token
from pdf2tei.references import PrintedEntry
from pdf2tei.text import Joiner, Text
from pdf2tei.tokens import features, pieces

ROMAN = Font("times", 10.0)


def line(text: str, y: float = 0.0) -> Line:
    tokens: list[Token] = []
    x = 0.0
    for word in text.split():
        tokens.append(Token(word, x, y, x + 5 * len(word), y + 10, ROMAN, bool(tokens)))
        x += 5 * len(word) + 3
    return Line(tokens, 1, 1)


@pytest.mark.parametrize(
    ("text", "forenames", "surname"),
    [
        ("Madeleine van Zuylen", ("Madeleine",), "van Zuylen"),
        ("MILAD KAZEMI", ("Milad",), "Kazemi"),
        ("C. Lee Giles", ("C.", "Lee"), "Giles"),
        ("Martin Luther King Jr.", ("Martin", "Luther"), "King"),
        ("王小明", ("小明",), "王"),
        ("Olaf von dem Knesebeck", ("Olaf",), "von dem Knesebeck"),
        ("José Ortega y Gasset", ("José",), "Ortega y Gasset"),
        ("Laura van ’t Veer", ("Laura",), "van ’t Veer"),
        ("Anna Y Lee", ("Anna", "Y"), "Lee"),
        ("Tien Do", ("Tien",), "Do"),
    ],
)
def test_name_is_split_into_parts(text: str, forenames: tuple[str, ...], surname: str) -> None:
    assert authors.parse_printed_name(text) == authors.FrontAuthor(forenames, surname)


@pytest.mark.parametrize(
    "text",
    [
        "Allen Institute for Artificial Intelligence",
        "United Kingdom",
        "lguerdan@cs.cmu.edu",
        "Pittsburgh",
        "of the people",
        "Room 7",
        "Veterinary Medicine",
        "Computational Linguistics",
    ],
)
def test_text_without_name_gives_no_author(text: str) -> None:
    assert authors.parse_printed_name(text) is None


@pytest.mark.parametrize(
    ("text", "surnames"),
    [
        ("J. Q. Smith, K. van der Berg, and A.-L. Müller", ["Smith", "van der Berg", "Müller"]),
        ("Smith, J. Q., van der Berg, K., & Müller, A.-L.", ["Smith", "van der Berg", "Müller"]),
        ("Smith JQ, Berg K, Müller A-L, et al.", ["Smith", "Berg", "Müller"]),
        ("Smith, John; Doe, Jane Q.", ["Smith", "Doe"]),
        ("Smith, John, Kees Berg, and Ann Doe", ["Smith", "Berg", "Doe"]),
        ("A. R. BATTERSBY, S. G. HARTLEY et M. D. TURNBULL", ["BATTERSBY", "HARTLEY", "TURNBULL"]),
        ("Moretti, M., et al.", ["Moretti"]),
    ],
)
def test_authors_of_a_reference_are_read(text: str, surnames: list[str]) -> None:
    assert [a.surname for a in parse_reference_authors(text)] == surnames


@pytest.mark.parametrize(
    ("printed", "number", "head"),
    [
        ("3.1. Data", "3.1.", "Data"),
        ("2 RELATED WORK", "2", "RELATED WORK"),
        ("II. METHODS", "", "II. METHODS"),
        ("Results", "", "Results"),
    ],
)
def test_heading_number_is_split_as_in_grobid(printed: str, number: str, head: str) -> None:
    assert split_number(printed) == (number, head)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["a multi-", "lingual corpus"], "a multilingual corpus"),
        (
            ["the decision-", "making of others. Decision-making matters"],
            "the decision-making of others. Decision-making matters",
        ),
        (["in the Smith-", "Jones model"], "in the Smith-Jones model"),
        (["deﬁned", "twice"], "defined twice"),
        (["本文调查了十", "二个公园"], "本文调查了十二个公园"),
    ],
)
def test_lines_are_joined(lines: list[str], text: str) -> None:
    made = [line(x, 12.0 * i) for i, x in enumerate(lines)]
    assert Joiner(made).text(made).text == text


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["espe", "´cies"], "espécies"),
        (["Arau", "´jo"], "Araújo"),
        (["qu\u0131", "´mico"], "químico"),
        (["Avaliac", "¸ão"], "Avaliação"),
        (["Lo", "ˆbo", "and", "Godo", "´i"], "Lôbo and Godói"),
        (["L’He", "´reault"], "L’Héreault"),
    ],
)
def test_separate_accent_is_combined_with_its_letter(pieces: list[str], text: str) -> None:
    made = line(" ".join(pieces))
    made.tokens = [replace(t, space=t.space and t.text[0] not in "´¸ˆ") for t in made.tokens]
    assert Joiner([made]).text([made]).text == text


ENTRIES = [
    "Wu, J. and Giles, C. L. (2014). CiteSeerX: AI in a digital library search engine. In AAAI, pp. 2930–2937.",
    "Brousseau, P. M., Gravel, D., and Handa, I. T. (2018a). Trait matching and phylogeny. Journal of Animal Ecology, 87:1209–20.",
    "Brousseau, P. M., Gravel, D., and Handa, I. T. (2018b). A predictive trait approach. Functional Ecology, 32:20–35.",
    "van der Maaten, L. and Hinton, G. (2008). Visualizing data using t-SNE. Journal of Machine Learning Research, 9:2579–2605.",
]


def callouts(
    text: str, style: Style, labelled: bool, raised: list[tuple[int, int]] | None = None
) -> list[tuple[str, str]]:
    entries = [PrintedEntry(str(i + 1) if labelled else "", raw) for i, raw in enumerate(ENTRIES)]
    linker = Linker(
        style, entries, [parse_reference(raw) for raw in ENTRIES], {(False, "2"): "fig_1", (True, "1"): "tab_0"}
    )
    return [(text[c.start : c.end], c.target) for c in linker.find(Text(text, raised or []))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("as shown before (Wu and Giles, 2014).", [("Wu and Giles, 2014)", "b0")]),
        ("Brousseau et al. (2018b) disagree", [("Brousseau et al. (2018b)", "b2")]),
        ("(Brousseau et al., 2018a,b)", [("Brousseau et al., 2018a", "b1"), ("b)", "b2")]),
        ("plots of van der Maaten and Hinton (2008)", [("van der Maaten and Hinton (2008)", "b3")]),
        ("In March 2014 it rained.", []),
        ("(Wu and Giles, 2014, p. 2931)", [("Wu and Giles, 2014", "b0")]),
        ("(Wu; Giles, 2014)", [("Wu; Giles, 2014)", "b0")]),
        ("van der Maaten e Hinton (2008)", [("van der Maaten e Hinton (2008)", "b3")]),
        (
            "(Wu and Giles, 2014; Brousseau et al., 2018a)",
            [("Wu and Giles, 2014", "b0"), ("Brousseau et al., 2018a)", "b1")],
        ),
        ("(Brousseau et al., 2018a, p. 1210)", [("Brousseau et al., 2018a", "b1")]),
    ],
)
def test_name_year_callouts_are_found(text: str, found: list[tuple[str, str]]) -> None:
    assert callouts(text, Style.NAME_YEAR, labelled=False) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("so it is [1].", [("[1]", "b0")]),
        ("others [2, 4] too", [("[2,", "b1"), ("4]", "b3")]),
        ("ranges [1–3] too", [("[1", "b0"), ("3]", "b2")]),
        ("the interval [17, 99] is none", []),
        ("see Fig. 2 and Table 1", [("Fig. 2", "fig_1"), ("Table 1", "tab_0")]),
    ],
)
def test_numbered_callouts_are_found(text: str, found: list[tuple[str, str]]) -> None:
    assert callouts(text, Style.BRACKET, labelled=True) == found


def test_raised_digits_are_callouts() -> None:
    text = "as before 2,3 and in CO 2"
    assert callouts(text, Style.RAISED, labelled=True, raised=[(10, 13)]) == [("2,", "b1"), ("3", "b2")]


@pytest.mark.parametrize(
    ("text", "labelled", "style"),
    [
        ("One [1]. Two [2, 3]. Three [4].", True, Style.BRACKET),
        ("One (Wu and Giles, 2014). Two (Brousseau et al., 2018a).", False, Style.NAME_YEAR),
        ("One (1). Two (2, 3). Three (4).", True, Style.ROUND),
    ],
)
def test_citation_style_is_detected(text: str, labelled: bool, style: Style) -> None:
    assert (
        detect_style([Text(text)], [PrintedEntry(str(i + 1) if labelled else "", raw) for i, raw in enumerate(ENTRIES)])
        is style
    )


@pytest.mark.parametrize("printed", ["1", "1,2", "1–3", "2-4,", "1, 3–4"])
def test_raised_numbers_and_ranges_are_citations(printed: str) -> None:
    text = f"One {printed} and two {printed}"
    second = len(text) - len(printed)
    raised = [(4, 4 + len(printed)), (second, len(text))]
    entries = [PrintedEntry(str(i + 1), raw) for i, raw in enumerate(ENTRIES)]
    assert detect_style([Text(text, raised)], entries) is Style.RAISED


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("Figure-1 A map of the sites", "Figure", "1"),
        ("Table-2: Sizes of the samples", "Table", "2"),
        ("Figure\u20103. Growth", "Figure", "3"),
        ("Table 4. Sizes", "Table", "4"),
    ],
)
def test_caption_label_may_follow_hyphen(text: str, kind: str, number: str) -> None:
    found = CAPTION.match(text)
    assert found and (found["kind"], found["label"]) == (kind, number)


@pytest.mark.parametrize("text", ["Table-top experiments", "Figure-of-eight knots"])
def test_hyphenated_word_is_not_a_caption(text: str) -> None:
    assert CAPTION.match(text) is None


@pytest.mark.parametrize(
    ("raw", "fields"),
    [
        (
            "Jian Wu, Kyle Williams, and C. Lee Giles. 2014. CiteSeerX: AI in a digital library search engine. In AAAI, pages 2930–2937.",
            {
                "title": "CiteSeerX: AI in a digital library search engine",
                "booktitle": "AAAI",
                "pages": "2930–2937",
                "year": "2014",
            },
        ),
        (
            "R. Pohl et al., Nature 466 (2010) 213.",
            {"title": "", "journal": "Nature", "volume": "466", "pages": "213", "year": "2010"},
        ),
        (
            "Gallego JÁ, Pons JL. A neuroprosthesis for tremor management. J Neuroeng Rehabil. 2013;10(1):36. doi:10.1186/1743-0003-10-36",
            {
                "title": "A neuroprosthesis for tremor management",
                "volume": "10",
                "issue": "1",
                "doi": "10.1186/1743-0003-10-36",
            },
        ),
        (
            "Lei Ba, J., Kiros, J. R., & Hinton, G. E. (2016). Layer normalization. arXiv:1607.06450.",
            {"title": "Layer normalization", "arxiv": "1607.06450", "year": "2016", "monograph": False},
        ),
        (
            "Field A. Discovering statistics using IBM SPSS statistics. Los Angeles: SAGE; 2017.",
            {
                "title": "Discovering statistics using IBM SPSS statistics",
                "location": "Los Angeles",
                "publisher": "SAGE",
                "monograph": True,
            },
        ),
    ],
)
def test_fields_of_a_reference_are_labeled(raw: str, fields: dict[str, str | bool]) -> None:
    found = parse_reference(raw)
    assert {name: getattr(found, name) for name in fields} == fields


@given(st.text(max_size=200))
def test_fields_are_substrings_of_any_string(raw: str) -> None:
    assert len(features(pieces(raw))) == len(pieces(raw))
    for kind, value in label_references([raw])[0]:
        assert value in raw and kind is not TokenLabel.OTHER
