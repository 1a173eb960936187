"""Figures are cropped from the PDF of open papers with a license that permits copies, and load with `datasets`."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.job import Job
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import PDFS
from tests.snapshots import paper, write_snapshot
from tests.unit.pdf2tei.test_crops import CAPTION, PDF
from tests.unit.s2corpus.datasets.conftest import job, outcomes

SHA1 = hashlib.sha1(PDF).hexdigest()
ENTRIES = {
    "FIGREF0": {"type": "figure", "num": "1", "text": CAPTION},
    "TABREF0": {"type": "table", "num": "1", "text": "Numbers of frogs in each pond."},
    "FIGREF1": {"type": "figure", "num": "2", "text": "A caption that the PDF does not contain."},
}


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
    ("licence", "outcome", "count"),
    [
        ("LicenseRef-CC-BY", "cropped", 2),
        ("CC-BY-ND-4.0", "license_forbids_copies", 3),
        ("LicenseRef-CC-BY-NC", "license_forbids_copies", 3),
        ("publisher-specific", "license_forbids_copies", 3),
        (None, "license_forbids_copies", 3),
    ],
)
def test_only_licenses_that_permit_copies_give_images(
    licence: str | None, outcome: str, count: int, tmp_path: Path
) -> None:
    assert outcomes(make(tmp_path, licence=licence))[outcome] == count
