"""What a lake contains: the corpora with their snapshots, the releases in progress, and the disk that each kind of data uses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Any

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseState
from s2corpus.deliveries.expected import read_awaited
from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot import markers, pointer
from s2corpus.storage.lake import Lake
from s2corpus_reader.bounded import read_object
from s2orc_parse.scratch import base_folder

MAX_OBJECTS = 1_000_000
"""objects of one kind that `measure_disk` counts"""
KINDS: Mapping[str, str] = {
    "drops": "drops", "sources": "drops", "releases": "tables of releases", "batches": "tables of releases",
    "snapshots": "snapshots", "arrivals": "states of drops", "logs": "logs",
}  # fmt: skip
"""folder of a lake → kind of data; all other folders contain stored results"""
STORED, SCRATCH = "stored results", "scratch"


class SnapshotState(StrEnum):
    """The state of a snapshot."""

    LATEST = "latest"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"
    PRUNED = "pruned"
    UNPUBLISHED = "unpublished"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class ListedSnapshot:
    """One snapshot of a corpus."""

    snapshot: str
    state: SnapshotState
    as_of: str
    documents: int | None
    bytes: int | None
    """size of its files; None if it has no manifest"""

    @property
    def corpus(self) -> str:
        """The name of its spec."""
        return SnapshotId(self.snapshot).spec


@dataclass(frozen=True, slots=True)
class OpenRelease:
    """A release without a complete snapshot, or one that waits for an approval."""

    release: str
    state: str
    """word of `ReleaseState`; `unfinished` without a catalog"""
    stage: str | None
    """the latest stage that a check has passed"""
    missing: tuple[str, ...] = ()
    """expected drops and deliveries that it waits for"""


@dataclass(frozen=True, slots=True)
class DiskUse:
    """The number and size of the files of one kind."""

    kind: str
    files: int
    bytes: int
    is_complete: bool = True
    """False: there are more than MAX_OBJECTS files, and the others are not counted"""


def list_corpora(lake: Lake) -> list[str]:
    """Return the names of all corpora with a snapshot or a release in the lake, sorted."""
    snapshots = {SnapshotId(name).spec for name in lake.folders("snapshots/") if SnapshotId.is_valid(name)}
    return sorted(snapshots | {ReleaseId(name).spec for name in lake.folders("releases/") if ReleaseId.is_valid(name)})


def list_snapshots(lake: Lake, corpus: str | None = None) -> list[ListedSnapshot]:
    """Return the snapshots of the lake or of one corpus, sorted by corpus and time.

    A pruned snapshot is listed as long as its marker exists.
    """
    folders = lake.folders("snapshots/")
    found = {SnapshotId(name) for name in folders if SnapshotId.is_valid(name)}
    listed = []
    for spec in sorted({s.spec for s in found} | {name for name in folders if not SnapshotId.is_valid(name)}):
        if corpus not in (None, spec):
            continue
        published, yanked = (markers.list_marked(lake, spec, kind) for kind in ("published", "yanked"))
        latest = pointer.read_latest(lake, spec).snapshot
        for snapshot in sorted({s for s in found if s.spec == spec} | published, key=lambda s: (s.release.day, s)):
            manifest = _read(lake, f"snapshots/{snapshot}/manifest.json")
            state = (
                SnapshotState.PRUNED if manifest is None and snapshot in yanked
                else SnapshotState.UNFINISHED if manifest is None
                else SnapshotState.WITHDRAWN if snapshot in yanked
                else SnapshotState.LATEST if snapshot == latest
                else SnapshotState.PUBLISHED if snapshot in published
                else SnapshotState.UNPUBLISHED
            )  # fmt: skip
            size = documents = None
            if manifest is not None:
                stats = _read(lake, f"snapshots/{snapshot}/stats.json") or {}
                try:
                    size = sum(int(file["bytes"]) for file in manifest["files"])
                    documents = sum(
                        s["documents"] for splits in stats.get("sets", {}).values() for s in splits.values()
                    )
                except (AttributeError, LookupError, TypeError, ValueError) as error:
                    raise UserError(
                        f"{lake.uri(f'snapshots/{snapshot}')} is damaged ({error}): run corpus doctor"
                    ) from None
            listed.append(ListedSnapshot(str(snapshot), state, snapshot.release.date, documents, size))
    return listed


def list_open_releases(lake: Lake, catalog: Catalog | None, corpus: str | None = None) -> list[OpenRelease]:
    """Return the releases that have no complete snapshot or await an approval, sorted by id."""
    states = {row.release: ReleaseState(row.state) for row in catalog.releases()} if catalog else {}
    done = {
        SnapshotId(listed.snapshot).release
        for listed in list_snapshots(lake, corpus)
        if listed.state is not SnapshotState.UNFINISHED
    }
    found = []
    for name in sorted(name for name in lake.folders("releases/") if ReleaseId.is_valid(name)):
        release, state = ReleaseId(name), states.get(name)
        if corpus not in (None, release.spec) or (release in done and state is not ReleaseState.AWAITING):
            continue
        checked = {
            entry.key.rpartition("/")[2].removesuffix(".json") for entry in lake.list(f"releases/{name}/_quality/")
        }
        stage = next((stage for stage in reversed(STAGE_NAMES) if stage in checked), None)
        awaited = read_awaited(lake, release)
        found.append(OpenRelease(name, str(state or "unfinished"), stage, tuple(awaited[0]) if awaited else ()))
    return found


def measure_disk(lake: Lake, logs: Iterable[Path] = ()) -> list[DiskUse]:
    """Return the files and bytes of each kind: in the lake, in folders of logs, and in the scratch folders of this machine."""
    prefixes: dict[str, list[str]] = {}
    for folder in lake.folders(""):
        prefixes.setdefault(KINDS.get(folder, STORED), []).append(f"{folder}/")
    measured = []
    for kind in (*dict.fromkeys(KINDS.values()), STORED):
        sizes = (entry.bytes for prefix in prefixes.get(kind, ()) for entry in lake.list(prefix))
        local = (size for folder in (logs if kind == "logs" else ()) for size in _sizes_below(folder))
        measured.append(_measure(kind, chain(sizes, local)))
    return [*measured, _measure(SCRATCH, (size for folder in list_scratch() for size in _sizes_below(folder)))]


def list_scratch() -> list[Path]:
    """Return the scratch folders of this machine that belong to s2corpus."""
    return sorted(base_folder().glob("s2corpus-*"))


def _measure(kind: str, sizes: Iterable[int]) -> DiskUse:
    files = total = 0
    iterator = iter(sizes)
    for size in islice(iterator, MAX_OBJECTS):
        files, total = files + 1, total + size
    return DiskUse(kind, files, total, files < MAX_OBJECTS or next(iterator, None) is None)


def _sizes_below(folder: Path) -> Iterator[int]:
    """Yield the sizes of the files below a folder; files that disappear meanwhile are skipped."""
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                yield (Path(path) / name).lstat().st_size
            except OSError:
                continue


def _read(lake: Lake, key: str) -> dict[str, Any] | None:
    """Return a JSON object of a snapshot; None if it does not exist.

    Raises:
        UserError: it is damaged.
    """
    try:
        return read_object(lake, key)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise UserError(f"{lake.uri(key)} is damaged ({error}): run corpus doctor") from None
