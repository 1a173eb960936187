"""Reference lists are found under any heading and split into the entries that a reader sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pdf2tei import references
from pdf2tei.measures import measure
from pdf2tei.model import Document, Font, Kind, Line, Page, Token
from pdf2tei.references import is_head
from pdf2tei.segmentation import SegmentLabel
from pdf2tei.splitting import split
from pdf2tei.text import Joiner

FONT = Font("times", 9.0)


def line(text: str, row: int, x: float = 50.0) -> Line:
    """Return a line of nine-point type in a row of a page."""
    tokens: list[Token] = []
    at = x
    for word in text.split():
        tokens.append(Token(word, at, 11.0 * row, at + 5.0 * len(word), 11.0 * row + 9, FONT, bool(tokens)))
        at += 5.0 * len(word) + 3
    return Line(tokens, 1, 1)


def entries(lines: list[Line]) -> list[str]:
    return [" ".join(x.text for x in group) for group in split(lines)]


@pytest.mark.parametrize(
    "head",
    [
        "References",
        "■ REFERENCES",
        "Notes and references",
        "R E F E R E N C E S",
        "6. Literature cited",
        "Références bibliographiques",
        "Literaturverzeichnis",
        "参考文献",
        "VI. REFERENCES",
    ],
)
def test_headings_of_reference_lists_are_found(head: str) -> None:
    assert is_head(line(head, 1))


@pytest.mark.parametrize(
    "text", ["in the table for reference only", "Reference values were measured at rest.", "Results"]
)
def test_other_text_is_not_a_reference_heading(text: str) -> None:
    assert not is_head(line(text, 1))


def test_unread_label_does_not_end_list() -> None:
    lines = [
        line("1 Ammar W, Groeneveld D. Construction of the literature graph. 2018;3:84–91.", 1),
        line("2 Lo K, Wang LL. S2ORC: the Semantic Scholar open research corpus. 2020;1:4969–83.", 2),
        line("van der Sluis I. Predictors that follow litter. J Ecol 2011;", 3),
        line("12: 4–9.", 4),
        line("4 van Dijk J. Beetles of three forests. Oikos 2012;4:1–9.", 5),
        line("5 Xiong C. Explicit semantic ranking. WWW 2017;2:1271–9.", 6),
    ]
    found = entries(lines)
    assert [e.split()[0] for e in found] == ["1", "2", "4", "5"]
    assert found[1].endswith("12: 4–9.")


def test_label_inside_merged_line_is_found() -> None:
    lines = [
        line("[1] Ammar W. Graphs. 2018;3:84–91.", 1),
        line("[2] Lo K. Corpora. 2020;1:4969–83. [3] Sluis I. Litter. J Ecol 2011;12:4–9.", 2),
        line("[4] Xiong C. Ranking. 2017;2:1271–9.", 3),
    ]
    assert [e[:3] for e in entries(lines)] == ["[1]", "[2]", "[3]", "[4]"]


def test_number_at_start_of_line_is_not_a_label() -> None:
    lines = [
        line("1. Ammar W. Construction of the literature graph.", 1),
        line("2018. Proceedings of NAACL, pages 84–91.", 2),
        line("2. Lo K. S2ORC: the open research corpus. ACL,", 3),
        line("2020. pages 4969–83.", 4),
        line("3. Xiong C. Explicit semantic ranking. 2017.", 5),
    ]
    assert len(entries(lines)) == 3


@pytest.mark.parametrize(("first", "rest"), [(50.0, 62.0), (62.0, 50.0), (50.0, 50.0)])
def test_reference_lists_without_labels_are_split(first: float, rest: float) -> None:
    """The lists have hanging indents, indented first lines, or neither."""
    printed = [
        (
            "Ammar, W., & Groeneveld, D. (2018). Construction of the literature",
            "graph in Semantic Scholar. NAACL, 84–91.",
        ),
        ("Lo, K., & Wang, L. L. (2020). S2ORC: The Semantic Scholar open", "research corpus. ACL, 4969–4983."),
        ("Weihs, L., & Etzioni, O. (2017). Learning to predict citation-based", "impact measures. JCDL, 1–10."),
        (
            "Xiong, C. (2017). Explicit semantic ranking for academic search",
            "via knowledge graph embedding. WWW, 1271–1279.",
        ),
    ]
    lines = [line(text, 2 * i + k, (first, rest)[k]) for i, pair in enumerate(printed) for k, text in enumerate(pair)]
    assert entries(lines) == [" ".join(pair) for pair in printed]


@pytest.mark.parametrize("set_in", [0.0, 12.0], ids=["no indent", "hanging"])
def test_entries_with_unknown_author_forms_are_split(set_in: float) -> None:
    """The entries begin without labels or initials; a CRF finds their boundaries."""
    printed = [
        ("World Health Organization. Global report on litter", "and its dwellers. Geneva: WHO Press; 2018."),
        ("Ammar W, Groeneveld D. Construction of the literature", "graph in Semantic Scholar. 2018;3:84–91."),
        ("European Food Safety Authority. Guidance on beetles", "in stored grain. EFSA Journal. 2019;17:5640."),
        ("Lo K, Wang LL. The open research corpus that", "everybody reads. J Data. 2020;1:4969–83."),
        ("Xiong C. Explicit semantic ranking for academic", "search. Inf Retr. 2017;12:4–19."),
    ]
    lines = [line(text, 2 * i + k, 50.0 + k * set_in) for i, pair in enumerate(printed) for k, text in enumerate(pair)]
    assert entries(lines) == [" ".join(pair) for pair in printed]


def test_line_out_of_order_continues_entry_without_year() -> None:
    """A book title at the start of a line looks like a name (`Medicinal and`)."""
    names = [
        "Adams",
        "Bruneton",
        "Cardile",
        "Deans",
        "Eloff",
        "Fellah",
        "Hadri",
        "Kim",
        "Li",
        "Mader",
        "Oyaizu",
        "Tepe",
    ]
    said = "AB, Berg CD. What was measured in sage and in thyme. J Essent Oil Res."
    whole = [f"{name} {said} {1910 + i};4:1–9." for i, name in enumerate(names)]
    at = names.index("Li")
    whole[at] = "Li YL, Craker LE. Effect of light on sage and on thyme. In: Proc. Int. Symp."
    printed = [*whole[: at + 1], "Medicinal and Aromatic Plants. Acta Hortic. 1996;426:419–26.", *whole[at + 1 :]]
    whole[at] += " " + printed[at + 1]
    assert entries([line(text, row) for row, text in enumerate(printed, 1)]) == whole


def test_bold_appendix_heading_ends_list() -> None:
    given = [
        "References",
        "Ammar W, Groeneveld D. Construction of the literature graph. NAACL 2018;3:84–91.",
        "Lo K, Wang LL. S2ORC: the Semantic Scholar open research corpus. ACL 2020;1:4969–83.",
        "Veytsman B. acmart: Class for typesetting publications of ACM. Retrieved May 27, 2017.",
        "A RESEARCH METHODS",
        "We sampled three forests over two summers and measured what could be measured without harm.",
    ]
    lines = [line(text, row) for row, text in enumerate(given)]
    bold = replace(FONT, family="times,bold", bold=True)
    lines[4].tokens = [replace(token, font=bold) for token in lines[4].tokens]
    labels = {id(x): SegmentLabel.REFERENCE for x in lines[:5]}
    found = references.take_references(Document([Page(1, 600, 800, lines, [])]), labels, measure(lines), Joiner(lines))
    assert [entry.raw for entry in found] == given[1:4]
    assert lines[4].kind is Kind.BODY
