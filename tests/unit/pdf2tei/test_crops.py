"""Figures and tables are cropped from a PDF: the graphics next to a caption, and the area between a table's rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pdf2tei.crops.child import crop

CAPTION = "Growth of frogs in two ponds over a year."
LIMITS = {"dpi": 72, "max_pixels": 1_000_000, "max_pages": 10}
BODY = "We measured the growth of frogs in two ponds and found it equal."


def write_pdf(content: str) -> bytes:
    """Return a PDF with one page of 400 × 600 points."""
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    out, places = b"%PDF-1.4\n", []
    for n, one in enumerate((
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Resources {font} /Contents 4 0 R >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
    ), 1):  # fmt: skip
        places.append(len(out))
        out += f"{n} 0 obj\n{one}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 5\n0000000000 65535 f \n{table}trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + end.encode()


def text(x: int, y: int, value: str) -> str:
    """Return the operators that print a text."""
    return f"BT /F1 10 Tf {x} {y} Td ({value}) Tj ET"


PICTURE = "1 0 0 rg 60 350 280 120 re f"
RULES = "40 200 320 0.5 re f 40 180 320 0.5 re f 40 120 320 0.5 re f"
PDF = write_pdf(
    "\n".join([
        text(40, 560, BODY), text(40, 545, BODY), PICTURE, text(60, 330, f"Figure 1. {CAPTION}"), "0 g", RULES,
        text(40, 210, "Table 1. Numbers of frogs in each pond."), text(40, 188, "Pond"), text(40, 150, "First"), text(40, 60, BODY),
    ])
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
    results = crops(tmp_path, write_pdf("\n".join(page)), ("figure", "1", other), ("figure", "2", CAPTION))
    assert results and [one["outcome"] for one in results] == ["another_caption_is_nearer", "cropped"]


def test_broken_pdf_gives_no_crops(tmp_path: Path) -> None:
    assert crops(tmp_path, b"%PDF-1.4 broken", ("figure", "1", CAPTION)) is None
