"""Upload a folder of a user's own papers as a drop."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import orjson

from s2corpus.deliveries.declarations import FILE as RECORDS_FILE
from s2corpus.deliveries.upload import Uploaded, check_names, deliver, digests_of, new_delivery
from s2corpus.errors import UserError
from s2corpus.storage.lake import Lake
from s2orc_parse.outputs import printable

log = logging.getLogger(__name__)
CROSSREF_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


def own_files(folder: Path) -> list[Path]:
    """Return the PDFs of a folder and its subfolders, in order.

    Raises:
        UserError: no such folder, or no PDF in it.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder: give a folder with PDF files")
    named = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".pdf" and not path.is_dir())
    pdfs = [path for path in named if path.is_file()]
    for path in sorted(set(named) - set(pdfs)):
        log.warning("%s: skipped: not a file, or a broken link", printable(path))
    if not pdfs:
        raise UserError(f"{folder}: no PDF found: names of PDFs must end in .pdf; subfolders are included")
    check_names(folder, [path.relative_to(folder).as_posix() for path in pdfs])
    return pdfs


def own_metadata(folder: Path) -> list[Path]:
    """Return the metadata files at the top of a user's folder: `records.jsonl`, and Crossref works in `crossref*.json…`."""
    found = [path for suffix in CROSSREF_SUFFIXES for path in sorted(folder.glob(f"crossref*{suffix}"))]
    return [path for path in (folder / RECORDS_FILE, *found) if path.is_file()]


def deliver_own(lake: Lake, folder: Path) -> tuple[Uploaded, str]:
    """Upload a user's folder of PDFs as one drop with an id made from its content; the same content is one drop.

    `records.jsonl` is part of the drop. Crossref files are first uploaded as a delivery of the source `crossref` with the same id.
    Return the uploaded drop and its id.
    """
    files = {path.relative_to(folder).as_posix(): path for path in own_files(folder)}
    works = {path.name: path for path in own_metadata(folder)}
    if declared := works.pop(RECORDS_FILE, None):
        files[RECORDS_FILE] = declared
    check_names(folder, works)
    digests = digests_of(files | works)
    listed = [{"name": name, "bytes": of.bytes, "sha256": of.sha256} for name, of in digests.items()]
    drop = "own-" + hashlib.sha256(orjson.dumps(listed)).hexdigest()[:12]
    if works:
        deliver(lake, new_delivery("delivery", "crossref", drop), works, {name: digests[name] for name in works})
    return deliver(lake, new_delivery("drop", "", drop), files, {name: digests[name] for name in files}), drop
