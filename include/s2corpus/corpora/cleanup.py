"""Find and delete unneeded data: tables of old releases, stored results without a reference, batches of drops, and logs.

Published snapshots, deliveries, and everything that determines or explains a publication remain: the record of the run, decisions,
metrics, check results, evaluations, and the list of deliveries.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson

from s2corpus.catalog import Catalog
from s2corpus.corpora.listing import list_corpora
from s2corpus.deliveries.status import list_open
from s2corpus.drops.upgrade import StoreUse, list_unused
from s2corpus.ids import SnapshotId
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot import markers, pointer
from s2corpus.storage.lake import Lake
from s2corpus.storage.parts import PRUNED
from s2corpus.tables.intake import DELIVERIES

KEPT = frozenset({
    "_run.json", "_answer.json", "_accepted.json", "_awaited.json", "_quality", "_metrics", "_checked", "_evaluation",
    "suppress.jsonl", "corrections.jsonl", DELIVERIES.name, PRUNED,
})  # fmt: skip
"""files and folders of a pruned release that remain"""
LOG_DAYS = 30
"""days after which logs are deleted"""
_THREADS = 16


@dataclass(frozen=True, slots=True)
class Waste:
    """Something to delete: a folder of the lake, or one of this machine."""

    kind: str
    name: str
    files: int
    bytes: int
    keys: Sequence[str] = ()
    """objects of the lake"""
    paths: Sequence[Path] = ()
    """files of this machine"""
    mark: str = ""
    """key to write first: it records that the other objects were deleted"""


def list_waste(
    lake: Lake, keep: int, stores: Iterable[StoreUse], *, corpus: str | None = None, catalog: Catalog | None = None,
    logs: Iterable[Path] = (),
) -> Iterator[Waste]:  # fmt: skip
    """Yield the data that can be deleted. Nothing is changed.

    The tables of the newest `keep` published releases of each corpus, and of running releases, remain. With `corpus`,
    only tables of its releases are listed. No `stores`: stored results are not examined.
    """
    for name in [corpus] if corpus else list_corpora(lake):
        yield from _list_tables(lake, name, keep, catalog)
    if corpus is None:
        if not list_open(lake):  # A run of `pdf_drops` reads the batches of arrivals that are open.
            yield from _list_batches(lake)
        if used := list(stores):
            for folder, _, _ in list_unused(lake, used):
                yield _of_lake("stored results", folder, [(e.key, e.bytes) for e in lake.list(folder)])
        for path in logs:
            yield from _list_logs(path)


def _list_tables(lake: Lake, corpus: str, keep: int, catalog: Catalog | None) -> Iterator[Waste]:
    published = markers.list_published(lake, corpus)
    kept = {snapshot.release for snapshot in published[-keep:]}
    if latest := pointer.read_latest(lake, corpus).snapshot:
        kept.add(SnapshotId(latest).release)
    ever = {s.release for kind in ("published", "yanked") for s in markers.list_marked(lake, corpus, kind)}
    for release in sorted(ever - kept, key=lambda r: r.day):
        if catalog and _is_running(catalog, release):
            continue
        folder = f"releases/{release}/"
        found = [(e.key, e.bytes) for e in lake.list(folder) if e.key.removeprefix(folder).split("/")[0] not in KEPT]
        if found:
            yield _of_lake("tables of releases", str(release), found, f"{folder}{PRUNED}")


def _is_running(catalog: Catalog, release: str) -> bool:
    """Return whether the last run of a release has not ended: its state remains `published` in a repeated run."""
    stages = {run.stage: run for run in catalog.stages(release)}
    begin, end = stages.get(STAGE_NAMES[0]), stages.get(STAGE_NAMES[-1])
    return begin is not None and (end is None or end.ended_at is None or end.ended_at < begin.started_at)


def _list_batches(lake: Lake) -> Iterator[Waste]:
    for batch in lake.folders("batches/"):
        found = [(entry.key, entry.bytes) for entry in lake.list(f"batches/{batch}/")]
        if any(key.endswith(("/processed.json", "/worked.json")) for key, _ in found):
            yield _of_lake("batches of drops", f"batches/{batch}/", found)


def _list_logs(folder: Path) -> Iterator[Waste]:
    """Yield the files of a folder of logs that were not written for `LOG_DAYS`."""
    oldest = time.time() - LOG_DAYS * 86_400
    found = {path: path.lstat() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}
    old = {path: stat.st_size for path, stat in found.items() if stat.st_mtime < oldest}
    if old:
        yield Waste("logs", str(folder), len(old), sum(old.values()), paths=tuple(old))


def _of_lake(kind: str, name: str, found: Sequence[tuple[str, int]], mark: str = "") -> Waste:
    return Waste(kind, name, len(found), sum(size for _, size in found), tuple(key for key, _ in found), (), mark)


def delete(lake: Lake, waste: Waste) -> None:
    """Delete it. After an interruption, `list_waste` lists the rest again."""
    if waste.mark:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        lake.put(waste.mark, orjson.dumps({"at": at, "files": waste.files, "bytes": waste.bytes}))
    with ThreadPoolExecutor(_THREADS) as pool:
        # A commit precedes the parts of its table, which would otherwise look damaged.
        commits = [key for key in waste.keys if key.endswith("/_COMMITTED.json")]
        list(pool.map(lake.delete, commits))
        list(pool.map(lake.delete, [key for key in waste.keys if not key.endswith("/_COMMITTED.json")]))
    for path in waste.paths:
        path.unlink(missing_ok=True)
