"""Reduce formulas in titles and abstracts to one form, and add the missing spaces around them."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

from s2orc_parse.bibliography.tex import read_formula_text

ATTRIBUTE = r"\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+)"
_TAG = re.compile(
    rf"<(?P<close>/)?(?:[\w.-]+:)?(?P<name>math|alternatives|tex-math|annotation(?:-xml)?)(?:{ATTRIBUTE})*\s*(?P<empty>/)?>",
    re.IGNORECASE,
)
_HINT = re.compile(r"<(?:[\w.-]+:)?(?:math|alternatives|tex-math)\b", re.IGNORECASE)
_CDATA = re.compile(r"<!\[CDATA\[|\]\]>")
_BETWEEN_TAGS = re.compile(r">\s+<")
_SPACE_TAG = re.compile(r"<(?:[\w.-]+:)?mspace\b[^<>]*>", re.IGNORECASE)
_SCRIPT_OF_TEXT = re.compile(
    r"(?:<(?:[\w.-]+:)?(?:mrow|mstyle|semantics)\b[^<>]*(?<!/)>)*<(?:[\w.-]+:)?(?:msub|msup|msubsup|mmultiscripts)\b[^<>]*>"
    r"<(?:[\w.-]+:)?(mrow|mi|mn|mo|mtext|none)\b(?:[^<>]*/>|[^<>]*></(?:[\w.-]+:)?\1>)",
    re.IGNORECASE,
)
"""A formula that begins with a subscript of an empty base. It belongs to the preceding letter: CO<math>₂</math>."""
_BEGIN, _BEGIN_SCRIPT, _END, _END_SCRIPT = "\x02", "\x03", "\x04", "\x05"
_MARKS = re.compile(f"[{_BEGIN}{_BEGIN_SCRIPT}{_END}{_END_SCRIPT}]")
_SPACE_BEFORE = re.compile(rf"(?<=[\w,;:.)\]%]){_BEGIN}(?=[^\s{_END}])")
_SPACE_AFTER = re.compile(rf"(?<=[^\s{_BEGIN}]){_END}(?!(?:th|st|nd|rd|s)\b)(?=[^\W_])")
_SPACE_AFTER_SCRIPT = re.compile(rf"{_END_SCRIPT}(?=[a-z]{{2}})")


@dataclass(slots=True)
class _Open:
    """An open element: its tag, its content, and for `alternatives` the forms of the formula."""

    name: str
    tag: str
    content: list[str] = field(default_factory=list)
    forms: dict[str, str] = field(default_factory=dict)


def resolve_formulas(text: str) -> str:
    """Return the text with one form of each formula between marks; `space_formulas` replaces the marks.

    From the `alternatives` of a formula, the MathML is used if there is any, else the TeX. Annotations repeat the MathML
    and are removed. The time is linear.
    """
    if not _HINT.search(text):
        return text
    stack, at = [_Open("", "")], 0
    for tag in _TAG.finditer(text):
        stack[-1].content.append(text[at : tag.start()])
        at = tag.end()
        name = tag["name"].casefold()
        if tag["empty"]:
            continue
        if not tag["close"]:
            stack.append(_Open(name, tag.group()))
        elif stack[-1].name == name and len(stack) > 1:
            _close(stack)
    stack[-1].content.append(text[at:])
    return "".join(piece for element in stack for piece in (element.tag, *element.content))


def _close(stack: list[_Open]) -> None:
    """End the innermost element."""
    element = stack.pop()
    content, outer = "".join(element.content), stack[-1]
    if element.name.startswith("annotation"):
        return
    if element.name == "math":
        content = _SPACE_TAG.sub(" ", _BETWEEN_TAGS.sub("><", content).strip())
        is_script = _SCRIPT_OF_TEXT.match(content) is not None
        content = f"{_BEGIN_SCRIPT}{content}{_END_SCRIPT}" if is_script else f"{_BEGIN}{content}{_END}"
    elif element.name == "tex-math":
        tex = _CDATA.sub("", html.unescape(content))
        content = f"{_BEGIN}{html.escape(read_formula_text(tex), quote=False)}{_END}"
    elif element.forms:
        content = element.forms.get("math") or element.forms.get("tex-math", "")
    if outer.name == "alternatives" and element.name in ("math", "tex-math"):
        outer.forms.setdefault(element.name, content)
    else:
        outer.content.append(content)


def space_formulas(text: str) -> str:
    """Replace the marks around formulas by the spaces that the source left out: `in<math>N</math>-coupled` → in N-coupled.

    A formula counts as a word. No space is added at brackets, hyphens, other punctuation, an ordinal's ending and a space.
    """
    if not _MARKS.search(text):
        return text
    text = _SPACE_AFTER_SCRIPT.sub(" ", _SPACE_AFTER.sub(" ", _SPACE_BEFORE.sub(" ", text)))
    return _MARKS.sub("", text)
