# ruff: noqa: E501 - pages as they are set
"""The extractor finds the list, the body and the headings of papers, slides, theses and essays in many layouts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.pdf2tei.samples import (
    ENTRIES,
    HANGING,
    LABELED,
    PROSE,
    SURNAMES,
    TITLE,
    find_heads,
    join_body,
    list_raws,
    list_texts,
    read,
)

BARE = "\n\n".join(f'#"{e}"' for e in ENTRIES)
ALONE = "\n\n".join(f'#"[{i}]" #linebreak() #"{e}"' for i, e in enumerate(ENTRIES, 1))
TWICE = f"{PROSE} {PROSE}"
RELATE = f"We relate the traits of beetles to the traits of the litter. {PROSE}"
AUTHORS = "#text(size: 11pt)[Waleed Ammar and Maria van der Lo]"
LAST = "The last sentence of the text stands here."


def bold(size: int, text: str) -> str:
    return f'#text(size: {size}pt, weight: "bold")[{text}]'


@dataclass(frozen=True)
class Look:
    """Properties of a paper: heading and layout of its reference list, additions to its body, text after the list."""

    head: str = bold(12, "References")
    entries: str = LABELED
    inside: str = ""
    after: str = ""
    columns: int = 2
    heads: str = '#text(size: 12pt, weight: "bold")'
    text: str = "size: 10pt"


LOOKS = {
    "square before the head": Look(head=bold(12, "■ REFERENCES")),
    "notes and references": Look(head=bold(12, "Notes and references")),
    "spread head": Look(head=f"#text(size: 9pt)[{' '.join('REFERENCES')}]"),
    "german head": Look(head=bold(12, "Literaturverzeichnis"), entries=HANGING, columns=1),
    "chinese head": Look(head=bold(12, "参考文献")),
    "no head": Look(head="#v(1em)"),
    "unindented, no labels": Look(entries=BARE),
    "label alone on its line": Look(entries=ALONE),
    "small references": Look(entries=f"#set text(size: 7.5pt)\n{LABELED}"),
    "supplement after the list": Look(after=f"{bold(12, 'Supplementary material')}\n\n{PROSE} {PROSE}\n\n{PROSE}"),
    "appendix after the list": Look(after=f"#pagebreak()\n{bold(12, 'Appendix A. Further sites')}\n\n{PROSE} {PROSE}\n\n{PROSE}"),
    "one column": Look(columns=1, text="size: 11pt"),
    "statements after the list": Look(after=f"{bold(8, 'Author contributions')}\n\n#text(size: 8pt)[W.A. wrote the paper; M.L. sampled. {TWICE}]"),
}  # fmt: skip


def write(page: str, text: str, *paragraphs: str) -> str:
    """Return a typst document with these settings of pages and text."""
    return f"#set page({page})\n#set text({text})\n" + "\n\n".join(paragraphs)


def write_look(look: Look, before: str = "") -> str:
    """Return the typst source of a paper with a look."""
    abstract, introduction, methods, results = (
        f"{look.heads}[{x}]" for x in ("Abstract", "Introduction", "Methods", "Results")
    )
    return write(
        f'paper: "a4", columns: {look.columns}, margin: 2cm, numbering: "1"',
        f'{look.text}, lang: "en"',
        f"{before}\n#set par(justify: true)",
        f'#place(top, scope: "parent", float: true)[{bold(17, TITLE)}\n\n{AUTHORS}]',
        abstract, RELATE, introduction, f'{PROSE} Earlier work #"[1,3]" agrees. {PROSE}',
        f'{PROSE} {PROSE} Fig. 2 shows that others do not #"[2]". {PROSE}', look.inside,
        methods, TWICE, TWICE, results, f"{TWICE} {LAST}", look.head, look.entries, look.after,
    )  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
def test_reference_list_is_complete(name: str, tmp_path: Path) -> None:
    tei = read(write_look(LOOKS[name]), tmp_path)
    raws, body = list_raws(tei), join_body(tei)
    assert len(raws) == len(ENTRIES)
    assert all(surname in raw for surname, raw in zip(SURNAMES, raws, strict=True))
    assert list_texts(tei, ".//t:listBibl//t:publisher | .//t:listBibl//t:pubPlace") == ["Springer", "Berlin"]
    assert body.count(LAST) == 1 and "Nakamura" not in body
    assert find_heads(tei)[:3] == ["Introduction", "Methods", "Results"]
    if LOOKS[name].after:
        behind = " ".join(list_texts(tei, ".//t:text//t:div/t:p"))
        assert behind.count("Litter-dwelling predators") >= body.count("Litter-dwelling predators")
        assert "Litter-dwelling" not in " ".join(raws)


TABLE = """
#figure(table(columns: 5, stroke: none, table.hline(), [Site], [Beetles], [Litter], [Depth], [pH], table.hline(),
  ..("North", "South", "East", "West", "Hill", "Dale").map(s => ([#s], [12.5], [0.4], [31.2], [6.1])).flatten(), table.hline()),
  caption: [Counts of beetles by site.], kind: table)
"""
CODE = """R> library(zoo)
Loading required package forecast, attaching what follows
R> zr1 <- as.zoo(window(series, start = first))
2004-02-02  1.2554339  0.6815732 -0.6329205
2004-02-08 -0.2391494  2.0049854 -2.1273432
2004-02-09 -2.1137718  1.1316925 -1.5000035
Number of Fisher Scoring iterations: 5
Coefficients with Estimate Std. Error z value
R> plot(frequency, aggregate, median, coredata)"""
MONO = '#text(font: "DejaVu Sans Mono", size: 8pt, style: "italic")'
BODIES = {
    "code and its output": ("\n\n".join(f'{MONO}[#"{line}"]' for line in CODE.split("\n")), ["Loading required package forecast"], []),
    "a sentence that opens with a figure": (
        f"Fig. 2 shows that the relation differs between sites. {PROSE}\n\nTable 1 lists the sites that we sampled. {PROSE}",
        ["Fig. 2 shows that the relation differs", "Table 1 lists the sites that we sampled."], ["Counts of beetles"],
    ),
    "a table": (TABLE, [], ["31.2", "6.1"]),
    "a citation over the line's end": (
        " ".join(f"We agree with what was found before (Xiong et al., 20{i:02}; Berg and Lo, 19{i:02}) in the north." for i in range(20, 60)),
        ["(Xiong et al., 2021; Berg and Lo, 1921)"], [],
    ),
    "a formula": ("$ y_i = alpha + beta x_i + epsilon_i $\n\nwhere the symbols have their usual meaning.", ["where the symbols have"], []),
    "a footnote": (f"{PROSE} #footnote[The data are with the authors of this paper on request.] {PROSE}", [], ["on request"]),
}  # fmt: skip


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("name", BODIES)
def test_body_contains_running_text_only(name: str, columns: int, tmp_path: Path) -> None:
    inside, present, absent = BODIES[name]
    tei = read(write_look(Look(columns=columns, inside=inside)), tmp_path)
    paragraphs = list_texts(tei, ".//t:body/t:div/t:p")
    body = " ".join(paragraphs)
    assert all(text in body for text in present)
    assert not any(text in body for text in absent)
    assert not any(p.endswith(("et al.,", "and Lo,", ";", "(Xiong et al.")) for p in paragraphs)


@pytest.mark.parametrize(
    ("heads", "before"),
    [
        ('#text(style: "italic")', ""),
        ('#text(size: 10pt, weight: "bold")', ""),
        ("#text(size: 14pt)", ""),
        ("#smallcaps", ""),
        ("#spread", '#let spread(it) = text(size: 9pt)[#it.text.clusters().map(upper).join(" ")]'),
    ],
)
def test_headings_in_any_font_are_found(heads: str, before: str, tmp_path: Path) -> None:
    found = find_heads(read(write_look(Look(heads=heads), before), tmp_path))
    assert [head.capitalize() for head in found] == ["Introduction", "Methods", "Results"]


def test_right_to_left_lines_are_in_reading_order(tmp_path: Path) -> None:
    sentence = "החיפושיות חיות ביער ואוכלות עלים יבשים (Smith 2012) וגם פירות."
    paragraph = f"{sentence} {sentence} {sentence}"
    title = '#align(center)[#text(size: 17pt, weight: "bold")[תכונות של חיפושיות ביער]]'
    settings = 'paper: "a4", margin: 3cm', 'size: 11pt, lang: "he", font: "Libertinus Serif"'
    tei = read(write(*settings, title, "= מבוא", paragraph, paragraph), tmp_path)
    text = " ".join(list_texts(tei, "."))
    assert list_texts(tei, ".//t:titleStmt/t:title") == ["תכונות של חיפושיות ביער"]
    assert "ואוכלות עלים יבשים (Smith 2012) וגם פירות." in text
    assert not set(text) & set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e")


POINTS = {
    "Introduction": ["Litter-dwelling predators follow their prey", "Prey follow the litter", "Nobody measured both"],
    "Methods": ["Three forests, two summers", "Pitfall traps, every second week"],
    "Results": ["The relation differed between sites", "Its direction never did"],
    "Discussion": ["Traits help to foresee what lives where", "More sites are needed"],
}


def test_slides_are_extracted(tmp_path: Path) -> None:
    slides = [
        bold(30, head) + "\n\n" + "\n".join(f"- {x}" for x in points) + "\n#pagebreak()"
        for head, points in POINTS.items()
    ]
    source = write(
        "width: 25.4cm, height: 14.3cm, margin: 1.5cm, footer: context align(right)[#text(size: 10pt)[#counter(page).get().first()]]",
        'size: 20pt, font: "DejaVu Sans Mono"',
        f"#align(center + horizon)[{bold(34, TITLE)}\n\n#text(size: 18pt)[Waleed Ammar and Maria van der Lo]",
        "#text(size: 14pt)[University of Montreal]]\n#pagebreak()",
        *slides, bold(30, "References"), "#set text(size: 13pt)", LABELED,
    )  # fmt: skip
    tei = read(source, tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [TITLE]
    assert list_texts(tei, ".//t:sourceDesc//t:author//t:surname") == ["Ammar", "van der Lo"]
    assert find_heads(tei) == list(POINTS)
    assert all(point in join_body(tei) for points in POINTS.values() for point in points)
    assert len(list_raws(tei)) == len(ENTRIES)


@pytest.mark.parametrize("between", ["#box(width: 1fr, repeat[.])", "#h(1fr)"], ids=["leaders", "space"])
def test_thesis_is_extracted(between: str, tmp_path: Path) -> None:
    """Chapter titles below their numbers are headings. The table of contents is no text."""
    listed = [("1", "Introduction", 1), ("1.1", "Aims", 2), ("2", "Methods", 3), ("3", "Results", 4), ("", "Bibliography", 5)]  # fmt: skip
    contents = [f"{number} #h(4pt) {title} {between} {page}" for number, title, page in listed]
    aims = bold(14, "1.1 #h(6pt) Aims")
    chapters = [
        part
        for i, head in enumerate(("Introduction", "Methods", "Results"), 1)
        for part in (
            bold(20, f"Chapter {i}"),
            bold(24, head),
            TWICE,
            aims if i == 1 else "",
            f"{TWICE} {LAST if i == 3 else ''}",
            "#pagebreak()",
        )
    ]
    source = write(
        'paper: "a4", margin: 3cm, numbering: "1", header: context if counter(page).get().first() > 2 [#emph[Traits of beetles] #h(1fr) W. Ammar]',
        'size: 12pt, lang: "en"',
        "#set par(justify: true, leading: 0.9em)",
        f"#align(center)[UNIVERSITY OF MONTREAL #v(3cm) {bold(24, TITLE)} #v(2cm) by #v(5mm) #text(size: 14pt)[Waleed Ammar] #v(2cm)"
        " A thesis submitted in partial fulfilment of the requirements for the degree of Doctor of Philosophy #v(2cm) May 2017]\n#pagebreak()",
        bold(20, "Abstract"), RELATE + "\n#pagebreak()", bold(20, "Contents"), *contents, "#pagebreak()",
        *chapters, bold(24, "Bibliography"), HANGING,
    )  # fmt: skip
    tei = read(source, tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [TITLE]
    assert list_texts(tei, ".//t:sourceDesc//t:author//t:surname") == ["Ammar"]
    assert find_heads(tei) == ["Introduction", "Aims", "Methods", "Results"]
    assert "Contents" not in join_body(tei) and "...." not in join_body(tei)
    assert join_body(tei).count(LAST) == 1
    assert len(list_raws(tei)) == len(ENTRIES)


NOTES = [
    f"Jane Harris, The Beetles of {place} (Oxford: Oxford University Press, 19{60 + i}), {i + 3}–{i + 9}."
    for i, place in enumerate(["Naples", "Ulm", "Ghent", "Delft", "Rome", "Turin", "Bruges", "Lyon"] * 2)
]


@pytest.mark.parametrize("listed", ["", f"#v(1em)\n{bold(12, 'Bibliography')}\n\n{HANGING}"], ids=["no list", "a list"])
def test_essay_with_citations_in_footnotes_is_extracted(listed: str, tmp_path: Path) -> None:
    """It has no abstract and no affiliation. Its footnotes look like references, but are no text and no entries."""
    text = [f"{PROSE} So it was in the old books.#footnote[{note}] {TWICE}" for note in NOTES]
    source = write(
        'paper: "a5", margin: 2cm, numbering: "1", header: context if counter(page).get().first() > 1 '
        "[#align(center)[#text(size: 8pt)[The Beetles of the Old Books]]]",
        'size: 11pt, lang: "en"',
        "#set par(justify: true, first-line-indent: 1em)",
        "#align(center)[#text(size: 16pt)[The Beetles of the Old Books: a History]\n\n#text(size: 11pt)[#smallcaps[Waleed Ammar]]]\n#v(1cm)",
        *text, LAST, listed,
    )  # fmt: skip
    tei = read(source, tmp_path)
    assert list_texts(tei, ".//t:abstract//t:p | .//t:affiliation") == []
    assert join_body(tei).count("So it was in the old books.") == len(NOTES)
    assert "University Press" not in join_body(tei)
    assert len(list_texts(tei, ".//t:note[@place='foot']")) == len(NOTES)
    assert len(list_raws(tei)) == (len(ENTRIES) if listed else 0)


@pytest.mark.parametrize("count", [4, 6, len(ENTRIES)])
@pytest.mark.parametrize("entries", [LABELED, HANGING], ids=["labels", "indents"])
def test_narrow_column_gaps_are_found(entries: str, count: int, tmp_path: Path) -> None:
    """The second column may contain only a few lines of the list."""
    listed = "\n\n".join(entries.split("\n\n")[:count])
    source = write(
        'paper: "a4", margin: 2cm, columns: 2',
        'size: 10pt, lang: "en"',
        "#set par(justify: true)",
        f'#place(top, scope: "parent", float: true)[{bold(17, TITLE)}]',
        bold(12, "Introduction"), f"{TWICE} {TWICE}", bold(12, "Results"), f"{TWICE} {TWICE} {LAST}", bold(12, "References"), listed,
    )  # fmt: skip
    source = "#set columns(gutter: 8pt)\n" + source
    tei = read(source, tmp_path)
    assert find_heads(tei) == ["Introduction", "Results"]
    assert join_body(tei).count("Litter-dwelling predators") == 8
    assert join_body(tei).count(LAST) == 1
    assert len(list_raws(tei)) == count
