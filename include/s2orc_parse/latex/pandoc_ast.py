"""Convert pandoc's JSON tree to a document, and read the marks that separate text, captions, cells and entries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from s2orc_parse.latex import document as doc
from s2orc_parse.latex.bbl import RawItem, show_plainly
from s2orc_parse.latex.classes import name_back_matter
from s2orc_parse.latex.floats import FloatSource
from s2orc_parse.latex.inlines import plain, split_inlines, strip_inlines
from s2orc_parse.latex.labeled_front import settle_front_matter, split_keywords
from s2orc_parse.latex.marks import CELL, CITE, CLOSE, KEYS, NOTE, NOTE_END, OPEN, PART, REF, XSPACE

_MARK = re.compile(f"{OPEN}([A-Z])(\\d*){CLOSE}")
_INLINE_MARK = re.compile(f"{OPEN}([IUN])(\\d+){CLOSE}")
_LINKED = re.compile(
    rf"\\href\{{{CITE}(\w+\*?){KEYS}([^{{}}]*)\}}\{{[^{{}}]*\}}|\\href\{{{REF}(\w+){KEYS}([^{{}}]*)\}}\{{\}}"
)
_COMMAND = re.compile(r"\\([A-Za-z]+\*?)")

Node = dict[str, Any]
_QUOTES = {"DoubleQuote": ("“", "”"), "SingleQuote": ("‘", "’")}


class Reader:
    """Converts pandoc's AST to a document."""

    def __init__(
        self,
        flat: list[FloatSource],
        pieces: list[FloatSource],
        items: list[RawItem],
        theorems: Collection[str] = (),
        list_items: Sequence[doc.ListItemStart] = (),
    ) -> None:
        self.theorems = theorems
        self.list_items = list_items
        self.flat = flat
        self.pieces = pieces
        self.items = items

    def document(self, ast: Node) -> doc.LatexDocument:
        """Return the document of a complete AST."""
        document = doc.LatexDocument()
        inside: doc.Block | None
        mark: tuple[str, int] | None = None
        pending: list[doc.Inline] = []
        labels: dict[int, doc.Inlines] = {}
        entries: dict[int, doc.Inlines] = {}

        def close() -> None:
            if mark is None:
                return
            content = tuple(pending)
            kind, number = mark
            if kind == "C":
                self.flat[number].float.caption = content
            elif kind == "R":
                target = self.flat[number].float
                target.cells = [*(target.cells or []), split_inlines(content, CELL)]
            elif kind == "L":
                labels[number] = content
            elif kind == "T":
                document.title = content
            elif kind == "N":
                document.authors += [[] for _ in range(number + 1 - len(document.authors))]
                document.authors[number].append(content)
            elif kind == "K":
                document.keywords += split_keywords(plain(content))
            elif kind == "B":
                entries[number] = content

        for block in self._blocks(ast.get("blocks", [])):
            inside = block
            if (
                isinstance(block, doc.Para)
                and block.content
                and isinstance(block.content[0], str)
                and (found := _MARK.match(block.content[0]))
            ):
                close()
                pending = []
                mark = (found.group(1), int(found.group(2) or 0))
                first = block.content[0][found.end() :]
                if mark[0] in "AE":
                    document.blocks += [doc.Appendix()] if mark[0] == "A" else []
                    mark = None
                    inside = doc.Para((first, *block.content[1:])) if first.strip() or len(block.content) > 1 else None
                elif mark[0] == "S":
                    inside = doc.Para((first.lstrip(), *block.content[1:]))
                else:
                    pending = [first, *block.content[1:]]
                    continue
            if inside is None:
                continue
            if mark is None:
                document.blocks.append(inside)
            elif mark[0] == "S":
                document.abstract += [inside] if isinstance(inside, doc.Para) else []
            elif isinstance(inside, doc.Para | doc.Head):
                pending += [" ", *inside.content]
        close()
        document.bibliography = [
            doc.BibItem(item.key, labels.get(number), entries.get(number) or (show_plainly(item.content),))
            for number, item in enumerate(self.items)
        ]
        settle_front_matter(document)
        document.blocks += [piece.float for piece in self.pieces]
        for piece in self.flat:
            piece.float.parts = [part.float for part in piece.parts]
        return document

    def _blocks(self, nodes: list[Node]) -> Iterator[doc.Block]:
        for node in nodes:
            kind: str = node["t"]
            content: Any = node.get("c")
            if kind in ("Para", "Plain"):
                if inlines := self._inlines(content):
                    yield doc.Para(inlines)
            elif kind == "Header":
                level, (identifier, classes, _), inlines = content
                found = self._inlines(inlines)
                labels = tuple(i.name for i in found if isinstance(i, doc.LabelName))
                yield doc.Head(level, found, "unnumbered" not in classes, (identifier, *labels))
            elif kind == "LineBlock":
                yield doc.Para(tuple(x for line in content for x in (*self._inlines(line), " ")))
            elif kind == "BlockQuote":
                yield from self._blocks(content)
            elif kind in ("BulletList", "OrderedList"):
                for item in content if kind == "BulletList" else content[1]:
                    yield from self._blocks(item)
            elif kind == "DefinitionList":
                for term, definitions_ in content:
                    head: doc.Inlines = (*self._inlines(term), " ")
                    for blocks in definitions_:
                        inner = list(self._blocks(blocks))
                        if inner and isinstance(inner[0], doc.Para):
                            inner[0] = doc.Para((*head, *inner[0].content))
                            head = ()
                        yield from inner
                    if head and any(not isinstance(x, str) or x.strip() for x in head):
                        yield doc.Para(head)
            elif kind in ("Div", "Figure"):
                inner = list(self._blocks(content[-1]))
                identifier, classes, _ = content[0]
                name = classes[0] if classes else ""
                if name in self.theorems or name == "proof":
                    note, inner = _take_note(inner)
                    yield doc.Theorem(name, note)
                    yield from inner
                    yield doc.TheoremEnd()
                    continue
                if back := name_back_matter(name):
                    inner = [replace(block, back=back) if isinstance(block, doc.Para) else block for block in inner]
                if identifier and inner and isinstance(inner[0], doc.Para):
                    inner[0] = doc.Para((doc.LabelName(identifier), *inner[0].content))
                yield from inner

    def _flat(self, nodes: list[Node]) -> doc.Inlines:
        """Return blocks as one sequence of inlines."""
        found: list[doc.Inline] = []
        for block in self._blocks(nodes):
            if isinstance(block, doc.Para | doc.Head):
                found += [*([" "] if found else []), *block.content]
        return tuple(found)

    def _inlines(self, nodes: list[Node]) -> doc.Inlines:
        found: list[doc.Inline] = []
        text: list[str] = []

        def append(inlines: Iterable[doc.Inline]) -> None:
            for inline in inlines:
                if isinstance(inline, str):
                    text.append(inline)
                else:
                    if text:
                        found.append("".join(text))
                        text.clear()
                    found.append(inline)

        for node in nodes:
            kind: str = node["t"]
            content: Any = node.get("c")
            if kind == "Str" or kind == "Code":
                content = content if kind == "Str" else content[1]
                append(self._marks(content) if OPEN in content else (content,))
            elif kind in ("Space", "SoftBreak", "LineBreak"):
                text.append(" ")
            elif kind in ("Strong", "SmallCaps", "Underline", "Superscript", "Subscript", "Strikeout"):
                append(self._inlines(content))
            elif kind == "Emph":
                append((doc.MarkedText("emph", self._inlines(content)),))
            elif kind == "Quoted":
                opening, closing = _QUOTES[content[0]["t"]]
                append((opening, *self._inlines(content[1]), closing))
            elif kind == "Cite":
                append((self._cite(content),))
            elif kind == "Math":
                tex = _LINKED.sub(_restore_link, content[1].replace(XSPACE, ""))
                append((doc.Math(tex, content[0]["t"] == "DisplayMath"),))
            elif kind == "Link":
                append(self._link(content))
            elif kind == "Note":
                note = self._flat(content)
                match = _INLINE_MARK.match(note[0].lstrip()) if note and isinstance(note[0], str) else None
                if match is not None:  # its number
                    note = (match.string[match.end() :], *note[1:])
                append((doc.Note(note, match[2] if match else None),))
            elif kind == "Span":
                (identifier, _, pairs), inner = content
                label = dict(pairs).get("label") or identifier
                append((*((doc.LabelName(label),) if label else ()), *self._inlines(inner)))
        if text:
            found.append("".join(text))
        return tuple(found)

    def _cite(self, content: list[Any]) -> doc.Cite:
        citations, inlines = content
        raw = next((i["c"][1] for i in inlines if i["t"] == "RawInline"), "")
        command = _COMMAND.match(raw)
        mode = citations[0]["citationMode"]["t"] if citations else "NormalCitation"
        assumed = {"AuthorInText": "citet", "SuppressAuthor": "citeyear"}.get(mode, "cite")
        return doc.Cite(
            command.group(1) if command else assumed,
            tuple(c["citationId"].strip() for c in citations),
            self._inlines(citations[0]["citationPrefix"]) if citations else (),
            self._inlines(citations[-1]["citationSuffix"]) if citations else (),
        )

    def _linked_cite(self, target: str, inlines: doc.Inlines) -> doc.Cite:
        """Return the citation that `mark_citations` wrote as a link."""
        command, *keys = target.split(KEYS)
        parts = list(map(strip_inlines, split_inlines(inlines, PART)))
        parts += [()] * (3 * len(keys) - len(parts))
        groups: list[doc.Cite] = []
        for of in keys:
            before, after, alias, *parts = parts
            cited = tuple(filter(None, (key.strip() for key in of.split(","))))
            groups.append(doc.Cite(command.removeprefix(CITE), cited, before, after, alias))
        return replace(groups[0], further=tuple(groups[1:]))

    def _marks(self, text: str) -> doc.Inlines:
        """Return a text with its marks converted."""
        found: list[doc.Inline] = []
        for at, part in enumerate(_INLINE_MARK.split(text)):
            if at % 3 == 0:
                found += [part] if part else []
            elif at % 3 == 1:
                kind = part
            elif kind == "I":
                found.append(self.list_items[int(part)] if int(part) < len(self.list_items) else "")
            elif kind == "U":
                found.append(doc.Subequations(part == "1"))
            else:
                found.append(f"{OPEN}N{part}{CLOSE}")
        return tuple(found)

    def _link(self, content: list[Any]) -> doc.Inlines:
        (_, _, pairs), inlines, (target, _) = content
        attributes = dict(pairs)
        if "reference" in attributes:
            printed = plain(self._inlines(inlines))
            labels = tuple(label.strip() for label in attributes["reference"].split(","))
            return (
                doc.Ref(attributes.get("reference-type", "ref"), labels, "" if printed.startswith("[") else printed),
            )
        if target.startswith(CITE):
            return (self._linked_cite(target, self._inlines(inlines)),)
        if target.startswith(REF):
            command, _, of = target[1:].partition(KEYS)
            return (doc.Ref(command, tuple(label.strip() for label in of.split(","))),)
        content_ = self._inlines(inlines)
        if target.startswith("#") and all(isinstance(inline, str | doc.MarkedText) for inline in doc.walk(content_)):
            return (doc.Ref("hyperref", (target[1:],), plain(content_)),)
        return (doc.MarkedText("link", content_, target),)


def _take_note(blocks: list[doc.Block]) -> tuple[doc.Inlines, list[doc.Block]]:
    """Return the note of a theorem, and its blocks without it."""
    if not blocks or not isinstance(blocks[0], doc.Para):
        return (), blocks
    before, *rest = map(strip_inlines, split_inlines(blocks[0].content, NOTE))
    if not rest:
        return (), blocks
    note, *after = map(strip_inlines, split_inlines(rest[0], NOTE_END))
    content = (*before, *(inline for part in after for inline in part))
    return note, [doc.Para(content), *blocks[1:]] if content else blocks[1:]


def _restore_link(match: re.Match[str]) -> str:
    """Return a citation or reference inside a formula in its original form."""
    command, of = (match[1], match[2]) if match[1] else (match[3], match[4])
    return f"\\{command}{{{of.replace(KEYS, ',')}}}"
