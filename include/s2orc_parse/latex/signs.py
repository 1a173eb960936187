"""Signs of the private use area that stand for what pandoc need not read, and what each of them means.

pandoc makes its table of commands again at each command that it looks up: 0.3 MB of allocations, 0.15 ms; a word takes it 10 kB. So runs
of plain words, citations, references, addresses and the names of commands that only set type are given to it as one sign each, where they
read the same wherever they stand. The reader of its tree puts back what they mean: TeX where pandoc gives TeX, else what pandoc would give.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from s2orc_parse.latex.document import Cite, Inline, Inlines, Mark, Ref

_FIRST, _LAST = 0xE100, 0xF8FF
SIGN = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
_PARTS = re.compile(f"({SIGN.pattern})")
_BEFORE_GROUP = re.compile(SIGN.pattern + r"(?=\{)")
_DEFINED = re.compile(
    r"\\(?:newcommand|renewcommand|providecommand|DeclareRobustCommand|[egx]?def|let)\*?\s*\{?\s*\\([A-Za-z]+)"
)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_OTHERWISE = re.compile(r"\\[egx]?def\s*\\[A-Za-z@]+(?![A-Za-z@])(?:#\d)*\s*[^\s#{]|\\catcode|\\begin\s*\{tabbing\}")
"""Where a text stays as it is: a macro's arguments end at characters of the text, or characters mean something else."""
_PLAIN, _EMPHASIS = "", "emph"
_STYLES = {
    "textbf": _PLAIN, "textsc": _PLAIN, "textrm": _PLAIN, "textsf": _PLAIN, "textup": _PLAIN, "textmd": _PLAIN, "textnormal": _PLAIN,
    "emph": _EMPHASIS, "textit": _EMPHASIS, "textsl": _EMPHASIS,
}  # fmt: skip
_CITES = (
    "cite", "citep", "citet", "citealp", "citealt", "citeauthor", "citeyear", "citeyearpar", "parencite", "textcite", "autocite",
)  # fmt: skip
_CITE_IS = re.compile(r"\\renewcommand\*?\s*\{?\s*\\(cite)\s*\}?\s*\{\\(citep|citet|parencite)\}")
_REFS = {"ref": "ref", "eqref": "eqref", "autoref": "ref+label", "cref": "ref+label", "Cref": "ref+Label"}
_ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303"}
_WORD = r"\(?[^\W_]+(?:[-/.'][^\W_]+)*\)?[,.;:?!]?\)?"
_SPACE = r"(?:[ \t]+(?:\n[ \t]*)?|\n[ \t]*)"
_KEY = r"[\w:.+/@*!?-]+"
_TOKEN = re.compile(
    r"\\(?:"
    rf"(?P<cite>{'|'.join(_CITES)})\{{\s*(?P<keys>{_KEY}\s*(?:,\s*{_KEY}\s*)*)\}}"
    rf"|(?P<ref>{'|'.join(_REFS)})\{{(?P<label>{_KEY})\}}"
    r"|url\{(?P<url>[\w:/.=?,;()+-]+)\}"
    r"|href\{(?P<target>[\w:/.=?,;()+-]+)\}\s*(?=\{)"
    rf"|(?P<style>{'|'.join(_STYLES)})(?=\{{)"
    r"|(?P<accent>['`\"^~])(?:(?P<letter>[A-Za-z])|\{(?P<lettered>[A-Za-z])\})"
    r"|(?P<symbol>[%&_#$])"
    r"|(?P<noindent>(?<=\s\\)noindent[ \t]*\n?[ \t]*(?=[A-Z]))"
    # any other command with the word or the number behind it, which may be its argument
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
"""What no group that only sets type may hold: pandoc cannot read it there, and leaves its paragraph out."""
_EMPTY = re.compile(r"\s*\}")
_BEFORE_TEXT = re.compile("[A-Za-z,.;:(`\ue001]\\s*\\Z")
"""What stands before a group that is not an argument."""


@dataclass(frozen=True, slots=True)
class Style:
    """What is done with the group that follows: `kind` as of a Mark, empty if only type is set."""

    kind: str
    target: str = ""


class Signs:
    """The signs of one text."""

    def __init__(self) -> None:
        self._signs: dict[str, str] = {}
        self._raw: list[str] = []
        self._meanings: list[Inline | Style] = []

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._raw)

    def _sign(self, raw: str, meaning: Inline | Style) -> str:
        """The sign for some TeX; the TeX itself where there are no more signs."""
        if (sign := self._signs.get(raw)) is None:
            if len(self._raw) > _LAST - _FIRST:
                return raw
            sign = self._signs[raw] = chr(_FIRST + len(self._raw))
            self._raw.append(raw)
            self._meanings.append(meaning)
        return sign

    def shortened(self, text: str) -> str:
        """A whole text for pandoc, with signs; as it is where that could mean something else."""
        if _OTHERWISE.search(text):
            return text
        defined, labels = set(_DEFINED.findall(text)), {label.strip() for label in _LABEL.findall(text)}
        known = {name: name for name in (*_CITES, *_REFS, *_STYLES) if name not in defined}
        known |= dict(_CITE_IS.findall(text))
        if any("#" in label for label in labels):  # a macro makes labels
            known = {name: of for name, of in known.items() if name not in _REFS}
        begin = text.find("\\begin{document}")
        blocks = [match.start() for match in _BLOCKS.finditer(text)]
        parts: list[str] = []
        # is it text? where it starts, the place of its command's sign in `parts`, and that command
        groups: list[tuple[bool, int, int, str]] = []
        at = ended = 0  # how far the text is in `parts`; where the last command ended
        command = ""  # that command, if a sign stands for it
        note = False  # whether it was \\footnote
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
            new = self._instead(match, known, labels) if is_text or kind == "style" else None
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

    def _instead(self, match: re.Match[str], known: dict[str, str], labels: set[str]) -> str | None:
        """What is written in place of a token; None if it stays."""
        kind, token = match.lastgroup, match.group()
        if kind == "other":
            return None
        if kind == "style":
            return self._sign(token, Style(_STYLES[match["style"]])) if match["style"] in known else None
        if kind == "words":
            return self._sign(token, " ".join(token.split()).replace("'", "’"))
        if kind == "keys" and (name := known.get(match["cite"])):
            keys = tuple(key.strip() for key in match["keys"].split(","))
            return self._sign(token.replace(match["cite"], name, 1), Cite(name, keys))
        if kind == "label" and match["ref"] in known and match["label"] not in labels:  # pandoc may know its number
            return self._sign(token, Ref(_REFS[match["ref"]], (match["label"],)))
        if kind == "url":
            return self._sign(token, Mark("link", (match["url"],), match["url"]))
        if kind == "target":
            return self._sign(token, Style("link", match["target"]))
        if kind == "symbol":
            return self._sign(token, match["symbol"])
        if kind == "noindent":
            return ""
        if kind in ("letter", "lettered"):
            letter = unicodedata.normalize("NFC", match[kind] + _ACCENTS[match["accent"]])
            return letter if len(letter) == 1 else None
        return None

    def raw(self, text: str) -> str:
        """The text with the TeX that each sign stands for."""
        return SIGN.sub(lambda match: self._raw[ord(match.group()) - _FIRST], text)

    def read(self, text: str) -> Iterator[Inline | Style]:
        """What a text with signs means, part by part: a command is text where its group is."""
        if "{" in text:
            text = _BEFORE_GROUP.sub(lambda match: self.raw(match.group()), text)
        for at, part in enumerate(_PARTS.split(text)):
            if at % 2:
                yield self._meanings[ord(part) - _FIRST]
            elif part:
                yield part


def styled(style: Style, content: Inlines) -> Inlines:
    """The content of a group as its style has it; no emphasis begins or ends with a space."""
    if style.kind != "emph":
        return (Mark(style.kind, content, style.target),) if style.kind else content
    before: Inlines = ()
    after: Inlines = ()
    if content and isinstance(content[0], str) and content[0].startswith(" "):
        before, content = (" ",), (content[0].lstrip(" "), *content[1:])
    if content and isinstance(content[-1], str) and content[-1].endswith(" "):
        after, content = (" ",), (*content[:-1], content[-1].rstrip(" "))
    return (*before, Mark("emph", tuple(inline for inline in content if inline != "")), *after)
