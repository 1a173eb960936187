"""Typeset an article in the layout of a publisher (typeset.typ, typeset.toml), and list the printed texts."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typst

Runs = list[tuple[str, int | None]]
"""A paragraph: text without entry, or the number of a cited entry without text."""


@dataclass(frozen=True, slots=True)
class Article:
    """The content to typeset."""

    title: str
    authors: list[tuple[str, str]]
    """(given, family)"""
    affiliations: list[str]
    abstract: str
    sections: list[tuple[int, str, list[Runs]]]
    """level, title, paragraphs"""
    entries: list[str]
    """the reference list as printed"""
    cited: list[tuple[str, int]]
    """surname and year of each entry"""


def read_looks() -> dict[str, dict[str, Any]]:
    """Return the looks by name."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    looks: dict[str, dict[str, Any]] = {}
    for name, look in tables["looks"].items():
        looks[name] = {**looks.get(look.get("like"), tables["default"]), **look}
    return looks


LOOKS = read_looks()


def print_citation(article: Article, numbers: list[int], cites: str) -> list[tuple[str, str]]:
    """Return the printed pieces of neighboring citations, each with its target."""
    if cites == "name-year":
        printed = [f"{surname}, {year}" for surname, year in (article.cited[n] for n in numbers)]
        left, between, right = "(", ";", ")"
    else:
        printed = [str(n + 1) for n in numbers]
        left, right = {"bracket": ("[", "]"), "round": ("(", ")")}.get(cites, ("", ""))
        between = ","
    ends = [between] * (len(numbers) - 1) + [right]
    pieces = [f"{text}{end}" for text, end in zip(printed, ends, strict=True)]
    return [(left * (i == 0) + piece, f"b{n}") for i, (piece, n) in enumerate(zip(pieces, numbers, strict=True))]


def print_paragraph(article: Article, runs: Runs, cites: str) -> list[tuple[str, str]]:
    """Return a paragraph as (text, target); neighboring citations are printed as one."""
    out: list[tuple[str, str]] = []
    pending: list[int] = []
    for text, number in [*runs, (" ", None)]:
        if number is not None:
            pending.append(number)
        elif not (pending and re.fullmatch(r"[\s,;–\-]*", text) and text.strip()):
            if pending:
                space = "" if cites in ("raised", "notes") else " "
                out[-1] = (out[-1][0].rstrip(" ([") + space, out[-1][1])
                out += print_citation(article, sorted(set(pending)), cites)
                pending = []
            out.append((re.sub(r"\s+", " ", text), ""))
    return out


def typeset(article: Article, look: str, *, inside: str = "", after: str = "", front: str = "") -> bytes:
    """Return a PDF; typst code replaces the paragraph INSIDE and the front matter, and follows the reference list."""
    chosen = LOOKS[look]
    sections = [
        {
            "level": level, "title": title, "paragraphs": [print_paragraph(article, p, chosen["cites"]) for p in paragraphs],
        }
        for level, title, paragraphs in article.sections
    ]  # fmt: skip
    data = {"article": asdict(article) | {"sections": sections}, "look": chosen}
    template = Path(__file__).with_suffix(".typ").read_text("utf-8")
    call = f"#paper({f'front: [{front}], ' if front else ''}inside: [{inside}], after: [{after}])"
    return typst.compile(f"{template}\n{call}\n".encode(), format="pdf", sys_inputs={"data": json.dumps(data)})


def list_printed(article: Article, look: str) -> dict[str, list[str]]:
    """Return the printed texts of each kind of element. Roman numerals are part of the head's text, as in GROBID."""
    chosen = LOOKS[look]
    heads: list[str] = []
    first = second = 0
    for level, title, _ in article.sections:
        first, second = (first + 1, 0) if level == 1 else (first, second + 1)
        numeral = f"{'I' * first if level == 1 else chr(64 + second)}. " if chosen["heads"] == "roman" else ""
        heads.append(numeral + title)
    paragraphs = [runs for _, _, paragraphs in article.sections for runs in paragraphs]
    pieces = [piece for runs in paragraphs for piece in print_paragraph(article, runs, chosen["cites"])]
    if chosen["cites"] == "notes":
        pieces = [(text, target) for text, target in pieces if not target]
    return {
        "title": [article.title], "surname": [family for _, family in article.authors],
        "abstract": [article.abstract] if article.abstract else [], "head": heads,
        "body": [text for text, _ in pieces], "target": [f"#{target}" for _, target in pieces if target],
    }  # fmt: skip
