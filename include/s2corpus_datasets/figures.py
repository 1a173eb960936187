"""Figures and tables of open papers as images cropped from the PDF, with caption, page, box and mentions.

`figures/<nn>.jsonl.gz` has one row per image. `images/<nn>.tar` has the images in WebDataset's form: `<key>.png` and the same row
as `<key>.json`.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from pydantic import PositiveInt

from s2corpus_datasets import sentences
from s2corpus_datasets.citations import remove_formulas
from s2corpus_datasets.job import Dataset, Job, Pdfs
from s2corpus_datasets.outputs import Outputs
from s2corpus_datasets.protocol import DatasetCheck, DatasetTable, Params, Row, StepResult
from s2corpus_datasets.sentences import sentence_spans
from s2corpus_datasets.source import SnapshotPaper
from s2corpus_reader.bounded import TooLarge, read_bytes
from s2corpus_reader.folder import Folder
from s2orc_parse.bibliography.licenses import rank_strictness
from s2orc_parse.errors import UserError

_ALTERED_FREELY = 2
"""strictness of CC BY-SA: stricter licenses forbid changed copies (ND) or commercial use (NC)"""
_MAX_PDF_BYTES = 1 << 30
_NON_COMMERCIAL = (4, 5)
"""strictness of CC BY-NC and CC BY-NC-SA"""


class EntryOutcome(StrEnum):
    """The outcome of a figure or table entry."""

    SELECTED = "selected"
    CLOSED = "not_open"
    LICENSE = "license_forbids_copies"
    NO_PDF = "no_pdf"
    NO_CAPTION = "no_caption"


class CropOutcome(StrEnum):
    """The outcome of a selected entry."""

    CROPPED = "cropped"
    NO_CAPTION = "caption_not_found"
    NO_GRAPHICS = "no_graphics"
    NEARER_CAPTION = "another_caption_is_nearer"
    NO_FILE = "pdf_not_available"
    FAILED = "pdf_not_readable"


class FiguresParams(Params):
    """Parameters of the dataset of figures."""

    non_commercial: bool = False
    """also use papers under CC BY-NC and CC BY-NC-SA"""
    dpi: PositiveInt = 150
    """dots per inch of the images"""
    max_pixels: PositiveInt = 4_000_000
    """largest image; larger areas get fewer dots per inch"""
    max_pages: PositiveInt = 200
    """pages of a PDF that are searched for captions"""
    seconds: PositiveInt = 120
    """time limit per PDF"""
    memory_mb: PositiveInt = 1536
    """memory limit per PDF"""
    pdfs: str = ""
    """address of a folder with the PDFs as `<SHA-1>.pdf`; if empty, the PDFs of the release in its lake"""


_SELECTED = pa.schema([
    ("paper_id", pa.string()), ("pdf_sha1", pa.string()), ("license", pa.string()), ("ref_id", pa.string()),
    ("type", pa.string()), ("number", pa.string()), ("caption", pa.string()), ("mentions", pa.list_(pa.string())),
])  # fmt: skip
FIGURE = pa.schema([
    ("key", pa.string()), ("paper_id", pa.string()), ("ref_id", pa.string()), ("type", pa.string()),
    ("label", pa.string()), ("caption", pa.string()), ("mentions", pa.list_(pa.string())), ("page", pa.int32()),
    ("box", pa.list_(pa.float64())), ("width", pa.int32()), ("height", pa.int32()), ("image", pa.string()),
    ("license", pa.string()), ("pdf_sha1", pa.string()),
])  # fmt: skip
"""`page` counts from 1; `box` is left, bottom, right, top in points; `width` and `height` are in pixels; `image` is the tar file"""


class Figures(Dataset):
    """The dataset of figures and tables. `rows` selects entries; `write` reads the PDFs."""

    version = f"4.{sentences.VERSION}"
    description = (
        "Figures and tables of open papers as images cropped from the PDF, each with caption, label, page, box, and the sentences "
        "that mention it."
    )
    params = FiguresParams
    tables = (DatasetTable("figures", FIGURE, {"train": "figures/*.jsonl.gz"}),)
    schema = _SELECTED
    required_modules = ("pypdfium2",)

    def rows(self, params: FiguresParams, paper: SnapshotPaper, result: StepResult) -> Iterator[Row]:
        """Yield the figure and table entries of the PDF's parse if the paper's license permits modified copies."""
        parse = paper.parses.get("pdf")
        entries = (parse or {}).get("ref_entries") or {}
        for ref_id, entry in entries.items():
            kind = entry.get("type") or entry.get("type_str")
            if kind not in ("figure", "table"):
                continue
            outcome = _select(params, paper, entry)
            result.add_input("entries")
            result.add_outcome("entries", outcome)
            if parse and outcome is EntryOutcome.SELECTED:
                yield {
                    "paper_id": paper.id, "pdf_sha1": parse["_pdf_hash"], "license": paper.columns["license"], "ref_id": ref_id,
                    "type": kind, "number": _number(entry), "caption": entry["text"], "mentions": _list_mentions(parse, ref_id),
                }  # fmt: skip

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write `figures/<nn>.jsonl.gz` and `images/<nn>.tar`."""
        params: FiguresParams = job.params
        image = f"images/{shard:02d}.tar"
        pdfs = PdfFolder(params.pdfs) if params.pdfs else job.pdfs
        if pdfs is None:
            raise UserError("figures need PDFs: set the parameter `pdfs` to a folder that contains them as <SHA-1>.pdf")
        count = 0
        with (
            out.open_lines(f"figures/{shard:02d}.jsonl.gz") as lines,
            out.open_file(image, lambda: count) as path,
            tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar,
        ):
            for _, group in groupby(job.rows([shard]), key=itemgetter("paper_id")):
                for row, png in _crop_paper(params, pdfs, list(group), image, out):
                    line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
                    lines.write(line)
                    _add(tar, f"{row['key']}.json", line)
                    _add(tar, f"{row['key']}.png", png)
                    count += 1

    def finish(self, job: Job, choice: Mapping[str, Any], result: StepResult, out: Outputs) -> dict[str, float]:
        """Return the number of images and the share of selected entries that they cover."""
        selected = result.funnel["crops", "in"]
        images = result.funnel["crops", CropOutcome.CROPPED]
        return {"figures": float(images), "cropped_share": images / selected if selected else 0.0}

    def checks(self, job: Job, result: StepResult, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that the PDFs of the selected entries are available; the check blocks if none is."""
        missing, selected = result.funnel["crops", CropOutcome.NO_FILE], result.funnel["crops", "in"]
        reason = "PDFs are missing: set `pdfs` to a folder that contains them as <SHA-1>.pdf"
        return [DatasetCheck("pdfs_available", missing, reason, blocks=missing == selected)]


def _number(entry: Mapping[str, Any]) -> str:
    return str(entry.get("num") or entry.get("fig_num") or "")


def _select(params: FiguresParams, paper: SnapshotPaper, entry: Mapping[str, Any]) -> EntryOutcome:
    """Return the outcome of an entry before its PDF is read."""
    # LicenseRef-CC-BY is CC BY of an unknown version; SPDX has no id for it.
    strictness = rank_strictness((paper.columns["license"] or "").removeprefix("LicenseRef-"))
    if not paper.columns["open_access"]:
        return EntryOutcome.CLOSED
    if strictness > _ALTERED_FREELY and not (params.non_commercial and strictness in _NON_COMMERCIAL):
        return EntryOutcome.LICENSE
    if not paper.parses["pdf"].get("_pdf_hash"):
        return EntryOutcome.NO_PDF
    return EntryOutcome.SELECTED if entry["text"].strip() else EntryOutcome.NO_CAPTION


def _list_mentions(parse: Row, ref_id: str) -> list[str]:
    """Return the sentences of the body that refer to an entry."""
    mentions = []
    for paragraph in parse["body_text"]:
        places = [span["start"] for span in paragraph["ref_spans"] if span["ref_id"] == ref_id]
        if places:
            for start, end in sentence_spans(paragraph["text"]):
                if any(start <= place < end for place in places):
                    mentions.append(remove_formulas(paragraph["text"][start:end]))
    return mentions


class PdfFolder:
    """PDFs in a folder, named by their SHA-1."""

    def __init__(self, address: str) -> None:
        self._folder = Folder(address)

    def read(self, sha1: str) -> bytes | None:
        """Return a PDF, or None if the folder does not contain it."""
        try:
            pdf = read_bytes(self._folder, f"{sha1}.pdf", _MAX_PDF_BYTES)
        except (FileNotFoundError, TooLarge):
            return None
        return pdf if hashlib.sha1(pdf, usedforsecurity=False).hexdigest() == sha1 else None


def _crop_paper(
    params: FiguresParams, pdfs: Pdfs, rows: list[Row], image: str, out: Outputs
) -> Iterator[tuple[Row, bytes]]:
    """Yield row and PNG of each entry of a paper that could be cropped."""
    from s2corpus_datasets.crops.child import crop

    out.result.add_input("crops", len(rows))
    pdf = pdfs.read(rows[0]["pdf_sha1"])
    if pdf is None:
        out.result.add_outcome("crops", CropOutcome.NO_FILE, len(rows))
        return
    with tempfile.TemporaryDirectory(dir=out.scratch) as name:
        captions = [(row["ref_id"], row["type"], row["number"], row["caption"]) for row in rows]
        limits = {key: getattr(params, key) for key in ("dpi", "max_pixels", "max_pages")}
        results = crop(
            pdf, captions, Path(name), limits=limits, seconds=params.seconds, memory_mb=params.memory_mb
        )  # fmt: skip
        if results is None:
            out.result.add_outcome("crops", CropOutcome.FAILED, len(rows))
            return
        for row, result in zip(rows, results, strict=True):
            out.result.add_outcome("crops", CropOutcome(result["outcome"]))
            if result["outcome"] != CropOutcome.CROPPED:
                continue
            label = f"{row['type'].capitalize()} {row.pop('number')}".strip()
            place = {key: result[key] for key in ("page", "box", "width", "height")}
            row["caption"] = remove_formulas(row["caption"])
            full = {**row, **place, "key": f"{row['paper_id']}-{row['ref_id']}", "label": label, "image": image}
            yield {column: full[column] for column in FIGURE.names}, (Path(name) / result["file"]).read_bytes()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a member without time and owner, so that equal content gives equal bytes."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


DATASET = Figures()
