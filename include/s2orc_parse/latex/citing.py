"""What a citation command prints (natbib, biblatex, plain LaTeX), with the entries its parts mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from s2orc_parse.latex.bibliography import Named
from s2orc_parse.latex.document import Cite
from s2orc_parse.latex.source import Source
from s2orc_parse.parse_model import CitationStyle

Piece = tuple[str, str | None]
"""A stretch of text and the key of the entry that it cites, if it cites one."""


class Mode(StrEnum):
    """How entries are called."""

    NUMBERS = "numbers"
    SUPER = "super"
    NAMES = "names"
    ALPHA = "alpha"


@dataclass(frozen=True, slots=True)
class Style:
    """How a paper prints its citations."""

    mode: Mode
    opening: str
    closing: str
    sort: bool = False
    compress: bool = False
    bare_cite: bool = False  # \cite has no brackets around the whole: biblatex's authoryear
    cite_is_text: bool = True  # \cite is \citet: natbib with names

    @property
    def name(self) -> CitationStyle:
        """The style as parses call it."""
        if self.mode is Mode.NUMBERS and self.opening == "[":
            return CitationStyle.BRACKET
        return CitationStyle.NAME_YEAR if self.mode is Mode.NAMES else CitationStyle.OTHER


_BRACKETS = {"round": "()", "square": "[]", "curly": "{}", "angle": "<>"}
_NUMERIC_CLASSES = frozenset(
    ("acmart", "elsarticle", "IEEEtran", "revtex4", "revtex4-1", "revtex4-2", "sn-jnl", "llncs", "sig-alternate")
)
_CITE_IS_CITEP = re.compile(
    r"\\let\s*\\cite\s*=?\s*\\(?:citep|parencite|autocite)|\\(?:re|provide)newcommand\*?\s*\{?\\cite\}?\s*(?:\[\d\])?(?:\[\])?\s*\{\\(?:citep|parencite)|\\def\\cite\{?\\citep"
)
_SETTINGS = re.compile(r"\\setcitestyle\s*\{([^{}]*)\}")
_PUNCT = re.compile(r"\\bibpunct\s*(?:\[[^\]]*\])?\s*\{(.?)\}\s*\{(.?)\}\s*\{[^{}]*\}\s*\{(\w?)\}")


def style_of(source: Source, entries: list[Named]) -> Style:
    """The style that the document's packages, options and labels give."""
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
    named = sum(bool(e.short and e.year and not e.alpha) for e in entries)
    alphas = sum(bool(e.alpha) for e in entries)
    brackets = next((_BRACKETS[word] for word in _BRACKETS if word in words), None)
    if punct := _PUNCT.search(source.preamble):
        brackets = punct.group(1) + punct.group(2)
        words |= {{"n": "numbers", "s": "super"}.get(punct.group(3), "authoryear")}
    sort = bool(words & {"sort", "sort&compress"}) or "cite" in source.packages
    compress = "sort&compress" in words or "cite" in source.packages
    if biblatex is not None:
        chosen = re.search(r"(?:^|,)\s*(?:cite)?style\s*=\s*\{?([\w-]+)", biblatex)
        style = chosen.group(1).lower() if chosen else "numeric"
        if re.search(r"authoryear|apa|chicago|mla|harvard|authortitle", style):
            return Style(Mode.NAMES, "(", ")", bare_cite=True, cite_is_text=False)
        if "alphabetic" in style:
            return Style(Mode.ALPHA, "[", "]")
        superscript = "super" in style or style in ("nature", "science", "chem-acs")
        return (
            Style(Mode.SUPER, "", "")
            if superscript
            else Style(Mode.NUMBERS, "[", "]", "comp" in style, "comp" in style)
        )
    natbib = (
        "natbib" in source.packages
        or "natbib" in source.styles
        or bool(words & {"authoryear", "numbers"})
        or any(e.full != e.short for e in entries)
    )
    if words & {"super", "superscript"}:
        return Style(Mode.SUPER, "", "", sort, compress)
    numeric = bool(words & {"numbers", "numeric", "acmnumeric"}) or (
        bool(_NUMERIC_CLASSES & set(source.packages)) and not words & {"authoryear", "acmauthoryear"}
    )
    printed = [e for e in entries if e.short]
    if (
        not numeric
        and natbib
        and named
        and named >= len(printed) * 0.5
        and (not alphas or named > alphas)
        and _labelled(source)
    ):
        opening, closing = tuple(brackets or "()")
        return Style(Mode.NAMES, opening, closing, cite_is_text=_CITE_IS_CITEP.search(text) is None)
    opening, closing = tuple(brackets or "[]")
    if not numeric and alphas * 2 > len(entries):
        return Style(Mode.ALPHA, opening, closing)
    return Style(Mode.NUMBERS, opening, closing, sort, compress)


def _labelled(source: Source) -> bool:
    """Whether the bibliography gives names to cite by: BibTeX's natbib styles do, and a database does."""
    text = source.bbl or source.body
    return (
        "\\bibitem[" in text
        or "\\bibitem [" in text
        or bool(re.search(r"\\bibitem\s*%?\s*\[", text))
        or "\\bibitem" not in text
    )


_TEXTUAL = frozenset(
    ("citet", "textcite", "citeA", "citealt", "newcite", "textcites", "onlinecite", "citeasnoun", "fullcite")
)
_BARE = frozenset(
    (
        "citealp",
        "citealt",
        "citenum",
        "citeyear",
        "citeauthor",
        "citefullauthor",
        "citetitle",
        "fullcite",
        "citeurl",
        "citedate",
    )
)


class Printer:
    """Prints the citations of one paper."""

    def __init__(self, style: Style, entries: Mapping[str, tuple[int, Named]]) -> None:
        """`entries`: the printed number and the names of each key."""
        self.style = style
        self.entries = entries

    def pieces(self, cite: Cite) -> list[Piece]:
        """What a citation prints, in order."""
        command = cite.command.rstrip("*")
        command = command[:1].lower() + command[1:]
        if command == "nocite":
            return []
        if command in ("citeauthor", "citefullauthor", "citeyear", "citeyearpar", "citetitle", "citedate"):
            return self._part(cite, command)
        if self.style.mode is Mode.NAMES:
            textual = command in _TEXTUAL or (command == "cite" and self.style.cite_is_text)
            return self._names(cite, command, textual)
        return self._numbers(cite, command)

    def _part(self, cite: Cite, command: str) -> list[Piece]:
        """\\citeauthor, \\citeyear and their kin."""
        out: list[Piece] = []
        for i, key in enumerate(cite.keys):
            named = self.entries[key][1] if key in self.entries else Named("?", "?", "?", "")
            text = (
                named.year
                if "year" in command or "date" in command
                else named.full
                if cite.command.endswith("*")
                else named.short
            )
            out += [("; ", None)] if i else []
            out.append((text or "?", key))
        return [("(", None), *out, (")", None)] if command == "citeyearpar" else out

    def _names(self, cite: Cite, command: str, textual: bool) -> list[Piece]:
        style = self.style
        out: list[Piece] = []
        bare = command in _BARE or (command == "cite" and style.bare_cite)
        after = f", {cite.after}" if cite.after else ""
        for i, key in enumerate(cite.keys):
            last = i == len(cite.keys) - 1
            if key not in self.entries:
                text = "?"
            else:
                named = self.entries[key][1]
                who = (named.full if cite.command.endswith("*") else named.short) or key
                if textual:
                    inner = f"{named.year or '?'}{after if last else ''}"
                    before = f"{cite.before} " if i == 0 and cite.before else ""
                    text = f"{who} {before}{inner}" if bare else f"{who} {style.opening}{before}{inner}{style.closing}"
                else:
                    text = f"{who}, {named.year}" if named.year else who
            out += [(", " if textual else "; ", None)] if i else []
            out.append((text, key))
        if textual:
            return out
        out = [*([(f"{cite.before} ", None)] if cite.before else []), *out, *([(after, None)] if after else [])]
        return out if bare else [(style.opening, None), *out, (style.closing, None)]

    def _numbers(self, cite: Cite, command: str) -> list[Piece]:
        style = self.style
        if command in _TEXTUAL and command != "onlinecite":
            out: list[Piece] = []
            for i, key in enumerate(cite.keys):
                who = (self.entries[key][1].short if key in self.entries else "") or ""
                label = self._label(key)
                text = f"{who} {style.opening}{label}{style.closing}" if style.opening else f"{who} {label}"
                out += [(", ", None)] if i else []
                out.append((text.strip(), key))
            return out
        pieces = self._sorted(cite.keys)
        pieces = [
            *([(f"{cite.before} ", None)] if cite.before else []),
            *pieces,
            *([(f", {cite.after}", None)] if cite.after else []),
        ]
        if command in _BARE or command == "onlinecite" or not style.opening:
            return pieces
        return [(style.opening, None), *pieces, (style.closing, None)]

    def _label(self, key: str) -> str:
        if key not in self.entries:
            return "?"
        number, named = self.entries[key]
        return (named.alpha or str(number)) if self.style.mode is Mode.ALPHA else str(number)

    def _sorted(self, keys: tuple[str, ...]) -> list[Piece]:
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
                    out.append((self._label(run[0]), run[0]))
                else:
                    out.append((f"{self._label(run[0])}–{self._label(run[-1])}", "\0".join(run)))
        return out
