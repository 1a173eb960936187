"""Figures and tables are cropped from a PDF: the graphics next to a caption, and the area between a table's rules."""

import struct
import zlib
from pathlib import Path
from typing import Any

from s2corpus_datasets.crops.child import crop, render_page
from tests.unit.s2corpus.pdf.bad_pdfs import assemble, paper, stream

CAPTION = "Growth of frogs in two ponds over a year."
LIMITS = {"dpi": 72, "max_pixels": 1_000_000, "max_pages": 10}
BODY = "We measured the growth of frogs in two ponds and found it equal."


def write_pdf(*content: str) -> bytes:
    """Return a PDF with one page of 400 × 600 points."""
    return assemble(paper(box=b"[0 0 400 600]", content=stream("\n".join(content).encode())))


def text(x: int, y: int, value: str) -> str:
    """Return the operators that print a text."""
    return f"BT /F1 10 Tf {x} {y} Td ({value}) Tj ET"


PICTURE = "1 0 0 rg 60 350 280 120 re f"
RULES = "40 200 320 0.5 re f 40 180 320 0.5 re f 40 120 320 0.5 re f"
PDF = write_pdf(
    text(40, 560, BODY), text(40, 545, BODY), PICTURE, text(60, 330, f"Figure 1. {CAPTION}"), "0 g", RULES,
    text(40, 210, "Table 1. Numbers of frogs in each pond."), text(40, 188, "Pond"), text(40, 150, "First"), text(40, 60, BODY),
)  # fmt: skip


def crops(folder: Path, pdf: bytes, *captions: tuple[str, str, str]) -> list[dict[str, Any]] | None:
    named = [(str(number), *caption) for number, caption in enumerate(captions)]
    return crop(pdf, named, folder, limits=LIMITS, seconds=60, memory_mb=1536)


def test_crop_contains_picture_without_caption_and_running_text(tmp_path: Path) -> None:
    results = crops(tmp_path, PDF, ("figure", "1", CAPTION))
    assert results and results[0]["box"] == [60, 350, 340, 470]
    assert (tmp_path / results[0]["file"]).read_bytes().startswith(b"\x89PNG")
    assert (results[0]["page"], results[0]["width"], results[0]["height"]) == (1, 280, 120)


def test_table_reaches_from_first_to_last_rule(tmp_path: Path) -> None:
    results = crops(tmp_path, PDF, ("table", "1", "Numbers of frogs in each pond."))
    assert results and results[0]["outcome"] == "cropped"
    left, bottom, right, top = results[0]["box"]
    assert 35 < left <= 40 and 115 < bottom <= 120 and 360 <= right < 365 and 200 <= top < 205


def test_picture_belongs_to_the_nearer_of_two_captions(tmp_path: Path) -> None:
    other = "Another figure that the page does not show."
    page = [PICTURE, "0 g", text(60, 500, f"Figure 1. {other}"), text(60, 330, f"Figure 2. {CAPTION}")]
    results = crops(tmp_path, write_pdf(*page), ("figure", "1", other), ("figure", "2", CAPTION))
    assert results and [one["outcome"] for one in results] == ["another_caption_is_nearer", "cropped"]


def test_broken_pdf_gives_no_crops(tmp_path: Path) -> None:
    assert crops(tmp_path, b"%PDF-1.4 broken", ("figure", "1", CAPTION)) is None


def draw(folder: Path, pdf: bytes, number: int = 1, **limits: int) -> tuple[int, int, bytes] | None:
    """Return width, height and the rows of a drawn page, each with its filter byte."""
    png = render_page(pdf, number, folder, limits=LIMITS | limits, seconds=60, memory_mb=1536)
    if png is None:
        return None
    length = struct.unpack(">I", png[33:37])[0]
    return *struct.unpack(">II", png[16:24]), zlib.decompress(png[41 : 41 + length])


def test_page_is_drawn_in_its_size(tmp_path: Path) -> None:
    drawn = draw(tmp_path, PDF)
    assert drawn and drawn[:2] == (400, 600)
    at = (
        (600 - 400) * (1 + 3 * 400) + 1 + 3 * 200
    )  # the picture covers the point (200, 400), from the lower left corner
    assert drawn[2][at : at + 3] == b"\xff\0\0" and drawn[2][1:4] == b"\xff\xff\xff"


def test_large_page_is_drawn_with_fewer_pixels(tmp_path: Path) -> None:
    drawn = draw(tmp_path, assemble(paper(box=b"[0 0 14400 14400]")), max_pixels=250_000)
    assert drawn and 240_000 < drawn[0] * drawn[1] <= 260_000


def test_missing_page_and_broken_pdf_are_not_drawn(tmp_path: Path) -> None:
    for number, (pdf, page) in enumerate([(PDF, 2), (b"%PDF-1.4 broken", 1)]):
        (tmp_path / str(number)).mkdir()
        assert draw(tmp_path / str(number), pdf, page) is None
