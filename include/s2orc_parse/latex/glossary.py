"""Expand acronyms and glossary entries (packages glossaries, acronym and acro) as they are printed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from s2orc_parse.latex.tex import find_calls, read_argument, read_option, read_value
from s2orc_parse.words import invert, read_table

_DEFINES = "|".join(read_table("latex/words")["glossary_definitions"].split())
_FORMS = invert(read_table("latex/words")["glossary"])
_USE = re.compile(
    r"\\(?P<command>" + "|".join(sorted({f"[{n[0].upper()}{n[0].lower()}]{n[1:]}" for n in _FORMS}, key=len, reverse=True))
    + r"|GLS|GLSpl)(?P<star>\*?)(?![A-Za-z@])|\\(?P<reset>glsresetall|acresetall|glsunsetall)(?![A-Za-z@])"
)  # fmt: skip


@dataclass(slots=True)
class _Entry:
    """One entry: its forms as TeX."""

    short: str
    long: str
    shorts: str
    longs: str
    is_acronym: bool = True
    is_used: bool = False


def expand_glossary(preamble: str, body: str) -> tuple[str, dict[str, str]]:
    """Return the body with expanded glossary commands, and the short form of each key for use in macros."""
    entries = _read_entries(f"{preamble}\n{body}")
    if not entries:
        return body, {}
    return _expand(body, entries), {key: entry.short for key, entry in entries.items()}


def expand_in_macros(text: str, short: dict[str, str]) -> str:
    """Return macro definitions with the short forms of glossary entries."""
    return (
        _expand(text, {key: _Entry(tex, tex, tex, tex, is_used=True) for key, tex in short.items()}) if short else text
    )


def _expand(text: str, entries: dict[str, _Entry]) -> str:
    parts: list[str] = []
    at = 0
    for match in _USE.finditer(text):
        if match.start() < at:
            continue
        if match["reset"]:
            for entry in entries.values():
                entry.is_used = match["reset"] == "glsunsetall"
            parts.append(text[at : match.start()])
            at = match.end()
            continue
        _, end = read_option(text, match.end(), 200)
        got = read_argument(text, end, 200)
        found = entries.get(got[0].strip()) if got else None
        if got is None or found is None:
            continue
        command, end = match["command"], got[1]
        after = re.compile(r"\[([^\[\]]{0,40})\]").match(text, end) if command.lower().startswith("gls") else None
        shown = _format_entry(command, found)
        parts += (text[at : match.start()], shown, after[1] if after else "")
        at = after.end() if after else end
    return "".join([*parts, text[at:]])


def _format_entry(command: str, entry: _Entry) -> str:
    """Return the printed form of an entry for a command."""
    form = _FORMS.get(command) or _FORMS.get(command[:1].lower() + command[1:]) or _FORMS.get(command.lower(), "use")
    several = form.endswith("s")
    form = form.rstrip("s")
    short, long = (entry.shorts, entry.longs) if several else (entry.short, entry.long)
    if form == "use":
        form = "full" if entry.is_acronym and not entry.is_used else "short"
        entry.is_used = True
    shown = {"short": short, "long": long}.get(form, f"{long} ({short})")
    if not entry.is_acronym:
        shown = short
    if command.isupper():
        return shown.upper()
    return shown[:1].upper() + shown[1:] if command[:1].isupper() else shown


def _read_entries(text: str) -> dict[str, _Entry]:
    found: dict[str, _Entry] = {}
    for call in find_calls(text, _DEFINES, 1):
        key = call.arguments[0].strip()
        values: list[str] = []
        at = call.end
        between, at = read_option(text, at)
        for _ in range(2):
            if text[at : at + 1] == "{" and (got := read_argument(text, at)):
                values.append(got[0])
                at = got[1]
        if call.name in ("acrodefplural", "newacroplural"):
            if key in found and values:
                found[key].longs = values[-1]
        elif call.name in ("newacronym", "newabbreviation") and len(values) == 2:
            options = call.options[0] or ""
            short, long = values
            shorts, longs = read_value(options, "shortplural"), read_value(options, "longplural")
            found[key] = _Entry(short, long, shorts or f"{short}s", longs or f"{long}s")
        elif call.name in ("newglossaryentry", "longnewglossaryentry", "DeclareAcronym") and values:
            names = re.findall(r"(?:^|,)\s*([a-z-]+)\s*=", values[0])
            pairs = {name: value for name in names if (value := read_value(values[0], name)) is not None}
            short = pairs.get("short", pairs.get("text", pairs.get("name", "")))
            if call.name == "DeclareAcronym":
                long = pairs.get("long", "")
                plural = pairs.get("long-plural-form", long + pairs.get("long-plural", "s"))
                found[key] = _Entry(short, long, short + pairs.get("short-plural", "s"), plural)
            elif short:
                several = pairs.get("plural", f"{short}s")
                found[key] = _Entry(short, short, several, several, is_acronym=False)
        elif call.name in ("acro", "acrodef", "newacro") and values:
            short = between or key
            found[key] = _Entry(short, values[0], f"{short}s", f"{values[0]}s")
    return found
