"""Write a sample paper as its publisher's file: JATS, or Elsevier's open access JSON."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

from devtools.sample import formats, sources
from devtools.sample.model import Equation, Figure, Paper, SectionHead, TableBlock
from devtools.sample.prose import InlineCite, Paragraph
from devtools.sample.typeset import callout

_SENTENCE = re.compile(r"\S.*?(?:\.(?= [A-Z])|$)", re.DOTALL)


def jats(paper: Paper, license: str) -> bytes:
    """Return the article in JATS, under the license (an SPDX id of Creative Commons); every citation is an `xref`."""
    article = ElementTree.Element("article", {"xmlns:xlink": "http://www.w3.org/1999/xlink"})
    formats.front(article, sources.jats(paper, abstract=paper.abstract, license=license))
    body, back = formats.add(article, "body"), formats.add(article, "back")
    open_: list[ElementTree.Element] = []  # the sections around the next block, outermost first
    for block in paper.blocks:
        if isinstance(block, SectionHead):
            del open_[block.level - 1 :]
            section = formats.add(open_[-1] if open_ else body, "sec")
            if block.num:
                formats.add(section, "label", block.num)
            formats.add(section, "title", block.text)
            open_.append(section)
            continue
        parent = open_[-1] if open_ else body
        match block:
            case Equation():
                formats.add(formats.add(parent, "disp-formula"), "tex-math", "S(a, b) = \\frac{2 J C}{J + C}")
            case Figure() | TableBlock():
                tag = "fig" if isinstance(block, Figure) else "table-wrap"
                floating = formats.add(parent, tag, id=f"{tag}{block.num}")
                formats.add(floating, "label", f"{'Figure' if tag == 'fig' else 'Table'} {block.num}")
                formats.add(formats.add(floating, "caption"), "p", block.caption)
            case list():
                _paragraph(parent, paper, block)
    thanks = formats.add(back, "ack") if paper.back_matter else back
    for block in paper.back_matter:
        if isinstance(block, SectionHead):
            formats.add(thanks, "title", block.text)
        elif isinstance(block, list):
            _paragraph(thanks, paper, block)
    _references(back, paper)
    return bytes(ElementTree.tostring(article, "utf-8", xml_declaration=True)) + b"\n"


def _paragraph(parent: ElementTree.Element, paper: Paper, paragraph: Paragraph) -> None:
    p = formats.add(parent, "p")
    last: ElementTree.Element | None = None
    for run in paragraph:
        text = _printed(paper, run) if isinstance(run, InlineCite) else run
        if isinstance(run, InlineCite):
            space, text = text[: len(text) - len(text.lstrip())], text.lstrip()
            _append(p, last, space)
            last = formats.add(
                p, "xref", text, **{"ref-type": "bibr", "rid": " ".join(f"r{i}" for i in sorted(run.refs))}
            )
        else:
            _append(p, last, text)


def _append(p: ElementTree.Element, last: ElementTree.Element | None, text: str) -> None:
    if last is None:
        p.text = (p.text or "") + text
    else:
        last.tail = (last.tail or "") + text


def _references(back: ElementTree.Element, paper: Paper) -> None:
    listed = formats.add(back, "ref-list")
    for i, entry in enumerate(paper.references):
        ref = formats.add(listed, "ref", id=f"r{i}")
        kind = "journal" if entry.is_journal else "confproc"
        cited = formats.add(ref, "element-citation", **{"publication-type": kind})
        people = formats.add(cited, "person-group", **{"person-group-type": "author"})
        for author in entry.authors:
            name = formats.add(people, "name")
            formats.add(name, "surname", author.last)
            formats.add(name, "given-names", author.initials)
        formats.add(cited, "article-title", entry.title)
        formats.add(cited, "source", entry.source)
        formats.add(cited, "year", str(entry.year))
        formats.add(cited, "volume", str(entry.volume))
        if entry.doi:
            formats.add(cited, "pub-id", entry.doi, **{"pub-id-type": "doi"})


def elsevier(paper: Paper) -> bytes:
    """Return the article in the format of Kershaw and Koeling 2020, §3.2.

    It contains sentences with their sections, and no figures, tables or equations.
    """
    authors = [{"first": " ".join((a.first, *a.middle)), "last": a.last, "suffix": a.suffix} for a in paper.authors]
    entries = {
        f"b{i}": {
            "title": entry.title, "pub_year": entry.year, "source_title": entry.source, "volume": str(entry.volume), "doi": entry.doi,
            "authors": [{"initial": a.initials, "last": a.last} for a in entry.authors],
        }
        for i, entry in enumerate(paper.references)
    }  # fmt: skip
    sentences = []
    heads: list[SectionHead] = []
    number = at = 0
    for block in paper.blocks:
        if isinstance(block, SectionHead):
            del heads[block.level - 1 :]
            heads.append(block)
            number += 1
        elif isinstance(block, list):
            text, marks = _text(paper, block)
            for match in _SENTENCE.finditer(text):
                start, end = match.span()
                refs = {
                    f"b{i}": {"startOffset": a - start, "endOffset": b - start}
                    for a, b, cite in marks
                    for i in sorted(cite.refs)
                    if start <= a < b <= end
                }
                sentences.append(
                    {
                        "sentence": text[start:end], "startOffset": at + start, "endOffset": at + end, "secId": f"s{number}",
                        "title": heads[-1].text if heads else "", "parents": [{"title": h.text} for h in heads[:-1]], "refoffsets": refs,
                    }
                )  # fmt: skip
            at += len(text) + 1
    metadata = {
        "title": paper.title, "authors": authors, "pub_year": paper.year, "doi": paper.doi,
        "source_title": paper.journal, "openaccess": "Full",
    }  # fmt: skip
    article = {
        "docId": f"S{paper.key}", "metadata": metadata, "abstract": paper.abstract, "bib_entries": entries, "body_text": sentences,
    }  # fmt: skip
    return json.dumps(article, ensure_ascii=False).encode() + b"\n"


def _text(paper: Paper, paragraph: Paragraph) -> tuple[str, list[tuple[int, int, InlineCite]]]:
    """Return a paragraph as printed, and the positions of its callouts."""
    text = ""
    marks = []
    for run in paragraph:
        printed = _printed(paper, run) if isinstance(run, InlineCite) else run
        if isinstance(run, InlineCite):
            marks.append((len(text) + len(printed) - len(printed.lstrip()), len(text) + len(printed), run))
        text += printed
    return text, marks


def _printed(paper: Paper, cite: InlineCite) -> str:
    return "".join(next(iter(run.values())) for run in callout(paper, cite))
