"""Read the bibliographies and citations of the package amsrefs."""

from __future__ import annotations

import re

from s2orc_parse.latex.bibtex import BibtexEntry, read_pairs
from s2orc_parse.latex.tex import find_calls, read_argument

_CITATION = re.compile(r"\\(cite|ocite|ycite|fullcite)\s*(?=\{)")
_CANONICAL = {"ocite": "cite", "fullcite": "cite", "ycite": "citeyear"}
_WORK_PARTS = ("book", "conference")
"""fields with the fields of the work that contains the cited one"""


def is_amsrefs(text: str) -> bool:
    """Return whether a text contains entries of amsrefs."""
    return "\\bib{" in text or "\\bib*{" in text


def read_amsrefs(text: str) -> list[BibtexEntry]:
    """Return the entries `\\bib{key}{type}{fields}` in printed order. The names of authors are joined as in BibTeX."""
    found: dict[str, BibtexEntry] = {}
    for call in find_calls(text, "bib", 3, options=0):
        key, _, content = call.arguments
        fields: dict[str, str] = {}
        for name, value in read_pairs(content):
            if name in ("author", "editor"):
                fields[name] = f"{fields[name]} and {value}" if name in fields else value
            elif name in _WORK_PARTS:
                inner = dict(read_pairs(value))
                fields["booktitle"] = fields.get("booktitle") or inner.pop("title", "")
                fields = {**{inherited: inner[inherited] for inherited in inner if inherited != "author"}, **fields}
            else:
                fields.setdefault(name, value)
        found.setdefault(key.strip(), BibtexEntry(key.strip(), fields))
    return list(found.values())


def rewrite_citations(text: str) -> str:
    """Return the text with citations as in biblatex: `\\cite{a}*{§1}` → `\\cite[§1]{a}`, and `\\citelist` as `\\cites`."""
    parts: list[str] = []
    at = 0
    for call in find_calls(text, "citelist", 1, options=0):
        groups = re.sub(r"\\cite(?=[\[{])|[,;]\s*(?=\\cite)", "", _move_notes(call.arguments[0]))
        parts += (_move_notes(text[at : call.start]), f"\\cites{groups}")
        at = call.end
    return "".join((*parts, _move_notes(text[at:])))


def _move_notes(text: str) -> str:
    """Return the text with the starred notes of citations as optional arguments."""
    parts: list[str] = []
    at = 0
    for match in _CITATION.finditer(text):
        keys = read_argument(text, match.end())
        if keys is None or match.start() < at:
            continue
        note = read_argument(text, keys[1] + 1) if text[keys[1] : keys[1] + 2] == "*{" else None
        option = "" if note is None else f"[{{{note[0]}}}]" if "]" in note[0] else f"[{note[0]}]"
        parts += (text[at : match.start()], f"\\{_CANONICAL.get(match[1], match[1])}{option}{{{keys[0]}}}")
        at = keys[1] if note is None else note[1]
    return "".join((*parts, text[at:]))
