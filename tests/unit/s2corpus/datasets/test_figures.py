"""Figures are cropped from the PDF of open papers with a license that permits copies, and load with `datasets`."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.figures.child import crop
from s2corpus.datasets.job import Job
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import PDFS
from tests.snapshots import paper, write_snapshot
from tests.unit.s2corpus.datasets.small import job, outcomes

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
SHA1 = hashlib.sha1(PDF).hexdigest()
ENTRIES = {
    "FIGREF0": {"type": "figure", "num": "1", "text": CAPTION},
    "TABREF0": {"type": "table", "num": "1", "text": "Numbers of frogs in each pond."},
    "FIGREF1": {"type": "figure", "num": "2", "text": "A caption that the PDF does not contain."},
}


def crops(folder: Path, pdf: bytes, *captions: tuple[str, str, str]) -> list[dict[str, Any]] | None:
    named = [(str(number), *caption) for number, caption in enumerate(captions)]
    return crop(pdf, named, folder, limits=LIMITS, seconds=60, memory_mb=1536)


def test_crop_contains_picture_without_caption_and_running_text(tmp_path: Path) -> None:
    results = crops(tmp_path, PDF, ("figure", "1", CAPTION))
    assert results and results[0]["box"] == [60, 350, 340, 470]
    assert (tmp_path / results[0]["file"]).read_bytes().startswith(b"\x89PNG")
    assert (results[0]["page"], results[0]["width"], results[0]["height"]) == (1, 280, 120)


def test_table_reaches_from_first_to_last_rule(tmp_path: Path) -> None:
    results = crops(tmp_path, PDF, ("table", "1", ENTRIES["TABREF0"]["text"]))
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


def make(folder: Path, **known: Any) -> Job:
    """Build the dataset from a snapshot with one paper and its PDF."""
    mention = {"start": 3, "end": 9, "text": "Fig. 1", "ref_id": "FIGREF0"}
    text = "In Fig. 1 frogs grow. They rest."
    paragraph = {"section": "Results", "text": text, "cite_spans": [], "ref_spans": [mention]}
    parse = {
        "_pdf_hash": SHA1, "title": "Frogs", "abstract": [], "body_text": [paragraph], "back_matter": [], "bib_entries": {},
        "ref_entries": ENTRIES,
    }  # fmt: skip
    write_snapshot(folder, [paper("a" * 15, {"pdf": parse}, title="Frogs", **known)], files=1)
    (folder / "drops" / "d").mkdir(parents=True)
    (folder / "drops" / "d" / "frogs.pdf").write_bytes(PDF)
    lake = open_lake(str(folder))
    pdfs = ReleaseTables(lake, "real-20260401")(PDFS)
    place = {"drop": "d", "name": "frogs.pdf", "open_access": True, "licence": None}
    pdfs.write(0, [{"file_sha1": SHA1, "bytes": len(PDF), "places": [place], "first_seen": "2026-04-01T00:00:00Z"}])
    pdfs.commit([0], {"pdf_shards": 1})
    one = job(folder, "figures")
    runner.make(one)
    return one


def test_hugging_face_loads_rows_and_images(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    folder, cache = tmp_path / make(tmp_path, licence="CC-BY-4.0").prefix, str(tmp_path / "cache")
    rows = datasets.load_dataset(str(folder), split="train", cache_dir=cache)
    assert [(row["label"], row["mentions"]) for row in rows] == [
        ("Figure 1", ["In Fig. 1 frogs grow."]),
        ("Table 1", []),
    ]
    assert rows[0]["caption"] == CAPTION and rows[0]["licence"] == "CC-BY-4.0"
    with tarfile.open(folder / rows[0]["image"]) as tar:
        names = tar.getnames()
        described = tar.extractfile(names[0])
        assert described and orjson.loads(described.read()) == rows[0]
    assert names == [f"{row['key']}.{kind}" for row in rows for kind in ("json", "png")]
    # With Pillow installed, `datasets` decodes the images without `features`.
    value = datasets.Value
    features = datasets.Features({
        "__key__": value("string"), "__url__": value("string"), "json": dict(rows.features),
        "png": value("binary"),
    })  # fmt: skip
    images = datasets.load_dataset(
        "webdataset", data_files=str(folder / "images/*.tar"), split="train", cache_dir=cache, features=features
    )
    assert [row["caption"] for row in images["json"]] == [row["caption"] for row in rows]
    assert all(png.startswith(b"\x89PNG") for png in images["png"])


@pytest.mark.parametrize(
    ("licence", "is_permitted"),
    [
        ("LicenseRef-CC-BY", True),
        *(
            (licence, False)
            for licence in ("CC-BY-ND-4.0", "CC-BY-NC-4.0", "LicenseRef-CC-BY-NC", "publisher-specific", None)
        ),
    ],
)
def test_only_licenses_that_permit_copies_give_images(licence: str | None, is_permitted: bool, tmp_path: Path) -> None:
    found = outcomes(make(tmp_path, licence=licence))
    assert found["cropped"] == 2 if is_permitted else found == {"in": 3, "license_forbids_copies": 3}
    assert ("license_forbids_copies" in found) is not is_permitted
