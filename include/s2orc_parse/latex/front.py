r"""Rewrite the front and back matter of a source by its class: abstracts and keywords become marks, notes disappear."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

from s2orc_parse.latex.classes import Form, Role
from s2orc_parse.latex.macros import find_definitions
from s2orc_parse.latex.marks import CLOSE, OPEN
from s2orc_parse.latex.tex import (
    balance,
    check_deadline,
    find_calls,
    find_environments,
    read_argument,
    read_option,
    replace_intervals,
    skip_space,
)
from s2orc_parse.latex.verbatim import DEFINES
from s2orc_parse.words import read_table

MAX_AUTHORS = 3_000
_WORDS = read_table("latex/words")
_HEADING = re.compile(r"\\(?:chapter|section)\*?\s*[\[{]")
_RUN_IN = re.compile(r"\\(?:sub)*(?:section|paragraph)\*?\s*(?=\{)")
_KEYWORD_END = re.compile(r"\\(?:PACS|MSC|JEL|UAT|amsmsc)(?![A-Za-z])")
_KEYWORD_SEPARATOR = re.compile(
    r"\\(?:sep|and|newline|kwd|quad|qquad|cdot|textbullet)(?![A-Za-z])|\\\\|\$\s*\\cdot\s*\$|\\KWD(?![A-Za-z])"
)
_SURE_ROLES = (Role.ABSTRACT, Role.KEYWORDS)
"""roles that do not change if the paper defines the name itself"""
_CLOSED_ROLES = (Role.ABSTRACT, Role.BIOGRAPHY, Role.KEYWORDS)
r"""roles of commands whose text may end at \endNAME"""
_TAKEN_ROLES = (Role.TITLE, Role.AUTHOR)
"""roles of commands that `take_title_and_authors` removes"""
_NAME_ENDS = re.compile(
    r"\\(?:quad|qquad|hfill|hspace\*?\{[^{}]*\}|vspace\*?\{[^{}]*\}|(?:IEEE)?authorblockN)(?![A-Za-z])|\\\\(?:\s*\[[^\]]{0,100}\])?|(?<!\\),|~~+|&|\n\s*\n"
)
_AUTHOR_ENDS = re.compile(r"\\(?:[Aa]nd|AND|alignauthor)(?![A-Za-z])")
_NOTES_IN_NAMES = "|".join(_WORDS["notes_in_names"].split())
_NOT_IN_NAMES = re.compile(rf"\\(?:{'|'.join(_WORDS['type_in_names'].split())})(?![A-Za-z])")
_MARK_IN_NAMES = re.compile(r"\$[^$]*\$|\\(?:[dt]ag|dagger|ddagger)(?![A-Za-z])")
_END_OF_NAME = "~~"
_NOT_PRINTED_IN_NAMES = re.compile(
    r"\\(?:begin\s*\{tabular\}(?:\[[^\]]{0,100}\])?\s*\{[^{}]{0,300}\}|end\s*\{tabular\})|\b\d{1,2}\s*\\textsuperscript\s*\{(?:st|nd|rd|th)\}"
)
"""tables of names, and the numbers of IEEE's template: 1st Ada Byron"""
_SPACE = r"(?:\s|%(?=\n))*+"
_PLOS_TITLE = re.compile(rf"{_SPACE}\{{{_SPACE}\\[Ll]arge{_SPACE}\\textbf{_SPACE}(?:\\newline{_SPACE})?(?=\{{)")
_PLOS_AUTHORS = re.compile(rf"{_SPACE}\}}{_SPACE}(?:\\newline{_SPACE})?(?:\\\\{_SPACE})*(.*?)\\\\", re.DOTALL)
_INVERTED = re.compile(r"\s*[^\W\d_][\w'’-]*,(?:[\s~]+[^\W\d_][\w'’.-]*){1,2}\s*")
_ONE_MACRO = re.compile(r"\s*\\([A-Za-z]+)\s*")
_ITS_TEXT = re.compile(r"\\[A-Za-z]+\*?\s*\{?\\[A-Za-z]+\}?\s*\{(.*)\}", re.DOTALL)


class FrontMatter:
    """Rewrites the texts of one source."""

    def __init__(self, forms: Mapping[str, Form], defined: Collection[str]) -> None:
        """`defined` are the names that the paper defines: they keep their own meaning, except abstracts and keywords."""
        self.taken = {name: form for name, form in forms.items() if form.role in _TAKEN_ROLES}
        self.forms = {
            name: form
            for name, form in forms.items()
            if form.role not in _TAKEN_ROLES and (form.role in _SURE_ROLES or name not in defined)
        }
        notes = (re.escape(name) for name, form in forms.items() if form.role is Role.NOTE and form.arguments < 2)
        self._notes = "|".join((_NOTES_IN_NAMES, *notes))
        names = "|".join(sorted(map(re.escape, self.forms), key=len, reverse=True))
        self._call = re.compile(rf"\\(?:begin\s*\{{({names})\*?\}}|({names}|twocolumn)(?![A-Za-z@]))")
        self.has_abstract = False

    def rewrite(self, preamble: str, body: str) -> str:
        """Return the body with marks, including the abstract and the keywords of the preamble."""
        taken: list[str] = []
        body = body if "\\author" in preamble + body else _name_title_page(body)
        self._rewrite(preamble, taken, only=(Role.ABSTRACT, Role.KEYWORDS))
        names = "|".join(name for name, form in self.taken.items() if form.role is Role.AUTHOR)
        authors = [(call.start, call.end) for call in find_calls(body, names, 1, options=2)]
        return "".join(taken) + self._rewrite(body, None, kept=authors)

    def take_title_and_authors(self, preamble: str, body: str) -> tuple[str, str]:
        """Return the body without title and authors, and these as paragraphs, split where a name may end."""
        title, authors = "", list[str]()
        names = "|".join(self.taken)
        for text in (preamble, body):
            removed: list[tuple[int, int, str]] = []
            for call in find_calls(text, names, 1, options=2):
                form, end, values = self.taken[call.name], call.end, list(call.arguments)
                while (
                    len(values) < form.arguments
                    and text[skip_space(text, end) :][:1] == "{"
                    and (got := read_argument(text, end))
                ):
                    values.append(got[0])
                    end = got[1]
                removed.append((call.start, end, ""))
                if DEFINES.search(text, max(call.start - 40, 0), call.start):
                    continue
                shown = " ".join(values[: form.shown])
                if form.role is Role.AUTHOR:
                    if macro := _ONE_MACRO.fullmatch(shown):  # Frontiers: \author{\Authors}
                        texts = [one.tex for one in find_definitions(preamble) if one.name == macro[1]]
                        shown = found[1] if texts and (found := _ITS_TEXT.fullmatch(texts[-1])) else shown
                    shown = _remove_notes(_NOT_PRINTED_IN_NAMES.sub(" ", shown), self._notes)
                shown = self._rewrite(shown, [])
                if form.role is Role.AUTHOR:
                    authors += _AUTHOR_ENDS.split(_NOT_IN_NAMES.sub(" ", shown))
                elif call.name == "subtitle":
                    title = f"{title}: {shown}" if title else title
                else:
                    title = shown
        lines = [f"{OPEN}T{CLOSE} {balance(title)}"]
        for number, author in enumerate(authors[:MAX_AUTHORS]):
            for name in [author] if _INVERTED.fullmatch(author) else _NAME_ENDS.split(author)[:MAX_AUTHORS]:
                lines.append(f"{OPEN}N{number}{CLOSE} " + re.sub(r"\n\s*\n", "\n", balance(name)))
        return replace_intervals(body, removed), "\n\n".join(lines)

    def _rewrite(
        self, text: str, taken: list[str] | None, only: Collection[Role] = (), kept: Sequence[tuple[int, int]] = ()
    ) -> str:
        """Return a text with its calls replaced, except in some intervals. Append abstracts and keywords to `taken`, if it is given."""
        parts: list[str] = []
        at = 0
        heading = _HEADING.search(text) if taken is None else None
        first_heading = heading.start() if heading else len(text)
        for match in self._call.finditer(text):
            if match.start() < at or DEFINES.search(text, max(match.start() - 40, 0), match.start()):
                continue
            before = bisect_right(kept, (match.start(), len(text)))
            if before and match.start() < kept[before - 1][1]:
                continue
            check_deadline()
            name = match[1] or match[2]
            if name == "twocolumn":
                content, end = read_option(text, match.end())
                new = None if content is None or only else self._rewrite(content, taken)
            else:
                form = self.forms[name]
                if only and form.role not in only:
                    continue
                found = _read_environment(text, match, form) if match[1] else _read_call(text, match, form)
                if found is None:
                    continue
                contents, end = found
                new = self._replace(name, form, contents, taken, is_front=match.start() < first_heading)
            if new is None:
                continue
            parts += (text[at : match.start()], new)
            at = end
        return "".join([*parts, text[at:]])

    def _replace(
        self, name: str, form: Form, contents: list[str], taken: list[str] | None, *, is_front: bool
    ) -> str | None:
        r"""Return the replacement of a call with its option and arguments, or None if it remains."""
        option, *arguments = contents
        text = " ".join(arguments[: form.shown])
        match form.role:
            case Role.NOTE | Role.DATE:
                return " "
            case Role.ABSTRACT:
                return self._replace_abstract(form, arguments, taken, is_front=is_front)
            case Role.KEYWORDS:
                # on one line, with semicolons for commands that separate keywords, without classifications
                words = _KEYWORD_SEPARATOR.sub("; ", _RUN_IN.sub("", _KEYWORD_END.split(text)[0])).strip()
                marked = _mark("K", re.sub(r"\n\s*\n", "; ", words)) if is_front or taken is not None else ""
                if taken is None:
                    return marked
                taken.append(marked)
                return " "
            case Role.BIOGRAPHY:
                words = " ".join(arguments[name == "bio" :])  # its first argument is a picture
                return f"\n\n\\begin{{biography}}{words}\\end{{biography}}\n\n"
            case Role.BACK if text.strip():
                return f"\n\n\\begin{{{name}}}{arguments[-1]}\\end{{{name}}}\n\n"
            case Role.BACK:
                return f"\n\n\\section*{{{form.headings[0]}}}\n\n"
            case Role.HEADING if form.arguments == 0:
                return f"\n\n\\section{{{option or form.headings[0]}}}\n\n"
            case Role.HEADING if form.headings:
                return f"\n\n\\section*{{{form.headings[0]}}}\n\n{self._rewrite(text, taken)}\n\n"
            case Role.HEADING:
                return f"\n\n\\section*{{{text}}}\n\n"
            case _:
                return f"\n\n{self._rewrite(text, taken)}\n\n"

    def _replace_abstract(
        self, form: Form, arguments: list[str], taken: list[str] | None, *, is_front: bool
    ) -> str | None:
        """Return the mark of the first abstract; a further one before the first section is not text."""
        inner: list[str] = []
        parts = [self._rewrite(_RUN_IN.sub(r"\\textbf", argument), inner).strip(" \n%") for argument in arguments]
        if len(parts) > 1 and form.headings:
            parts = [f"\\textit{{{head}.}} {part}" for head, part in zip(form.headings, parts, strict=False) if part]
        text = "\n\n".join(filter(None, parts))
        if self.has_abstract or not text:
            return None if not is_front and taken is None else "\n\n"
        self.has_abstract = True
        marked = _mark("S", text) + "".join(inner)
        if taken is None:
            return marked
        taken.append(marked)
        return " "


def _name_title_page(body: str) -> str:
    """Return a body with `title` and `author` on a title page without commands, as in the template of PLOS."""
    for page in find_environments(body, "flushleft"):
        start = _PLOS_TITLE.match(page.body)
        title = read_argument(page.body, start.end()) if start else None
        if title and (authors := _PLOS_AUTHORS.match(page.body, title[1])):
            return f"{body[: page.start]}\\title{{{title[0]}}}\\author{{{authors[1]}}}{body[page.end :]}"
    return body


def _remove_notes(names: str, notes: str) -> str:
    """Return the names of authors without links, with an end of a name in place of notes, marks and affiliations."""
    links = find_calls(names, "href", 2, options=0)
    names = replace_intervals(names, ((call.start, call.end, call.arguments[1]) for call in links))
    removed: list[tuple[int, int, str]] = []
    for call in find_calls(names, notes, 0):
        check_deadline()
        if removed and call.start < removed[-1][1]:
            continue
        is_followed = names.startswith("{", skip_space(names, call.end))
        got = read_argument(names, call.end) if is_followed else None
        removed.append((call.start, got[1] if got else call.end, _END_OF_NAME))
    return _MARK_IN_NAMES.sub(_END_OF_NAME, replace_intervals(names, removed))


def _mark(kind: str, text: str) -> str:
    return f"\n\n{OPEN}{kind}{CLOSE} {text}\n\n{OPEN}E{CLOSE}\n\n"


def _read_environment(text: str, match: re.Match[str], form: Form) -> tuple[list[str], int] | None:
    """Return the option and the content of an environment, and its end. Groups before the content may be arguments."""
    end = re.compile(rf"\\end\s*\{{{re.escape(match[1])}\*?\}}").search(text, match.end())
    if end is None:
        return None
    option, at = read_option(text, match.end())
    contents = [option or ""]
    for _ in range(form.arguments if form.headings else int(form.role is Role.BIOGRAPHY)):
        start = skip_space(text, at)
        if text[start : start + 1] != "{" or (got := read_argument(text, at)) is None or got[1] > end.start():
            break
        contents.append(got[0])
        at = got[1]
    rest = text[at : end.start()]
    return [*contents, rest] if rest.strip(" \n%") or len(contents) == 1 else contents, end.end()


def _read_call(text: str, match: re.Match[str], form: Form) -> tuple[list[str], int] | None:
    r"""Return the option and the arguments of a command, and its end.

    Without braces, a command's text ends at `\endNAME`, or for keywords at the end of the paragraph.
    """
    at = match.end() + (text[match.end() : match.end() + 1] == "*")
    option: str | None = None
    for _ in range(2):
        found, at = read_option(text, at, 2000)
        option = option if option is not None else found
    contents = [option or ""]
    for _ in range(form.arguments):
        start = skip_space(text, at)
        if text[start : start + 1] != "{" or (got := read_argument(text, at)) is None:
            break
        contents.append(got[0])
        at = got[1]
    is_open = len(contents) == 1 or form.role is Role.BIOGRAPHY
    if is_open and form.role in _CLOSED_ROLES and (end := text.find(f"\\end{match[2]}", at)) >= 0:
        return [*contents, text[at:end]], end + len(f"\\end{match[2]}")
    if len(contents) > 1 or form.arguments == 0:
        return contents, at
    if form.role is Role.KEYWORDS and (line := re.compile(r"[^\n\\{}]{3,500}(?=\n\s*\n|\\|\Z)").match(text, at)):
        return [*contents, line[0]], line.end()
    return (contents, at) if form.role in (Role.NOTE, Role.DATE, Role.BACK) else None
