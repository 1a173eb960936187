"""Files of named SQL statements: `-- name [function by columns]: meaning`, then the statement. Empty lines separate them.

`$name` is a parameter, or the text of an earlier statement. DuckDB receives other names as its parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_HEAD = re.compile(r"-- (\w+)(?: \[(\w+)(?: by ([\w, ]+))?\])?: ")
_NAME = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, with the name of the function for its rows."""

    sql: str
    function: str | None
    by: tuple[str, ...]


def read_statements(path: Path, **parameters: int) -> dict[str, Statement]:
    """Return the statements of a file by name, with these values of their parameters."""
    found: dict[str, Statement] = {}
    texts = {name: str(value) for name, value in parameters.items()}
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        if (head := _HEAD.match(block)) and block.rstrip().endswith(";"):
            lines = "\n".join(line for line in block.splitlines() if not line.startswith("--"))
            texts[head[1]] = _NAME.sub(lambda name: texts.get(name[1], name[0]), lines.rstrip(" ;\n"))
            found[head[1]] = Statement(texts[head[1]], head[2], tuple(head[3].split(", ")) if head[3] else ())
    return found
