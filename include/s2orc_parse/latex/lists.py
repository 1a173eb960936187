"""Read numbers and labels of list items from TeX."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from s2orc_parse.latex.counting import strip_tex
from s2orc_parse.latex.document import ListItemStart
from s2orc_parse.latex.marks import CLOSE, OPEN
from s2orc_parse.latex.tex import find_calls, read_argument, read_option, read_value
from s2orc_parse.words import read_table, write_numeral

_NUMBERED, _OTHER, _LABELLED = (
    frozenset(read_table("latex/words")[name].split())
    for name in ("numbered_lists", "other_lists", "labeled_environments")
)
_TOKEN = re.compile(
    r"\\begin\s*\{(?P<begin>[^{}]*)\}|\\end\s*\{(?P<end>[^{}]*)\}|\\(?P<item>item)(?![A-Za-z@])|\\label\s*\{(?P<label>[^{}]*)\}"
    r"|\\(?P<counter>setcounter|addtocounter)\s*\{enum(?P<level>i{1,3}|iv)\}\s*\{(?P<count>-?\d{1,4})\}"
)
_STAR = re.compile(r"\\(arabic|alph|Alph|roman|Roman)\s*(?:\*|\{\s*enum(?:i{1,3}|iv)\s*\})")
_THE = re.compile(r"\\the(?!enum)([A-Za-z]+)")
_SHORT = re.compile(r"\{[^{}]*\}|\\[A-Za-z]+|([AaIi1])")
_STYLES = {"A": "Alph", "a": "alph", "I": "Roman", "i": "roman", "1": "arabic"}
_LEVELS = ("arabic", "alph", "roman", "Alph")
_ENUMI = ("i", "ii", "iii", "iv")


@dataclass(slots=True)
class _OpenList:
    """An open list."""

    level: int  # among the surrounding numbered lists; −1 if the items have no numbers
    template: str | None  # TeX of a reference to an item, if the source sets it
    style: str  # style of the number without a template
    count: int = 0
    value: str = ""
    place: int = -1  # start of the current item's text
    num: str = ""
    labels: list[str] = field(default_factory=list)


def find_items(
    text: str, settings: str, theorems: Collection[str], *, has_enumitem: bool
) -> Iterator[tuple[int, ListItemStart]]:
    """Yield the position and the number of each list item with a label, in any order.

    `settings` is TeX that may configure lists. Labels of `theorems` and formulas inside an item do not belong to the
    item.
    """
    shared, numbered = _read_settings(settings)
    stack: list[_OpenList | str] = []
    lists: list[_OpenList] = []  # the lists in the stack
    last: dict[int, int] = {}
    for match in _TOKEN.finditer(text):
        if match["begin"] is not None:
            name = match["begin"]
            if name in _NUMBERED or name in numbered:
                level = max((item_list.level for item_list in lists[-8:]), default=-1) + 1
                lists.append(
                    _open_list(name, text, match.end(), min(level, 3), shared, last, has_enumitem=has_enumitem)
                )
                stack.append(lists[-1])
            elif name in _OTHER:
                lists.append(_OpenList(-1, None, ""))
                stack.append(lists[-1])
            elif name.removesuffix("*") in _LABELLED or name in theorems:
                stack.append(name)
        elif match["end"] is not None:
            name = match["end"]
            is_list = name in _NUMBERED or name in numbered or name in _OTHER
            if stack and (is_list == isinstance(stack[-1], _OpenList)) and (is_list or stack[-1] == name):
                stack.pop()
                if is_list:
                    closed = lists.pop()
                    yield from _finish(closed)
                    last[closed.level] = closed.count
        elif not lists:
            continue
        elif match["item"]:
            yield from _finish(lists[-1])
            _start_item(lists, text, match.end())
        elif match["label"] is not None:
            if lists[-1] is stack[-1] and lists[-1].place >= 0:
                lists[-1].labels.append(match["label"].strip())
        else:
            target_level = _ENUMI.index(match["level"])
            for item_list in lists[-8:]:
                if item_list.level == target_level:
                    item_list.count = int(match["count"]) + (
                        item_list.count if match["counter"] == "addtocounter" else 0
                    )
    for item_list in lists:
        yield from _finish(item_list)


def _finish(item_list: _OpenList) -> Iterator[tuple[int, ListItemStart]]:
    """Yield the current item if it has labels."""
    if item_list.labels:
        yield item_list.place, ListItemStart(item_list.num, tuple(item_list.labels))
    item_list.labels, item_list.place = [], -1


def _start_item(lists: list[_OpenList], text: str, at: int) -> None:
    """Count an item of the innermost list."""
    item_list = lists[-1]
    label, item_list.place = read_option(text, at, 1000)
    if label is not None:
        item_list.num = strip_tex(label).strip(" .:")
        return
    if item_list.level < 0:
        item_list.num = ""
        return
    item_list.count += 1
    item_list.value = write_numeral(item_list.style, item_list.count)
    if item_list.template is not None:
        marked = _THE.sub(rf"{OPEN}\1{CLOSE}", item_list.template)
        item_list.num = strip_tex(_STAR.sub(lambda match: write_numeral(match[1], item_list.count), marked))
        return
    values = [other.value for other in lists[-8:] if 0 <= other.level < item_list.level]
    before = "".join(f"({value})" if i == 1 else value for i, value in enumerate(values))
    item_list.num = before + item_list.value


def _open_list(
    name: str, text: str, at: int, level: int, shared: dict[str, str], last: dict[int, int], *, has_enumitem: bool
) -> _OpenList:
    """Return a numbered list with its options and the source's settings."""
    written = read_option(text, at, 1000)[0] or ""
    names = (name, "enumerate") if name in _NUMBERED else (name,)
    options = ",".join(
        shared[key] for list_name in names for key in (list_name, f"{list_name},{level + 1}") if key in shared
    )
    opened = _OpenList(level, shared.get(f"the{_ENUMI[level]}"), _LEVELS[level])
    short = next((match for match in _SHORT.finditer(written) if match[1]), None)
    for found in (options, written):
        template = read_value(found, "ref") or read_value(found, "label")
        if template is not None:
            opened.template = template
        elif found is written and "=" not in written and short:
            opened.style = _STYLES[short[1]]  # a short option such as `[(i)]`
            template = f"{written[: short.start()]}\\{opened.style}*{written[short.end() :]}"
            opened.template = template if has_enumitem else opened.template
        if (start := read_value(found, "start")) and start.isdecimal() and len(start) < 5:
            opened.count = int(start) - 1
        if re.search(r"(?:^|,)\s*resume\*?\s*(?:,|=|$)", found):
            opened.count = last.get(level, 0)
    return opened


def _read_settings(text: str) -> tuple[dict[str, str], set[str]]:
    """Return enumitem's options by `name` or `name,level`, and the names of the source's own numbered lists."""
    shared: dict[str, str] = {}
    for call in find_calls(text, "setlist|setenumerate", 1):
        for name in re.split(r",\s*(?![1-4])", call.options[0] or "enumerate"):
            name = re.sub(r"\s", "", name)
            name = f"enumerate,{name}" if name.isdecimal() else name
            shared[name] = call.arguments[0]
    numbered = set()
    for call in find_calls(text, "newlist", 2, options=0):
        if call.arguments[1].startswith("enumerate"):
            numbered.add(call.arguments[0])
    for call in find_calls(text, "newenvironment", 2, options=0):
        if "\\begin{enumerate}" in call.arguments[1]:
            numbered.add(call.arguments[0])
    for match in re.finditer(r"\\(?:renewcommand|def)\*?\s*\{?\s*\\theenum(i{1,3}|iv)\s*\}?\s*(?=\{)", text):
        if got := read_argument(text, match.end()):
            shared[f"the{match[1]}"] = got[0]
    return shared, numbered
