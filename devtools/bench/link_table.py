"""Print the table of `devtools/bench/link.py`: subject, measured value, required value, peer, met or not."""

from __future__ import annotations

from dataclasses import dataclass, field

HEAD = ("what", "measured", "asked", "peer", "met")


@dataclass
class FigureTable:
    """Rows in the order of measurement. A row with a required value is met or not met."""

    rows: list[tuple[str, ...]] = field(default_factory=list)
    missed: int = 0

    def show(self) -> bool:
        """Print all rows as one table; return whether every required value is met."""
        widths = [max(len(row[column]) for row in [HEAD, *self.rows]) for column in range(len(HEAD))]
        print()
        for row in [HEAD, tuple("-" * width for width in widths), *self.rows]:
            print(" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        print(f"\n{self.missed} of the asked figures not met")
        return not self.missed


TABLE = FigureTable()


def row(what: str, measured: str, asked: str = "", peer: str = "", met: bool | None = None) -> None:
    """Add one row. It is also printed immediately, because every row takes its time."""
    TABLE.rows.append((what, measured, asked, peer, "" if met is None else "yes" if met else "NO"))
    TABLE.missed += met is not None and not met
    print(f"{what:<90} {measured}", flush=True)


def note(what: str, measured: str) -> None:
    """Add a row without a required value."""
    row(what, measured)
