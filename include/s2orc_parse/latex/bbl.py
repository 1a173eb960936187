"""Read bibliographies of a source: `thebibliography` (by BibTeX or by hand) and biblatex's `.bbl`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from s2orc_parse.latex.apacite import is_apacite, mark_fields
from s2orc_parse.latex.bibtex import BibtexEntry
from s2orc_parse.latex.tex import balance, find_calls, find_environments, read_argument, read_option

MAX_ENTRIES = 5_000
_BIBITEM = re.compile(r"\\(?:bibitem|harvarditem)(?![A-Za-z@])\s*")


@dataclass(frozen=True, slots=True)
class RawItem:
    """One \\bibitem: its key, optional label and text as TeX."""

    key: str
    label: str | None
    content: str


def take_bibliography(body: str) -> tuple[str, str]:
    """Return a document's body without its `thebibliography` environments, and their content."""
    parts, lists, at = [], [], 0
    for environment in find_environments(body, "thebibliography|references|bibdiv|biblist|bibsection"):
        parts.append(body[at : environment.start])
        lists.append(environment.body)
        at = environment.end
    return "".join([*parts, body[at:]]), "\n".join(lists)


def read_items(bbl: str) -> list[RawItem]:
    """Return the entries of a `thebibliography`."""
    found: list[RawItem] = []
    matches = list(_BIBITEM.finditer(bbl))
    ends = [match.start() for match in matches[1:]]
    for start, end in zip((match.end() for match in matches), [*ends, len(bbl)], strict=False):
        label, at = read_option(bbl, start)
        if bbl[start - 12 : start].strip().endswith("\\harvarditem"):
            label, at = _harvard_label(bbl, at, label)
        got = read_argument(bbl, at)
        if got is None or got[1] > end:
            continue
        if is_apacite(bbl):
            label = mark_fields(label) if label else label
        label = _plain_label(label) if label else label
        content = re.sub(r"\\end\s*\{thebibliography\}.*", "", bbl[got[1] : end], flags=re.DOTALL)
        content = mark_fields(content) if is_apacite(content) else content
        content = balance(content.strip(" \n%").replace("\\href@noop", "\\hrefnoop"))
        found.append(RawItem(" ".join(re.sub(r"%[ \t]*\n", "", got[0]).split()), label, content))
        if len(found) >= MAX_ENTRIES:
            break
    return found


def _harvard_label(bbl: str, at: int, short: str | None) -> tuple[str | None, int]:
    r"""Return the label of a \harvarditem[short]{long}{year}{key} in natbib's form, and the position of its key."""
    long = read_argument(bbl, at)
    year = read_argument(bbl, long[1]) if long else None
    if long is None or year is None:
        return short, at
    return f"{short or long[0]}({year[0]}){long[0]}", year[1]


def _plain_label(label: str) -> str:
    r"""Return a label made by \citeauthoryear or a similar command in natbib's form: short(year)long.

    With two arguments, these are the names and the year. With three, they are the long names, the short names and the
    year.
    """
    for call in find_calls(label, "citeauthoryear|astroncite|BCAY", 2, options=0):
        names, year = call.arguments
        third = read_argument(label, call.end) if label[call.end : call.end + 1] == "{" else None
        return f"{year}({third[0]}){names}" if third else f"{names}({year})"
    return label


def is_biblatex(bbl: str) -> bool:
    """Return whether a `.bbl` was written by Biber."""
    return "\\entry{" in bbl or "\\refsection{" in bbl


def _read_positional(name: str) -> dict[str, str]:
    """Return the parts of a name up to version 2 of the format: hash, then each part with its initials."""
    found: list[str] = []
    at = 0
    while (got := read_argument(name, at)) is not None:
        found.append(got[0])
        at = got[1]
    return dict(zip(("family", "given", "prefix", "suffix"), found[1::2], strict=False))


_NAME_PARTS = re.compile(r"\b(family|given|prefix|suffix)\s*=\s*(?=\{)")


_DELIMITERS = (
    (re.compile(r"\\bib(?:namedelim[a-z]*|initdelim|nametitledelim)(?![A-Za-z])\s*"), " "),
    (re.compile(r"\\bib(?:init)?hyphendelim(?![A-Za-z])\s*"), "-"),
    (re.compile(r"\\bibinitperiod(?![A-Za-z])\s*"), "."),
    (re.compile(r"\\bib(?:range|date)dash(?![A-Za-z])\s*"), "--"),
    (re.compile(r"\\bibrangessep(?![A-Za-z])\s*"), ", "),
)
"""Biber's delimiters of names, initials, ranges and dates"""


def read_biblatex(bbl: str) -> list[BibtexEntry]:
    """Return the entries of a biblatex `.bbl` in printed order, with fields as TeX."""
    for delimiter, text in _DELIMITERS:
        bbl = delimiter.sub(text, bbl)
    found: dict[str, BibtexEntry] = {}
    at = list(re.finditer(r"\\entry\s*\{([^{}]*)\}\s*\{([^{}]*)\}", bbl))
    for i, match in enumerate(at):
        text = bbl[match.end() : at[i + 1].start() if i + 1 < len(at) else len(bbl)].partition("\\endentry")[0]
        fields: dict[str, str] = {}
        for call in find_calls(text, "field|strng|list", 2, options=0):
            if call.name == "field":
                fields.setdefault(call.arguments[0], call.arguments[1])
            elif call.name == "list" and (got := read_argument(text, call.end)):
                fields.setdefault(call.arguments[0], re.sub(r"^\s*\{|\}\s*%?\s*$|%\n", "", got[0]).strip())
        for call in find_calls(text, "verb", 1, options=0):
            if rest := re.match(r"\s*\\verb\s+(\S+)", text[call.end :]):
                fields.setdefault(call.arguments[0], rest.group(1))
        people = []
        for call in find_calls(text, "name", 4, options=0):
            if call.arguments[0] == "author":
                at_name = 0
                while got := read_argument(call.arguments[3], at_name):
                    at_name = got[1]
                    parts = {
                        m.group(1): (read_argument(got[0], m.end()) or ("", 0))[0] for m in _NAME_PARTS.finditer(got[0])
                    } or _read_positional(got[0])
                    if parts.get("family"):
                        last = " ".join(filter(None, (parts.get("prefix"), parts["family"])))
                        people.append(", ".join(filter(None, (last, parts.get("suffix"), parts.get("given")))))
        if people:
            fields["author"] = " and ".join(people)
        found.setdefault(match.group(1), BibtexEntry(match.group(1), fields))
    return list(found.values())[:MAX_ENTRIES]
