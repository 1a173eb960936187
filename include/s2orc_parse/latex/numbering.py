"""Numbers of sections, floats and formulas, as LaTeX counts them, and what each label means."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from s2orc_parse.latex.document import Appendix, Document, Float, Head, Inlines, Label, Mark, Math, Note, Para
from s2orc_parse.parse_model import RefType

_NUMBERED = frozenset(
    ("equation", "align", "gather", "eqnarray", "multline", "alignat", "flalign", "dmath", "subequations")
)
_BY_ROW = frozenset(("align", "gather", "eqnarray", "alignat", "flalign"))
_ENVIRONMENT = re.compile(r"\A\s*\\begin\{(\w+)(\*?)\}")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_UNNUMBERED = re.compile(r"\\(?:nonumber|notag)(?![A-Za-z])")
_INNER = re.compile(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", re.DOTALL)
_SECTION_DEPTH = 3
"""Levels of heads that have numbers: \\section to \\subsubsection (a \\paragraph has none)."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a label means."""

    type: RefType
    key: str
    num: str | None


@dataclass(slots=True)
class Section:
    """A head with its place among the others."""

    key: str
    head: Head
    num: str | None


@dataclass(slots=True)
class Numbers:
    """Everything of a document that is counted."""

    sections: list[Section] = field(default_factory=list)
    floats: list[tuple[str, Float, str | None]] = field(
        default_factory=list
    )  # key, float, number; subfigures after their figure
    formulas: dict[int, Target] = field(default_factory=dict)  # by id() of the Math
    formula_list: list[tuple[Target, Math]] = field(default_factory=list)
    labels: dict[str, Target] = field(default_factory=dict)


def number(document: Document, *, chapters: bool) -> Numbers:
    """Count a document. With chapters, heads of level 1 are chapters, and floats and formulas are counted in each."""
    numbers = Numbers()
    counters: list[int] = []
    counts = {"figure": 0, "table": 0, "algorithm": 0, "equation": 0}
    keys = {"FIGREF": 0, "TABREF": 0}
    appendix = False
    current: Target | None = None
    depth = _SECTION_DEPTH + (1 if chapters else 0)

    def printed(count: int) -> str:
        if not chapters or not counters:
            return str(count)
        return f"{_letter(counters[0]) if appendix else counters[0]}.{count}"

    def take_float(found: Float, parent: str | None, index: int) -> None:
        table = found.kind == "table"
        prefix = "TABREF" if table else "FIGREF"
        key = f"{prefix}{keys[prefix]}"
        keys[prefix] += 1
        num: str | None = None
        if parent is not None:
            num = f"{parent}{chr(ord('a') + index % 26)}"
        elif found.numbered and found.caption is not None:
            counts[found.kind] += 1
            num = printed(counts[found.kind])
        numbers.floats.append((key, found, num))
        target = Target(RefType.TABLE if table else RefType.FIGURE, key, num)
        for label in found.labels:
            numbers.labels.setdefault(label, target)
        for position, part in enumerate(found.parts):
            take_float(part, num or "", position)

    def take_inlines(content: Inlines) -> None:
        for inline in content:
            if isinstance(inline, Math) and inline.display:
                take_formula(inline)
            elif isinstance(inline, Label) and current is not None:
                numbers.labels.setdefault(inline.name, current)
            elif isinstance(inline, Mark | Note):
                take_inlines(inline.content)

    def take_formula(math: Math) -> None:
        key = f"EQREF{len(numbers.formula_list)}"
        nums: list[str] = []
        labels: list[tuple[str, str | None]] = []
        for row, counted in _rows(math.tex):
            num: str | None = None
            if tag := _TAG.search(row):
                num = tag.group(1)
            elif counted:
                counts["equation"] += 1
                num = printed(counts["equation"])
            nums += [num] if num else []
            labels += [(label, num) for label in _LABEL.findall(row)]
        shown = nums[0] if len(nums) == 1 else f"{nums[0]}–{nums[-1]}" if nums else None
        target = Target(RefType.FORMULA, key, shown)
        numbers.formulas[id(math)] = target
        numbers.formula_list.append((target, math))
        for label, num in labels:
            numbers.labels.setdefault(label, replace(target, num=num or shown))

    for paragraph in document.abstract:
        take_inlines(paragraph.content)
    for block in document.blocks:
        if isinstance(block, Appendix):
            appendix, counters = True, []
        elif isinstance(block, Head):
            num = None
            if block.numbered and block.level <= depth:
                counters = counters[: block.level]
                counters += [0] * (block.level - len(counters))
                counters[block.level - 1] += 1
                lowest = next((i for i, count in enumerate(counters) if count), 0)
                parts = [str(count) for count in counters[lowest:]]
                if appendix:
                    parts[0] = _letter(counters[lowest])
                num = ".".join(parts)
                if chapters and block.level == 1:
                    counts = dict.fromkeys(counts, 0)
            section = Section(f"SECREF{len(numbers.sections)}", block, num)
            numbers.sections.append(section)
            current = Target(RefType.SECTION, section.key, num)
            for label in block.labels:
                numbers.labels.setdefault(label, current)
            take_inlines(block.content)
        elif isinstance(block, Para):
            take_inlines(block.content)
        elif isinstance(block, Float):
            take_float(block, None, 0)
    return numbers


def _letter(count: int) -> str:
    return chr(ord("A") + (count - 1) % 26)


def _rows(tex: str) -> list[tuple[str, bool]]:
    """The rows of a displayed formula, and whether each has a number."""
    match = _ENVIRONMENT.match(tex)
    if match is None or match.group(1) not in _NUMBERED:
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
