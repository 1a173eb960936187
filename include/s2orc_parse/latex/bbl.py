"""Read bibliographies of a source: `thebibliography` (by BibTeX or by hand), biblatex's `.bbl`, amsrefs and apacite."""

from __future__ import annotations

import re
from dataclasses import dataclass

from s2orc_parse.bibliography.tex import decode_text
from s2orc_parse.latex.bibtex import BibtexEntry, read_pairs
from s2orc_parse.latex.tex import (
    Call,
    balance,
    find_calls,
    find_environments,
    read_argument,
    read_option,
    replace_intervals,
)
from s2orc_parse.words import read_table

MAX_ENTRIES = 5_000
_TABLE = read_table("latex/words")
_NAME_PARTS = re.compile(r"\b(family|given|prefix|suffix)\s*=\s*(?=\{)")
_BIBITEM = re.compile(r"\\(?:bibitem|harvarditem)(?![A-Za-z@])\s*")
_LINE_END_BEFORE_GROUP = re.compile(r"(?<![%\s])[ \t]*\n\s*(?=\{)")
"""a place where pandoc misses the arguments of a macro that replaces another command"""
_RECORD = re.compile(r"\\(?:begin|end)\s*\{b[a-z]+\}|\\endbibitem(?![A-Za-z])")
"""marks of an entry's kind in the styles of Springer and BioMed Central"""
_PAGES = re.compile(r"\\bfpage\s*\{(\w+)\}(?:\s*--?\s*\\blpage\s*\{(\w+)\})?")
_FIELD_NAME = re.compile(r"\\bib(?:info|field)\s*\{[^{}]*\}")
_CSL_NUMBER = re.compile(r"\\CSLLeftMargin\s*\{(?:[^{}]|\{[^{}]*\})*\}%?|\\citeproctext(?=\])")
_CSL_ENTRY = re.compile(r"\\leavevmode(?:\\vadjust\s*pre\s*\{)?\\hypertarget\{(ref-[^{}]*)\}\{\}\}?%?")
_CSL_LIST = re.compile(
    r"\\hypertarget\{refs\}\{\}\s*\\bibitem(?s:.*?)(?=\\hypertarget\{(?!ref-)|\\(?:section|chapter|appendix|end)\b|\Z)"
)
"""the list of pandoc 2.10 and older versions, without an environment"""
_ANY_COMMAND = re.compile(r"\\(?:[A-Za-z]+\*?|.)|[{}]")


@dataclass(frozen=True, slots=True)
class RawItem:
    """One \\bibitem: its key, optional label and text as TeX."""

    key: str
    label: str | None
    content: str


def take_bibliography(body: str) -> tuple[str, str]:
    """Return a document's body without its bibliographies, and their content.

    The entries that pandoc prints, up to its version 3.1 without \\bibitem, get one.
    """
    body = _CSL_ENTRY.sub(r"\\bibitem{\1}", _CSL_NUMBER.sub("", body))
    body = _CSL_LIST.sub(r"\\begin{CSLReferences}\g<0>\\end{CSLReferences}", body)
    found = list(
        find_environments(body, "thebibliography|references|bibdiv|biblist|bibsection|CSLReferences|cslreferences")
    )
    rest = replace_intervals(body, ((environment.start, environment.end, "") for environment in found))
    return rest, "\n".join(environment.body for environment in found)


def show_plainly(content: str) -> str:
    """Return the text of an entry that pandoc cannot read."""
    return " ".join(_ANY_COMMAND.sub(" ", decode_text(_FIELD_NAME.sub("", content))).split())


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
        content = _PAGES.sub(
            lambda pages: f"\\bibinfo{{pages}}{{{'--'.join(filter(None, pages.groups()))}}}", _RECORD.sub("", content)
        )
        content = _LINE_END_BEFORE_GROUP.sub(" ", content)
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


def read_biblatex(bbl: str) -> list[BibtexEntry]:
    """Return the entries of a biblatex `.bbl` in printed order, with fields as TeX."""
    for text, delimiters in _TABLE["biber_delimiters"].items():
        bbl = re.sub(rf"\\bib(?:{delimiters})(?![A-Za-z])\s*", text, bbl)
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
    lists: list[tuple[int, int, str]] = []
    for call in find_calls(text, "citelist", 1, options=0):
        groups = re.sub(r"\\cite(?=[\[{])|[,;]\s*(?=\\cite)", "", _move_notes(call.arguments[0]))
        lists.append((call.start, call.end, f"\\cites{groups}"))
    return _move_notes(replace_intervals(text, lists))


def _move_notes(text: str) -> str:
    """Return the text with the starred notes of citations as optional arguments."""
    moved: list[tuple[int, int, str]] = []
    for match in _CITATION.finditer(text):
        if (keys := read_argument(text, match.end())) is None:
            continue
        note = read_argument(text, keys[1] + 1) if text[keys[1] : keys[1] + 2] == "*{" else None
        option = "" if note is None else f"[{{{note[0]}}}]" if "]" in note[0] else f"[{note[0]}]"
        new = f"\\{_CANONICAL.get(match[1], match[1])}{option}{{{keys[0]}}}"
        moved.append((match.start(), keys[1] if note is None else note[1], new))
    return replace_intervals(text, moved)


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
