"""Typeset a paper as PDF (typst, reproducible bytes), and return its printed text, the truth about its body."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

from devtools.sample.formats import PARTS, subjects
from devtools.sample.model import (
    Equation,
    Figure,
    InlineStyle,
    PageBreak,
    Paper,
    Person,
    PrintedReference,
    SectionHead,
    TableBlock,
)
from devtools.sample.prose import InlineCite, Paragraph
from devtools.sample.truth import ParagraphTruth

_REFS_HEAD = {"en": "References", "de": "Literatur", "zh": "参考文献"}
_ABSTRACT_HEAD = {"en": "Abstract", "de": "Zusammenfassung", "zh": "摘要"}


def surnames(authors: tuple[Person, ...]) -> str:
    """Return `Lyons`, `Lyons and Waite` or `Lyons et al.`."""
    if len(authors) == 1:
        return authors[0].last
    return f"{authors[0].last} and {authors[1].last}" if len(authors) == 2 else f"{authors[0].last} et al."


def year_labels(references: list[PrintedReference]) -> list[str]:
    """Return `2011`, or `2011a`, `2011b` if name and year would match two entries."""
    keys = [(surnames(r.authors), r.year) for r in references]
    nths = [keys[:i].count(key) for i, key in enumerate(keys)]
    return [f"{key[1]}{chr(97 + nth) if keys.count(key) > 1 else ''}" for key, nth in zip(keys, nths, strict=True)]


def callout(paper: Paper, cite: InlineCite) -> list[dict[str, str]]:
    """Return the runs that a citation prints, including its leading space."""
    refs = sorted(cite.refs)
    named = surnames(paper.references[refs[0]].authors) if cite.textual else ""
    if paper.style is InlineStyle.NAME_YEAR:
        years = year_labels(paper.references)
        works = [f"{surnames(paper.references[i].authors)}, {years[i]}" for i in refs]
        if cite.textual:
            works[0] = years[refs[0]]
        return [{"s": f"{named} {'(['[paper.square]}{'; '.join(works)}{')]'[paper.square]}"}]
    if paper.style is InlineStyle.SUPERSCRIPT:
        marks = ",".join(f"{a}–{b}" if b > a else str(a) for a, b in _spans(refs))
        return [{"s": named}, {"sup": marks}] if named else [{"sup": marks}]
    spans = _spans(refs)
    if paper.ranges == "split":
        marks = ", ".join(f"[{a}]–[{b}]" if b > a else f"[{a}]" for a, b in spans)
    else:
        marks = f"[{', '.join(f'{a}-{b}' if b > a else str(a) for a, b in spans)}]"
    return [{"s": f"{named} {marks}"}]


def _spans(refs: list[int]) -> list[tuple[int, int]]:
    """Return printed numbers (from 1) as ranges: three or more consecutive numbers become one range."""
    out: list[tuple[int, int]] = []
    i = 0
    while i < len(refs):
        j = i
        while j + 1 < len(refs) and refs[j + 1] == refs[j] + 1:
            j += 1
        if j - i >= 2:
            out.append((refs[i] + 1, refs[j] + 1))
        else:
            out.extend((r + 1, r + 1) for r in refs[i : j + 1])
        i = j + 1
    return out


def paragraph_runs(paper: Paper, paragraph: Paragraph) -> list[dict[str, str]]:
    """Return a paragraph as typst runs: plain (`s`), superscript (`sup`)."""
    runs: list[dict[str, str]] = []
    for run in paragraph:
        runs.extend(callout(paper, run) if isinstance(run, InlineCite) else [{"s": run}])
    return runs


def body(paper: Paper) -> list[ParagraphTruth]:
    """Return the paragraphs of the body as printed, in order. Formulas and floats are not text."""
    out: list[ParagraphTruth] = []
    section: str | None = None
    for block in paper.blocks:
        if isinstance(block, SectionHead):
            section = block.text
        elif isinstance(block, list):
            text = "".join(next(iter(r.values())) for r in paragraph_runs(paper, block))
            out.append(ParagraphTruth(section, text))
    return out


def reference_runs(paper: Paper, index: int) -> list[dict[str, str]]:
    """Return a bibliography entry in the paper's citation style."""
    r = paper.references[index]
    if paper.style is InlineStyle.NAME_YEAR:
        names = [f"{a.last}, {a.initials}" for a in r.authors]
        who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        year = year_labels(paper.references)[index]
        end = f", {r.volume}:{r.pages}." if r.is_journal else f", pages {r.pages}."
        runs = [{"s": f"{who} ({year}). {r.title}. " + ("" if r.is_journal else "In ")}, {"it": r.source}, {"s": end}]
    elif paper.style is InlineStyle.SUPERSCRIPT:
        who = ", ".join(f"{a.last} {''.join(c for c in a.initials if c.isalpha())}" for a in r.authors)
        runs = [{"s": f"{who}. {r.title}. "}, {"it": r.source}, {"s": f". {r.year};{r.volume}:{r.pages}."}]
    else:
        names = [f"{a.initials} {a.last}" for a in r.authors]
        who = " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])}, and {names[-1]}"
        is_split = paper.ranges == "split"
        title = f"{who}, “{r.title},” " if is_split else f"{who}. {r.title}. "
        end = f", vol. {r.volume}, pp. {r.pages}, {r.year}." if r.is_journal else f", pp. {r.pages}, {r.year}."
        place = "" if r.is_journal else "in " if is_split else "In "
        runs = [{"s": title + place}, {"it": r.source}, {"s": end}]
    if r.doi:
        runs.append({"s": f" doi:{r.doi}"})
    elif r.arxiv_id:
        runs.append({"s": f" arXiv:{r.arxiv_id}"})
    return [run for run in runs if next(iter(run.values()))]


def template_data(paper: Paper, *, preprint: bool = False) -> dict[str, Any]:
    """Return the data that `paper.typ` reads.

    A preprint prints its arXiv id, the published version its journal and DOI.
    """
    place = paper.journal or paper.venue
    blocks = [_block(paper, b) for b in (*paper.blocks, *paper.back_matter)]
    label = {InlineStyle.BRACKET: "[{}]", InlineStyle.SUPERSCRIPT: "{}.", InlineStyle.NAME_YEAR: None}[paper.style]
    refs = [
        {"label": label and label.format(i + 1), "runs": reference_runs(paper, i)} for i in range(len(paper.references))
    ]
    return {
        "lang": paper.language, "columns": paper.columns, "landscape": False, "page_numbers": True,
        "title": paper.title, "authors": ", ".join(a.full for a in paper.authors), "affiliation": paper.affiliation,
        "banner": None if preprint or not place else f"{place}, {paper.year or ''}".rstrip(", "),
        "header": None if preprint or paper.columns == 2 else place,
        "doi_line": _stamp(paper) if preprint else (f"https://doi.org/{paper.doi}" if paper.doi else None),
        "abstract": paper.abstract and paper.abstract.replace(PARTS, "\n"),
        "abstract_head": _ABSTRACT_HEAD[paper.language], "keywords": paper.keywords, "blocks": blocks,
        "refs": refs, "refs_head": _REFS_HEAD[paper.language],
    }  # fmt: skip


def _stamp(paper: Paper) -> str:
    """Return arXiv's mark: arXiv:1706.03762v1 [cs.CL] 12 Jun 2017."""
    arxiv_id = paper.arxiv_id or ""
    day = datetime.date(2000 + int(arxiv_id[:2]), int(arxiv_id[2:4]), 12)
    return f"arXiv:{arxiv_id}v1 [{subjects('arxiv', paper.field)[0]}] {day:%d %b %Y}"


def _block(paper: Paper, block: Any) -> dict[str, Any]:
    match block:
        case SectionHead():
            return {"t": "head", "num": block.num, "text": block.text, "level": block.level}
        case Equation():
            return {"t": "eq", "formula": block.formula}
        case Figure():
            return {"t": "fig", "num": block.num, "caption": block.caption, "values": block.values}
        case TableBlock():
            return {"t": "table", "num": block.num, "caption": block.caption, "rows": block.rows}
        case PageBreak():
            return {"t": "pagebreak"}
        case _:
            return {"t": "par", "runs": paragraph_runs(paper, block)}


def compile_pdf(data: dict[str, Any]) -> bytes:
    """Typeset a paper: the same data give the same bytes.

    The PDF contains no time. Fonts are typst's own; Chinese adds Noto's.
    """
    import typst

    fonts: list[str] = []
    if data["lang"] == "zh":
        import noto_cjk_sans_otc

        fonts = [str(Path(noto_cjk_sans_otc.__file__).parent)]
    template = Path(__file__).with_name("paper.typ").read_bytes()
    return typst.compile(  # type: ignore[misc, no-any-return, unused-ignore]  # typst has types on some platforms only
        template,
        sys_inputs={"paper": json.dumps(data, ensure_ascii=False)},
        ignore_system_fonts=True,
        font_paths=fonts,
        timestamp=0,
    )
