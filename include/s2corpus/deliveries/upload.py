"""Folders of this machine, delivered to the lake as drops and deliveries."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import orjson

from s2corpus.errors import UserError
from s2corpus.storage.lake import Lake


def deliver_tree(lake: Lake, folder: Path) -> int:
    """Upload a tree of `drops/`, `sources/` and `suppress.jsonl`, each `_READY` last; what is there already stays. Files sent."""
    ready = sorted(folder.glob("drops/*/_READY")) + sorted(folder.glob("sources/*/*/_READY"))
    sent = 0
    with ThreadPoolExecutor(8) as pool:
        for mark in ready:
            key = mark.relative_to(folder).as_posix()
            if lake.size(key) is not None and lake.get(key)[0] == mark.read_bytes():
                continue
            files = [path for path in sorted(mark.parent.iterdir()) if path != mark]
            list(pool.map(lambda path: lake.upload(path.relative_to(folder).as_posix(), path), files))
            lake.upload(key, mark)
            sent += len(files) + 1
    suppress = folder / "suppress.jsonl"
    if suppress.is_file():
        lake.upload("suppress.jsonl", suppress)
        sent += 1
    return sent


def own_files(folder: Path) -> list[Path]:
    """The PDFs of a user's folder and its subfolders, in order.

    Raises:
        UserError: no such folder, or no PDF in it.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; give one that holds PDF files")
    pdfs = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".pdf" and path.is_file())
    if not pdfs:
        raise UserError(f"{folder}: no PDF in it: files whose names end in .pdf are taken, from its subfolders too")
    return pdfs


def deliver_own(lake: Lake, folder: Path) -> tuple[str, datetime]:
    """Upload a user's folder of PDFs as one drop, named by its content; the same content is one drop, ready when first delivered.

    `records.jsonl` in the folder goes along. Returns the drop id and its `ready_at`.
    """
    files = own_files(folder)
    if (declared := folder / "records.jsonl").is_file():
        files.append(declared)
    listed = []
    for path in files:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        listed.append({"name": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size, "sha256": digest})
    drop = "own-" + hashlib.sha256(orjson.dumps(listed)).hexdigest()[:12]
    key = f"drops/{drop}/_READY"
    if lake.size(key) is not None:
        return drop, datetime.fromisoformat(orjson.loads(lake.get(key)[0])["ready_at"])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda path: lake.upload(f"drops/{drop}/{path.relative_to(folder).as_posix()}", path), files))
    ready_at = datetime.now(UTC).replace(microsecond=0)
    lake.put(key, orjson.dumps({"ready_at": ready_at.isoformat(), "files": listed}))
    return drop, ready_at
