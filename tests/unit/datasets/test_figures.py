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
from s2corpus.datasets.source import SnapshotSource
from s2corpus.datasets.spec import DatasetSpec
from s2corpus.pipeline.release_tables import Tables
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import PDFS
from tests.snapshots import paper, write_snapshot

CAPTION = "Growth of frogs in two ponds over a year."
LIMITS = {"dpi": 72, "max_pixels": 1_000_000, "max_pages": 10}
BODY = "We measured the growth of frogs in two ponds and found it equal."


def write_pdf(*content: str) -> bytes:
    """Return a PDF with a page of 400 × 600 points for each content stream."""
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(content)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(content)} >>", font]
    for n, stream in enumerate(content):
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * n} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out = b"%PDF-1.4\n"
    places = []
    for n, one in enumerate(objects, 1):
        places.append(len(out))
        out += f"{n} 0 obj\n{one}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
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


def test_crop_contains_picture_without_caption_and_running_text(tmp_path: Path) -> None:
    results = crop(PDF, [("a", "figure", "1", CAPTION)], tmp_path, limits=LIMITS, seconds=60, memory_mb=1536)
    assert results and results[0]["box"] == [60, 350, 340, 470]
    assert (tmp_path / results[0]["file"]).read_bytes().startswith(b"\x89PNG")
    assert (results[0]["page"], results[0]["width"], results[0]["height"]) == (1, 280, 120)


def test_table_reaches_from_first_to_last_rule(tmp_path: Path) -> None:
    caption = ENTRIES["TABREF0"]["text"]
    results = crop(PDF, [("a", "table", "1", caption)], tmp_path, limits=LIMITS, seconds=60, memory_mb=1536)
    assert results and results[0]["outcome"] == "cropped"
    left, bottom, right, top = results[0]["box"]
    assert 35 < left <= 40 and 115 < bottom <= 120 and 360 <= right < 365 and 200 <= top < 205


def test_picture_belongs_to_the_nearer_of_two_captions(tmp_path: Path) -> None:
    other = "Another figure that the page does not show."
    page = [PICTURE, "0 g", text(60, 500, f"Figure 1. {other}"), text(60, 330, f"Figure 2. {CAPTION}")]
    captions = [("a", "figure", "1", other), ("b", "figure", "2", CAPTION)]
    results = crop(write_pdf("\n".join(page)), captions, tmp_path, limits=LIMITS, seconds=60, memory_mb=1536)
    assert results and [one["outcome"] for one in results] == ["another_caption_is_nearer", "cropped"]


def test_broken_pdf_gives_no_crops(tmp_path: Path) -> None:
    captions = [("a", "figure", "1", CAPTION)]
    assert crop(b"%PDF-1.4 broken", captions, tmp_path, limits=LIMITS, seconds=60, memory_mb=1536) is None


def make(folder: Path, **known: Any) -> Job:
    """Build the dataset from a snapshot with one paper and its PDF."""
    mention = {"start": 3, "end": 9, "text": "Fig. 1", "ref_id": "FIGREF0"}
    paragraph = {
        "section": "Results",
        "text": "In Fig. 1 frogs grow. They rest.",
        "cite_spans": [],
        "ref_spans": [mention],
    }
    parse = {
        "_pdf_hash": SHA1, "title": "Frogs", "abstract": [], "body_text": [paragraph], "back_matter": [], "bib_entries": {},
        "ref_entries": ENTRIES,
    }  # fmt: skip
    write_snapshot(folder, [paper("a" * 15, {"pdf": parse}, title="Frogs", **known)], files=1)
    (folder / "drops" / "d").mkdir(parents=True)
    (folder / "drops" / "d" / "frogs.pdf").write_bytes(PDF)
    lake = open_lake(str(folder))
    pdfs = Tables(lake, "real-20260401")(PDFS)
    place = {"drop": "d", "name": "frogs.pdf", "open_access": True, "licence": None}
    pdfs.write(0, [{"file_sha1": SHA1, "bytes": len(PDF), "places": [place], "first_seen": "2026-04-01T00:00:00Z"}])
    pdfs.commit([0], {"pdf_shards": 1})
    job = Job(
        DatasetSpec(name="figures", dataset="figures"), SnapshotSource(open_lake(str(next((folder / "snapshots").glob("real-*"))))), lake
    )  # fmt: skip
    runner.make(job)
    return job


def test_hugging_face_loads_rows_and_images(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    job = make(tmp_path, licence="CC-BY-4.0")
    folder, cache = tmp_path / job.prefix, str(tmp_path / "cache")
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


def test_license_of_unknown_version_permits_images(tmp_path: Path) -> None:
    job = make(tmp_path, licence="LicenseRef-CC-BY")
    outcomes = {
        row["outcome"]: row["count"] for row in orjson.loads(job.lake.get(f"{job.prefix}/stats.json")[0])["funnel"]
    }
    assert outcomes["cropped"] == 2 and "license_forbids_copies" not in outcomes


@pytest.mark.parametrize("licence", ["CC-BY-ND-4.0", "CC-BY-NC-4.0", "LicenseRef-CC-BY-NC", "publisher-specific", None])
def test_paper_without_permitting_license_gives_no_images(licence: str | None, tmp_path: Path) -> None:
    job = make(tmp_path, licence=licence)
    stats = orjson.loads(job.lake.get(f"{job.prefix}/stats.json")[0])
    outcomes = {row["outcome"]: row["count"] for row in stats["funnel"]}
    assert outcomes == {"in": 3, "license_forbids_copies": 3}
