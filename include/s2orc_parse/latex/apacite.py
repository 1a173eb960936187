"""Rewrite the entries of apacite and apacann, whose commands print fields, with marked fields."""

from __future__ import annotations

import re

from s2orc_parse.latex.tex import Call, find_calls, replace_intervals
from s2orc_parse.words import read_table

_TABLE = read_table("latex/words")
_WORDS, _ARGUMENTS = _TABLE["apacite_words"], _TABLE["apacite_arguments"]
_COMMAND = re.compile(r"\\(" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")(?![A-Za-z])\s*(?:\{\})?")
_LINE_END = re.compile(r"(?<!\\)%[ \t]*\n[ \t]*")
_AUTHORS = re.compile(r"\\begin\s*\{APACrefauthors\}(.*?)\\end\s*\{APACrefauthors\}", re.DOTALL)
_UNPRINTED = re.compile(
    r"\\(?:begin|end)\s*\{APACref[A-Za-z]*\}(?:\s*\[[^\[\]]*\])?|\\PrintBackRefs\s*\{[^{}]*\}|\\APACinsertmetastar\s*\{[^{}]*\}"
    r"|\\(?:unskip|protect)(?![A-Za-z])|\\(?:APACyear|APACmonth|APACexlab|BCnt|APACcitebtitle|APACciteatitle)(?![A-Za-z])"
)


def is_apacite(text: str) -> bool:
    """Return whether an entry or a label has commands of apacite."""
    return "\\APAC" in text or "\\BBA" in text or "\\BCBT" in text


def mark_fields(entry: str) -> str:
    r"""Return an entry or a label with plain words for apacite's words, and `\bibinfo` for its fields."""
    entry = _LINE_END.sub("", entry)
    entry = _COMMAND.sub(lambda match: _WORDS[match.group(1)], entry)
    entry = _UNPRINTED.sub("", _AUTHORS.sub(lambda match: f"\\bibinfo{{author}}{{{match.group(1).strip()}}}", entry))
    book = "booktitle" if "\\APACrefatitle" in entry else "title"
    for name, arguments in _ARGUMENTS.items():
        if f"\\{name}" in entry:
            calls = find_calls(entry, name, arguments, options=0)
            entry = replace_intervals(entry, ((call.start, call.end, _print_call(call, book)) for call in calls))
    return entry


def _print_call(call: Call, book: str) -> str:
    name, first, last = call.name, call.arguments[0].strip(), call.arguments[-1].strip()
    if name in ("APACrefYearMonthDay", "APACrefYear"):
        return f"({_mark('year', first)})"
    if name == "APACrefatitle":
        return _mark("title", first)
    if name == "APACrefbtitle":
        return f"\\emph{{{_mark(book, first)}}}"
    if name == "APACjournalVolNumPages":
        journal, volume, number, pages = (argument.strip() for argument in call.arguments)
        place = _mark("volume", volume) + (f"({_mark('number', number)})" if number else "")
        return ", ".join(filter(None, (f"\\emph{{{_mark('journal', journal)}}}", place, _mark("pages", pages))))
    if "Address" in name or name.startswith("APACaddress"):
        return ": ".join(
            filter(None, (*(argument.strip() for argument in call.arguments[:-1]), _mark("publisher", last)))
        )
    if name.startswith("BOthers"):
        return "et al."
    return " ".join(filter(None, (argument.strip() for argument in call.arguments)))


def _mark(field: str, text: str) -> str:
    return f"\\bibinfo{{{field}}}{{{text}}}" if text else ""
