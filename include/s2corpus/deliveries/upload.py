"""Upload local folders to the lake as drops and deliveries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Literal

import orjson

from s2corpus.deliveries.declarations import FILE as RECORDS_FILE
from s2corpus.deliveries.declarations import Declarations
from s2corpus.deliveries.preview import check_metadata, check_source, find_unread_files
from s2corpus.deliveries.ready import FORMAT, Delivery, Digests, Refused, hash_stream, parse_ready
from s2corpus.errors import UserError
from s2corpus.storage.lake import ABSENT, Conflict, Lake
from s2orc_parse.outputs import printable

_MAX_WARNINGS = 20


def deliver_tree(lake: Lake, folder: Path) -> int:
    """Upload a tree of `drops/`, `sources/` and `suppress.jsonl`, each `_READY` last; return the number of uploaded files.

    Folders with an identical `_READY` in the lake are skipped.
    """
    ready = sorted(folder.glob("drops/*/_READY")) + sorted(folder.glob("sources/*/*/_READY"))
    sent = 0
    with ThreadPoolExecutor(8) as pool:
        for mark in ready:
            key = mark.relative_to(folder).as_posix()
            if lake.size(key) is not None and lake.get(key)[0] == mark.read_bytes():
                continue
            files = [path for path in sorted(mark.parent.rglob("*")) if path.is_file() and path != mark]
            list(pool.map(lambda path: lake.upload(path.relative_to(folder).as_posix(), path), files))
            lake.upload(key, mark)
            sent += len(files) + 1
    suppress = folder / "suppress.jsonl"
    if suppress.is_file():
        lake.upload("suppress.jsonl", suppress)
        sent += 1
    return sent


def check_names(folder: Path, names: Iterable[str]) -> None:
    """Raise UserError for invalid file names: not UTF-8, with line ends or backslashes, or too long."""
    if bad := [name for name in names if not name.isprintable() or "\\" in name or len(name) > 1024]:
        shown = ", ".join(repr(printable(name)) for name in bad[:3])
        raise UserError(f"{folder}: {len(bad)} file name(s) that a drop cannot have, such as {shown}: rename them")


@dataclass(frozen=True, slots=True)
class Uploaded:
    """Result of an upload: `sent` counts uploaded files, `kept` files that an earlier try uploaded."""

    folder: str
    ready_at: datetime
    sent: int
    kept: int
    warnings: tuple[str, ...] = ()


def files_below(folder: Path) -> dict[str, Path]:
    """Return the files of a folder and its subfolders by name; skip hidden files, `_READY` and broken links.

    Raises:
        UserError: no such folder, no file in it, or an invalid file name.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder: give the folder of the files to deliver")
    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    files.pop("_READY", None)
    check_names(folder, files)
    if not files:
        raise UserError(f"{folder} contains no files")
    return files


def deliver(
    lake: Lake,
    delivery: Delivery,
    files: Mapping[str, Path],
    digests: Mapping[str, Digests] | None = None,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
    threads: int = 8,
) -> Uploaded:
    """Upload files as a drop or delivery, `_READY` last. Files from an earlier try are sent again only if they differ.

    `delivery` contains the target, the mode and the person. `progress` is called with the finished and the total number of bytes.
    Metadata and names are checked before the upload.

    Raises:
        UserError: it exists with other files, its folder contains additional files, or intake would refuse it.
    """
    digests = digests or digests_of(files, threads)
    listed = [{"name": n, "bytes": digests[n].bytes, "sha256": digests[n].sha256} for n in sorted(files)]
    if (size := lake.size(delivery.key("_READY"))) is not None:
        try:
            ready, _ = parse_ready(lake, delivery.key("_READY"), size)
        except Refused as refused:
            raise UserError(
                f"{lake.uri(delivery.folder)} has a damaged _READY ({refused.detail}): give another id"
            ) from None
        if sorted((file.model_dump() for file in ready.files), key=itemgetter("name")) != listed:
            raise UserError(f"{lake.uri(delivery.folder)} was delivered already, with other files: give another id")
        return Uploaded(delivery.folder, ready.ready_at, 0, len(listed))
    warnings = _check_files(delivery, files, digests)
    uploaded = {entry.key.removeprefix(delivery.folder): entry.bytes for entry in lake.list(delivery.folder)}
    if extra := sorted(set(uploaded) - set(files)):
        raise UserError(
            f"{lake.uri(delivery.folder)} contains {len(extra)} file(s) that are not part of this delivery, such as {extra[0]}"
        )
    total, done, lock = sum(digest.bytes for digest in digests.values()), 0, Lock()
    progress(0, total)

    def send(name: str) -> bool:
        nonlocal done
        key, digest = delivery.key(name), digests[name]
        is_new = uploaded.get(name) != digest.bytes or _hash(partial(lake.open, key)).sha256 != digest.sha256
        if is_new:
            lake.upload(key, files[name])
            if (stored := lake.size(key)) != digest.bytes:
                raise UserError(
                    f"{files[name]} changed from {digest.bytes} to {stored} bytes during the upload: wait for its writer, then try again"
                )
        with lock:
            done += digest.bytes
            progress(done, total)
        return is_new

    with ThreadPoolExecutor(threads) as pool:
        sent = sum(pool.map(send, files))
    ready_at = datetime.now(UTC).replace(microsecond=0)
    content = {"format": FORMAT, "ready_at": ready_at.isoformat(), "files": listed, "mode": delivery.mode}
    data = orjson.dumps(content | ({"delivered_by": delivery.by} if delivery.by else {}))
    try:
        lake.put(delivery.key("_READY"), data, expect=ABSENT)
    except Conflict:
        raise UserError(
            f"{lake.uri(delivery.folder)} was delivered by another process at the same time: give another id"
        ) from None
    return Uploaded(delivery.folder, ready_at, sent, len(files) - sent, warnings)


def _check_files(delivery: Delivery, files: Mapping[str, Path], digests: Mapping[str, Digests]) -> tuple[str, ...]:
    """Return the warnings on files that no release reads as they are; raise UserError if intake would refuse the delivery."""
    if delivery.kind == "delivery":
        like = check_source(delivery.source, files)
        return (*([like] if like else []), *check_metadata(delivery, files))
    unread = [f"{name}: {reason}" for name, reason in find_unread_files(files).items()]
    if len(unread) > _MAX_WARNINGS:
        rest = f"{len(unread) - _MAX_WARNINGS} more files that no release reads: corpus check shows them"
        unread = [*unread[:_MAX_WARNINGS], rest]
    path = files.get(RECORDS_FILE)
    if path is None:
        return tuple(unread)
    return *check_declarations(delivery, path, {n: d.sha1 for n, d in digests.items()}).warning_messages, *unread


def check_declarations(delivery: Delivery, path: Path, sha1_of: Mapping[str, str]) -> Declarations:
    """Read the `records.jsonl` of a drop; return its warnings.

    Raises:
        UserError: intake would refuse it.
    """
    declared = Declarations(delivery.id, sha1_of)
    try:
        with path.open("rb") as stream:
            for _ in declared.entries(stream):
                pass
    except Refused as refused:
        raise UserError(f"{path}: {refused.detail.removeprefix(f'{RECORDS_FILE}, ')}") from None
    return declared


def digests_of(files: Mapping[str, Path], threads: int = 8) -> dict[str, Digests]:
    """Return the digests of files, in their order."""
    with ThreadPoolExecutor(threads) as pool:
        return dict(zip(files, pool.map(lambda path: _hash(partial(path.open, "rb")), files.values()), strict=True))


def _hash(open_: Callable[[], BinaryIO]) -> Digests:
    with open_() as stream:
        return hash_stream(stream)


def new_delivery(
    kind: Literal["drop", "delivery"], source: str, id_: str, mode: str = "delta", by: str = ""
) -> Delivery:
    """Return a drop or delivery to upload; `by` is the name of the person.

    Raises:
        UserError: the id or source is no valid folder name, or the name of the person is not printable.
    """
    for given in (id_, *((source,) if kind == "delivery" else ())):
        if not given.isprintable() or "/" in given or given in ("", ".", "..") or "\\" in given:
            raise UserError(
                f"{given!r} cannot be the id of a {kind}: expected a folder name of printable characters, without slashes"
            )
    if not by.isprintable():
        raise UserError(f"{by!r} cannot be the name of a person: expected printable characters")
    return Delivery(kind, source, id_, "", mode, "", 0, by)
