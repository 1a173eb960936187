"""The code blocks of the documentation, for the tests that run them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<excuse>[^\n]+) -->\n)?^ *```(?P<language>\w*)\n(?P<code>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    language: str
    code: str
    excuse: str | None
    """the reason why no test runs the block, from the comment `<!-- not run: reason -->` on the line before it"""


def read_blocks(page: Path) -> Iterator[Block]:
    """Yield the code blocks of a page in order."""
    for found in _BLOCK.finditer(page.read_text("utf-8")):
        yield Block(found["language"], found["code"], found["excuse"])
