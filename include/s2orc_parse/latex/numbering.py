"""Count sections, floats and formulas as LaTeX does, and resolve labels."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from s2orc_parse.latex import document as doc
from s2orc_parse.latex.counting import Counting, format_number
from s2orc_parse.latex.marks import CLOSE, OPEN
from s2orc_parse.parse_model import RefType
from s2orc_parse.words import read_table, write_numeral

NUMBERED = frozenset(read_table("latex/words")["numbered_formulas"].split())
_BY_ROW = frozenset(("align", "gather", "eqnarray", "alignat", "flalign"))
_ENVIRONMENT = re.compile(r"\A\s*\\begin\{(\w+)(\*?)\}")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_UNNUMBERED = re.compile(r"\\(?:nonumber|notag)(?![A-Za-z])")
_INNER = re.compile(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", re.DOTALL)
_COUNTER_IN_ITEM = re.compile(f"{OPEN}(\\w+){CLOSE}")
_LEVELS = ("section", "subsection", "subsubsection")
r"""levels of numbered headers; \paragraph is not numbered"""
_FLOATS = ("figure", "table", "algorithm", "listing", "equation")
"""counters that a chapter resets; a section can reset only formulas, because floats are appended after the text"""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a label. `key` is None if it has no entry; `printed` is the number of the enclosing item."""

    type: RefType
    key: str | None
    num: str | None
    name: str = ""  # figure, equation, section, appendix, or the name of a theorem environment
    printed: str | None = None
    title: doc.Inlines = ()  # output of \nameref


@dataclass(slots=True)
class NumberedHeader:
    """A header with its number."""

    key: str
    head: doc.Head
    num: str | None


@dataclass(slots=True)
class Numbers:
    """All counted items of a document."""

    counting: Counting
    sections: list[NumberedHeader] = field(default_factory=list)
    # key, float, number; subfigures after their figure
    floats: list[tuple[str, doc.LatexFloat, str | None]] = field(default_factory=list)
    formulas: dict[int, Target] = field(default_factory=dict)  # by id() of the Math
    formula_list: list[tuple[Target, doc.Math]] = field(default_factory=list)
    theorems: list[Target] = field(default_factory=list)
    theorem_targets: dict[int, Target] = field(default_factory=dict)  # by id() of the Theorem
    items: dict[int, Target] = field(default_factory=dict)  # by id() of the ListItemStart
    labels: dict[str, Target] = field(default_factory=dict)


def count_document(document: doc.LatexDocument, *, chapters: bool, counting: Counting) -> Numbers:
    """Count a document. With chapters, headers of level 1 are chapters, within which floats and formulas are counted."""
    counter = _Counter(chapters=chapters, counting=counting)
    for paragraph in document.abstract:
        counter.count_inlines(paragraph.content)
    for block in document.blocks:
        counter.count_block(block)
    # Headers come last: pandoc generates names for them, which may equal labels of other items.
    for label, section in counter.head_labels:
        counter.numbers.labels.setdefault(label, section)
    return counter.numbers


@dataclass(slots=True)
class _Subequations:
    """Formulas with a common number."""

    num: str
    first: int  # index of the first of these formulas
    count: int = 0
    labels: list[str] = field(default_factory=list)  # labels of the group


class _Counter:
    """LaTeX's counters while a document is processed in order."""

    def __init__(self, *, chapters: bool, counting: Counting) -> None:
        self.numbers = Numbers(counting)
        self.chapters = chapters
        self.levels = ("chapter", *_LEVELS) if chapters else _LEVELS
        self.within = dict.fromkeys(_FLOATS, "chapter") if chapters else {}
        self.within |= {name: parent for name, parent in counting.within.items() if name not in _FLOATS[:4]}
        self.heads: list[int] = []
        self.counts: dict[str, int] = {}
        self.printed: dict[str, str] = {}  # by counter, in the form of its \the…
        self.keys = {"FIGREF": 0, "TABREF": 0}
        self.is_appendix = False
        self.section: Target | None = None
        self.scopes: list[Target] = []  # enclosing theorems and proofs
        self.shared: _Subequations | None = None
        self.head_labels: list[tuple[str, Target]] = []

    def increment(self, name: str) -> str:
        """Increment a counter and return the printed number."""
        self.counts[name] = self.counts.get(name, 0) + 1
        self.reset(name)
        if (template := self.numbers.counting.formats.get(name)) is not None:
            num = format_number(template, self.counts, self.printed)
        else:
            parent = self.within.get(name)
            num = str(self.counts[name])
            if parent is not None and (parent != "chapter" or self.heads):
                num = f"{self.printed.get(parent, '0')}.{num}"
        self.printed[name] = num
        return num

    def reset(self, name: str) -> None:
        """Reset the counters within another counter to zero."""
        todo, seen = [name], {name}
        while todo:
            parent = todo.pop()
            for child, of in self.within.items():
                if of == parent and child not in seen:
                    self.counts[child] = 0
                    seen.add(child)
                    todo.append(child)

    def count_block(self, block: doc.Block) -> None:
        """Count a block and its content."""
        if isinstance(block, doc.Appendix):
            self.is_appendix, self.heads = True, []
        elif isinstance(block, doc.Head):
            self._count_head(block)
        elif isinstance(block, doc.Para):
            self.count_inlines(block.content)
        elif isinstance(block, doc.Theorem):
            self._open_theorem(block)
        elif isinstance(block, doc.TheoremEnd):
            if self.scopes:
                self.scopes.pop()
        else:
            self._count_float(block, None, 0)

    def count_inlines(self, content: doc.Inlines) -> None:
        """Count formulas and items, and resolve labels."""
        for inline in content:
            if isinstance(inline, doc.Math) and inline.display:
                self._count_formula(inline)
            elif isinstance(inline, doc.LabelName):
                around = self.scopes[-1] if self.scopes else self.section
                if self.shared is not None:
                    self.shared.labels.append(inline.name)
                elif around is not None:
                    self.numbers.labels.setdefault(inline.name, around)
            elif isinstance(inline, doc.ListItemStart):
                key = f"ITEMREF{len(self.numbers.items)}"
                num = _COUNTER_IN_ITEM.sub(lambda match: self.printed.get(match[1], ""), inline.num)
                target = Target(RefType.ITEM, key, num or None, "item", self._enclosing_num())
                self.numbers.items[id(inline)] = target
                for label in inline.labels:
                    self.numbers.labels.setdefault(label, target)
            elif isinstance(inline, doc.Subequations):
                if inline.is_start:
                    self.shared = _Subequations(self.increment("equation"), len(self.numbers.formula_list))
                elif self.shared is not None:  # The labels of the group belong to its first formula.
                    formulas = self.numbers.formula_list[self.shared.first :]
                    whole = Target(
                        RefType.FORMULA, formulas[0][0].key if formulas else None, self.shared.num, "equation"
                    )
                    for label in self.shared.labels:
                        self.numbers.labels.setdefault(label, whole)
                    self.shared = None
            elif isinstance(inline, doc.MarkedText | doc.Note):
                self.count_inlines(inline.content)

    def _enclosing_num(self) -> str | None:
        around = self.scopes[-1] if self.scopes else self.section
        return (around.num or around.printed) if around else None

    def _count_head(self, head: doc.Head) -> None:
        num: str | None = None
        if head.numbered and head.level <= len(self.levels):
            self.heads = self.heads[: head.level]
            self.heads += [0] * (head.level - len(self.heads))
            self.heads[head.level - 1] += 1
            lowest = next((i for i, count in enumerate(self.heads) if count), 0)
            parts = [str(count) for count in self.heads[lowest:]]
            if self.is_appendix:
                parts[0] = chr(ord("A") + (self.heads[lowest] - 1) % 26)
            num = ".".join(parts)
            name = self.levels[head.level - 1]
            self.counts[name] = self.heads[head.level - 1]
            formats = {} if self.is_appendix else self.numbers.counting.formats
            if name in formats:
                num = format_number(formats[name], self.counts, self.printed)
            elif len(parts) > 1 and any(above in formats for above in self.levels[: head.level - 1]):
                num = f"{self.printed.get(self.levels[head.level - 2], '0')}.{parts[-1]}"
            self.printed[name] = num
            self.reset(name)
            for below in self.levels[head.level :]:
                self.reset(below)
                self.printed[below] = num = f"{num}.0"
            num = self.printed[name]
        section = NumberedHeader(f"SECREF{len(self.numbers.sections)}", head, num)
        self.numbers.sections.append(section)
        name = (
            "appendix" if self.is_appendix and head.level == 1 else self.levels[min(head.level, len(self.levels)) - 1]
        )
        self.section = Target(RefType.SECTION, section.key, num, name, title=head.content)
        self.scopes.clear()
        self.head_labels += [(label, self.section) for label in head.labels]
        self.count_inlines(head.content)

    def _open_theorem(self, block: doc.Theorem) -> None:
        kind = self.numbers.counting.kinds.get(block.name)
        around = self._enclosing_num()
        if kind is None or kind.is_proof or block.name == "proof":
            self.scopes.append(Target(RefType.SECTION, None, around, self.section.name if self.section else ""))
            return
        num = self.increment(kind.counter) if kind.counter else None
        key = f"THMREF{len(self.numbers.theorems)}"
        target = Target(RefType.THEOREM, key, num, block.name, around, block.note)
        self.numbers.theorems.append(target)
        self.numbers.theorem_targets[id(block)] = target
        self.scopes.append(target)

    def _count_float(self, found: doc.LatexFloat, parent: str | None, index: int) -> None:
        table = found.kind == "table"
        prefix = "TABREF" if table else "FIGREF"
        key = f"{prefix}{self.keys[prefix]}"
        self.keys[prefix] += 1
        num: str | None = None
        if parent is not None:
            num = f"{parent}{chr(ord('a') + index % 26)}"
        elif found.numbered and found.caption is not None:
            num = self.increment(found.kind)
        self.numbers.floats.append((key, found, num))
        target = Target(RefType.TABLE if table else RefType.FIGURE, key, num, found.kind, title=found.caption or ())
        for label in found.labels:
            self.numbers.labels.setdefault(label, target)
        for position, part in enumerate(found.parts):
            self._count_float(part, num or "", position)

    def _count_formula(self, math: doc.Math) -> None:
        key = f"EQREF{len(self.numbers.formula_list)}"
        nums: list[str] = []
        labels: list[tuple[str, str | None]] = []
        for row, counted in _rows(math.tex):
            num: str | None = None
            if tag := _TAG.search(row):
                num = tag.group(1)
            elif counted and self.shared is None:
                num = self.increment("equation")
            elif counted and self.shared is not None:
                self.shared.count += 1
                num = f"{self.shared.num}{write_numeral('alph', self.shared.count)}"
            nums += [num] if num else []
            labels += [(label, num) for label in _LABEL.findall(row)]
        shown = nums[0] if len(nums) == 1 else f"{nums[0]}–{nums[-1]}" if nums else None
        target = Target(RefType.FORMULA, key, shown, "equation")
        self.numbers.formulas[id(math)] = target
        self.numbers.formula_list.append((target, math))
        for label, num in labels:
            self.numbers.labels.setdefault(label, replace(target, num=num or shown))


def _rows(tex: str) -> list[tuple[str, bool]]:
    """Return the rows of a display formula, and whether each row has a number."""
    match = _ENVIRONMENT.match(tex)
    if match is None or match.group(1) not in NUMBERED:
        return [(tex, False)]
    counted = not match.group(2)
    if match.group(1) not in _BY_ROW:
        return [(tex, counted and not _UNNUMBERED.search(tex))]
    body = tex[match.end() :].rpartition("\\end{")[0]
    rows, at, hidden = [], 0, [m.span() for m in _INNER.finditer(body)]
    for end in re.finditer(r"\\\\", body):
        if not any(start <= end.start() < stop for start, stop in hidden):
            rows.append(body[at : end.start()])
            at = end.end()
    if body[at:].strip():
        rows.append(body[at:])
    return [(row, counted and not _UNNUMBERED.search(row)) for row in rows]
