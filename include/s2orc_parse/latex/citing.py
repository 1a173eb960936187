"""Print citations as LaTeX does (natbib, biblatex, plain LaTeX), and record which entry each part cites."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from s2orc_parse.latex.bibliography import CitationNames
from s2orc_parse.latex.document import Cite, Inlines, Ref, walk
from s2orc_parse.latex.inlines import plain
from s2orc_parse.latex.source import LatexSource
from s2orc_parse.parse_model import BibEntry, CitationStyle
from s2orc_parse.words import read_table

Piece = tuple[str | Inlines, str | None]
"""a text and the key of the cited entry, or surrounding inlines without a key"""


class Mode(StrEnum):
    """How citations name entries."""

    NUMBERS = "numbers"
    SUPER = "super"
    NAMES = "names"
    ALPHA = "alpha"


@dataclass(frozen=True, slots=True)
class PrintedStyle:
    """A paper's citation style."""

    mode: Mode
    opening: str
    closing: str
    sort: bool = False
    compress: bool = False
    bare_cite: bool = False  # \cite has no surrounding brackets: biblatex's authoryear
    cite_is_text: bool = True  # \cite is \citet: natbib with names

    @property
    def name(self) -> CitationStyle:
        """The style as recorded in parses."""
        if self.mode is Mode.NUMBERS and self.opening == "[":
            return CitationStyle.BRACKET
        return CitationStyle.NAME_YEAR if self.mode is Mode.NAMES else CitationStyle.OTHER


_BRACKETS = {"round": "()", "square": "[]", "curly": "{}", "angle": "<>"}
_TABLE = read_table("latex/words")
_NUMERIC_CLASSES, _NUMBERED_STYLES, _NAMED_STYLES = (
    frozenset(_TABLE[name].split()) for name in ("numeric_classes", "numbered_styles", "named_styles")
)
_BIB_STYLE = re.compile(r"\\bibliographystyle\s*\{([^{}]*)\}")
_LABEL_COMMAND = re.compile(r"\\(?:citeauthoryear|astroncite|harvarditem|citename|BCAY)(?![A-Za-z])")
_CITE_IS_CITEP = re.compile(
    r"\\let\s*\\cite\s*=?\s*\\(?:citep|parencite|autocite)|\\(?:re|provide)newcommand\*?\s*\{?\\cite\}?\s*(?:\[\d\])?(?:\[\])?\s*\{\\(?:citep|parencite)|\\def\\cite\{?\\citep"
)
_SETTINGS = re.compile(r"\\setcitestyle\s*\{([^{}]*)\}")
_PUNCT = re.compile(r"\\bibpunct\s*(?:\[[^\]]*\])?\s*\{(.?)\}\s*\{(.?)\}\s*\{[^{}]*\}\s*\{(\w?)\}")


def detect_style(source: LatexSource, entries: list[CitationNames]) -> PrintedStyle:
    """Return the style that results from the document's packages, options and labels."""
    text = source.preamble + source.styles
    words = {
        word.strip().lower()
        for options in (
            source.packages.get("natbib"),
            source.packages.get("cite"),
            *list(source.packages.values())[:1],
            *_SETTINGS.findall(text),
        )
        if options
        for word in options.split(",")
    }
    biblatex = source.packages.get("biblatex")
    chosen = _BIB_STYLE.findall(source.preamble + source.body)
    bib_style = chosen[-1].strip() if chosen else ""
    named = sum(bool(e.short and e.year and not e.alpha) for e in entries)
    alphas = sum(bool(e.alpha) for e in entries)
    brackets = next((_BRACKETS[word] for word in _BRACKETS if word in words), None)
    if punct := _PUNCT.search(source.preamble):
        brackets = punct.group(1) + punct.group(2)
        words |= {{"n": "numbers", "s": "super"}.get(punct.group(3), "authoryear")}
    sort = bool(words & {"sort", "sort&compress"}) or "cite" in source.packages
    compress = "sort&compress" in words or "cite" in source.packages
    if biblatex is not None:
        match = re.search(r"(?:^|,)\s*(?:cite)?style\s*=\s*\{?([\w-]+)", biblatex)
        style = match.group(1).lower() if match else "numeric"
        if re.search(r"authoryear|apa|chicago|mla|harvard|authortitle", style):
            return PrintedStyle(Mode.NAMES, "(", ")", bare_cite=True, cite_is_text=False)
        if "alphabetic" in style:
            return PrintedStyle(Mode.ALPHA, "[", "]")
        superscript = "super" in style or style in ("nature", "science", "chem-acs")
        if superscript:
            return PrintedStyle(Mode.SUPER, "", "")
        return PrintedStyle(Mode.NUMBERS, "[", "]", sort="comp" in style, compress="comp" in style)
    natbib = (
        "natbib" in source.packages
        or "natbib" in source.styles
        or bool(words & {"authoryear", "numbers"})
        or any(e.is_labeled and e.full != e.short for e in entries)
        or bib_style in _NAMED_STYLES
    )
    if not natbib and any(e.is_labeled for e in entries):
        natbib = bool(_LABEL_COMMAND.search(source.bbl or source.body))
    if words & {"super", "superscript"}:
        return PrintedStyle(Mode.SUPER, "", "", sort, compress)
    numeric = bool(words & {"numbers", "numeric", "acmnumeric"}) or (
        bib_style in _NUMBERED_STYLES and not any(e.is_labeled for e in entries)
    )
    numeric = numeric or (bool(_NUMERIC_CLASSES & set(source.packages)) and not words & {"authoryear", "acmauthoryear"})
    printed = [e for e in entries if e.short]
    labels = source.bbl or source.body  # natbib's styles and databases provide names for citations
    if (
        not numeric
        and natbib
        and named
        and named >= len(printed) * 0.5
        and (not alphas or named > alphas)
        and (re.search(r"\\bibitem\s*%?\s*\[", labels) is not None or "\\bibitem" not in labels)
    ):
        opening, closing = tuple(brackets or "()")
        is_apacite = "natbibapa" not in source.packages.get("apacite", "natbibapa")  # its \cite has parentheses
        cite_is_text = not is_apacite and _CITE_IS_CITEP.search(text) is None
        return PrintedStyle(Mode.NAMES, opening, closing, cite_is_text=cite_is_text)
    opening, closing = tuple(brackets or "[]")
    if not numeric and alphas * 2 > len(entries):
        return PrintedStyle(Mode.ALPHA, opening, closing)
    return PrintedStyle(Mode.NUMBERS, opening, closing, sort, compress)


_TEXTUAL, _BARE, _PARTS = (frozenset(_TABLE["citations"][kind].split()) for kind in ("textual", "bare", "parts"))


class Printer:
    """Prints the citations of one paper."""

    def __init__(self, style: PrintedStyle, entries: Mapping[str, tuple[int, CitationNames, BibEntry]]) -> None:
        """`entries` contains the printed number, the names and the entry of each key."""
        self.style = style
        self.entries = entries

    def format_citation(self, cite: Cite) -> list[Piece]:
        """Return the printed parts of a citation in order."""
        command = cite.command.rstrip("*")
        command = command[:1].lower() + command[1:]
        groups = (cite, *cite.further)
        if command == "nocite":
            return []
        if command in ("citetalias", "citepalias"):
            return self._format_alias(cite, command)
        if command in _PARTS:
            parts = [self._format_part(group, command) for group in groups]
        elif self.style.mode is Mode.NAMES:
            textual = command in _TEXTUAL or (command == "cite" and self.style.cite_is_text)
            parts = [self._format_names(group, command, textual) for group in groups]
            if not textual:
                is_bare = command in _BARE or (command == "cite" and self.style.bare_cite)
                return _enclose(_join(parts, "; "), "" if is_bare else self.style.opening, self.style.closing)
        else:
            textual = command in _TEXTUAL and command != "onlinecite"
            if textual:
                parts = [self._format_named_numbers(group) for group in groups]
            else:
                parts = [_add_notes(group, self._format_sorted(group.keys)) for group in groups]
                is_bare = command in _BARE or command == "onlinecite"
                return _enclose(_join(parts, ", "), "" if is_bare else self.style.opening, self.style.closing)
        return _join(parts, ", ")

    def _format_alias(self, cite: Cite, command: str) -> list[Piece]:
        r"""Return the output of \citetalias and \citepalias: the paper's name for the entry."""
        name: Piece = (plain(cite.alias) or "?", cite.keys[0] if cite.keys else None)
        if command == "citepalias":
            return _enclose(_add_notes(cite, [name]), "(", ")")
        notes = _add_notes(cite, [])
        return [name, *([(" ", None)] if notes else []), *_enclose(notes, "(" if notes else "", ")")]

    def _format_part(self, cite: Cite, command: str) -> list[Piece]:
        r"""Return the output of \citeauthor, \citeyear and similar commands."""
        out: list[Piece] = []
        for i, key in enumerate(cite.keys):
            out += [("; ", None)] if i else []
            out.append((self._read_field(key, command, cite) if key in self.entries else "?", key))
        out = _add_notes(cite, out)
        return _enclose(out, "(", ")") if command == "citeyearpar" else out

    def _read_field(self, key: str, command: str, cite: Cite) -> str:
        """Return the part of an entry that a command prints."""
        _, named, entry = self.entries[key]
        if command == "citetitle":
            return entry.title
        if command == "citeurl":
            return entry.urls[0] if entry.urls else ""
        if command in ("fullcite", "footfullcite"):
            return entry.raw_text.strip(" .")
        if "year" in command or "date" in command:
            return named.year or "?"
        return _capitalize(named.full if cite.command.endswith("*") or "full" in command else named.short, cite) or "?"

    def _format_names(self, cite: Cite, command: str, textual: bool) -> list[Piece]:
        style = self.style
        out: list[Piece] = []
        bare = command in _BARE
        for i, key in enumerate(cite.keys):
            out += [(", " if textual else "; ", None)] if i else []
            if key not in self.entries:
                out.append(("?", key))
                continue
            named = self.entries[key][1]
            who = _capitalize((named.full if cite.command.endswith("*") else named.short) or key, cite)
            if not textual:
                out.append((f"{who}, {named.year}" if named.year else who, key))
                continue
            who += "’s" if command == "citeposs" else ""
            before = cite.before if i == 0 else ()
            after = cite.after if i == len(cite.keys) - 1 else ()
            opening, closing = ("", "") if bare else (style.opening, style.closing)
            if not any(isinstance(inline, Cite | Ref) for inline in walk((*before, *after))):
                inner = " ".join(filter(None, (plain(before), named.year or "?"))) + (
                    f", {plain(after)}" if after else ""
                )
                out.append((f"{who} {opening}{inner}{closing}", key))
                continue
            year = named.year or "?"
            out += [(f"{who} {opening}", None), (before, None), (" ", None)] if before else []
            out.append((year if before else f"{who} {opening}{year}", key))
            out += [(", ", None), (after, None)] if after else []
            out.append((closing, None))
        return out if textual else _add_notes(cite, out)

    def _format_named_numbers(self, cite: Cite) -> list[Piece]:
        r"""Return the output of \citet if entries have numbers."""
        out: list[Piece] = []
        for i, key in enumerate(cite.keys):
            who = _capitalize(self.entries[key][1].short if key in self.entries else "", cite)
            label = self._format_label(key)
            text = f"{who} {self.style.opening}{label}{self.style.closing}" if self.style.opening else f"{who} {label}"
            out += [(", ", None)] if i else []
            out.append((text.strip(), key))
        return out

    def _format_label(self, key: str) -> str:
        if key not in self.entries:
            return "?"
        number, named, _ = self.entries[key]
        return (named.alpha or str(number)) if self.style.mode is Mode.ALPHA else str(number)

    def _format_sorted(self, keys: tuple[str, ...]) -> list[Piece]:
        style = self.style
        numbers = style.mode is not Mode.ALPHA and all(key in self.entries for key in keys)
        if numbers and style.sort:
            keys = tuple(sorted(keys, key=lambda key: self.entries[key][0]))
        groups: list[list[str]] = []
        for key in keys:
            if numbers and style.compress and groups and self.entries[key][0] == self.entries[groups[-1][-1]][0] + 1:
                groups[-1].append(key)
            else:
                groups.append([key])
        out: list[Piece] = []
        between = "," if style.mode is Mode.SUPER else ", "
        for group in groups:
            runs = [group] if len(group) > 2 else [[key] for key in group]
            for run in runs:
                out += [(between, None)] if out else []
                if len(run) == 1:
                    out.append((self._format_label(run[0]), run[0]))
                else:
                    out.append((f"{self._format_label(run[0])}–{self._format_label(run[-1])}", "\0".join(run)))
        return out


def _add_notes(cite: Cite, pieces: list[Piece]) -> list[Piece]:
    """Return pieces between the texts before and after the citation."""
    before: list[Piece] = [(cite.before, None), (" ", None)] if cite.before else []
    after: list[Piece] = [(", " if pieces else "", None), (cite.after, None)] if cite.after else []
    return [*before, *pieces, *after]


def _enclose(pieces: list[Piece], opening: str, closing: str) -> list[Piece]:
    """Return pieces in brackets, or unchanged if `opening` is empty."""
    return [(opening, None), *pieces, (closing, None)] if opening else pieces


def _join(groups: list[list[Piece]], between: str) -> list[Piece]:
    """Return the pieces of several groups of keys."""
    out: list[Piece] = []
    for group in groups:
        out += [(between, None)] if out else []
        out += group
    return out


def _capitalize(who: str, cite: Cite) -> str:
    r"""Return a capitalized name if the command is capitalized: \Citet, \Textcite."""
    return who[:1].upper() + who[1:] if cite.command[:1].isupper() else who
