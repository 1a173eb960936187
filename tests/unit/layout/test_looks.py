# ruff: noqa: E501 - sentences as they are set
"""The extractor finds the reference list, the body and the headings of papers in layouts that once failed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import typst
from lxml import etree

from pdf2tei import extract
from tests.unit.layout.conftest import PROSE

NS = {"t": "http://www.tei-c.org/ns/1.0"}
TITLE = "Traits of Beetles Follow the Litter They Live In"
ENTRIES = [
    "J. Wu, K. Williams and C. L. Giles, AI Magazine, 2014, 35, 35–48.",
    "M. van der Sluis and K. Berg, Litter of the north, Ecology, 2015, 12, 1–20.",
    "Weihs L, Etzioni O. Learning to predict citation-based impact measures. J Clin. 2018;4(2):11-19.",
    "Xiong, C. Explicit semantic ranking for academic search. Inf. Retr. 2017, 12, 4–19.",
    "P. Ammar, Traits of predators that hunt in litter, J. Anim. Ecol., 2011, 80, 601–610.",
    "H. G. Horhat and A. Jianu, Beetles and their reference. Oecologia, 2009, 7, 299–305.",
    "S. Walter, The summer in three forests of the south, For. Ecol. Manage., 2016, 3, 44–51.",
    "T. Nakamura, Y. Ito and F. Sato, Arthropods in leaf litter, Ecol. Res., 2012, 27, 9–18.",
    "R. Lopes Martins, Diversity of ground beetles along a gradient, Biodivers. Conserv., 2010, 19, 77–90.",
    "D. Gareth Evans, Measuring what can be measured, Methods Ecol. Evol., 2013, 4, 12–25.",
]
FIRST = ["Wu", "van der Sluis", "Weihs", "Xiong", "Ammar", "Horhat", "Walter", "Nakamura", "Martins", "Evans"]
LABELLED = "\n\n".join(f'#grid(columns: (1.8em, 1fr), [{i}], [#"{e}"])' for i, e in enumerate(ENTRIES, 1))
BARE = "\n\n".join(f'#"{e}"' for e in ENTRIES)
HANGING = "\n\n".join(f'#par(hanging-indent: 1.2em)[#"{e}"]' for e in ENTRIES)
ALONE = "\n\n".join(f'#"[{i}]" #linebreak() #"{e}"' for i, e in enumerate(ENTRIES, 1))
BIG = '#text(size: 12pt, weight: "bold")'


def spread(text: str) -> str:
    """Return a heading with spaces between its letters."""
    return " ".join(text)


@dataclass(frozen=True)
class Look:
    """Properties of a paper: heading and layout of its reference list, additions to its body, text after the list."""

    head: str = f"{BIG}[References]"
    entries: str = LABELLED
    inside: str = ""
    after: str = ""
    columns: int = 2
    heads: str = '#text(size: 12pt, weight: "bold")'
    front: str = f'#text(size: 17pt, weight: "bold")[{TITLE}]\n\n#text(size: 11pt)[Waleed Ammar and Maria van der Lo]'
    text: str = "size: 10pt"


LOOKS = {
    "plain": Look(),
    "square before the head": Look(head=f"{BIG}[■ REFERENCES]"),
    "notes and references": Look(head=f"{BIG}[Notes and references]"),
    "spread head": Look(head=f'#text(size: 9pt)[{spread("REFERENCES")}]'),
    "spanish head": Look(head=f"{BIG}[Referencias bibliográficas]", entries=HANGING),
    "german head": Look(head=f"{BIG}[Literaturverzeichnis]", entries=HANGING, columns=1),
    "russian head": Look(head=f"{BIG}[Список литературы]"),
    "chinese head": Look(head=f"{BIG}[参考文献]"),
    "no head": Look(head="#v(1em)"),
    "unindented, no labels": Look(entries=BARE),
    "label alone on its line": Look(entries=ALONE),
    "small references": Look(entries=f"#set text(size: 7.5pt)\n{LABELLED}"),
    "supplement after the list": Look(after=f"{BIG}[Supplementary material]\n\n{PROSE} {PROSE}\n\n{PROSE}"),
    "appendix after the list": Look(after=f"#pagebreak()\n{BIG}[Appendix A. Further sites]\n\n{PROSE} {PROSE}\n\n{PROSE}"),
    "one column": Look(columns=1, text="size: 11pt"),
    "statements after the list": Look(after=f"{BIG}[Author contributions]\n\nW.A. wrote the paper; M.L. sampled. {PROSE}"),
}  # fmt: skip


def compile_look(look: Look, before: str = "") -> bytes:
    def head(text: str) -> str:
        return f"{look.heads}[{text}]"

    source = f"""{before}
#set page(paper: "a4", columns: {look.columns}, margin: 2cm, numbering: "1")
#set text({look.text}, lang: "en")
#set par(justify: true)
#place(top, scope: "parent", float: true)[{look.front}]
{head("Abstract")}

We relate the traits of beetles to those of the litter. {PROSE}

{head("Introduction")}

{PROSE} Earlier work #"[1,3]" agrees. {PROSE}

{PROSE} {PROSE} Fig. 2 shows that others do not #"[2]". {PROSE}

{look.inside}

{head("Methods")}

{PROSE} {PROSE}

{PROSE} {PROSE}

{head("Results")}

{PROSE} {PROSE} The last sentence of the text stands here.

{look.head}

{look.entries}

{look.after}
"""
    return typst.compile(source.encode(), format="pdf")


def read(pdf: bytes, folder: Path) -> etree._Element:
    (folder / "a.pdf").write_bytes(pdf)
    return etree.fromstring(extract(folder / "a.pdf", timeout=60) or b"<TEI/>")


def list_texts(elements: list[etree._Element]) -> list[str]:
    return [" ".join("".join(e.itertext()).split()) for e in elements]


@pytest.mark.parametrize("name", LOOKS)
def test_reference_list_is_complete(name: str, tmp_path: Path) -> None:
    tei = read(compile_look(LOOKS[name]), tmp_path)
    raws = list_texts(tei.findall(".//t:listBibl/t:biblStruct/t:note", NS))
    assert len(raws) == len(ENTRIES)
    assert all(surname in raw for surname, raw in zip(FIRST, raws, strict=True))
    body = " ".join(list_texts(tei.findall(".//t:body//t:p", NS)))
    assert body.count("The last sentence of the text stands here.") == 1
    assert "Nakamura" not in body
    heads = [h for h in list_texts(tei.findall(".//t:body/t:div/t:head", NS)) if h != "Abstract"]
    assert heads[:3] == ["Introduction", "Methods", "Results"]
    if LOOKS[name].after:
        behind = " ".join(list_texts(tei.findall(".//t:text//t:div/t:p", NS)))
        assert behind.count("Litter-dwelling predators") >= body.count("Litter-dwelling predators")
        assert "Litter-dwelling" not in " ".join(raws)


TABLE = """
#figure(table(columns: 5, stroke: none, table.hline(), [Site], [Beetles], [Litter], [Depth], [pH], table.hline(),
  ..("North", "South", "East", "West", "Hill", "Dale").map(s => ([#s], [12.5], [0.4], [31.2], [6.1])).flatten(), table.hline()),
  caption: [Counts of beetles by site.], kind: table)
"""
BODIES = {
    "a sentence that opens with a figure": (
        f"Fig. 2 shows that the relation differs between sites. {PROSE}\\n\\nTable 1 lists the sites that we sampled. {PROSE}",
        ["Fig. 2 shows that the relation differs", "Table 1 lists the sites that we sampled."], ["Counts of beetles"],
    ),
    "a table": (TABLE, [], ["31.2", "6.1"]),
    "a citation over the line's end": (
        " ".join(f"We agree with what was found before (Xiong et al., 20{i:02}; Berg and Lo, 19{i:02}) in the north." for i in range(20, 60)),
        ["(Xiong et al., 2021; Berg and Lo, 1921)"], [],
    ),
    "a formula": ("$ y_i = alpha + beta x_i + epsilon_i $\\n\\nwhere the symbols have their usual meaning.", ["where the symbols have"], []),
    "a footnote": (f"{PROSE} #footnote[The data are with the authors of this paper and can be asked for.] {PROSE}", [], ["can be asked for"]),
}  # fmt: skip


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("name", BODIES)
def test_body_contains_running_text_only(name: str, columns: int, tmp_path: Path) -> None:
    inside, present, absent = BODIES[name]
    tei = read(compile_look(Look(columns=columns, inside=inside.replace("\\n", "\n"))), tmp_path)
    paragraphs = list_texts(tei.findall(".//t:body/t:div/t:p", NS))
    body = " ".join(paragraphs)
    assert all(text in body for text in present)
    assert not any(text in body for text in absent)
    assert not any(p.endswith(("et al.,", "and Lo,", ";", "(Xiong et al.")) for p in paragraphs)


@pytest.mark.parametrize(
    "heads",
    ['#text(size: 12pt, weight: "bold")', '#text(style: "italic")', '#text(size: 10pt, weight: "bold")',
     "#text(size: 14pt)", "#smallcaps"],
)  # fmt: skip
def test_headings_in_any_font_are_found(heads: str, tmp_path: Path) -> None:
    tei = read(compile_look(Look(heads=heads)), tmp_path)
    found = [h for h in list_texts(tei.findall(".//t:body/t:div/t:head", NS)) if h != "Abstract"]
    assert found == ["Introduction", "Methods", "Results"]


def test_letter_spaced_headings_are_joined(tmp_path: Path) -> None:
    source = compile_look(Look(heads="#sp"), '#let sp(it) = text(size: 9pt)[#it.text.clusters().map(upper).join(" ")]')
    found = [h for h in list_texts(read(source, tmp_path).findall(".//t:body/t:div/t:head", NS)) if h != "ABSTRACT"]
    assert found == ["INTRODUCTION", "METHODS", "RESULTS"]


def test_right_to_left_lines_are_in_reading_order(tmp_path: Path) -> None:
    sentence = "החיפושיות חיות ביער ואוכלות עלים יבשים (Smith 2012) וגם פירות."
    source = f"""
#set page(paper: "a4", margin: 3cm)
#set text(size: 11pt, lang: "he", font: "Libertinus Serif")
#align(center)[#text(size: 17pt, weight: "bold")[תכונות של חיפושיות ביער]]

= מבוא

{sentence} {sentence} {sentence}

{sentence} {sentence} {sentence}
"""
    tei = read(typst.compile(source.encode(), format="pdf"), tmp_path)
    text = " ".join(list_texts([tei]))
    assert tei.findtext(".//t:titleStmt/t:title", namespaces=NS) == "תכונות של חיפושיות ביער"
    assert "ואוכלות עלים יבשים (Smith 2012) וגם פירות." in text
    assert not set(text) & set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e")
