"""Rewrite constructs that pandoc does not know as readable TeX or as marks, which `pandoc_ast` reads."""

from __future__ import annotations

import re
from collections.abc import Collection

from s2orc_parse.latex.counting import Counting
from s2orc_parse.latex.document import ListItemStart
from s2orc_parse.latex.lists import find_items
from s2orc_parse.latex.marks import CLOSE, KEYS, NOTE, NOTE_END, OPEN, REF
from s2orc_parse.latex.tex import find_environments, read_argument, read_option, replace_intervals
from s2orc_parse.words import read_table

_TABLE = read_table("latex/words")
_WRAPPERS, _INLINE_WRAPPERS = _TABLE["wrappers"], frozenset(_TABLE["inline_wrappers"].split())
_WRAPPER = re.compile(r"\\(begin|end)\s*\{(" + "|".join(map(re.escape, _WRAPPERS)) + r")\}")
_BEFORE_GROUP = re.compile(rf"\\(?:{'|'.join(_TABLE['commands_before_groups'].split())})(?![A-Za-z@])\s*(?=\{{)")
"""commands without arguments, whose following group pandoc takes for an argument and drops"""
_FOOTNOTE = re.compile(r"\\footnote(?:text)?\s*\[\s*(\d{1,4})\s*\]\s*\{|\\footnotetext(?=\s*\{)")
_FOOTNOTE_MARK = re.compile(r"\\footnotemark(?![A-Za-z])(?:\[[^\]]*\]|\{\})?")
_REFERENCE = re.compile(rf"\\(?P<command>{'|'.join(_TABLE['linked_references'])})(?![A-Za-z@])\*?")
_KEYED = re.compile(r"\s*(?:name|label|restate|continues)\s*=")
_SUBEQUATIONS = re.compile(r"\\(begin|end)\s*\{subequations\}")
_DIMENSION = r"[-+]?\s*(?:[\d.]+\s*(?:true)?\s*(?:[a-z]{2}|\\[A-Za-z]+)|\\[A-Za-z]+)"
_ARGUMENT_BEFORE_TEXT = re.compile(
    r"(\\begin\s*\{(?!\w*(?:array|matrix|tabular|align|equation))[A-Za-z]+\*?\}(?:\[[^\]]{0,300}\])?\{[^{}]{1,1000}\})(?=[^\W_])"
)
_HYPHENATION = re.compile(r"(?<!\\)\\-")
_SKIP = re.compile(rf"\\[hv]skip(?![A-Za-z])\s*{_DIMENSION}(?:\s*(?:plus|minus)\s*{_DIMENSION}){{0,2}}")
_TYPESETTING = re.compile(
    rf"\\kern(?![A-Za-z])\s*{_DIMENSION}|\\[hv]rule(?![A-Za-z])(?:\s*(?:width|height|depth)\s*{_DIMENSION}){{0,3}}"
    rf"|(?<=\\[hv]box)\s*(?:to|spread)\s*{_DIMENSION}|(?:(?<=\\makebox)|(?<=\\framebox))(?:\s*\[[^\]]{{0,100}}\]){{1,2}}"
)
"""rules, moves, and the sizes of boxes"""
_MATH = "|".join(_TABLE["numbered_formulas"].split())
_CHEMISTRY = re.compile(
    r"\\\\|\\\$|(?P<dollar>\$\$?)|\\(?P<open>[(\[])|\\(?P<close>[)\]])"
    rf"|\\(?P<edge>begin|end)\s*\{{(?:{_MATH}|(?:display)?math)\*?\}}|(?P<paragraph>\n\s*\n)|\\(?P<name>ce|ch|chem|cf)\s*(?=\{{)"
)
_MAX_FORMULA = 1000
_ARROWS = (
    ("<=>>", "⇌"),
    ("<<=>", "⇌"),
    ("<-->", "⇌"),
    ("<=>", "⇌"),
    ("<->", "↔"),
    ("->", "→"),
    ("<-", "←"),
    ("#", "≡"),
    ("*", "·"),
)
_THEOREM_SETUP = "|".join(_TABLE["theorem_setup"].split())


def rewrite(text: str, counting: Counting, defined: Collection[str]) -> str:
    """Return a text or definitions without constructs that pandoc cannot read; names that the paper defines are unchanged."""
    text = _ARGUMENT_BEFORE_TEXT.sub(r"\1 ", text)
    text = _TYPESETTING.sub("", _SKIP.sub(" ", _HYPHENATION.sub("", _unwrap(text))))
    text = _FOOTNOTE_MARK.sub("", _BEFORE_GROUP.sub(" ", text))
    text = _FOOTNOTE.sub(lambda match: f"\\footnote{{{OPEN}N{match[1]}{CLOSE}" if match[1] else "\\footnote", text)
    text = _rewrite_references(text, defined)
    text = _SUBEQUATIONS.sub(lambda match: f"{OPEN}U{int(match[1] == 'begin')}{CLOSE}", text)
    return _rewrite_theorems(text, counting)


def print_chemistry(text: str, defined: Collection[str]) -> str:
    r"""Return a text with its chemical formulas as they are printed, outside of mathematics: \ce{SO4^{2-}} is SO42-."""
    pieces: list[tuple[int, int, str]] = []
    is_math, at = False, 0
    for match in _CHEMISTRY.finditer(text):
        if match.start() < at:
            continue
        if match["dollar"]:
            is_math = not is_math
        elif match["open"] or match["close"] or match["edge"] or match["paragraph"]:
            is_math = bool(match["open"]) or match["edge"] == "begin"
        elif (
            not is_math
            and match["name"]
            and match["name"] not in defined
            and (got := read_argument(text, match.end(), _MAX_FORMULA))
        ):
            shown, at = got
            for sign, arrow in _ARROWS:
                shown = shown.replace(sign, arrow)
            pieces.append((match.start(), at, re.sub(r"[\^_]\s*(?:\{([^{}]*)\})?", r"\1", shown)))
    return replace_intervals(text, pieces)


def mark_items(text: str, settings: str, counting: Counting, items: list[ListItemStart], *, has_enumitem: bool) -> str:
    """Return the text with a mark at the start of each list item with a label, and append these items to `items`."""
    if "\\item" not in text or "\\label" not in text:
        return text
    found = sorted(find_items(text, settings, counting.kinds, has_enumitem=has_enumitem), key=lambda pair: pair[0])
    marks = []
    for place, item in found:
        marks.append((place, place, f"{OPEN}I{len(items)}{CLOSE}"))
        items.append(item)
    return replace_intervals(text, marks)


def remove_theorem_setup(body: str) -> str:
    """Return the body without definitions of theorems, which `numbering` counts instead of pandoc."""
    if not re.search(rf"\\(?:{_THEOREM_SETUP})", body):
        return body
    found: list[tuple[int, int, str]] = []
    for match in re.finditer(rf"\\({_THEOREM_SETUP})\*?(?![A-Za-z@])", body):
        at = match.end()
        for _ in range(6):
            after = read_option(body, at)[1]
            got = read_argument(body, after) if body[after : after + 1] == "{" else None
            if got is None and after == at:
                break
            at = got[1] if got else after
        found.append((match.start(), at, ""))
    return replace_intervals(body, found)


def _unwrap(text: str) -> str:
    found: list[tuple[int, int, str]] = []
    for match in _WRAPPER.finditer(text):
        at = match.end()
        shown = "" if match[2] in _INLINE_WRAPPERS else "\n\n"
        shown = f"\\{match[1]}{{itemize}}" if match[2] == "list" else shown
        if match[1] == "begin":
            at = read_option(text, at, 300)[1]
            for _ in range(_WRAPPERS[match[2]]):
                got = read_argument(text, at, 300)
                at = got[1] if got else at
        found.append((match.start(), at, shown))
    return replace_intervals(text, found)


def _rewrite_references(text: str, defined: Collection[str]) -> str:
    found: list[tuple[int, int, str]] = []
    for match in _REFERENCE.finditer(text):
        command = match["command"]
        if command in defined:
            continue
        labels: list[str] = []
        at = read_option(text, match.end(), 200)[1]
        for _ in range(2 if "range" in command else 1):
            got = read_argument(text, at, 2000)
            if got is None or text[got[1] - 1] != "}":
                break
            labels.append(" ".join(got[0].split()))
            at = got[1]
        else:
            shown = "" if "pageref" in command else f"\\href{{{REF}{command}{KEYS}{','.join(labels)}}}{{}}"
            found.append((match.start(), at, shown))
    return replace_intervals(text, found)


def _rewrite_theorems(text: str, counting: Counting) -> str:
    """Return the text with the notes of theorems in their environments, and `restatable` replaced by its kind."""
    if "restatable" in text:
        pieces: list[tuple[int, int, str]] = []
        for found in find_environments(text, r"restatable\*?"):
            note, at = read_option(found.body, 0)
            kind = read_argument(found.body, at)
            name = read_argument(found.body, kind[1]) if kind else None
            if kind and name:
                note = f"[{note}]" if note else ""
                inside = f"\\begin{{{kind[0]}}}{note}{found.body[name[1] :]}\\end{{{kind[0]}}}"
                pieces.append((found.start, found.end, inside))
        text = replace_intervals(text, pieces)
    names = [name for name in counting.kinds if f"{{{name}}}" in text]
    if not names:
        return text
    marks: list[tuple[int, int, str]] = []
    for match in re.finditer(rf"\\begin\s*\{{({'|'.join(map(re.escape, names))})\}}", text):
        note, at = read_option(text, match.end(), 3000)
        label = ""
        if (prefix := counting.kinds[match[1]].label_prefix) is not None:
            got = read_argument(text, at, 3000)
            name = read_argument(text, got[1], 300) if got else None
            if got and name:
                note, at = got[0], name[1]
                label = f"\\label{{{prefix}:{name[0]}}}" if name[0] else ""
        elif note is not None and _KEYED.match(note):
            label = "".join(f"\\label{{{value}}}" for value in re.findall(r"(?:^|,)\s*label\s*=\s*\{?([^,{}]+)", note))
            note = next(iter(re.findall(r"(?:^|,)\s*name\s*=\s*(\{[^{}]*\}|[^,]+)", note)), None)
        shown = f"{NOTE}{note}{NOTE_END}" if note else ""
        marks.append((match.end(), at, shown + label))
    return replace_intervals(text, marks)
