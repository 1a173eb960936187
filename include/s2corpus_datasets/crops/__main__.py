"""Crop figures and tables from a hostile PDF, or draw a page: `python -m s2corpus_datasets.crops`.

The current folder has `in.pdf` and `order.json`.
`order.json` contains the limits, and either `captions`, `[[key, "figure" or "table", number, caption], …]`, or `page`, a number from 1.
The process writes `<n>.png` and `results.json`, a list of `{key, outcome, page, box, file, width, height}`. It runs in a sandbox and
imports PDFium only.
"""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pypdfium2
from pypdfium2 import raw

from s2corpus_datasets.crops.areas import Area, share_most
from s2corpus_datasets.crops.page_contents import read_page, remove_running
from s2corpus_datasets.crops.search import find_area, find_caption


def encode_png(width: int, height: int, stride: int, pixels: bytes) -> bytes:
    """Return a PNG of RGB rows."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + pixels[y * stride : y * stride + 3 * width] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b"")


def render(page: Any, area: Area, dpi: int, max_pixels: int) -> tuple[int, int, bytes]:
    """Return width, height and PNG of a part of a page, with fewer dots per inch if it would exceed `max_pixels`."""
    edge = Area(*page.get_cropbox())
    scale = min(dpi / 72, (max_pixels / max(area.width * area.height, 1)) ** 0.5)
    left, bottom = max(0.0, area.x0 - edge.x0), max(0.0, area.y0 - edge.y0)
    margins = (left, bottom, max(0.0, edge.x1 - area.x1), max(0.0, edge.y1 - area.y1))
    bitmap = page.render(scale=scale, crop=margins, rev_byteorder=True, force_bitmap_format=raw.FPDFBitmap_BGR)
    return bitmap.width, bitmap.height, encode_png(bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer))


def draw_page(folder: Path, order: dict[str, Any]) -> list[dict[str, Any]]:
    """Write a page of `in.pdf` to `0.png`, and return its description; return nothing if the page does not exist."""
    with pypdfium2.PdfDocument((folder / "in.pdf").read_bytes()) as document:
        if order["page"] > len(document):
            return []
        page = document[order["page"] - 1]
        width, height, png = render(page, Area(*page.get_cropbox()), order["dpi"], order["max_pixels"])
    (folder / "0.png").write_bytes(png)
    return [{"width": width, "height": height}]


def crop_all(folder: Path, order: dict[str, Any]) -> list[dict[str, Any]]:
    """Write the crops of `in.pdf` and return their descriptions."""
    results: list[dict[str, Any]] = []
    with pypdfium2.PdfDocument((folder / "in.pdf").read_bytes()) as document:
        numbers = range(min(len(document), order["max_pages"]))
        pages = [read_page(i, document[i]) for i in numbers if not document[i].get_rotation()]
        remove_running(pages)
        found = [(caption, find_caption(pages, caption[2], caption[3])) for caption in order["captions"]]
        areas = [place and find_area(kind, *place) for (_, kind, _, _), place in found]
        for n, ((key, _, _, _), place) in enumerate(found):
            area = areas[n]
            if place is None or area is None:
                results.append({"key": key, "outcome": "no_graphics" if place else "caption_not_found"})
                continue
            page = place[0]
            rivals = [
                (other[1].distance(rival), m)
                for m, (rival, (_, other)) in enumerate(zip(areas, found, strict=True))
                if other and rival and other[0] is page and share_most(area, rival)
            ]
            if min(rivals)[1] != n:
                results.append({"key": key, "outcome": "another_caption_is_nearer"})
                continue
            width, height, png = render(document[page.number], area, order["dpi"], order["max_pixels"])
            (folder / f"{n}.png").write_bytes(png)
            box = [round(x, 1) for x in (area.x0, area.y0, area.x1, area.y1)]
            results.append({
                "key": key, "outcome": "cropped", "page": page.number + 1, "box": box, "file": f"{n}.png",
                "width": width, "height": height,
            })  # fmt: skip
    return results


if __name__ == "__main__":
    orders = json.loads(Path("order.json").read_text("utf-8"))
    results = draw_page(Path.cwd(), orders) if "page" in orders else crop_all(Path.cwd(), orders)
    Path("results.json").write_text(json.dumps(results), "utf-8")
