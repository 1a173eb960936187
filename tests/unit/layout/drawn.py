"""Documents drawn line by line, for rules about the position and font of lines."""

from __future__ import annotations

from dataclasses import dataclass

from pdf2tei.model import Document, Font, Line, Page, Token

ROMAN = Font("times", 10.0)
BOLD = Font("times", 10.0, bold=True)
HEAD = Font("times", 12.0, bold=True)
SMALL = Font("times", 8.0)


@dataclass(frozen=True)
class Row:
    """A line to draw; `block` starts a new block, `gap` is the space above it."""

    text: str
    font: Font = ROMAN
    block: bool = False
    gap: float = 2.0
    left: float = 50.0


def draw(*pages: list[Row], width: float = 600.0) -> Document:
    """Return a document of pages with these rows from top to bottom."""
    drawn: list[Page] = []
    block = 0
    for number, rows in enumerate(pages, 1):
        y = 60.0
        lines: list[Line] = []
        block += 1
        for row in rows:
            block += row.block
            y += row.gap
            lines.append(Line(_tokens(row, y), number, block))
            y += row.font.size
        drawn.append(Page(number, width, max(800.0, y + 60), lines, []))
    return Document(drawn)


def _tokens(row: Row, y: float) -> list[Token]:
    x = row.left
    out: list[Token] = []
    for word in row.text.split():
        end = x + 0.5 * row.font.size * len(word)
        out.append(Token(word, x, y, end, y + row.font.size, row.font, bool(out)))
        x = end + 0.25 * row.font.size
    return out
