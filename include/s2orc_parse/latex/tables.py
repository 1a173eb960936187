"""Split LaTeX tables into rows of cells as TeX, because converters lose too many (column types, rules, nested boxes)."""

from __future__ import annotations

import re
from itertools import islice

from s2orc_parse.latex.tex import find_calls, read_argument, read_option, replace_intervals
from s2orc_parse.words import read_table

TABULAR = (
    r"tabular\*?|tabularx|tabulary|longtable\*?|supertabular\*?"
    r"|xltabular|longtabu|tabu|NiceTabular\*?|tblr|longtblr|deluxetable\*?|ctabular"
)
_WIDTH_FIRST = frozenset(read_table("latex/words")["columns_with_width"].split())
_LAYOUT = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|firsthline|lasthline|thinmid|thickmid|Xhline\{[^{}]*\}|endhead|endfirsthead|endfoot|endlastfoot|startdata|enddata|hdashline"
    r"|centering|raggedright|arraybackslash|tabularnewline\s*$)(?![A-Za-z@])(?:\[[^\]]*\])?"
    r"|\\(?:cmidrule|cdashline|cline|hhline)(?:\[[^\]]*\])?(?:\([^)]*\))?(?:\[[^\]]*\])?\{[^{}]*\}(?:\[[^\]]*\])?"
    r"|\\(?:specialrule)\{[^{}]*\}\{[^{}]*\}\{[^{}]*\}|\\(?:addlinespace|morecmidrules|hdashline)(?:\[[^\]]*\])?"
    r"|\\(?:rowcolor|cellcolor|columncolor|arrayrulecolor|rowcolors)\*?(?:\[[^\]]*\])?\{[^{}]*\}(?:\{[^{}]*\}\{[^{}]*\})?"
    r"|\\(?:noalign|vspace|hspace|rule|label|tablewidth|tablecolumns|tabletypesize|tablecomments|setlength\{[^{}]*\}|addtolength\{[^{}]*\})\*?\{[^{}]*\}"
)
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
