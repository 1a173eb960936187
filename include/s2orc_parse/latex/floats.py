"""Remove figures, tables and the bibliography from a body, so that a converter reads only their captions and cells as TeX."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from s2orc_parse.latex.document import LatexFloat
from s2orc_parse.latex.tex import (
    Environment,
    find_calls,
    find_environments,
    read_argument,
    read_option,
    replace_intervals,
)
from s2orc_parse.words import read_table

_TABLE = read_table("latex/words")
TABULAR, FLOATS = "|".join(_TABLE["tables"]), "|".join(_TABLE["floats"])
_WIDTH_FIRST = frozenset(_TABLE["columns_with_width"].split())
_LAYOUT = re.compile("|".join(_TABLE["table_layout"]))
_TOKEN = re.compile(
    r"\\(?P<space>begin|end)\s*\{|(?P<row>\\\\\*?(?:\s*\[[^\]]*\])?|\\tabularnewline(?![A-Za-z])|\\cr(?![A-Za-z]))|\\.|(?P<sign>[{}&])",
    re.DOTALL,
)
MAX_CELLS = 20_000


def split_cells(name: str, body: str) -> list[list[str]]:
    """Return the rows of cells of the environment `name` with content `body`; \\multicolumn adds empty cells."""
    at = read_option(body, 0)[1]
    if name in _WIDTH_FIRST and (width := read_argument(body, at)):
        at = read_option(body, width[1])[1]
    if spec := read_argument(body, at):
        at = spec[1]
    head = next((call.arguments[0] for call in find_calls(body, "tablehead", 1)), "")
    body = body[at:]
    if head:
        body = head.replace("\\colhead", "") + r"\\" + body.partition("\\startdata")[2]
    heads = find_calls(body, r"caption(?:of\{table\})?|tablecaption|tablehead", 1)
    body = replace_intervals(body, ((call.start, call.end, "") for call in heads))
    body = re.sub(r"\A(?:\s|%|\\\\(?:\[[^\]]*\])?)+", "", body)
    rows: list[list[str]] = []
    total = 0
    for raw in _split(body):
        row = [cell for part in raw for cell in _expand_cell(_LAYOUT.sub("", part) if "\\" in part else part)]
        if any(cell.strip(" \n%~") for cell in row):
            rows.append(row)
            total += len(row)
        if total > MAX_CELLS:
            break
    return rows


def _split(body: str) -> list[list[str]]:
    """Return the rows of cells, split at separators outside groups and inner environments."""
    rows: list[list[str]] = [[]]
    depth = inner = at = 0
    for match in _TOKEN.finditer(body):
        if match["space"]:
            inner += 1 if match["space"] == "begin" else -1
            depth += 1  # the brace of its name
            continue
        sign = match["sign"]
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
        elif depth == 0 and inner <= 0 and (sign == "&" or match["row"]):
            rows[-1].append(body[at : match.start()])
            at = match.end()
            if match["row"]:
                rows.append([])
    rows[-1].append(body[at:])
    return rows


def _expand_cell(cell: str) -> list[str]:
    """Return a cell without \\multicolumn and \\multirow, and the empty cells that it covers."""
    if "\\multi" not in cell:
        return [cell]
    extra = 0
    spans = list(find_calls(cell, "multicolumn", 3, options=0))
    for call in spans[:100]:
        count = call.arguments[0].strip()
        extra += min(int(count) - 1, 100) if count.isdecimal() and len(count) < 4 else 0
    cell = replace_intervals(cell, ((call.start, call.end, call.arguments[2]) for call in spans))
    for call in reversed(list(islice(find_calls(cell, "multirow(?:cell)?", 1, options=1), 100))):
        at = read_option(cell, call.end)[1]
        width = read_argument(cell, at)
        shift = read_option(cell, width[1])[1] if width else at
        text = read_argument(cell, shift)
        if width and text:
            cell = cell[: call.start] + text[0] + cell[text[1] :]
    return [cell, *[""] * max(extra, 0)]


_SUBFLOATS = r"subfigure|subtable|subcaptionblock|subfloat|subcaptiongroup"
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_CAPTION_KINDS = {"lstlisting": "listing", "code": "listing"}
_CAPTION = r"caption|captionof|subcaption|tablecaption|figcaption"


@dataclass(slots=True)
class FloatSource:
    """A float and its TeX content."""

    float: LatexFloat
    caption: str | None = None
    cells: list[list[str]] = field(default_factory=list)
    parts: list[FloatSource] = field(default_factory=list)


def take_floats(body: str) -> tuple[str, list[FloatSource]]:
    """Return the body without its floats and tables, and these in order."""
    pieces: list[FloatSource] = []
    taken: list[tuple[int, int, str]] = []
    for environment in find_environments(body, f"{FLOATS}|{TABULAR}"):
        shown = ""
        if re.fullmatch(FLOATS, environment.name):
            pieces += _read_float(environment, body)
            # remove the line end too, so that no paragraph ends
            shown = "%" if re.compile(r"[ \t]*\n").match(body, environment.end) else " "
        elif len(rows := split_cells(environment.name, environment.body)) > 1 and max(map(len, rows)) > 1:
            pieces.append(
                FloatSource(
                    LatexFloat("table", numbered=False, latex=body[environment.start : environment.end]), None, rows
                )
            )
        else:
            shown = f" {' '.join(cell for row in rows for cell in row)} "
        taken.append((environment.start, environment.end, shown))
    return replace_intervals(body, taken), pieces


def _read_float(environment: Environment, text: str) -> list[FloatSource]:
    """Return one float of a text, or several if there are several captions."""
    kind = "table" if "table" in environment.name else "figure"
    if kind == "figure" and (match := re.match("algo|listing|program", environment.name)):
        kind = "algorithm" if match[0] == "algo" else "listing"
    body, parts = _take_subfloats(environment.body, kind)
    is_table = re.fullmatch(TABULAR, environment.name) is not None
    source, tables = (text, [environment]) if is_table else (body, list(find_environments(body, TABULAR)))
    captions: list[tuple[str, str, int, bool]] = []
    for call in find_calls(body, _CAPTION, 1):
        starred = body[call.start : call.start + len(call.name) + 2].endswith("*")
        shown, caption = kind, call.arguments[0]
        if call.name == "captionof":
            got = read_argument(body, read_option(body, call.end)[1])
            shown, caption = _CAPTION_KINDS.get(caption, caption).strip("*"), got[0] if got else ""
        captions.append((shown, caption, call.start, starred))
    labels = [(match.group(1), match.start()) for match in _LABEL.finditer(body)]
    if not captions:
        piece = FloatSource(LatexFloat(kind, numbered=False, labels=tuple(name for name, _ in labels)), parts=parts)
        _set_cells(piece, source, tables)
        return [piece] if piece.cells or parts or labels or kind == "figure" else []
    pieces = []
    for i, (caption_kind, caption, _, starred) in enumerate(captions):
        is_last = i + 1 == len(captions)
        start, end = captions[i][2] if i else 0, len(body) + 1 if is_last else captions[i + 1][2]
        own_labels = tuple(name for name, place in labels if start <= place < end)
        kind = caption_kind if caption_kind in ("table", "algorithm", "listing") else "figure"
        piece = FloatSource(LatexFloat(kind, numbered=not starred, labels=own_labels), _LABEL.sub("", caption))
        _set_cells(piece, source, tables[i:] if is_last else tables[i : i + 1])
        pieces.append(piece)
    pieces[-1].parts = parts
    return pieces


def _set_cells(piece: FloatSource, text: str, tables: list[Environment]) -> None:
    """Set the cells and the TeX of a float to those of some tables in `text`."""
    piece.cells = [row for table in tables for row in split_cells(table.name, table.body)]
    if piece.cells:
        piece.float.latex = "\n".join(text[table.start : table.end] for table in tables)


def _take_subfloats(body: str, kind: str) -> tuple[str, list[FloatSource]]:
    """Return the body without its subfloats, and the subfloats."""
    found: list[tuple[int, int, FloatSource]] = []
    for environment in find_environments(body, _SUBFLOATS):
        inner = list(find_calls(environment.body, _CAPTION, 1))
        labels = tuple(_LABEL.findall(environment.body))
        caption = _LABEL.sub("", inner[0].arguments[0]) if inner else None
        piece = FloatSource(LatexFloat(kind, labels=labels), caption)
        _set_cells(piece, environment.body, list(find_environments(environment.body, TABULAR)))
        found.append((environment.start, environment.end, piece))
    taken = [(start, end) for start, end, _ in found]
    for call in find_calls(body, r"subfloat|subfigure|subtable|subcaptionbox", 1, options=2):
        if any(start <= call.start < end for start, end in taken):
            continue
        end = call.end
        caption = call.options[-1] or call.options[0]
        content = call.arguments[0]
        if call.name == "subcaptionbox":
            caption, (content, end) = content, read_argument(body, read_option(body, call.end)[1]) or ("", call.end)
        labels = tuple(_LABEL.findall(body[call.start : end]))
        piece = FloatSource(LatexFloat(kind, labels=labels), _LABEL.sub("", caption) if caption else None)
        _set_cells(piece, content, list(find_environments(content, TABULAR)))
        found.append((call.start, end, piece))
    found.sort(key=lambda item: item[0])
    return replace_intervals(body, ((start, end, "") for start, end, _ in found)), [piece for _, _, piece in found]
