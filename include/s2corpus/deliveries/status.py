"""Status rows of drops and deliveries, stored in the lake.

An arrival is a folder of `drops/` or `sources/` with its `_READY`. `mark` is a hash of the ETag of this `_READY`: a changed `_READY` is
a new arrival, an identical one is not. Rows are JSON files. Their key is `arrivals/open/<folder><mark>.json` while work is pending and
`arrivals/closed/…` afterwards. A poll therefore needs only two listings, regardless of the size of the lake.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Literal

import orjson

from s2corpus.deliveries.ready import NOT_TEXT, UNREADABLE_OBJECT, folder_of, is_text, list_deliveries
from s2corpus.errors import UnreadableObject
from s2corpus.outcomes import Refusal
from s2corpus.storage.lake import ABSENT, Conflict, Lake

MAX_NEW_PER_POLL = 1_000
"""Maximum number of new folders that one poll checks for a `_READY`; the next poll checks others."""
MAX_KNOWN_PER_POLL = 100
"""Maximum number of registered folders that one poll checks for a changed `_READY`; the next poll checks others."""
MAX_TRIES = 3
"""Number of runs that try an unfinished arrival before its row is closed."""
FIRST_REPEAT, LAST_REPEAT = 60.0, 3600.0
"""First and maximum delay in seconds before an event that started no run is fired again; the delay doubles."""
_THREADS = 8


class ArrivalState(StrEnum):
    """State of a drop or delivery."""

    WRITING = "writing"  # no _READY yet
    WAITING = "waiting"  # ready, not announced yet
    ANNOUNCED = "announced"  # its event was fired, no run has started
    REGISTERED = "registered"  # verified and stored; its files are being processed
    PROCESSED = "processed"  # the next release includes it
    NOT_SELECTED = "not_selected"  # no release spec selects drops or sources of this name
    REFUSED = "refused"  # it differs from its _READY, see `refusal`
    UNREADABLE_OBJECT = "unreadable_object"  # the lake refuses access to one of its files, see `detail`
    UNFINISHED = "unfinished"  # the extractor gave up on too many of its PDFs
    FAILED = "failed"  # an error that a retry does not fix, see `detail`

    @classmethod
    def _missing_(cls, value: object) -> ArrivalState | None:
        """Read the states that versions before 1.0.0 stored."""
        return {"worked": cls.PROCESSED, "unwanted": cls.NOT_SELECTED}.get(str(value))


REJECTED = (ArrivalState.REFUSED, ArrivalState.UNREADABLE_OBJECT, ArrivalState.FAILED)
"""States of arrivals that need a person."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A folder, `drops/<id>/` or `sources/<source>/<id>/`, with a new `_READY`."""

    folder: str
    mark: str

    @property
    def identity(self) -> tuple[Literal["drop", "delivery"], str, str]:
        """Kind, source (empty for a drop) and id."""
        steps = self.folder.rstrip("/").split("/")
        return ("drop", "", steps[1]) if steps[0] == "drops" else ("delivery", steps[1], steps[2])


@dataclass(frozen=True, slots=True)
class ArrivalStatus:
    """Status row of an arrival.

    It counts files, PDFs, accepted records (`rows`) and unreadable records (`dropped`). `key` is the digest of the delivery (see
    `registration`). `outcomes` counts the files by outcome.
    """

    folder: str
    mark: str
    state: ArrivalState
    refusal: Refusal | None = None
    detail: str | None = None
    ready_at: str | None = None
    key: str | None = None
    files: int = 0
    pdfs: int = 0
    rows: int = 0
    dropped: int = 0
    tries: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    """unusable values of its records.jsonl, with line and key"""

    @property
    def name(self) -> str:
        """Printable name of the folder."""
        name = self.folder.rstrip("/")
        return name if name.isprintable() else name.encode("unicode_escape").decode()

    @property
    def outcome(self) -> str:
        """State as one word; a refusal includes its reason, as in the table `deliveries`."""
        return f"{self.state}:{self.refusal}" if self.refusal else str(self.state)

    @property
    def is_open(self) -> bool:
        """True if another run must process the arrival."""
        match self.state:
            case ArrivalState.ANNOUNCED | ArrivalState.REGISTERED:
                return True
            case ArrivalState.UNFINISHED | ArrivalState.FAILED | ArrivalState.UNREADABLE_OBJECT:
                return self.tries < MAX_TRIES
        return False

    @property
    def counts(self) -> str:
        """Text with the number of records, warnings and files by outcome."""
        warned = "warning" if len(self.warnings) == 1 else "warnings"
        counts = {"records": self.rows, "unreadable records": self.dropped, warned: len(self.warnings), **self.outcomes}
        return ", ".join(f"{n} {name}" for name, n in counts.items() if n)

    def __str__(self) -> str:
        details = (self.counts, self.detail, "; ".join(self.warnings[:5]))
        return f"{self.name}: {self.outcome}" + "".join(f" ({text})" for text in details if text)


def put_row(lake: Lake, row: ArrivalStatus) -> None:
    """Write an arrival's row and delete all other rows of its folder."""
    key = _key(row.folder, row.mark, closed=not row.is_open)
    lake.put(key, orjson.dumps(asdict(row), option=orjson.OPT_INDENT_2))
    for name in ("open", "closed"):
        for entry in lake.list(f"arrivals/{name}/{row.folder}"):
            if entry.key != key:
                lake.delete(entry.key)


def read_status(lake: Lake, arrival: Arrival) -> ArrivalStatus | None:
    """Read an arrival's row; return None if it does not exist."""
    for closed in (True, False):
        try:
            raw = orjson.loads(lake.get(_key(arrival.folder, arrival.mark, closed=closed))[0])
        except FileNotFoundError:
            continue
        refusal = Refusal(raw["refusal"]) if raw["refusal"] else None
        return ArrivalStatus(**{**raw, "state": ArrivalState(raw["state"]), "refusal": refusal})
    return None


def hash_ready_file(lake: Lake, folder: str) -> str | None:
    """Return a hash of the folder's current `_READY` (from its ETag), or None if the file does not exist.

    An unreadable `_READY` has a hash too: the arrival is announced with its fault, and again when the access was granted.
    """
    try:
        etag = lake.etag(f"{folder}_READY")
    except UnreadableObject:
        etag = UNREADABLE_OBJECT
    return None if etag == ABSENT else hashlib.sha256(etag.encode()).hexdigest()[:16]


def list_open(lake: Lake) -> list[Arrival]:
    """Return every arrival with an open row: announced, or left by a run that did not finish it."""
    closed = set(_list_arrivals(lake, "closed"))
    return [arrival for arrival in _list_arrivals(lake, "open") if arrival not in closed]


class Watch:
    """Polls the lake for arrivals that a run must begin with."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self._positions = {"new": 0, "known": 0}
        self._repeats: dict[Arrival, tuple[float, float]] = {}

    def poll(self, now: float = 0.0) -> list[Arrival]:
        """Announce new arrivals, and return all arrivals for which an event must be fired.

        These are the new arrivals, and announced arrivals that no run has begun with: a triggerer that is killed, or a busy database,
        can lose an event. A new watch returns them at its first poll. It repeats each after a delay that doubles.

        Args:
            now: seconds of a monotonic clock.
        """
        due = self._list_lost(now)
        marks = _list_marks(self.lake)
        folders = [folder for folder in _list_folders(self.lake) if is_text(folder)]
        to_check = [
            *self._next_items("new", [folder for folder in folders if folder not in marks], MAX_NEW_PER_POLL),
            *self._next_items("known", [folder for folder in folders if folder in marks], MAX_KNOWN_PER_POLL),
        ]

        def announce_new(folder: str) -> Arrival | None:
            mark = hash_ready_file(self.lake, folder)
            if not mark or mark in marks.get(folder, ()):
                return None
            announce(self.lake, arrival := Arrival(folder, mark))
            return arrival

        with ThreadPoolExecutor(_THREADS) as pool:
            new = [arrival for arrival in pool.map(announce_new, to_check) if arrival]
        self._repeats |= dict.fromkeys(new, (now + FIRST_REPEAT, FIRST_REPEAT))
        return due + new

    def _list_lost(self, now: float) -> list[Arrival]:
        """Return the announced arrivals whose event must be fired again."""
        delays = {arrival: self._repeats.get(arrival, (now, FIRST_REPEAT / 2)) for arrival in list_open(self.lake)}
        due = [arrival for arrival, (time, _) in delays.items() if time <= now]
        for arrival in due:
            delay = min(2 * delays[arrival][1], LAST_REPEAT)
            delays[arrival] = (now + delay, delay)
        self._repeats = delays
        rows = read_statuses(self.lake, due)
        return [Arrival(row.folder, row.mark) for row in rows if row.state is ArrivalState.ANNOUNCED]

    def _next_items(self, kind: str, items: Sequence[str], limit: int) -> Sequence[str]:
        """Return the next `limit` items, cyclically."""
        if len(items) <= limit:
            return items
        position = self._positions[kind] % len(items)
        self._positions[kind] = position + limit
        return [*items[position : position + limit], *items[: max(0, position + limit - len(items))]]


def announce(lake: Lake, arrival: Arrival) -> None:
    """Write the first row of an arrival unless a row exists."""
    if read_status(lake, arrival) is None:
        row = ArrivalStatus(arrival.folder, arrival.mark, ArrivalState.ANNOUNCED)
        try:
            lake.put(_key(row.folder, row.mark, closed=False), orjson.dumps(asdict(row)), expect=ABSENT)
        except Conflict:
            return  # Another process wrote the row first.


def iterate_statuses(lake: Lake, max_rows: int | None = None) -> Iterator[ArrivalStatus]:
    """Yield the row of every drop and delivery in the lake, or of the last `max_rows` by name.

    A folder without a row gives a row with the state `writing`, `waiting` or `refused`.
    """
    folders = _list_folders(lake)
    if max_rows is not None:
        folders = folders[-max_rows:]

    def read_row(folder: str) -> ArrivalStatus:
        if not is_text(folder):
            return ArrivalStatus(folder, "", ArrivalState.REFUSED, Refusal.BAD_NAME, NOT_TEXT)
        mark = hash_ready_file(lake, folder)
        if mark is None:
            return ArrivalStatus(folder, "", ArrivalState.WRITING)
        return read_status(lake, Arrival(folder, mark)) or ArrivalStatus(folder, mark, ArrivalState.WAITING)

    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(read_row, folders)


def read_statuses(lake: Lake, arrivals: Iterable[Arrival]) -> list[ArrivalStatus]:
    """Read the rows of arrivals; skip arrivals without a row."""
    with ThreadPoolExecutor(_THREADS) as pool:
        return [row for row in pool.map(lambda arrival: read_status(lake, arrival), arrivals) if row is not None]


def _list_folders(lake: Lake) -> list[str]:
    return [folder_of(kind, source, id_) for kind, source, id_ in list_deliveries(lake)]


def _key(folder: str, mark: str, *, closed: bool) -> str:
    return f"arrivals/{'closed' if closed else 'open'}/{folder}{mark}.json"


def _list_arrivals(lake: Lake, name: str) -> list[Arrival]:
    prefix = f"arrivals/{name}/"
    arrivals = []
    for entry in lake.list(prefix):
        folder, _, file = entry.key.removeprefix(prefix).rpartition("/")
        arrivals.append(Arrival(f"{folder}/", file.removesuffix(".json")))
    return arrivals


def _list_marks(lake: Lake) -> dict[str, set[str]]:
    """Return the marks of every folder with rows."""
    marks: dict[str, set[str]] = {}
    for name in ("open", "closed"):
        for arrival in _list_arrivals(lake, name):
            marks.setdefault(arrival.folder, set()).add(arrival.mark)
    return marks
