# ruff: noqa: E501 - pages as they are set
"""The extractor finds front matter, headings, running text and references in papers of many looks, theses and essays."""

from pathlib import Path

import pytest
from lxml import etree

from s2orc_parse.tei.converter import convert, read_header
from tests.unit.pdf2tei.samples import (
    ENTRIES,
    FLOATS,
    HANGING,
    LAST,
    NS,
    PROSE,
    TITLE,
    find_heads,
    join_body,
    list_raws,
    list_texts,
    read,
    read_pdf,
    typeset,
    write_prose,
)
from tests.unit.pdf2tei.typeset import LOOKS

TWICE = f"{PROSE} {PROSE}"
COLUMNS = ["nature", "ieee"]
"""looks with one and two columns"""
PARTS = {
    "title": ".//t:titleStmt/t:title", "surname": ".//t:sourceDesc//t:author//t:surname", "abstract": ".//t:abstract//t:p",
    "head": ".//t:body/t:div/t:head",
}  # fmt: skip
MISREAD = (
    "manuscript, plain", "letter, plain", "medical, plain", "plos, plain", "open, plain", "acs, complete",
    "humanities, complete",
)  # fmt: skip
"""Looks that are read otherwise: line numbers in entries, an affiliation or a square before headings, hyphens that typst writes as
soft hyphens, and marks of notes."""


def bold(size: int, text: str) -> str:
    return f'#text(size: {size}pt, weight: "bold")[{text}]'


def write(page: str, text: str, *paragraphs: str) -> str:
    """Return a typst document with these settings of pages and text."""
    return f"#set page({page})\n#set text({text})\n" + "\n\n".join(paragraphs)


LISTED = "Waleed Ammar, Maria van der Lo, Ana Luzia Ferreira"
RELATE = f"We relate the traits of beetles to the traits of the litter. {PROSE}"
ABSTRACT = f"*Abstract* #linebreak() {RELATE}"
BIG_TITLE = bold(17, TITLE)
FRONTS = {
    "affiliations after the names": [
        f'#align(center)[#text(size: 14pt, weight: "bold")[{TITLE.upper()}]]',
        "#align(center)[#text(size: 12pt)[#emph[Waleed Ammar, Academy of Lagado, Lagado, Balnibarbi #linebreak() Maria van der Lo, Interdependence University, Boston, MA #linebreak() Ana Luzia Ferreira, Lagado University, Balnibarbi]]]",
        ABSTRACT,
    ],
    "names beside the abstract": [
        BIG_TITLE,
        "#text(size: 8pt)[This article was published in the following journal: #linebreak() Journal of Long Walks]",
        f"#grid(columns: (4.5cm, 1fr), column-gutter: 1cm, text(size: 11pt)[Waleed Ammar #linebreak() Maria van der Lo #linebreak() Ana Luzia Ferreira #v(4pt) #text(size: 8pt)[Department of Computing, University of Montreal, Canada]], text(size: 9pt)[*Abstract:* {RELATE}])",
    ],
    "names beside the title": [
        f"#grid(columns: (4.5cm, 1fr), column-gutter: 1cm, text(size: 11pt)[Waleed Ammar #linebreak() Maria van der Lo #linebreak() Ana Luzia Ferreira], [{BIG_TITLE} #v(6pt) {ABSTRACT}])",
    ],
    "a translation under the title": [
        f"#text(size: 17pt)[{TITLE}]",
        '#text(size: 17pt, style: "italic")[La divulgación de información sobre responsabilidad social en los ayuntamientos malagueños]',
        LISTED, ABSTRACT,
    ],
    "a kind of article above the title": [
        '#text(size: 17pt, weight: "bold")[Short Communication]',
        BIG_TITLE, LISTED,
        f"{ABSTRACT} #linebreak() Abbreviations: ACR = American College of Radiology, CMS = Centers for Medicare, ELCAP = Early Lung and Cardiac Action Program, LDCT = low-dose computed tomography, NLST = National Lung Screening Trial.",
    ],
}  # fmt: skip
PAPERS = {look: (look, "") for look in LOOKS if look not in MISREAD}
PAPERS |= {name: ("wolters", "\n\n".join(parts)) for name, parts in FRONTS.items()}


@pytest.mark.parametrize("name", PAPERS)
def test_typeset_paper_is_read_completely(name: str, tmp_path: Path) -> None:
    look, front = PAPERS[name]
    pdf, printed = typeset(look, own_front=front)
    tei = read_pdf(pdf, tmp_path)
    for part, path in PARTS.items():
        assert [text.casefold() for text in list_texts(tei, path)] == [text.casefold() for text in printed[part]]
    numbers = ["1", "1.1", "2", "3"] if LOOKS[look]["heads"] in ("numbered", "bar") else []
    assert tei.xpath(f"{PARTS['head']}/@n", namespaces=NS) == numbers
    assert join_body(tei).replace(" ", "") == "".join(printed["body"]).replace(" ", "").replace("INSIDE", "")
    assert list_raws(tei) == ENTRIES
    assert tei.xpath(".//t:body//t:ref[@type='bibr']/@target", namespaces=NS) == printed["target"]


BODY = "\n\n".join(
    ["= Introduction", f"{TWICE} {PROSE}", TWICE, "= Methods", f"{TWICE} {PROSE}", "= Results", f"{TWICE} {TWICE}", "= References", HANGING]
)  # fmt: skip
HELD = f"{bold(16, TITLE)}\n\n{LISTED}"
FOUND = write_prose(0)
CENTERED = (
    f"#align(center)[{HELD}]\n\n#align(center)[*Abstract*]\n#block(inset: (x: 1cm))[#set text(size: 9pt); #h(1em)"
)
IMPRINT = (
    "This is a preprint of an article to be published in the Journal. Copyright #linebreak() © 2009 Its Publisher."
)
BROKEN = {
    "under a centered head, with a line of imprint": f"{CENTERED}{IMPRINT} {FOUND}]",
    "over the page, in smaller type": f"#align(center)[{HELD}]\n#v(19.5cm)\n#text(size: 8.5pt)[*Abstract*\\ {FOUND}]",
    "over both columns": f"""#set page(columns: 2)
#place(top + center, scope: "parent", float: true)[{HELD} #columns(2)[#text(size: 9pt)[*Abstract.* {FOUND}]]]""",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_abstract_is_complete(name: str, tmp_path: Path) -> None:
    tei = read(write('paper: "a4", numbering: "1"', "size: 10pt", BROKEN[name], BODY), tmp_path)
    found = " ".join(list_texts(tei, ".//t:abstract/t:p"))
    assert FOUND in found
    assert found.replace(FOUND, "").strip() in ("", IMPRINT.replace(" #linebreak()", ""))


PORTUGUESE = (
    "Este trabalho estuda como mudaram as formas de convivência dos besouros desde o fim do verão. As fontes raramente oferecem "
    "dados claros sobre os motivos das pessoas envolvidas. No entanto, a população do campo ficou à margem dessas mudanças."
)


@pytest.mark.parametrize("between", ["", "#pagebreak()"], ids=["one page", "two pages"])
def test_abstract_in_another_language_is_kept(between: str, tmp_path: Path) -> None:
    front = HELD, "*Abstract*", FOUND, between, "*Resumo*", PORTUGUESE, "#pagebreak()"
    tei = read(write('paper: "a4", numbering: "1"', "size: 10pt", *front, BODY), tmp_path)
    found = tei.findall(".//{*}profileDesc/{*}abstract")
    languages = [x.get("{http://www.w3.org/XML/1998/namespace}lang") for x in found]
    assert languages == [None, "pt"]
    assert [" ".join("".join(x.itertext()).split()) for x in found] == [FOUND, PORTUGUESE]
    assert [p.text for p in convert(etree.tostring(tei), file_sha1="").abstract] == [FOUND]


def test_citations_in_abstract_and_notes_are_linked(tmp_path: Path) -> None:
    """A callout begins with the first name, not with `See` or `Like`."""
    cited = "Like Xiong (2017), we count beetles (Ammar, 2011)."
    note = "#footnote[See Walter (2016) and others of the south.]"
    text = f"= Introduction\n{PROSE} We agree with Nakamura (2012) and Xiong (2017).{note} {TWICE}"
    source = write('paper: "a4"', "size: 10pt", HELD, "*Abstract*", f"{FOUND} {cited}", text, BODY)
    tei = read(source, tmp_path)
    links = {
        path: [(e.text, e.get("target")) for e in tei.iterfind(f".//{{*}}{path}//{{*}}ref[@type='bibr']")]
        for path in ("abstract", "note")
    }
    assert links == {"abstract": [("Xiong (2017)", "#b3"), ("Ammar, 2011)", "#b4")], "note": [("Walter (2016)", "#b6")]}


def test_double_spaced_title_is_complete_and_has_no_mark_of_a_note(tmp_path: Path) -> None:
    title = "#set par(leading: 1.5em)\n#text(size: 17pt)[Bias in the published counts of beetles from gaps in the litter archive \u2217]"
    page = f"#set page(margin: 4cm)\n#align(center)[{title}]\n\n#align(center)[Alvise de’ Faveri Tron \\ Politecnico di Milano]\n\n= Abstract\n{PROSE}"
    tei = read(f"{page}\n\n= Introduction\n{PROSE} {PROSE}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [
        "Bias in the published counts of beetles from gaps in the litter archive"
    ]
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Tron"]


def test_article_kind_is_the_title_if_names_follow(tmp_path: Path) -> None:
    front = f"#align(center)[{bold(16, 'Editorial')}]", "#align(center)[Ana Luzia Ferreira]"
    tei = read(write('paper: "a4"', "size: 10pt", *front, BODY), tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == ["Editorial"]
    assert list_texts(tei, PARTS["surname"]) == ["Ferreira"]


PLACES = ["Department of Beetles, University of Montreal, Canada", "Institute of Litter, Berlin, Germany"]
MARKED = " #linebreak() ".join(f"#super(typographic: false)[{n}]{place}" for n, place in enumerate(PLACES, 1))
MARKS = "Waleed Ammar#super(typographic: false)[1,2], Maria van der Lo#super(typographic: false)[2,\\*]"


@pytest.mark.parametrize(
    ("names", "places", "expected"),
    [
        (MARKS, f"#text(size: 8pt)[{MARKED}]", {"Ammar": PLACES, "Lo": PLACES[1:]}),
        ("Waleed Ammar, Maria van der Lo", f"#align(center)[#emph[{PLACES[1]}]]", {"Ammar": PLACES[1:], "Lo": PLACES[1:]}),
    ],
    ids=["marks", "one for all"],
)  # fmt: skip
def test_affiliations_belong_to_authors_with_their_marks(
    names: str, places: str, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    front = f"#align(center)[{BIG_TITLE}]", f"#align(center)[{names}]", places, ABSTRACT
    tei = read(write('paper: "a4", numbering: "1"', "size: 10pt", *front, BODY), tmp_path)
    authors = read_header(tei.find("{*}teiHeader")).authors
    assert {a.last.split()[-1]: [place.name for place in a.affiliations] for a in authors} == expected


SPACED = "#set par(spacing: 1.2em)\n\n"


@pytest.mark.parametrize("look", COLUMNS)
def test_paragraph_does_not_end_inside_a_citation(look: str, tmp_path: Path) -> None:
    inside = " ".join(
        f"We agree with them (Xiong et al., 20{i}; Berg and Lo, 19{i}) in the north." for i in range(20, 60)
    )
    paragraphs = list_texts(read_pdf(typeset(look, SPACED + inside)[0], tmp_path), ".//t:body/t:div/t:p")
    assert "(Xiong et al., 2021; Berg and Lo, 1921)" in " ".join(paragraphs)
    assert not any(p.endswith(("et al.,", "and Lo,", ";", "(Xiong et al.")) for p in paragraphs)


@pytest.mark.parametrize("look", COLUMNS)
def test_floats_notes_and_formulas_are_read(look: str, tmp_path: Path) -> None:
    tei = read_pdf(typeset(look, SPACED + FLOATS)[0], tmp_path)
    body = join_body(tei)
    assert "where the symbols have" in body
    assert not any(text in body for text in ("axis label", "North", "The data are with", "Counts by site"))
    captions = ["The traits of beetles against those of the litter.", "Counts by site."]
    assert list_texts(tei, ".//t:figure/t:figDesc") == captions
    assert tei.xpath(".//t:figure/@xml:id", namespaces=NS) == ["fig_0", "tab_0"]
    cells = ["Site", "Beetles", "Litter", "North", "12", "0.4", "South", "31", "0.9"]
    assert list_texts(tei, ".//t:figure[@type='table']/t:table/t:row[count(t:cell)=3]/t:cell") == cells
    assert len(list_texts(tei, ".//t:body//t:formula")) == 1
    assert any("The data are with the authors." in note for note in list_texts(tei, ".//t:note[@place='foot']"))
    assert tei.xpath(".//t:p/t:ref[@type='figure']/@target", namespaces=NS) == ["#fig_0"]


@pytest.mark.parametrize(
    "after",
    [
        f"{bold(12, 'Supplementary material')}\n\n{TWICE}\n\n{PROSE}",
        f"{bold(8, 'Author contributions')}\n\n#text(size: 8pt)[W.A. wrote the paper; M.L. sampled. {TWICE}]",
    ],
    ids=["supplement", "statements"],
)
def test_text_after_the_list_is_no_entry(after: str, tmp_path: Path) -> None:
    tei = read_pdf(typeset("wolters", after=after)[0], tmp_path)
    assert list_raws(tei) == ENTRIES
    assert join_body(tei).count(LAST) == 1
    found = " ".join(list_texts(tei, ".//t:text//t:div/t:p")).count("Litter-dwelling predators")
    assert found == 1 + after.count("Litter-dwelling predators")


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


@pytest.mark.parametrize("between", ["#box(width: 1fr, repeat[.])", "#h(1fr)"], ids=["leaders", "space"])
def test_thesis_is_extracted(between: str, tmp_path: Path) -> None:
    """Chapter titles below their numbers are headings. The table of contents is no text."""
    listed = [("1", "Introduction", 1), ("1.1", "Aims", 2), ("2", "Methods", 3), ("3", "Results", 4), ("", "Bibliography", 5)]  # fmt: skip
    contents = [f"{number} #h(4pt) {title} {between} {page}" for number, title, page in listed]
    aims = f"{bold(14, '1.1 #h(6pt) Aims')}\n\n{TWICE}"
    texts = {"Introduction": f"{TWICE}\n\n{aims}", "Methods": TWICE, "Results": f"{TWICE} {LAST}"}
    chapters = [
        f"{bold(20, f'Chapter {i}')}\n\n{bold(24, head)}\n\n{TWICE}\n\n{text}\n#pagebreak()"
        for i, (head, text) in enumerate(texts.items(), 1)
    ]
    source = write(
        'paper: "a4", margin: 3cm, numbering: "1", header: context if counter(page).get().first() > 2 [#emph[Traits of beetles] #h(1fr) W. Ammar]',
        'size: 12pt, lang: "en"',
        "#set par(justify: true, leading: 0.9em)",
        f"#align(center)[UNIVERSITY OF MONTREAL #v(3cm) {bold(24, TITLE)} #v(2cm) by #v(5mm) #text(size: 14pt)[Waleed Ammar] #v(2cm)"
        " A thesis submitted in partial fulfilment of the requirements for the degree of Doctor of Philosophy #v(2cm) May 2017]\n#pagebreak()",
        bold(20, "Abstract"), PROSE + "\n#pagebreak()", bold(20, "Contents"), *contents, "#pagebreak()",
        *chapters, bold(24, "Bibliography"), HANGING,
    )  # fmt: skip
    tei = read(source, tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [TITLE]
    assert list_texts(tei, ".//t:sourceDesc//t:author//t:surname") == ["Ammar"]
    assert [head for head in find_heads(tei) if head != "Abstract"] == ["Introduction", "Aims", "Methods", "Results"]
    assert "Contents" not in join_body(tei) and "...." not in join_body(tei)
    assert join_body(tei).count(LAST) == 1
    assert len(list_raws(tei)) == len(ENTRIES)


def test_essay_with_citations_in_footnotes_is_extracted(tmp_path: Path) -> None:
    """It has no abstract and no affiliation. Its footnotes look like references, but are no text and no entries."""
    places = ["Naples", "Ulm", "Ghent", "Delft", "Rome", "Turin", "Bruges", "Lyon"] * 2
    notes = [
        f"Jane Harris, The Beetles of {place} (Oxford: Oxford University Press, 19{60 + i}), {i + 3}–{i + 9}."
        for i, place in enumerate(places)
    ]
    text = [f"{PROSE} So it was in the old books.#footnote[{note}] {TWICE}" for note in notes]
    source = write(
        'paper: "a5", margin: 2cm, numbering: "1", header: context if counter(page).get().first() > 1 '
        "[#align(center)[#text(size: 8pt)[The Beetles of the Old Books]]]",
        'size: 11pt, lang: "en"',
        "#set par(justify: true, first-line-indent: 1em)",
        "#align(center)[#text(size: 16pt)[The Beetles of the Old Books: a History]\n\n#text(size: 11pt)[#smallcaps[Waleed Ammar]]]\n#v(1cm)",
        *text, LAST,
    )  # fmt: skip
    tei = read(source, tmp_path)
    assert list_texts(tei, ".//t:abstract//t:p | .//t:affiliation") == []
    assert join_body(tei).count("So it was in the old books.") == len(notes)
    assert "University Press" not in join_body(tei)
    assert len(list_texts(tei, ".//t:note[@place='foot']")) == len(notes)
    assert list_raws(tei) == []
