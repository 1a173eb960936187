"""Write a sample paper as its publisher's file, JATS or Elsevier's open access JSON, or as its author's LaTeX source."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

from devtools.sample import formats, sources
from devtools.sample.model import Block, Equation, Figure, Paper, SectionHead, TableBlock
from devtools.sample.prose import InlineCite, Paragraph, Run
from devtools.sample.typeset import callout

_SENTENCE = re.compile(r"\S.*?(?:\.(?= [A-Z])|$)", re.DOTALL)
_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"–": "--", "“": "``", "”": "''"})
_SECTIONS = {1: "section", 2: "subsection"}


def jats(paper: Paper, license: str) -> bytes:
    """Return the article in JATS, under the license (an SPDX id of Creative Commons); every citation is an `xref`."""
    row = sources.jats(paper, abstract=paper.abstract, license=license)
    body, back = (_nest(paper, blocks) for blocks in (paper.blocks, paper.back_matter))
    xml = formats.render("article", formats.show(row), body, back, paper.references)
    return re.sub(rb">\s*\n\s*<(?!article )", b"><", xml)


def _nest(paper: Paper, blocks: list[Block]) -> list[Any]:
    """Return paragraphs as (text, targets), and sections with the blocks in them."""
    levels: list[list[Any]] = [[]]
    for block in blocks:
        match block:
            case SectionHead():
                del levels[block.level :]
                levels[-1].append({"t": "sec", "num": block.num, "text": block.text, "blocks": []})
                levels.append(levels[-1][-1]["blocks"])
            case Equation():
                levels[-1].append({"t": "eq"})
            case Figure() | TableBlock():
                tag = "fig" if isinstance(block, Figure) else "table-wrap"
                levels[-1].append({"t": tag, "num": block.num, "caption": block.caption})
            case list():
                levels[-1].append([run for part in block for run in _run(paper, part)])
    return levels[0]


def _run(paper: Paper, run: Run) -> list[tuple[str, str]]:
    if isinstance(run, str):
        return [(run, "")]
    text = _printed(paper, run)
    return [(text[: -len(text.lstrip())], ""), (text.lstrip(), " ".join(f"r{i}" for i in sorted(run.refs)))]


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


def latex(paper: Paper) -> bytes:
    r"""Return the source, with every citation as `\cite`; the same paper gives the same bytes."""
    authors = " \\and ".join(_escape(author.full) for author in paper.authors)
    lines = [
        "\\documentclass{article}", "\\begin{document}", f"\\title{{{_escape(paper.title)}}}", f"\\author{{{authors}}}", "\\maketitle",
        f"\\begin{{abstract}}{_escape(paper.abstract or '')}\\end{{abstract}}",
    ]  # fmt: skip
    for block in (*paper.blocks, *paper.back_matter):
        match block:
            case SectionHead():
                star = "" if block.num else "*"
                lines.append(f"\\{_SECTIONS[block.level]}{star}{{{_escape(block.text)}}}")
            case Equation():
                lines.append("\\begin{equation}S(a, b) = \\frac{2 J C}{J + C}\\end{equation}")
            case Figure() | TableBlock():
                kind = "figure" if isinstance(block, Figure) else "table"
                lines.append(f"\\begin{{{kind}}}\\caption{{{_escape(block.caption)}}}\\end{{{kind}}}")
            case list():
                lines += [_cite(block), ""]
    lines.append("\\begin{thebibliography}{99}")
    for i, entry in enumerate(paper.references):
        who, title = ", ".join(_escape(author.full) for author in entry.authors), _escape(entry.title)
        place = f"\\emph{{{_escape(entry.source)}}}, {entry.year}"
        lines.append(f"\\bibitem{{r{i}}} {who}.\n\\newblock {title}.\n\\newblock {place}.")
    lines += ["\\end{thebibliography}", "\\end{document}", ""]
    return gzip.compress("\n".join(lines).encode(), mtime=0)


def _cite(paragraph: Paragraph) -> str:
    return "".join(
        f"~\\cite{{{','.join(f'r{i}' for i in run.refs)}}}" if isinstance(run, InlineCite) else _escape(run)
        for run in paragraph
    )


def _escape(text: str) -> str:
    return text.translate(_SPECIAL)
