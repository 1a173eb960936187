"""Macros, environments and theorems that a source defines: those that a text uses, as far as a converter can run them."""

from __future__ import annotations

import re

from s2orc_parse.latex.tex import argument, group_end, option, skip_space

_DEFINES = re.compile(
    r"\\(?:newcommand|renewcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?"
    r"|\\(?:e|g)?def\s*\\([A-Za-z]+)((?:#\d)*)\s*(?=\{)"
    r"|\\(?:re)?newenvironment\*?\s*\{([^{}]+)\}"
    r"|\\newtheorem\*?\s*\{([^{}]+)\}"
    r"|\\let\s*\\([A-Za-z]+)\s*=?\s*\\[A-Za-z]+"
)
_NAMES = re.compile(r"\\begin\s*\{([^{}]+)\}|\\([A-Za-z]+)")
_SWITCHED = re.compile(r"@|\\[A-Za-z]+(?:true|false)(?![A-Za-z])|\\if[a-z]*(?![A-Za-z])|\\csname")
_KEPT = frozenset(
    (
        "href", "url", "path", "nolinkurl", "ref", "eqref", "label", "caption", "footnote", "section", "subsection",
        "subsubsection", "paragraph", "chapter", "part", "title", "author", "date", "maketitle", "par", "newblock", "bibitem",
        "item", "emph", "textbf", "textit", "begin", "end", "abstract", "document", "figure", "table", "thanks", "and", "input",
        "include", "bibliography", "appendix",
    )
)  # fmt: skip
"""What every converter knows; styles that change how it looks do not change what it is."""


def names_in(text: str) -> set[str]:
    """Commands and environments that a text uses."""
    return {environment or command for environment, command in _NAMES.findall(text)}


def definitions(text: str, wanted: set[str]) -> str:
    """The macros, environments and theorems defined in `text` that are wanted, and those that these use, in order.

    What works with TeX's internals (`@`, conditionals) stays behind: no converter could run it.
    """
    found: list[tuple[str, str]] = []
    at = 0
    while match := _DEFINES.search(text, at):
        command, plain_def, _, environment, theorem, alias = match.groups()
        end: int | None = match.end()
        if theorem is not None:
            _, after = option(text, match.end())
            got = argument(text, after)
            end = option(text, got[1])[1] if got else None
        elif plain_def is not None:
            end = group_end(text, match.end())
        elif alias is None:
            after = match.end()
            for _ in range(2):
                _, after = option(text, after)
            for _ in range(1 if command else 2):
                start = skip_space(text, after)
                end = group_end(text, start) if text[start : start + 1] == "{" else None
                if end is None:
                    break
                after = end
        at = end or match.end()
        name = command or plain_def or environment or theorem or alias
        if (
            name not in _KEPT
            and end is not None
            and len(body := text[match.start() : end]) < 4000
            and not _SWITCHED.search(body)
        ):
            found.append((name, body))
    used = dict[str, list[str]]()
    for name, body in found:
        used.setdefault(name, []).append(body)
    todo, needed = [name for name in used if name in wanted], set[str]()
    while todo:
        name = todo.pop()
        if name not in needed:
            needed.add(name)
            todo += [other for body in used[name] for other in names_in(body) if other in used]
    return "\n".join(body for name, body in found if name in needed)
