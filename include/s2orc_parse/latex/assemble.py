"""Build a parse from a document: texts with their spans, and entries with their keys (SPEC §3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from s2orc_parse.latex import document as doc
from s2orc_parse.latex import mathml
from s2orc_parse.latex.bibliography import CitationNames, compose
from s2orc_parse.latex.citing import Printer
from s2orc_parse.latex.inlines import expand_xspace
from s2orc_parse.latex.marks import XSPACE
from s2orc_parse.latex.numbering import Numbers, Target
from s2orc_parse.latex.reference_words import choose_word
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
from s2orc_parse.tei.drafts import TextBuffer
from s2orc_parse.words import read_table

_TABLE = read_table("latex/words")
_COMMANDS_WITH_WORD, _TITLE_COMMANDS, _WORD_COMMANDS, _SILENT_COMMANDS = (
    frozenset(commands.split()) for commands in _TABLE["references"].values()
)
_BACK_MATTER_HEAD = re.compile(rf"(?i)\s*(?:{'|'.join(_TABLE['back_matter_heads'])})\b")


class Assembler:
    """Builds the paragraphs and reference entries of one document."""

    def __init__(
        self,
        numbers: Numbers,
        printer: Printer,
        entries: Mapping[str, tuple[BibEntry, CitationNames]],
        formulas: Mapping[str, str],
    ) -> None:
        """`entries` maps citation keys to entries; `formulas` maps the TeX of formulas to MathML."""
        self.numbers = numbers
        self.printer = printer
        self.entries = entries
        self.formulas = formulas
        self.notes: list[RefEntry] = []
        self.note_number = 0
        self.statements: dict[str, list[str]] = {}  # texts of theorems and items, by key

    def build_paragraphs(
        self, blocks: list[doc.Para], section: str = "", sec_num: str | None = None
    ) -> list[Paragraph]:
        """Return the paragraphs that contain text."""
        found = []
        for block in blocks:
            text = _Text(self)
            text.add(block.content)
            if (paragraph := text.finish(section, sec_num)).text:
                found.append(paragraph)
        return found

    def build_body(self, document: doc.LatexDocument) -> tuple[list[Paragraph], list[Paragraph]]:
        """Return the paragraphs of the body, and those of acknowledgments and other back matter, in any position."""
        body: list[Paragraph] = []
        back: list[Paragraph] = []
        path: list[tuple[int, str, str | None]] = []
        sections = iter(self.numbers.sections)
        is_back = False
        theorem_head: doc.Inlines = ()  # printed before the next paragraph
        open_: list[str | None] = []  # the keys of the enclosing theorems
        for block in document.blocks:
            if isinstance(block, doc.Head):
                head = self.to_text(block.content)
                section = next(sections)
                path = [item for item in path if item[0] < block.level]
                if not path:
                    is_back = not section.num and _BACK_MATTER_HEAD.match(head) is not None
                path.append((block.level, head.rstrip(" .:"), section.num))
            elif isinstance(block, doc.Appendix):
                path = []  # an appendix is a top-level section, regardless of the level of its headers
            elif isinstance(block, doc.Theorem):
                target = self.numbers.theorem_targets.get(id(block))
                open_.append(target.key if target else None)
                theorem_head += self._format_head(block, target)
            elif isinstance(block, doc.TheoremEnd):
                if open_:
                    open_.pop()
            elif isinstance(block, doc.Para):
                name = block.back or "::".join(head for _, head, _ in path if head)
                num = path[-1][2] if path and not block.back else None
                found = self.build_paragraphs([doc.Para((*theorem_head, *block.content))], name, num)
                for key in filter(None, open_):
                    length = len(self.to_title(theorem_head)) if theorem_head else 0
                    self.statements.setdefault(key, []).extend(paragraph.text[length:].strip() for paragraph in found)
                (back if is_back or block.back else body).extend(found)
                theorem_head = ()
        return body, back

    def _format_head(self, block: doc.Theorem, target: Target | None) -> doc.Inlines:
        """Return the header that LaTeX prints before a theorem: Theorem 2.1 (Zorn)."""
        kind = self.numbers.counting.kinds.get(block.name)
        if kind is None or block.name == "proof":
            return ()
        if kind.is_proof and block.note:
            return (*block.note, ". ")
        name = f"{kind.title} {target.num}" if target and target.num else kind.title
        return (name, " (", *block.note, "). ") if block.note else (f"{name}. ",)

    def build_ref_entries(self) -> list[RefEntry]:
        """Return figures, tables, formulas, sections, theorems, items and footnotes, in this order."""
        floats = sorted(self.numbers.floats, key=lambda item: (item[0][:3], int(item[0][6:])))
        entries = {id(block): self._build_float(key, block, num) for key, block, num in floats}
        blocks = zip(floats, entries.values(), strict=True)
        found = [_add_rows_of_parts(entry, block, entries) for (_, block, _), entry in blocks]
        for target, math in self.numbers.formula_list:
            assert target.key is not None
            text = mathml.strip_environment(math.tex)
            found.append(RefEntry(target.key, RefType.FORMULA, text, target.num, latex=math.tex))
        for section in self.numbers.sections:
            text = self.to_text(section.head.content).rstrip(" .:")
            found.append(RefEntry(section.key, RefType.SECTION, text, section.num))
        for target in (*self.numbers.theorems, *self.numbers.items.values()):
            if target.key:
                text = " ".join(self.statements.get(target.key, ()))
                found.append(RefEntry(target.key, target.type, text, target.num))
        return [*found, *self.notes]

    def _build_float(self, key: str, block: doc.LatexFloat, num: str | None) -> RefEntry:
        paragraph = self.build_paragraph(block.caption or ())
        cells: list[tuple[str, ...]] = []
        cites: list[CellCite] = []
        for number, row in enumerate(block.cells or ()):
            read = [self.build_paragraph(cell) for cell in row]
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

    def build_paragraph(self, content: doc.Inlines) -> Paragraph:
        """Return inlines as a paragraph without a section."""
        text = _Text(self)
        text.add(content)
        return text.finish("", None)

    def to_text(self, content: doc.Inlines) -> str:
        """Return inlines as text without spans."""
        return self.build_paragraph(content).text

    def to_title(self, content: doc.Inlines) -> str:
        """Return inlines as text without spans and footnotes."""
        return self.to_text(tuple(inline for inline in content if not isinstance(inline, doc.Note)))

    def add_note(self, note: doc.Note) -> None:
        """Add a footnote."""
        paragraph = self.build_paragraph(note.content)
        if paragraph.text:
            self.note_number += note.num is None  # a note with an explicit number does not step LaTeX's counter
            number = note.num or str(self.note_number)
            key = RefType.FOOTNOTE.make_key(len(self.notes))
            self.notes.append(RefEntry(key, RefType.FOOTNOTE, paragraph.text, number, cite_spans=paragraph.cite_spans))


class _Text(TextBuffer):
    """A paragraph under construction, with spans at their positions."""

    def __init__(self, assembler: Assembler) -> None:
        super().__init__()
        self.assembler = assembler
        self.xspace = False
        self.cites: list[CiteSpan] = []
        self.refs: list[RefSpan] = []
        self.equations: list[EqSpan] = []
        self.items: list[tuple[str, int]] = []  # key and start

    def append(self, text: str) -> tuple[int, int]:
        """Append text; return its interval without surrounding white space."""
        if self.xspace:
            text = XSPACE + text
        self.xspace = text.endswith(XSPACE)
        return super().append(compose(expand_xspace(text)))

    def add(self, content: doc.Inlines) -> None:
        """Append inlines."""
        for inline in content:
            match inline:
                case str():
                    self.append(inline)
                case doc.Cite():
                    self._add_cite(inline)
                case doc.Ref():
                    self._add_ref(inline)
                case doc.Math():
                    self._add_math(inline)
                case doc.Note():
                    self.assembler.add_note(inline)
                case doc.MarkedText():
                    self.add(inline.content)
                case doc.ListItemStart():
                    if (target := self.assembler.numbers.items.get(id(inline))) and target.key:
                        self.items.append((target.key, self._length))
                case doc.LabelName() | doc.Subequations():
                    pass

    def _add_cite(self, cite: doc.Cite) -> None:
        for content, keys in self.assembler.printer.format_citation(cite):
            if not isinstance(content, str):
                self.add(content)
                continue
            start, end = self.append(content)
            if keys is None or start == end:
                continue
            for key in keys.split("\0"):
                found = self.assembler.entries.get(key)
                self.cites.append(CiteSpan(start, end, compose(content).strip(), found[0].key if found else None))

    def _add_ref(self, ref: doc.Ref) -> None:
        if ref.command in _SILENT_COMMANDS:
            return
        targets = [self.assembler.numbers.labels.get(label) for label in ref.labels]
        if ref.command in _WORD_COMMANDS:
            if targets and targets[0]:
                word = choose_word(self.assembler.numbers.counting, targets[0], ref, len(targets))
                self.append(word.lower() if ref.command.startswith("lc") else word)
            return
        for i, target in enumerate(targets):
            if i:
                self.append(" to " if "range" in ref.command else " and " if i == len(targets) - 1 else ", ")
            if ref.command in _TITLE_COMMANDS:
                self._add_mention(self.assembler.to_title(target.title) if target and target.title else "?", target)
                continue
            if ref.command == "hyperref":
                self._add_mention(ref.printed, target)
                continue
            printed = (target and (target.num or target.printed)) or ref.printed or "?"
            is_worded = ref.command in _COMMANDS_WITH_WORD
            if is_worded and target is not None:
                same_kind = [other for other in targets if other and other.name == target.name]
                before = targets[i - 1] if i else None
                if before is None or before.name != target.name:
                    self.append(choose_word(self.assembler.numbers.counting, target, ref, len(same_kind)) + " ")
            if ref.command in ("eqref", "Eqref") or (is_worded and target and target.type is RefType.FORMULA):
                printed = f"({printed})"
            self._add_mention(printed, target)

    def _add_mention(self, printed: str, target: Target | None) -> None:
        """Append a mention with its span."""
        start, end = self.append(printed)
        if end > start:
            self.refs.append(RefSpan(start, end, " ".join(compose(printed).split()), target.key if target else None))

    def _add_math(self, math: doc.Math) -> None:
        tex = math.tex
        ml = self.assembler.formulas.get(tex)
        raw = mathml.strip_environment(tex)
        if math.display and (target := self.assembler.numbers.formulas.get(id(math))) is not None:
            self._pending = True
            start, end = self.append(EQUATION + " ")
            self.equations.append(EqSpan(start, start + len(EQUATION), EQUATION, target.key, raw, tex, ml, target.num))
            return
        shown = mathml.extract_visible_text(ml) if ml else mathml.remove_commands(raw)
        start, end = self.append(shown)
        if end > start:
            self.equations.append(EqSpan(start, end, " ".join(compose(shown).split()), None, raw, tex, ml))

    def finish(self, section: str, sec_num: str | None) -> Paragraph:
        """Return the finished paragraph."""
        text = "".join(self._parts)
        ends = [*(start for _, start in self.items[1:]), len(text)]
        for (key, start), end in zip(self.items, ends, strict=True) if self.items else ():
            self.assembler.statements[key] = [text[start:end].strip()]
        cites = tuple(sorted(self.cites, key=lambda span: (span.start, span.end)))
        return Paragraph(section, text, sec_num, cites, tuple(self.refs), tuple(self.equations))


def _add_rows_of_parts(entry: RefEntry, block: doc.LatexFloat, entries: Mapping[int, RefEntry]) -> RefEntry:
    """Return a table with the rows of its parts (2a, 2b) if it has no rows, so that "Table 2" links to them."""
    parts = [part for found in block.parts if (part := entries.get(id(found))) and part.cells]
    if entry.type is not RefType.TABLE or entry.cells or not parts:
        return entry
    return replace(
        entry,
        latex="\n".join(part.latex for part in parts if part.latex) or None,
        cells=tuple(row for part in parts for row in part.cells or ()),
    )
