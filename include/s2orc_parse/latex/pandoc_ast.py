"""What pandoc gives (its JSON tree) → document: the marks that part text, captions, cells and entries are read here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from s2orc_parse.latex.bbl import RawItem
from s2orc_parse.latex.document import (  # fmt: skip
    Appendix,
    BibItem,
    Block,
    Cite,
    Document,
    Head,
    Inline,
    Inlines,
    Label,
    Mark,
    Math,
    Note,
    Para,
    Ref,
)
from s2orc_parse.latex.floats import Piece
from s2orc_parse.latex.signs import SIGN, Signs, Style, styled

OPEN, CLOSE = "\ue000", "\ue001"  # around a mark: F0, C0, R0, B0, L0, A, Z
CELL, BLOCK = "\ue002", "\ue003"
FIELD, VALUE, END = "\ue004", "\ue005", "\ue006"  # a field of a bibliography entry: its name, its value
XSPACE = "\ue009"  # \xspace: a space if what follows wants one
_MARK = re.compile(f"{OPEN}([A-Z])(\\d*){CLOSE}")
_XSPACE = re.compile(XSPACE + r"+(?=[^\s.,'’”/?;:!~)\]}–—-])")
_COMMAND = re.compile(r"\\([A-Za-z]+\*?)")

Node = dict[str, Any]
_QUOTES = {"DoubleQuote": ("“", "”"), "SingleQuote": ("‘", "’")}


class Reader:
    """pandoc's AST → document."""

    def __init__(self, flat: list[Piece], pieces: list[Piece], items: list[RawItem], signs: Signs) -> None:
        self.signs = signs
        self.flat = flat
        self.pieces = pieces
        self.items = items

    def document(self, ast: Node) -> Document:
        """The document of a whole AST."""
        meta = ast.get("meta", {})
        document = Document()
        abstract = meta.get("abstract")
        if abstract:
            blocks = abstract["c"] if abstract["t"] == "MetaBlocks" else [{"t": "Para", "c": abstract["c"]}]
            document.abstract = [b for b in self._blocks(blocks) if isinstance(b, Para)]
        inside: Block | None
        mark: tuple[str, int] | None = None
        pending: list[Inline] = []
        labels: dict[int, Inlines] = {}

        def close() -> None:
            if mark is None:
                return
            content = tuple(pending)
            kind, number = mark
            if kind == "C":
                self.flat[number].float.caption = content
            elif kind == "R":
                self._row(number, content)
            elif kind == "L":
                labels[number] = content
            elif kind == "T":
                document.title = content
            elif kind == "N":
                document.authors.append(content)
            elif kind == "B":
                item = self.items[number]
                document.bibliography.append(BibItem(item.key, labels.get(number), content))

        for block in self._blocks(ast.get("blocks", [])):
            inside = block
            if (
                isinstance(block, Para)
                and isinstance(block.content[0], str)
                and (found := _MARK.match(block.content[0]))
            ):
                close()
                pending = []
                mark = (found.group(1), int(found.group(2) or 0))
                first = block.content[0][found.end() :]
                if mark[0] == "A":
                    document.blocks.append(Appendix())
                    mark = None
                    inside = Para((first, *block.content[1:])) if first.strip() or len(block.content) > 1 else None
                else:
                    pending = [first, *block.content[1:]]
                    continue
            if inside is None:
                continue
            if mark is None:
                document.blocks.append(inside)
            elif isinstance(inside, Para | Head):
                pending += [" ", *inside.content]
        close()
        document.blocks += [piece.float for piece in self.pieces]
        for piece in self.flat:
            piece.float.parts = [part.float for part in piece.parts]
        return document

    def _row(self, number: int, content: Inlines) -> None:
        cells: list[list[Inline]] = [[]]
        for inline in content:
            if isinstance(inline, str) and CELL in inline:
                first, *rest = inline.split(CELL)
                cells[-1].append(first)
                cells += [[part] for part in rest]
            else:
                cells[-1].append(inline)
        target = self.flat[number].float
        target.cells = [*(target.cells or []), [tuple(cell) for cell in cells]]

    def _blocks(self, nodes: list[Node]) -> Iterator[Block]:
        for node in nodes:
            kind: str = node["t"]
            content: Any = node.get("c")
            if kind in ("Para", "Plain"):
                if inlines := self._inlines(content):
                    yield Para(inlines)
            elif kind == "Header":
                level, (identifier, classes, _), inlines = content
                found = self._inlines(inlines)
                labels = tuple(i.name for i in found if isinstance(i, Label))
                yield Head(level, found, "unnumbered" not in classes, (identifier, *labels))
            elif kind == "LineBlock":
                yield Para(tuple(x for line in content for x in (*self._inlines(line), " ")))
            elif kind in ("BlockQuote",):
                yield from self._blocks(content)
            elif kind in ("BulletList", "OrderedList"):
                for item in content if kind == "BulletList" else content[1]:
                    yield from self._blocks(item)
            elif kind == "DefinitionList":
                for term, definitions_ in content:
                    head: Inlines = (*self._inlines(term), " ")
                    for blocks in definitions_:
                        inner = list(self._blocks(blocks))
                        if inner and isinstance(inner[0], Para):
                            inner[0] = Para((*head, *inner[0].content))
                            head = ()
                        yield from inner
                    if head and any(not isinstance(x, str) or x.strip() for x in head):
                        yield Para(head)
            elif kind in ("Div", "Figure"):
                inner = list(self._blocks(content[-1]))
                identifier = content[0][0]
                if identifier and inner and isinstance(inner[0], Para):
                    inner[0] = Para((Label(identifier), *inner[0].content))
                yield from inner

    def _flat(self, nodes: list[Node]) -> Inlines:
        """Blocks as one run of inlines."""
        found: list[Inline] = []
        for block in self._blocks(nodes):
            if isinstance(block, Para | Head):
                found += [*([" "] if found else []), *block.content]
        return tuple(found)

    def _inlines(self, nodes: list[Node]) -> Inlines:
        found: list[Inline] = []
        text: list[str] = []

        def say(inlines: Iterable[Inline]) -> None:
            for inline in inlines:
                if isinstance(inline, str):
                    text.append(inline)
                else:
                    if text:
                        found.append("".join(text))
                        text.clear()
                    found.append(inline)

        def say_signs(content: str) -> Style | None:
            """Say a text with signs; the style of the group behind it, if it ends with one."""
            style: Style | None = None
            for part in self.signs.read(content):
                if style is not None:
                    say(styled(style, ()))
                style = part if isinstance(part, Style) else None
                if not isinstance(part, Style):
                    say((part,))
            return style

        style: Style | None = None
        joins = False  # does an emphasis end here that one behind it goes on with?
        for node in nodes:
            kind: str = node["t"]
            content: Any = node.get("c")
            if style is not None:
                if kind == "Span":
                    inner = self._inlines(content[1])
                    if joins and style.kind == "emph" and not text and isinstance(found[-1], Mark):
                        inner = (*found.pop().content, *inner)  # type: ignore[union-attr]
                    say(styled(style, inner))
                    joins, style = style.kind == "emph", None
                    continue
                say(styled(style, ()))
                style = None
            joins = joins and kind == "Str" and len(content) == 1
            if kind == "Str":
                if SIGN.search(content):
                    style = say_signs(content)
                else:
                    text.append(content)
            elif kind in ("Space", "SoftBreak", "LineBreak"):
                text.append(" ")
            elif kind in ("Strong", "SmallCaps", "Underline", "Superscript", "Subscript", "Strikeout"):
                say(self._inlines(content))
            elif kind == "Emph":
                say((Mark("emph", self._inlines(content)),))
            elif kind == "Quoted":
                opening, closing = _QUOTES[content[0]["t"]]
                say((opening, *self._inlines(content[1]), closing))
            elif kind == "Cite":
                say((self._cite(content),))
            elif kind == "Math":
                say((Math(self.signs.raw(content[1]).replace(XSPACE, ""), content[0]["t"] == "DisplayMath"),))
            elif kind == "Code":
                style = say_signs(content[1])
            elif kind == "Link":
                say(self._link(content))
            elif kind == "Note":
                say((Note(self._flat(content)),))
            elif kind == "Span":
                (identifier, _, pairs), inner = content
                label = dict(pairs).get("label") or identifier
                say((*((Label(label),) if label else ()), *self._inlines(inner)))
        if style is not None:
            say(styled(style, ()))
        if text:
            found.append("".join(text))
        return tuple(found)

    def _cite(self, content: list[Any]) -> Cite:
        citations, inlines = content
        raw = next((i["c"][1] for i in inlines if i["t"] == "RawInline"), "")
        command = _COMMAND.match(raw)
        mode = citations[0]["citationMode"]["t"] if citations else "NormalCitation"
        assumed = {"AuthorInText": "citet", "SuppressAuthor": "citeyear"}.get(mode, "cite")
        return Cite(
            command.group(1) if command else assumed,
            tuple(c["citationId"].strip() for c in citations),
            plain(self._inlines(citations[0]["citationPrefix"])) if citations else "",
            plain(self._inlines(citations[-1]["citationSuffix"])) if citations else "",
        )

    def _link(self, content: list[Any]) -> Inlines:
        (_, _, pairs), inlines, (target, _) = content
        attributes = dict(pairs)
        if "reference" in attributes:
            printed = plain(self._inlines(inlines))
            labels = tuple(label.strip() for label in attributes["reference"].split(","))
            return (Ref(attributes.get("reference-type", "ref"), labels, "" if printed.startswith("[") else printed),)
        return (Mark("link", self._inlines(inlines), self.signs.raw(target)),)


def plain(content: Inlines) -> str:
    """Inlines as text, white space runs as one space; footnotes, labels and references are not shown, formulas as TeX."""
    parts = []
    for inline in content:
        if isinstance(inline, str):
            parts.append(inline)
        elif isinstance(inline, Mark):
            parts.append(plain(inline.content))
        elif isinstance(inline, Math):
            parts.append(inline.tex)
    return " ".join(spaced("".join(parts)).split())


def spaced(text: str) -> str:
    """Text with a space for each \\xspace that something other than closing punctuation follows."""
    return _XSPACE.sub(" ", text).replace(XSPACE, "") if XSPACE in text else text
