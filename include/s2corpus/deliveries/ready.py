"""Drops and deliveries as they say themselves: their folders, and their `_READY`, which is written last (SEMANTICS §0).

A drop is `drops/<drop_id>/`, a delivery `sources/<source>/<delivery_id>/`; both end with `_READY`, JSON
`{ready_at, files: [{name, bytes, sha256}], mode?, delivered_by?}`. `ready_at` is the only clock: object times are never used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints, ValidationError

from s2corpus.storage.lake import Lake

MAX_READY_BYTES = 256 << 20
READER = "8"
"""changes when the same files would be read otherwise: what was registered before is then read again"""


class Refusal(StrEnum):
    """Why a drop or delivery is not taken."""

    UNREADABLE = "unreadable"  # _READY is not JSON of the expected form
    BAD_NAME = "bad_name"  # a file name that leaves the folder, or is listed twice
    INCOMPLETE = "incomplete"  # a listed file is not there
    UNLISTED = "unlisted"  # a file is there that is not listed
    CHANGED = "changed"  # a file's size or SHA-256 is not the listed one
    UNKNOWN_SOURCE = "unknown_source"  # no adapter reads the source whose folder it lies in
    BAD_RECORDS = "bad_records"  # a line of records.jsonl claims what is not its own, or promises with a wrong type


class Refused(Exception):
    """A drop or delivery is not taken: the reason, and in words where."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(f"{refusal}: {detail}")
        self.refusal = refusal
        self.detail = detail


class File(BaseModel):
    """A listed file."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=1024)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class Ready(BaseModel):
    """What `_READY` says."""

    ready_at: AwareDatetime
    files: list[File]
    mode: Literal["full", "delta"] = "delta"
    delivered_by: Annotated[str, StringConstraints(strip_whitespace=True, max_length=128)] = ""
    """who delivered it, as Airflow knows them; empty: it does not say"""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A drop (source empty) or a delivery whose `_READY` was read; `digest` names this very `_READY`."""

    kind: Literal["drop", "delivery"]
    source: str
    id: str
    ready_at: str
    mode: str
    digest: str
    files: int
    by: str = ""
    """who delivered it, as it says"""
    metadata_bytes: int = 0
    """of its files that hold records; of a drop's others 2 KiB each"""

    @property
    def folder(self) -> str:
        """Where its files are."""
        return f"drops/{self.id}/" if self.kind == "drop" else f"sources/{self.source}/{self.id}/"

    @property
    def registered(self) -> str:
        """Where it is kept once verified."""
        return f"registered/{READER}/{self.folder}{self.digest}"

    def key(self, name: str) -> str:
        """Where one of its files is."""
        return f"{self.folder}{name}"


def folders(lake: Lake) -> Iterator[tuple[Literal["drop", "delivery"], str, str]]:
    """Every drop and delivery that has its folder: (kind, source, id), in order; those that S3 allows and no path can have are not seen."""
    for drop in _steps(lake, "drops/"):
        yield "drop", "", drop
    for source in _steps(lake, "sources/"):
        for delivery in _steps(lake, f"sources/{source}/"):
            yield "delivery", source, delivery


def _steps(lake: Lake, prefix: str) -> list[str]:
    return [name for name in lake.folders(prefix) if name not in ("", ".", "..") and "\0" not in name]


def read_ready(lake: Lake, kind: Literal["drop", "delivery"], source: str, id_: str) -> Delivery | None:
    """What a drop or delivery says of itself; None where it is not ready yet.

    Raises:
        Refused: its `_READY` cannot be read.
    """
    key = f"drops/{id_}/_READY" if kind == "drop" else f"sources/{source}/{id_}/_READY"
    size = lake.size(key)
    if size is None:
        return None
    ready, data = listed(lake, key, size)
    at = ready.ready_at.astimezone(UTC)
    delivered = kind == "delivery"
    metadata = sum(f.bytes if delivered or f.name == "records.jsonl" else 2048 for f in ready.files)
    digest = hashlib.sha256(data).hexdigest()[:16]
    return Delivery(kind, source, id_, iso(at), ready.mode, digest, len(ready.files), ready.delivered_by, metadata)


def iso(at: datetime) -> str:
    """An instant as the tables write it, ISO UTC to the microsecond, so that text order is time order."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def listed(lake: Lake, key: str, size: int) -> tuple[Ready, bytes]:
    """What a `_READY` of so many bytes says, and its bytes.

    Raises:
        Refused: it cannot be read.
    """
    if size > MAX_READY_BYTES:
        raise Refused(Refusal.UNREADABLE, f"_READY has {size} bytes; at most {MAX_READY_BYTES} are read")
    data, _ = lake.get(key)
    try:
        return Ready.model_validate_json(data), data
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Refused(Refusal.UNREADABLE, f"_READY: {where}: {first['msg']}"[:300]) from None
