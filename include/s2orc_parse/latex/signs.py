"""Replace parts of a text with single signs (private-use characters) that pandoc reads faster, and restore them.

pandoc rebuilds its table of commands at each command look-up, which costs 0.3 MB of allocations and 0.15 ms; a word
costs 10 kB. Runs of plain words, citations, references, addresses and names of layout commands therefore become one
sign each, if their meaning does not depend on their position. The reader of pandoc's tree restores them: as TeX where
pandoc outputs TeX, else as pandoc's output.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from s2orc_parse.latex.citations import PLAIN_CITES
from s2orc_parse.latex.document import Cite, Inline, Inlines, MarkedText, Ref

_FIRST, _LAST = 0xE100, 0xF8FF
SIGN = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
_PARTS = re.compile(f"({SIGN.pattern})")
_BEFORE_GROUP = re.compile(SIGN.pattern + r"(?=\{)")
_DEFINED = re.compile(
    r"\\(?:newcommand|renewcommand|providecommand|DeclareRobustCommand|[egx]?def|let)\*?\s*\{?\s*\\([A-Za-z]+)"
)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_UNSAFE_SYNTAX = re.compile(
    r"\\[egx]?def\s*\\[A-Za-z@]+(?![A-Za-z@])(?:#\d)*\s*[^\s#{]|\\catcode|\\begin\s*\{tabbing\}"
)
"""syntax that prevents abbreviation: arguments that end at a character, or changed character codes"""
_PLAIN, _EMPHASIS = "", "emph"
_STYLES = {
    "textbf": _PLAIN, "textsc": _PLAIN, "textrm": _PLAIN, "textsf": _PLAIN, "textup": _PLAIN, "textmd": _PLAIN, "textnormal": _PLAIN,
    "emph": _EMPHASIS, "textit": _EMPHASIS, "textsl": _EMPHASIS,
}  # fmt: skip
_CITE_IS = re.compile(r"\\renewcommand\*?\s*\{?\s*\\(cite)\s*\}?\s*\{\\(citep|citet|parencite)\}")
_REFS = {"ref": "ref", "eqref": "eqref", "autoref": "ref+label", "cref": "ref+label", "Cref": "ref+Label"}
_ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303"}
_WORD = r"\(?[^\W_]+(?:[-/.'][^\W_]+)*\)?[,.;:?!]?\)?"
_SPACE = r"(?:[ \t]+(?:\n[ \t]*)?|\n[ \t]*)"
_KEY = r"[\w:.+/@*!?-]+"
_TOKEN = re.compile(
    r"\\(?:"
    rf"(?P<cite>{'|'.join(PLAIN_CITES)})\{{\s*(?P<keys>{_KEY}\s*(?:,\s*{_KEY}\s*)*)\}}"
    rf"|(?P<ref>{'|'.join(_REFS)})\{{(?P<label>{_KEY})\}}"
    r"|url\{(?P<url>[\w:/.=?,;()+-]+)\}"
    r"|href\{(?P<target>[\w:/.=?,;()+-]+)\}\s*(?=\{)"
    rf"|(?P<style>{'|'.join(_STYLES)})(?=\{{)"
    r"|(?P<accent>['`\"^~])(?:(?P<letter>[A-Za-z])|\{(?P<lettered>[A-Za-z])\})"
    r"|(?P<symbol>[%&_#$])"
    r"|(?P<noindent>(?<=\s\\)noindent[ \t]*\n?[ \t]*(?=[A-Z]))"
    # any other command with the following word or number, which may be its argument
    r"|(?P<other>[A-Za-z@]+\*?\s*(?:[A-Za-z]+|=?[ \t]*[-+.\d][\w.]*(?:\s+(?:plus|minus)\s+[\w.]+)*)?|.)"
    r")"
    rf"|(?P<words>(?:(?<=[A-Za-z,.;:)][ \n])|(?<=\{{)){_WORD}(?:{_SPACE}{_WORD})+)(?=[ \n~,.;:)}}]|\\ )"
    r"|(?P<brace>[{}])",
    re.DOTALL,
)
_BLOCKS = re.compile(
    r"\n\s*\n|#|\\(?:par|parbox|subtitle|address|hrule|strut|rule|item|centerline|caption|lstinputlisting|graphicspath|hypertarget"
    r"|special|ignore|raggedright|part|chapter|(?:sub)*section|(?:sub)?paragraph|dedication|signature|date|title|author|opening|closing"
    r"|def|let|(?:begin|end|bgroup|bibliography|make|add|mark|list|frame|include|input|new|renew|theorem|use)[a-z]*)(?![A-Za-z])"
)
"""constructs that a layout-only group must not contain: pandoc cannot read them there and drops the paragraph"""
_EMPTY = re.compile(r"\s*\}")
_BEFORE_TEXT = re.compile("[A-Za-z,.;:(`\ue001]\\s*\\Z")
"""text before a group that is not an argument"""


@dataclass(frozen=True, slots=True)
class GroupStyle:
    """The style of the following group: `kind` as for a marked text, empty if only the layout changes."""

    kind: str
    target: str = ""


class Signs:
    """The signs of one text."""

    def __init__(self) -> None:
        self._signs: dict[str, str] = {}
        self._raw: list[str] = []
        self._meanings: list[Inline | GroupStyle] = []

    def __bool__(self) -> bool:
        """Return whether there are any signs."""
        return bool(self._raw)

    def _sign(self, raw: str, meaning: Inline | GroupStyle) -> str:
        """Return the sign for some TeX, or the TeX itself if all signs are used."""
        if (sign := self._signs.get(raw)) is None:
            if len(self._raw) > _LAST - _FIRST:
                return raw
            sign = self._signs[raw] = chr(_FIRST + len(self._raw))
            self._raw.append(raw)
            self._meanings.append(meaning)
        return sign

    def shorten(self, text: str) -> str:
        """Return a complete text for pandoc with signs, or unchanged if signs could change its meaning."""
        if _UNSAFE_SYNTAX.search(text):
            return text
        defined, labels = set(_DEFINED.findall(text)), {label.strip() for label in _LABEL.findall(text)}
        known = {name: name for name in (*PLAIN_CITES, *_REFS, *_STYLES) if name not in defined}
        known |= dict(_CITE_IS.findall(text))
        if any("#" in label for label in labels):  # a macro creates labels
            known = {name: of for name, of in known.items() if name not in _REFS}
        begin = text.find("\\begin{document}")
        blocks = [match.start() for match in _BLOCKS.finditer(text)]
        parts: list[str] = []
        # (is it text?, its start, index of its command's sign in `parts`, its command)
        groups: list[tuple[bool, int, int, str]] = []
        at = ended = 0  # end of the text in `parts`; end of the last command
        command = ""  # the last command, if it has a sign
        note = False  # whether the last command was \footnote
        for match in _TOKEN.finditer(text):
            start, end, token = match.start(), match.end(), match.group()
            is_text = groups[-1][0] if groups else start > begin
            if token == "{":
                if start == ended:
                    is_text = is_text and (bool(command) or note)
                else:
                    before = text[start - 1] == "{" or _BEFORE_TEXT.search(text, max(start - 3, 0), start)
                    is_text, command = is_text and bool(before), ""
                groups.append((is_text, end, len(parts) - 1, command))
                continue
            if token == "}":
                if groups:
                    _, since, place, command = groups.pop()
                    held = bisect_left(blocks, start) - bisect_left(blocks, since)
                    if command and (held or _EMPTY.match(text, since)):
                        parts[place] = command
                continue
            kind = match.lastgroup
            new = self._replace_token(match, known, labels) if is_text or kind == "style" else None
            if new is not None:
                parts += (text[at:start], new)
                at = end
            if kind in ("style", "target", "other"):
                ended, note = end, token.rstrip() == "\\footnote"
                command = token if new is not None else ""
        for _, _, place, command in groups:
            if command:
                parts[place] = command
        return "".join([*parts, text[at:]])

    def _replace_token(self, match: re.Match[str], known: dict[str, str], labels: set[str]) -> str | None:
        """Return the replacement of a token, or None if it remains."""
        kind, token = match.lastgroup, match.group()
        if kind == "other":
            return None
        if kind == "style":
            return self._sign(token, GroupStyle(_STYLES[match["style"]])) if match["style"] in known else None
        if kind == "words":
            return self._sign(token, " ".join(token.split()).replace("'", "’"))
        if kind == "keys" and (name := known.get(match["cite"])):
            keys = tuple(key.strip() for key in match["keys"].split(","))
            return self._sign(token.replace(match["cite"], name, 1), Cite(name, keys))
        if kind == "label" and match["ref"] in known and match["label"] not in labels:  # pandoc may know its number
            return self._sign(token, Ref(_REFS[match["ref"]], (match["label"],)))
        if kind == "url":
            return self._sign(token, MarkedText("link", (match["url"],), match["url"]))
        if kind == "target":
            return self._sign(token, GroupStyle("link", match["target"]))
        if kind == "symbol":
            return self._sign(token, match["symbol"])
        if kind == "noindent":
            return ""
        if kind in ("letter", "lettered"):
            letter = unicodedata.normalize("NFC", match[kind] + _ACCENTS[match["accent"]])
            return letter if len(letter) == 1 else None
        return None

    def raw(self, text: str) -> str:
        """Return the text with the TeX of each sign."""
        return SIGN.sub(lambda match: self._raw[ord(match.group()) - _FIRST], text)

    def read(self, text: str) -> Iterator[Inline | GroupStyle]:
        """Yield the parts of a text with signs. A command is text if its group is text."""
        if "{" in text:
            text = _BEFORE_GROUP.sub(lambda match: self.raw(match.group()), text)
        for at, part in enumerate(_PARTS.split(text)):
            if at % 2:
                yield self._meanings[ord(part) - _FIRST]
            elif part:
                yield part


def apply_style(style: GroupStyle, content: Inlines) -> Inlines:
    """Return the content of a group in its style; no emphasis begins or ends with a space."""
    if style.kind != "emph":
        return (MarkedText(style.kind, content, style.target),) if style.kind else content
    before: Inlines = ()
    after: Inlines = ()
    if content and isinstance(content[0], str) and content[0].startswith(" "):
        before, content = (" ",), (content[0].lstrip(" "), *content[1:])
    if content and isinstance(content[-1], str) and content[-1].endswith(" "):
        after, content = (" ",), (*content[:-1], content[-1].rstrip(" "))
    return (*before, MarkedText("emph", tuple(inline for inline in content if inline != "")), *after)
