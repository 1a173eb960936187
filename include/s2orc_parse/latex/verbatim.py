"""Remove or rewrite text that is not read as TeX: comments, verbatim text, and text that \\iffalse and switches hide."""

from __future__ import annotations

import re

from s2orc_parse.latex.tex import balance, check_deadline, find_calls, read_option, read_value, replace_intervals
from s2orc_parse.words import read_table

ENVIRONMENTS = read_table("latex/words")["verbatim_environments"].split()
_DECLARED_ENVIRONMENT = re.compile(
    r"\\(?:lstnewenvironment|DefineVerbatimEnvironment|CustomVerbatimEnvironment|newtcblisting|DeclareTCBListing|newverbatim)"
    r"\s*(?:\[[^\]]*\])?\s*\{([A-Za-z]+)\}"
)
_DECLARED_COMMAND = re.compile(
    r"\\DeclareUrlCommand\s*\{?\s*\\([A-Za-z]+)"
    r"|\\let\s*\\([A-Za-z]+)\s*=?\s*\\(?:url|path|nolinkurl)(?![A-Za-z])"
    r"|\\(?:newcommand|renewcommand|providecommand|def)\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*\{\s*\\(?:url|path|nolinkurl)\s*\}"
)
_SHORT = re.compile(
    r"\\(?:MakeShortVerb\*?|DefineShortVerb|lstMakeShortInline)\s*(?:\[[^\]]*\])?\s*(?:\{\s*\\(\W)\s*\}|\\?([^\w\s\\{}\[\]]))"
)
_ADDRESSES = ("url", "path", "nolinkurl", "href", "burl", "doi", "hyperbaseurl", "index")
_CODE = r"verb|Verb|EscVerb|lstinline|mintinline|pyginline|detokenize"
_DELIMITERS = {"url": "|!\"+@/'=^", "path": '|!"', "nolinkurl": '|!"'}
_LONGEST = 2000
"""maximum length of a verbatim argument"""
_ESCAPES = {"\\": "\\textbackslash{}", "^": "\\^{}", "~": "\\~{}"}
DEFINES = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|\w*DocumentCommand|(?:re)?newenvironment|[egx]?def|let)\*?\s*\{?\s*\Z"
)
"""the beginning of a definition, before the defined name"""
_BEFORE_ARGUMENT = re.compile(r"(?:[ \t]|%?\n(?!\s*\n))*(\[[^\]\n]*\](?=\{))?")
_SPLIT_CALL = re.compile(r"(\\[A-Za-z]+\*?|[}\]])[ \t]*(?:%\n[ \t]*)+(?=[{\[])")
_BRACES = re.compile(r"[{}]|\n\s*\n")


def remove_comments(text: str) -> str:
    """Return the text without comments, verbatim environments and verbatim arguments.

    The `%` of a comment remains, because it joins lines, except before an argument. A verbatim argument becomes TeX with the same output.
    """
    environments = [*ENVIRONMENTS, *dict.fromkeys(_DECLARED_ENVIRONMENT.findall(text))]
    urls = [*_ADDRESSES, *(name for names in _DECLARED_COMMAND.findall(text) for name in names if name)]
    declared = list(_SHORT.finditer(text))
    short = "".join(sorted({re.escape(match[1] or match[2]) for match in declared} - {"%"}))
    skip = re.compile(
        r"\\begin\s*\{(?P<environment>(?:" + "|".join(environments) + r")\*?)\}.*?(?:\\end\s*\{(?P=environment)\}|\Z)"
        rf"|\\(?P<code>{_CODE})(?![A-Za-z@])"
        rf"|\\(?P<url>{'|'.join(dict.fromkeys(urls))})(?![A-Za-z@])"
        r"|\\[^A-Za-z]|(?P<comment>%[^\n]*)" + (rf"|(?P<short>[{short}])" if short else ""),
        re.DOTALL,
    )
    parts: list[str] = []
    at = 0
    while match := skip.search(text, at):
        kind = match.lastgroup
        if kind in ("code", "url") and DEFINES.search(text, max(match.start() - 40, 0), match.start()):
            kind = None
        parts.append(text[at : match.start()])
        at = match.end()
        if kind == "comment":
            parts.append("%")
        elif kind == "environment":
            parts.append(_read_caption(match.group().partition("}")[2]))
        elif kind == "code" and (code := _code(text, at, match["code"])):
            parts.append(_as_text(code[0]))
            at = code[1]
        elif (
            kind == "short"
            and match.start() > declared[0].end()
            and (end := text.find(match.group(), at)) > at
            and "\n" not in text[at:end]
        ):
            parts.append(_as_text(text[at:end]))
            at = end + 1
        elif kind == "url" and (address := _argument(text, at, match["url"])) and address[1].strip():
            before, inside, at = address
            parts.append(_print_address(match["url"], before, inside))
        else:
            parts.append(match.group())
    text = _SPLIT_CALL.sub(r"\1", "".join([*parts, text[at:]]))
    calls = find_calls(text, "lstinputlisting", 1)
    return replace_intervals(text, ((c.start, c.end, _read_caption(f"[{c.options[0] or ''}]")) for c in calls))


def _read_caption(code: str) -> str:
    r"""Return the caption and label in the option before some code as a float, or the end of a paragraph."""
    options = read_option(code, 0, _LONGEST)[0] or ""
    caption, label = read_value(options, "caption"), read_value(options, "label")
    if not caption:
        return "\n\n"
    caption = caption[read_option(caption, 0)[1] :]  # without the form for the list of listings
    label = f"\\label{{{label}}}" if label else ""
    return f"\n\n\\begin{{listing}}\\caption{{{balance(caption)}}}{label}\\end{{listing}}\n\n"


def _code(text: str, at: int, name: str) -> tuple[str, int] | None:
    """Return the code that an inline command prints, and the end of the command."""
    if text[at : at + 1] == "*":
        at += 1
    if option := re.compile(r"\s*\[[^\]\n]*\]").match(text, at):
        at = option.end()
    if name in ("mintinline", "pyginline"):
        language = re.compile(r"\s*\{[^{}\n]*\}").match(text, at)
        if language is None:
            return None
        at = language.end()
    sign = text[at : at + 1]
    if sign == "{" and name != "verb":
        found = _group(text, at)
        return None if found is None or "#1" in found[0] else found
    if not sign or sign.isspace() or sign.isalpha() or sign in "*}[\\":
        return None
    end = text.find(sign, at + 1)
    return (text[at + 1 : end], end + 1) if end > 0 and "\n" not in text[at:end] else None


def _argument(text: str, at: int, name: str) -> tuple[str, str, int] | None:
    """Return the option of a command, its verbatim argument, and the end of the argument."""
    before = _BEFORE_ARGUMENT.match(text, at)
    assert before is not None
    sign = text[before.end() : before.end() + 1]
    if sign == "{":
        found = _group(text, before.end())
        return (before[1] or "", *found) if found else None
    if not sign or sign not in _DELIMITERS.get(name, "") or before.end() != at:
        return None
    end = text.find(sign, at + 1)
    return ("", text[at + 1 : end], end + 1) if end > 0 and "\n" not in text[at:end] else None


def _group(text: str, start: int) -> tuple[str, int] | None:
    """Return the content of the group that opens at `start`, and its end."""
    check_deadline()
    depth = 0
    for match in _BRACES.finditer(text, start, start + _LONGEST):
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                return text[start + 1 : match.start()], match.end()
        else:
            break
    return None


def _print_address(name: str, before: str, inside: str) -> str:
    """Return TeX that prints the verbatim argument of a command as the command does."""
    if name == "index":
        return ""
    if name == "path":
        return _as_text(inside)
    known = name if name in _ADDRESSES else "nolinkurl"
    # `\\%` is a percent sign; a sign at the end of a line only joins two lines
    inside = re.sub(r"(?<!\\)%(?!\s*\n)", r"\\%", re.sub(r"%[ \t]*\n\s*", "", inside))
    return f"\\{known}{before}{{{inside}}}"


def _as_text(code: str) -> str:
    """Return code as TeX that prints it."""
    return "\\texttt{" + re.sub(r"[\\{}%$&#_^~]", lambda m: _ESCAPES.get(m.group(), "\\" + m.group()), code) + "}"


_NEWIF = re.compile(r"\\newif\s*\\if([A-Za-z@]+)")
_IF = re.compile(r"\\(if(?:[A-Za-z@]+)?|else|fi)(?![A-Za-z@])")
_SETTING = re.compile(r"\\([A-Za-z@]+?)(true|false)(?![A-Za-z@])")
_NOT_TEX_CONDITIONALS = frozenset(("iff", "ifthenelse", "ifstrequal", "ifblank", "ifdef", "ifundef", "ifcsdef", "ifx@"))


def resolve_conditionals(preamble: str, body: str) -> tuple[str, str]:
    r"""Return preamble and body without text that \iffalse and the document's switches (\newif) hide; other conditionals remain."""
    switches = dict.fromkeys(_NEWIF.findall(preamble), False)
    return _remove_hidden(preamble, switches), _remove_hidden(body, switches)


def _remove_hidden(text: str, switches: dict[str, bool]) -> str:
    if "\\if" not in text:
        return text
    parts: list[str] = []
    stack: list[tuple[bool, bool]] = []  # (whether it is resolved here, whether its text is shown)
    hiding = at = 0  # number of hiding conditionals
    tokens = re.compile(f"{_NEWIF.pattern}|{_IF.pattern}|{_SETTING.pattern}")
    for match in tokens.finditer(text):
        shown = not hiding
        if match.group(1) is not None:
            switches.setdefault(match.group(1), False)
            if shown:
                parts.append(text[at : match.start()])
            at = match.end()
            continue
        if match.group(3) is not None:
            if match.group(3) in switches and shown:
                parts.append(text[at : match.start()])
                switches[match.group(3)] = match.group(4) == "true"
                at = match.end()
            continue
        word = match.group(2)
        if word in _NOT_TEX_CONDITIONALS:
            continue
        if shown:
            parts.append(text[at : match.start()])
        at = match.start()
        if word.startswith("if"):
            value = {"iffalse": False, "iftrue": True}.get(word, switches.get(word[2:]))
            stack.append((value is not None, value is not False))
            hiding += value is False
            if value is not None:
                at = match.end()
        elif stack and word == "else" and stack[-1][0]:
            stack[-1] = (True, not stack[-1][1])
            hiding += 1 if not stack[-1][1] else -1
            at = match.end()
        elif stack and word == "fi":
            decided, state = stack.pop()
            hiding -= not state
            if decided:
                at = match.end()
    if not hiding:
        parts.append(text[at:])
    return "".join(parts)
