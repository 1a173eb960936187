"""The folder of real papers, records and titles that tests and benchmarks read. It is never part of the project (docs/quality.md)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

IS_NAMED = bool(os.environ.get("S2CORPUS_REAL_DATA"))
"""A missing folder is an error if the environment names it; otherwise tests and benchmarks skip what needs it."""
REAL_DATA = Path(
    os.environ.get("S2CORPUS_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
).absolute()
MISSING = f"real papers: {REAL_DATA} does not exist; set S2CORPUS_REAL_DATA to a folder with jats/, pairs/, … (docs/quality.md)"


def require() -> None:
    """End the program if the folder does not exist."""
    if not REAL_DATA.is_dir():
        sys.exit(MISSING)
