"""Abstracts are read to their end, and footnotes and boilerplate are no abstract."""

from dataclasses import replace
from pathlib import Path

from pdf2tei.front.abstract import find_abstracts
from pdf2tei.front.front_lines import Front, FrontLabel, LineLabel
from pdf2tei.front.unheaded import find_unheaded_abstract
from pdf2tei.pages.measures import Measures
from pdf2tei.pages.model import Line
from tests.unit.pdf2tei.samples import PROSE, ROMAN, Row, all_lines, draw, draw_line, list_texts, read, write_prose

SMALL = replace(ROMAN, size=8.0)
TEXT = Measures(ROMAN.size, ROMAN.family, 300.0)
OPENING = (
    "One of the challenges of defining emergence is that one",
    "observer’s prior knowledge may cause a phenomenon to",
    "present itself as emergent that to another observer",
    "appears reducible. By formalizing the act of observing",
)
CLOSING = (
    "as mutual perturbations between dynamical systems, we",
    "demonstrate that information depends on knowledge.",
)


def label_abstract(lines: list[Line], labeled: list[Line]) -> Front:
    """Return a front of these lines; the header CRF labels some as abstract."""
    certain: dict[str, float] = {label: float(label is FrontLabel.ABSTRACT) for label in FrontLabel}
    return Front(lines, {id(line): LineLabel(FrontLabel.ABSTRACT, certain) for line in labeled})


def test_unheaded_abstract_ends_with_its_paragraph() -> None:
    document = draw([Row(text, SMALL) for text in OPENING + CLOSING] + [Row("During the past decades,", block=True)])
    lines = all_lines(document)
    front = label_abstract(lines[:4], lines[:4])
    assert find_unheaded_abstract(document, front, TEXT) == lines[:6]


def test_unheaded_abstract_begins_on_the_page_before() -> None:
    full = [Row(text, SMALL) for text in (*OPENING[1:], OPENING[0])]
    note = Row("∗ Corresponding author.", SMALL, block=True)
    document = draw([*full, note], [Row(text.casefold(), SMALL) for text in (*OPENING[:3], CLOSING[1])])
    lines = all_lines(document)
    front = label_abstract(lines[5:], lines[5:])
    assert find_unheaded_abstract(document, front, TEXT) == lines[:4] + lines[5:]


def test_unheaded_abstract_is_narrower_than_the_text() -> None:
    document = draw([Row("Santa Fe Institute, Santa Fe, NM, USA"), *(Row(text, block=True) for text in OPENING)])
    lines = all_lines(document)
    front = label_abstract(lines, lines[1:])
    assert find_unheaded_abstract(document, front, replace(TEXT, width=500.0)) == lines[1:]
    assert find_unheaded_abstract(document, front, TEXT) == []


def test_mark_of_an_affiliation_is_no_number_of_an_introduction() -> None:
    raised = replace(ROMAN, raised=True)
    document = draw([Row("place"), *(Row(text, block=True) for text in (*OPENING, *CLOSING))])
    lines = document.pages[0].lines
    lines[0] = draw_line(("1", raised), ("Santa Fe Institute, Santa Fe, NM, USA", ROMAN), y=40.0)
    front = label_abstract(lines, lines[1:])
    assert find_unheaded_abstract(document, front, TEXT) == lines[1:]


def test_footnotes_and_covers_are_no_abstract() -> None:
    foot = [Row(OPENING[0], SMALL, gap=600.0), *(Row(text, SMALL) for text in OPENING[1:])]
    cover = [Row(f"JSTOR is a not-for-profit service. {text}") for text in OPENING]
    for rows in (foot, cover):
        document = draw([*rows, Row("Stable URL: https://www.jstor.org/stable/26", SMALL)] if rows is cover else rows)
        lines = all_lines(document)
        front = label_abstract(lines, lines[:4])
        assert find_unheaded_abstract(document, front, replace(TEXT, width=200.0)) == []


def test_subhead_continues_an_abstract_in_the_next_column() -> None:
    left = ["Abstract: Methods: Subjects were scanned twice.", "Sizes were calculated."]
    right = ["Results: Rate of midbrain atrophy was significantly", "increased in PSP compared with controls."]
    lines = [draw_line((text, SMALL), x=50.0, y=60.0 + 10 * i) for i, text in enumerate(left)]
    lines += [draw_line((text, SMALL), x=320.0, y=60.0 + 10 * i, block=2) for i, text in enumerate(right)]
    assert [x.lines for x in find_abstracts(lines, 0.0)] == [lines]
    lines[2] = draw_line(("Progressive palsy is a devastating disease that", SMALL), x=320.0, y=60.0, block=2)
    assert [x.lines for x in find_abstracts(lines, 0.0)] == [lines[:2]]


def test_abstract_two_pages_after_the_title_page_is_read_over_the_page(tmp_path: Path) -> None:
    cover = "See discussions, stats, and author profiles for this publication at: https://www.researchgate.net/publication/33"
    title = (
        "#text(size: 13pt)[*An Evaluation of the Speech Variant of Palsy*] \\ \\ Jennifer L. Whitwell \\ Mayo Clinic"
    )
    details = "Corresponding author: \\ Jennifer L. Whitwell \\ 200 1st St SW \\ Rochester MN 55905"
    abstract = " ".join(write_prose(n) for n in range(3))
    pages = [cover, title, details, f"#v(20cm)*ABSTRACT* \\ {abstract}", f"= Introduction\n{PROSE} {PROSE}"]
    tei = read("#set text(size: 12pt)\n" + "\n#pagebreak()\n".join(pages), tmp_path)
    assert " ".join(list_texts(tei, ".//t:abstract/t:p")) == abstract
