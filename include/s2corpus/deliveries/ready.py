"""Folders of drops and deliveries, and their `_READY` file, which is written last (SPEC §0.1, §0.2).

A drop is `drops/<drop_id>/`, a delivery `sources/<source>/<delivery_id>/`; both end with `_READY`, JSON
`{format?, ready_at, files: [{name, bytes, sha256}], mode?, delivered_by?}`. `ready_at` is the only clock.
Modification times of objects are never used.
"""

from __future__ import annotations

import hashlib
import logging
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
)

from s2corpus.errors import TransientError, UserError
from s2corpus.outcomes import Refusal
from s2corpus.sources.json_values import find_repeated_keys
from s2corpus.storage.error_kinds import classify_error
from s2corpus.storage.lake import Lake

log = logging.getLogger(__name__)
MAX_READY_BYTES = 256 << 20
FIRST_YEAR = 1000
"""Earlier years have fewer than four digits in some C libraries: instants would not sort as text."""
_TRUSTED_BYTES = 64 << 20
"""Above this number of listed metadata bytes, sizes are compared with the stored files."""
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:?\d\d)", re.ASCII)
FORMAT = 1
"""Format of `_READY` (docs/compatibility.md)."""
READER_VERSION = "35"
"""Version of the reading rules; a new version registers all drops and deliveries again."""


UNREADABLE_OBJECT = "unreadable_object"
"""Outcome of a drop or delivery with an object that the lake refuses to give."""


class Refused(Exception):
    """Raised to refuse a drop or delivery, with a reason and the place of the error."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(f"{refusal}: {detail}")
        self.refusal = refusal
        self.detail = detail


class UnexpectedReadError(Refused):
    """The reader raised an unexpected error for a drop or delivery."""


@contextmanager
def convert_content_errors(name: str) -> Iterator[None]:
    """Raise any error that the content of one delivery causes as `Refused`, so that the other deliveries continue.

    Raises:
        Refused: the content is refused, or causes an unexpected error (`UnexpectedReadError`).
        TransientError, UserError: the lake, the disk or the catalog fails.
    """
    try:
        yield
    except (Refused, TransientError, UserError):
        raise
    except Exception as error:
        if not isinstance(error, _CONTENT_ERRORS) and (known := classify_error(error)):
            raise known from error
        log.exception("%s cannot be read", name)
        raise UnexpectedReadError(Refusal.UNREADABLE, f"{type(error).__name__}: {escape(str(error))}"[:300]) from error


_CONTENT_ERRORS = (ValueError, TypeError, ArithmeticError, LookupError, MemoryError, RuntimeError, AttributeError)
"""Types of errors that servers and disks never raise, regardless of the message."""


def _utc_instant(value: object) -> datetime:
    """Return the instant of a text in ISO 8601 with a time zone, in UTC."""
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        raise ValueError("not a time with a zone: expected a text such as 2026-11-21T10:00:00Z")
    try:
        instant = datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"no such time ({error}): expected a text such as 2026-11-21T10:00:00Z") from None
    if instant.year < FIRST_YEAR:
        raise ValueError(
            f"the year {instant.year} is before {FIRST_YEAR}: expected a text such as 2026-11-21T10:00:00Z"
        )
    return instant


def _known_format(value: int) -> int:
    if not 1 <= value <= FORMAT:
        raise ValueError(
            f"this version reads formats 1 to {FORMAT}: deliver in one of these, or install a later version"
        )
    return value


def _printable(value: str) -> str:
    if not value.isprintable():  # PostgreSQL refuses NUL, and a terminal executes ESC.
        raise ValueError("not printable: expected the name of a person in Airflow")
    return value


@dataclass(frozen=True, slots=True)
class Digests:
    """Checksums and size of a file."""

    sha1: str
    sha256: str
    bytes: int


def hash_stream(
    stream: IO[bytes], max_bytes: float = math.inf, write: Callable[[bytes], object] | None = None
) -> Digests:
    """Return the digests of a stream, whose bytes `write` gets; stop soon after `max_bytes` bytes."""
    sha1, sha256, size = hashlib.sha1(usedforsecurity=False), hashlib.sha256(), 0
    while size <= max_bytes and (chunk := stream.read(1 << 20)):
        sha1.update(chunk)
        sha256.update(chunk)
        size += len(chunk)
        if write is not None:
            write(chunk)
    return Digests(sha1.hexdigest(), sha256.hexdigest(), size)


class ListedFile(BaseModel):
    """A listed file."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=1024)]
    bytes: Annotated[int, Field(ge=0, lt=1 << 63)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class Ready(BaseModel):
    """Content of `_READY`."""

    format: Annotated[int, AfterValidator(_known_format)] = 1
    ready_at: Annotated[AwareDatetime, BeforeValidator(_utc_instant)]
    files: list[ListedFile]
    mode: Literal["full", "delta"] = "delta"
    delivered_by: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=128), AfterValidator(_printable)
    ] = ""
    """name of the person in Airflow; empty if unknown"""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A drop (with an empty source) or a delivery, as described by its `_READY`; `digest` is a hash of `_READY`.

    In code, Delivery means a drop or a delivery.
    """

    kind: Literal["drop", "delivery"]
    source: str
    id: str
    ready_at: str
    mode: str
    digest: str
    files: int
    by: str = ""
    """`delivered_by` of `_READY`"""
    metadata_bytes: int = 0
    """size of the files with records, plus 2 KiB for every other file of a drop"""

    @property
    def folder(self) -> str:
        """Folder of its files."""
        return folder_of(self.kind, self.source, self.id)

    @property
    def registered(self) -> str:
        """Folder of the verified content."""
        return f"registered/{READER_VERSION}/{self.folder}{self.digest}"

    def key(self, name: str) -> str:
        """Return the key of one of its files."""
        return f"{self.folder}{name}"


def folder_of(kind: str, source: str, id_: str) -> str:
    """Return the folder of a drop (with an empty source) or a delivery."""
    return f"drops/{id_}/" if kind == "drop" else f"sources/{source}/{id_}/"


def list_deliveries(lake: Lake) -> Iterator[tuple[Literal["drop", "delivery"], str, str]]:
    """Yield (kind, source, id) of every folder of a drop or delivery, in order.

    Names that S3 allows but paths do not are ignored.
    """
    for drop in _list_folders(lake, "drops/"):
        yield "drop", "", drop
    for source in _list_folders(lake, "sources/"):
        for delivery in _list_folders(lake, f"sources/{source}/"):
            yield "delivery", source, delivery


def _list_folders(lake: Lake, prefix: str) -> list[str]:
    return [name for name in lake.folders(prefix) if name not in ("", ".", "..") and "\0" not in name]


def read_ready(lake: Lake, kind: Literal["drop", "delivery"], source: str, id_: str) -> Delivery | None:
    """Read the `_READY` of a drop or delivery; return None if it does not exist yet.

    Raises:
        Refused: `_READY` is invalid.
    """
    folder = folder_of(kind, source, id_)
    key = f"{folder}_READY"
    if not is_text(id_) or not is_text(source):
        raise Refused(Refusal.BAD_NAME, NOT_TEXT)
    size = lake.size(key)
    if size is None:
        return None
    ready, data = parse_ready(lake, key, size)
    metadata = _metadata_bytes(kind, {file.name: file.bytes for file in ready.files})
    if metadata > _TRUSTED_BYTES:  # A false large size would enlarge the tables of every release.
        stored = {entry.key.removeprefix(folder): entry.bytes for entry in lake.list(folder)}
        listed_bytes = {file.name: min(file.bytes, stored.get(file.name, 0)) for file in ready.files}
        metadata = _metadata_bytes(kind, listed_bytes)
    digest = hashlib.sha256(data).hexdigest()[:16]
    return Delivery(
        kind, source, id_, iso(ready.ready_at), ready.mode, digest, len(ready.files), ready.delivered_by, metadata
    )


def _metadata_bytes(kind: Literal["drop", "delivery"], files: dict[str, int]) -> int:
    return sum(size if kind == "delivery" or name == "records.jsonl" else 2048 for name, size in files.items())


NOT_TEXT = "the folder's name is not UTF-8: rename the folder"


def is_text(name: str) -> bool:
    """Return whether a folder's name can be written to tables and rows."""
    return escape(name) == name


def escape(name: str) -> str:
    """Return a folder's name as text; escape its bytes that are not UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def iso(at: datetime) -> str:
    """Format an instant as ISO 8601 UTC with microseconds; text order is then time order."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def parse_ready(lake: Lake, key: str, size: int) -> tuple[Ready, bytes]:
    """Return the parsed content and the bytes of a `_READY` of `size` bytes.

    Raises:
        Refused: `_READY` is invalid or too large.
    """
    if size > MAX_READY_BYTES:
        raise Refused(Refusal.UNREADABLE, f"_READY is too large: {size} bytes (at most {MAX_READY_BYTES})")
    data, _ = lake.get(key)
    try:
        ready = Ready.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Refused(Refusal.UNREADABLE, f"_READY: {where}: {first['msg']}"[:300]) from None
    if repeated := find_repeated_keys(data).names:
        raise Refused(Refusal.UNREADABLE, f"_READY: the key {repeated[0]!r} is given twice"[:300])
    return ready, data
