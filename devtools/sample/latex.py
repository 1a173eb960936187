"""Write a sample paper as its author's LaTeX source: an arXiv archive of one gzipped file."""

from __future__ import annotations

import gzip

from devtools.sample.model import Equation, Figure, Paper, SectionHead, TableBlock
from devtools.sample.prose import InlineCite, Paragraph

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"–": "--", "“": "``", "”": "''"})
_SECTIONS = {1: "section", 2: "subsection"}


def archive(paper: Paper) -> bytes:
    r"""Return the source, with every citation as `\cite`; the same paper gives the same bytes."""
    authors = " \\and ".join(_plain(author.full) for author in paper.authors)
    lines = [
        "\\documentclass{article}", "\\begin{document}", f"\\title{{{_plain(paper.title)}}}", f"\\author{{{authors}}}", "\\maketitle",
        f"\\begin{{abstract}}{_plain(paper.abstract or '')}\\end{{abstract}}",
    ]  # fmt: skip
    for block in (*paper.blocks, *paper.back_matter):
        match block:
            case SectionHead():
                star = "" if block.num else "*"
                lines.append(f"\\{_SECTIONS[block.level]}{star}{{{_plain(block.text)}}}")
            case Equation():
                lines.append("\\begin{equation}S(a, b) = \\frac{2 J C}{J + C}\\end{equation}")
            case Figure() | TableBlock():
                kind = "figure" if isinstance(block, Figure) else "table"
                lines.append(f"\\begin{{{kind}}}\\caption{{{_plain(block.caption)}}}\\end{{{kind}}}")
            case list():
                lines += [_paragraph(block), ""]
    lines.append("\\begin{thebibliography}{99}")
    for i, entry in enumerate(paper.references):
        who = ", ".join(_plain(author.full) for author in entry.authors)
        lines.append(
            f"\\bibitem{{r{i}}} {who}.\n\\newblock {_plain(entry.title)}.\n\\newblock \\emph{{{_plain(entry.source)}}}, {entry.year}."
        )
    lines += ["\\end{thebibliography}", "\\end{document}", ""]
    return gzip.compress("\n".join(lines).encode(), mtime=0)


def _paragraph(paragraph: Paragraph) -> str:
    runs = (
        f"~\\cite{{{','.join(f'r{i}' for i in run.refs)}}}" if isinstance(run, InlineCite) else _plain(run)
        for run in paragraph
    )
    return "".join(runs)


def _plain(text: str) -> str:
    return text.translate(_SPECIAL)
