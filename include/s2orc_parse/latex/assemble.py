"""A document read → the parse: texts with their spans, entries with their keys (SEMANTICS §3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from s2orc_parse.latex import mathml
from s2orc_parse.latex.bibliography import Named, composed
from s2orc_parse.latex.citing import Printer
from s2orc_parse.latex.document import (
    Appendix,
    Block,
    Cite,
    Document,
    Float,
    Head,
    Inlines,
    Label,
    Mark,
    Math,
    Note,
    Para,
    Ref,
)
from s2orc_parse.latex.numbering import Numbers, Target
from s2orc_parse.latex.pandoc_ast import XSPACE, spaced
from s2orc_parse.parse_model import (
    EQUATION,
    BibEntry,
    CellCite,
    CiteSpan,
    EqSpan,
    Paragraph,
    RefEntry,
    RefSpan,
    RefType,
)

_WORDS = {RefType.FIGURE: "Figure", RefType.TABLE: "Table", RefType.FORMULA: "Equation", RefType.SECTION: "Section"}
_WITH_WORD = frozenset(("cref", "Cref", "autoref", "Autoref", "fullref", "zcref", "ref+label"))
_SILENT = frozenset(("pageref", "ref+page"))
_BACK = re.compile(
    r"(?i)\s*(?:acknowledge?ments?|funding|author contributions?|conflicts? of interest|competing interests?|data availability)\b"
)


class Assembler:
    """Puts the texts of one document together."""

    def __init__(
        self,
        numbers: Numbers,
        printer: Printer,
        entries: Mapping[str, tuple[BibEntry, Named]],
        formulas: Mapping[str, str],
    ) -> None:
        """`entries` by citation key; `formulas`: the MathML of each formula's TeX."""
        self.numbers = numbers
        self.printer = printer
        self.entries = entries
        self.formulas = formulas
        self.notes: list[RefEntry] = []

    def paragraphs(self, blocks: list[Para], section: str = "", sec_num: str | None = None) -> list[Paragraph]:
        """Paragraphs that hold text."""
        found = []
        for block in blocks:
            text = _Text(self)
            text.add(block.content)
            if (paragraph := text.paragraph(section, sec_num)).text:
                found.append(paragraph)
        return found

    def body(self, document: Document) -> tuple[list[Paragraph], list[Paragraph]]:
        """The paragraphs of the body, and of the back matter (acknowledgements and the like, wherever they stand)."""
        body: list[Paragraph] = []
        back: list[Paragraph] = []
        path: list[tuple[int, str, str | None]] = []
        sections = iter(self.numbers.sections)
        behind = False
        for block in document.blocks:
            if isinstance(block, Head):
                head = self.plain(block.content)
                section = next(sections)
                path = [item for item in path if item[0] < block.level]
                if not path:
                    behind = not section.num and _BACK.match(head) is not None
                path.append((block.level, head.rstrip(" .:"), section.num))
            elif isinstance(block, Appendix):
                path = []  # an appendix lies beside the last section, whatever level its heads have
            elif isinstance(block, Para):
                name = "::".join(head for _, head, _ in path if head)
                (back if behind else body).extend(self.paragraphs([block], name, path[-1][2] if path else None))
        return body, back

    def ref_entries(self) -> list[RefEntry]:
        """Figures, tables, formulas, sections and footnotes, in this order."""
        floats = sorted(self.numbers.floats, key=lambda item: (item[0][:3], int(item[0][6:])))
        entries = {id(block): self._float(key, block, num) for key, block, num in floats}
        found = [
            _with_rows_of_parts(entry, block, entries)
            for (_, block, _), entry in zip(floats, entries.values(), strict=True)
        ]
        for target, math in self.numbers.formula_list:
            found.append(RefEntry(target.key, RefType.FORMULA, mathml.inner(math.tex), target.num, latex=math.tex))
        for section in self.numbers.sections:
            found.append(
                RefEntry(section.key, RefType.SECTION, self.plain(section.head.content).rstrip(" .:"), section.num)
            )
        return [*found, *self.notes]

    def _float(self, key: str, block: Float, num: str | None) -> RefEntry:
        paragraph = self.text(block.caption or ())
        cells: list[tuple[str, ...]] = []
        cites: list[CellCite] = []
        for number, row in enumerate(block.cells or ()):
            read = [self.text(cell) for cell in row]
            cells.append(tuple(cell.text for cell in read))
            cites += [CellCite(number, column, span) for column, cell in enumerate(read) for span in cell.cite_spans]
        return RefEntry(
            key,
            RefType.TABLE if key.startswith("TAB") else RefType.FIGURE,
            paragraph.text,
            num,
            latex=block.latex,
            cells=tuple(cells) or None,
            cite_spans=paragraph.cite_spans,
            cell_cites=tuple(cites),
        )

    def text(self, content: Inlines) -> Paragraph:
        """Inlines as a paragraph without a section."""
        text = _Text(self)
        text.add(content)
        return text.paragraph("", None)

    def plain(self, content: Inlines) -> str:
        """Inlines as text without spans."""
        return self.text(content).text

    def note(self, note: Note) -> None:
        """Keep a footnote."""
        paragraph = self.text(note.content)
        if paragraph.text:
            number = str(len(self.notes) + 1)
            self.notes.append(
                RefEntry(
                    f"FOOTREF{len(self.notes)}",
                    RefType.FOOTNOTE,
                    paragraph.text,
                    number,
                    cite_spans=paragraph.cite_spans,
                )
            )


class _Text:
    """A paragraph in the making: runs of white space are one space, spans know where they are."""

    def __init__(self, assembler: Assembler) -> None:
        self.assembler = assembler
        self.parts: list[str] = []
        self.length = 0
        self.space = self.xspace = False
        self.cites: list[CiteSpan] = []
        self.refs: list[RefSpan] = []
        self.equations: list[EqSpan] = []

    def say(self, text: str) -> tuple[int, int]:
        """Add text; where it stands without the white space around it."""
        if self.xspace:
            text = XSPACE + text
        self.xspace = text.endswith(XSPACE)
        text = composed(spaced(text))
        words = text.split()
        if text[:1].isspace():
            self.space = True
        if not words:
            return self.length, self.length
        if self.space and self.length:
            self.parts.append(" ")
            self.length += 1
        joined = " ".join(words)
        start = self.length
        self.parts.append(joined)
        self.length += len(joined)
        self.space = text[-1:].isspace()
        return start, self.length

    def add(self, content: Inlines) -> None:
        """Add inlines."""
        for inline in content:
            match inline:
                case str():
                    self.say(inline)
                case Cite():
                    self._cite(inline)
                case Ref():
                    self._ref(inline)
                case Math():
                    self._math(inline)
                case Note():
                    self.assembler.note(inline)
                case Mark():
                    self.add(inline.content)
                case Label():
                    pass

    def _cite(self, cite: Cite) -> None:
        if cite.command.startswith("foot"):  # it stands in a footnote already
            cite = replace(cite, command="citealp")
        for text, keys in self.assembler.printer.pieces(cite):
            start, end = self.say(text)
            if keys is None or start == end:
                continue
            for key in keys.split("\0"):
                found = self.assembler.entries.get(key)
                self.cites.append(CiteSpan(start, end, composed(text).strip(), found[0].key if found else None))

    def _ref(self, ref: Ref) -> None:
        if ref.command in _SILENT:
            return
        targets = [self.assembler.numbers.labels.get(label) for label in ref.labels]
        for i, target in enumerate(targets):
            if i:
                self.say(" and " if i == len(targets) - 1 else ", ")
            printed = (target.num if target else ref.printed) or ref.printed or "?"
            if ref.command in _WITH_WORD and target is not None and (i == 0 or targets[i - 1] is None):
                self.say(self._word(target, ref, targets) + " ")
            if ref.command in ("eqref", "Eqref") or (
                ref.command in _WITH_WORD and target and target.type is RefType.FORMULA
            ):
                printed = f"({printed})"
            start, end = self.say(printed)
            if end > start:
                self.refs.append(
                    RefSpan(start, end, " ".join(composed(printed).split()), target.key if target else None)
                )

    @staticmethod
    def _word(target: Target, ref: Ref, targets: list[Target | None]) -> str:
        word = _WORDS.get(target.type, "")
        return word + "s" if len(targets) > 1 and word else word

    def _math(self, math: Math) -> None:
        tex = math.tex
        ml = self.assembler.formulas.get(tex)
        raw = mathml.inner(tex)
        if math.display and (target := self.assembler.numbers.formulas.get(id(math))) is not None:
            self.space = True
            start, end = self.say(EQUATION + " ")
            self.equations.append(EqSpan(start, start + len(EQUATION), EQUATION, target.key, raw, tex, ml, target.num))
            return
        shown = mathml.read_as(ml) if ml else mathml.without_commands(raw)
        start, end = self.say(shown)
        if end > start:
            self.equations.append(EqSpan(start, end, " ".join(composed(shown).split()), None, raw, tex, ml))

    def paragraph(self, section: str, sec_num: str | None) -> Paragraph:
        """The paragraph."""
        return Paragraph(
            section,
            "".join(self.parts),
            sec_num,
            tuple(sorted(self.cites, key=lambda span: (span.start, span.end))),
            tuple(self.refs),
            tuple(self.equations),
        )


def _with_rows_of_parts(entry: RefEntry, block: Float, entries: Mapping[int, RefEntry]) -> RefEntry:
    """A table all of whose rows stand in its parts (2a, 2b) has theirs below each other: who follows "Table 2" finds them."""
    parts = [part for found in block.parts if (part := entries.get(id(found))) and part.cells]
    if entry.type is not RefType.TABLE or entry.cells or not parts:
        return entry
    return replace(
        entry,
        latex="\n".join(part.latex for part in parts if part.latex) or None,
        cells=tuple(row for part in parts for row in part.cells or ()),
    )


def formulas_of(blocks: list[Block]) -> list[str]:
    """The TeX of every formula of some blocks, captions and footnotes included."""
    found: list[str] = []

    def take(content: Inlines) -> None:
        for inline in content:
            if isinstance(inline, Math):
                found.append(inline.tex)
            elif isinstance(inline, Mark | Note):
                take(inline.content)

    def take_float(block: Float) -> None:
        take(block.caption or ())
        for row in block.cells or ():
            for cell in row:
                take(cell)
        for part in block.parts:
            take_float(part)

    for block in blocks:
        if isinstance(block, Head | Para):
            take(block.content)
        elif isinstance(block, Float):
            take_float(block)
    return found
