"""Extract the macros, environments and theorems of a source as TeX that pandoc can process, and provide those of packages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from s2orc_parse.latex.marks import BLOCK, END, FIELD, VALUE, XSPACE
from s2orc_parse.latex.tex import group_end, read_argument, read_option, replace_intervals, skip_space
from s2orc_parse.words import read_table

_NAME = r"\s*\{?\s*\\([A-Za-z]+)\s*\}?"
_DEFINES = re.compile(
    r"\\(?:newcommand|renewcommand|DeclareRobustCommand|newrobustcmd|renewrobustcmd)\*?(?P<new>" + _NAME + ")"
    r"|\\(?:providecommand|providerobustcmd)\*?(?P<default>" + _NAME + ")"
    r"|\\DeclareMathOperator\*?(?P<operator>" + _NAME + ")"
    r"|\\DeclareTextFontCommand(?P<font>" + _NAME + ")"
    r"|\\DeclarePairedDelimiter(?:XPP|X)?(?P<pair>" + _NAME + ")"
    r"|\\(?:New|Renew|Provide|Declare)(?:Expandable)?DocumentCommand(?P<document>" + _NAME + ")"
    r"|\\[egx]?def\s*(?P<plain>\\([A-Za-z]+))(?:#\d)*\s*(?=\{)"
    r"|\\(?:re)?newenvironment\*?\s*\{(?P<environment>[^{}]+)\}"
    r"|\\newtheorem\*?\s*\{(?P<theorem>[^{}]+)\}"
    r"|\\let\s*(?P<alias>\\([A-Za-z]+))\s*=?\s*\\[A-Za-z]+(?![A-Za-z@])"
    r"|\\(?:[egx]?def\s*\\[A-Za-z@]+[^{}]{0,200}|(?:re)?newcommand\*?\s*\{?\s*\\[A-Za-z]*@[A-Za-z@]*\s*\}?(?:\s*\[[^\[\]]*\]){0,2}\s*"
    r"|pdfstringdefDisableCommands\s*)(?P<inner>(?=\{))"
)
_STARRED = re.compile(
    rf"\\DeclarePairedDelimiter(?:XPP|X)?{_NAME}|\\(?:New|Renew|Provide|Declare)(?:Expandable)?DocumentCommand{_NAME}\s*\{{\s*s"
    rf"|\\(?:newcommand|renewcommand|def)\*?{_NAME}\s*\{{?\s*\\@ifstar"
)
_PHYSICS, _SUPPORTED, _SYMBOLS = (
    frozenset(read_table("latex/words")[name].split())
    for name in ("starred_in_physics", "supported_commands", "redefined_symbols")
)
_NAMES = re.compile(r"\\begin\s*\{([^{}]+)\}|\\([A-Za-z]+)")
_NEEDS_TEX = re.compile(r"@|\\[A-Za-z]+(?:true|false)(?![A-Za-z])|\\if[a-z]*(?![A-Za-z])|\\csname")
_IFMMODE = re.compile(
    r"\\ifmmode(?![A-Za-z])((?:(?!\\if|\\else|\\fi).)*)\\else(?![A-Za-z])(?:(?!\\if|\\fi).)*\\fi(?![A-Za-z])", re.DOTALL
)
_ARGUMENT_SPEC = re.compile(r"\s*(?:([moOs])|([tdDrRgGeEvb!+>]))")
_BRANCHES = {"BooleanTF": 1, "BooleanT": None, "BooleanF": 0, "NoValueTF": 0, "NoValueT": 0, "NoValueF": None, "ValueTF": 1, "ValueT": None,
             "ValueF": 0}  # fmt: skip
"""index of the argument that an xparse conditional prints without a star or an option; None if it prints nothing"""


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition: `tex` defines `name` for pandoc."""

    name: str
    tex: str
    start: int
    end: int
    kind: str
    """group of `_DEFINES`"""


def find_names(text: str) -> set[str]:
    """Return the commands and environments that a text uses."""
    return {environment or command for environment, command in _NAMES.findall(text)}


def find_environments_only(text: str) -> set[str]:
    r"""Return the environments that a text never uses as commands. A command of this name would change \begin in pandoc."""
    names = _NAMES.findall(text)
    return {environment for environment, _ in names} - {command for _, command in names}


def find_definitions(text: str) -> list[Definition]:
    """Return the definitions in a text that pandoc can process, in order, except those that need TeX's internals (`@`, conditionals).

    A definition inside another one, or for bookmarks of the PDF (`pdfstringdefDisableCommands`), does not define the name in the text.
    """
    found: list[Definition] = []
    at = 0
    while match := _DEFINES.search(text, at):
        kind = match.lastgroup or ""
        name = match[kind].strip().strip("{}").strip().lstrip("\\") if kind else ""
        tex, end = _read_definition(text, match, kind, name)
        at = end or match.end()
        if tex is None or end is None or len(tex) > 4000:
            continue
        tex = _IFMMODE.sub(r"\\ensuremath{\1}", re.sub(r"\\@(?![A-Za-z])", "", tex))
        if _NEEDS_TEX.search(tex) or (
            name in _SUPPORTED and not (name in _SYMBOLS and "#" not in tex and len(tex) < 100)
        ):
            continue
        found.append(Definition(name, tex, match.start(), end, kind))
    return found


def select_definitions(found: Iterable[Definition], wanted: set[str]) -> str:
    """Return TeX for the required definitions, and the definitions they use, in order."""
    found = list(found)
    used = dict[str, list[str]]()
    for definition in found:
        used.setdefault(definition.name, []).append(definition.tex)
    todo, needed = [name for name in used if name in wanted], set[str]()
    while todo:
        name = todo.pop()
        if name not in needed:
            needed.add(name)
            todo += [other for tex in used[name] for other in find_names(tex) if other in used]
    return "\n".join(definition.tex for definition in found if definition.name in needed)


def simplify_definitions(text: str) -> str:
    """Return the text with its definitions in the simplest form of LaTeX."""
    found = find_definitions(text)
    return replace_intervals(text, ((one.start, one.end, one.tex) for one in found if one.kind != "theorem"))


def _read_definition(text: str, match: re.Match[str], kind: str, name: str) -> tuple[str | None, int | None]:
    """Return the definition that starts at a match as TeX for pandoc, and its end."""
    at = match.end()
    if kind == "inner":
        return None, group_end(text, at)
    if kind in ("new", "default"):
        return _read_command(text, at, name, "providecommand" if kind == "default" else "renewcommand")
    if kind in ("operator", "font", "plain"):
        got = read_argument(text, at)
        if got is None:
            return None, None
        if kind == "font":
            return f"\\renewcommand{{\\{name}}}[1]{{{{{got[0]} #1}}}}", got[1]
        return text[match.start() : got[1]], got[1]
    if kind == "pair":
        return _read_pair(text, at, name)
    if kind == "document":
        return _read_document_command(text, at, name)
    if kind == "alias":
        return match.group(), at
    if kind == "theorem":
        _, at = read_option(text, at)
        got = read_argument(text, at)
        end = read_option(text, got[1])[1] if got else None
        return (text[match.start() : end] if end else None), end
    for _ in range(2):
        _, at = read_option(text, at)
    for _ in range(2):
        start = skip_space(text, at)
        end = group_end(text, start) if text[start : start + 1] == "{" else None
        if end is None:
            return None, None
        at = end
    return text[match.start() : at], at


def _read_command(text: str, at: int, name: str, command: str) -> tuple[str | None, int | None]:
    """Return a definition in LaTeX's own form; the body may be one command without braces."""
    count, at = read_option(text, at)
    default, at = read_option(text, at)
    got = read_argument(text, at)
    if got is None:
        return None, None
    count = f"[{count.strip()}]" if count is not None else ""
    default = f"[{default}]" if default is not None else ""
    return f"\\{command}{{\\{name}}}{count}{default}{{{got[0]}}}", got[1]


def _read_pair(text: str, at: int, name: str) -> tuple[str | None, int | None]:
    r"""Return a pair of delimiters of mathtools; with the count of arguments, its body is the last argument.

    The form XPP has a text before the left and after the right delimiter. An option of a call is only the size.
    """
    count, at = read_option(text, at)
    parts: list[str] = []
    for _ in range(2 if count is None else 5):
        if text[skip_space(text, at) :][:1] not in ("{", "\\") or (got := read_argument(text, at)) is None:
            break
        parts.append(got[0])
        at = got[1]
        if count is not None and len(parts) == 3 and text[skip_space(text, at) :][:1] != "{":
            break
    if len(parts) not in (2, 3, 5):
        return None, None
    inner = "#1" if count is None else parts[-1]
    inner = re.sub(r"#([1-8])", lambda found: f"#{int(found[1]) + 1}", inner).replace("\\delimsize", "")
    before, after = (parts[0] + parts[1], parts[2] + parts[3]) if len(parts) == 5 else (parts[0], parts[1])
    total = 2 if count is None else int(count) + 1 if count.strip().isdecimal() and len(count) < 3 else 2
    return f"\\renewcommand{{\\{name}}}[{total}][]{{{before} {inner}{after}}}", at


def remove_stars(text: str, definitions: str, packages: Collection[str]) -> str:
    r"""Return the text without the star of commands that have a starred form, which prints the same: `\norm*{x}`."""
    names = {name.strip(" {}\\") for found in _STARRED.findall(definitions) for name in found if name}
    names |= _PHYSICS if "physics" in packages else set()
    if not names or "*" not in text:
        return text
    return re.sub(rf"\\({'|'.join(map(re.escape, sorted(names)))})\s*\*", r"\\\1 ", text)


def _read_document_command(text: str, at: int, name: str) -> tuple[str | None, int | None]:
    """Return an xparse definition in LaTeX's own form: without the star, and with the first argument as an option."""
    spec = read_argument(text, at)
    body = read_argument(text, spec[1]) if spec else None
    if spec is None or body is None:
        return None, None
    kinds: list[str] = []
    default: str | None = None
    place = 0
    while match := _ARGUMENT_SPEC.match(spec[0], place):
        if match[2]:
            return None, body[1]
        place = match.end()
        if match[1] == "O":
            got = read_argument(spec[0], place)
            if got is None:
                return None, body[1]
            default, place = got
        kinds.append(match[1])
    has_star = kinds[:1] == ["s"]
    kinds = kinds[has_star:]
    if any(kind != "m" for kind in kinds[1:]) or "s" in kinds or len(kinds) > 9:
        return None, body[1]
    tex = _choose_branches(body[0])
    if has_star:
        tex = re.sub(r"#([2-9])", lambda found: f"#{int(found[1]) - 1}", tex)
    count = f"[{len(kinds)}]" if kinds else ""
    first = f"[{default or ''}]" if kinds[:1] in (["o"], ["O"]) else ""
    return f"\\renewcommand{{\\{name}}}{count}{first}{{{tex}}}", body[1]


def _choose_branches(tex: str) -> str:
    """Return the body of an xparse command for a call without star and option."""
    for _ in range(20):
        match = re.search(rf"\\If({'|'.join(_BRANCHES)})(?![A-Za-z])", tex)
        if match is None:
            break
        arguments: list[str] = []
        at = match.end()
        for _ in range(3 if match[1].endswith("TF") else 2):
            if (got := read_argument(tex, at)) is None:
                return tex
            arguments.append(got[0])
            at = got[1]
        branch = _BRANCHES[match[1]]
        tex = tex[: match.start()] + (arguments[branch + 1] if branch is not None else "") + tex[at:]
    return tex


_TABLE = read_table("latex/words")
IN_TEXT = (
    *find_definitions(_TABLE["provided"]["text"].replace("XSPACE", XSPACE)),
    *(
        Definition(name, f"\\providecommand{{\\{name}}}{{{text.replace('&', chr(92) + '&')}}}", 0, 0, "default")
        for name, text in (_TABLE["journals"] | _TABLE["symbols"]).items()
    ),
)
"""definitions for the text and the bibliography"""
IN_ENTRIES: str = _TABLE["provided"]["entries"].replace("FIELD ", FIELD)
for _name, _mark in (("FIELD", FIELD), ("VALUE", VALUE), ("END", END), ("BLOCK", BLOCK)):
    IN_ENTRIES = IN_ENTRIES.replace(_name, _mark)
"""definitions for the bibliography only: they mark the fields of its entries"""
