"""A damaged PDF gives a TEI, no content or an ExtractionError; it never crashes the process."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree
from pebble import ProcessPool

from pdf2tei import ExtractionError, extract

SEED = 20200705


def damage(data: bytes, rng: random.Random) -> bytes:
    """Return a copy with changed bytes, a removed, repeated or overwritten range, changed digits, or a cut end."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, other, length = rng.randrange(len(out)), rng.randrange(len(out)), rng.randint(1, 400)
        match rng.randrange(6):
            case 0:
                for i in rng.choices(range(len(out)), k=rng.randint(1, 40)):
                    out[i] = rng.randrange(256)
            case 1:
                del out[at : at + length]
            case 2:
                out[at:at] = out[at : at + length]
            case 3:
                out[at : at + length] = out[other : other + length]
            case 4:
                digits = [i for i in range(at, min(at + 4000, len(out))) if 48 <= out[i] <= 57]
                for i in rng.sample(digits, min(len(digits), 5)):
                    out[i] = 48 + rng.randrange(10)
            case _:
                del out[max(at, len(out) // 2) :]
        if len(out) < 100:
            return data[:100]
    return bytes(out)


def extraction_outcome(path: Path) -> str:
    """Return the outcome of an extraction: an error code, `no content` or `tei`."""
    try:
        tei = extract(path, timeout=60)
    except ExtractionError as error:
        return error.code.value
    if tei is None:
        return "no content"
    etree.fromstring(tei)
    return "tei"


@pytest.mark.parametrize("count", [24, pytest.param(2000, marks=pytest.mark.long)])
def test_damaged_pdf_gives_an_error_code(count: int, paper: Callable[[int, str], Path], tmp_path: Path) -> None:
    rng = random.Random(SEED)
    samples = [paper(columns, style).read_bytes() for columns, style in ((1, "bracket"), (2, "name-year"))]
    paths = [tmp_path / f"{i}.pdf" for i in range(count)]
    for i, path in enumerate(paths):
        path.write_bytes(damage(samples[i % 2], rng))
    with ProcessPool(max_workers=min(2, os.cpu_count() or 1), max_tasks=200) as pool:
        futures = [pool.schedule(extraction_outcome, args=[path], timeout=90) for path in paths]
        found = Counter(future.result() for future in futures)  # Raises an error if the worker died.
    assert found.total() == count and found["tei"] > 0, found
