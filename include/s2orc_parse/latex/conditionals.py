r"""Remove text that a source hides with \iffalse and its own switches."""

from __future__ import annotations

import re

_NEWIF = re.compile(r"\\newif\s*\\if([A-Za-z@]+)")
_IF = re.compile(r"\\(if(?:[A-Za-z@]+)?|else|fi)(?![A-Za-z@])")
_SETTING = re.compile(r"\\([A-Za-z@]+?)(true|false)(?![A-Za-z@])")
_NOT_TEX_CONDITIONALS = frozenset(("iff", "ifthenelse", "ifstrequal", "ifblank", "ifdef", "ifundef", "ifcsdef", "ifx@"))


def resolve_conditionals(preamble: str, body: str) -> tuple[str, str]:
    """Return preamble and body without text that \\iffalse and the document's own switches (\\newif) hide.

    All other conditionals remain in the text.
    """
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
