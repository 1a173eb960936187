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

from s2corpus.deliveries.ready import NOT_TEXT, Refusal, folders, is_text
from s2corpus.storage.lake import ABSENT, Conflict, Lake

MOST_NEW = 1_000
"""new folders that one poll checks for a `_READY`; the next poll checks others"""
MOST_KNOWN = 100
"""registered folders that one poll checks for a changed `_READY`; the next poll checks others"""
MOST_TRIES = 3
"""runs that try an unfinished arrival before its row is closed"""
FIRST_REPEAT, LAST_REPEAT = 60.0, 3600.0
"""seconds until an event without a run is fired again: first and maximum delay; each repetition doubles the delay"""
_THREADS = 8
_TOGETHER = 50


class ArrivalState(StrEnum):
    """State of a drop or delivery."""

    WRITING = "writing"  # no _READY yet
    WAITING = "waiting"  # ready, not announced yet
    ANNOUNCED = "announced"  # its event was fired, no run has started
    REGISTERED = "registered"  # verified and stored; its files are being processed
    WORKED = "worked"  # processed; the next release includes it
    UNWANTED = "unwanted"  # no release spec takes drops or sources of this name
    REFUSED = "refused"  # it differs from its _READY, see `refusal`
    UNFINISHED = "unfinished"  # the extractor gave up on too many of its PDFs
    FAILED = "failed"  # an error that a retry does not fix, see `detail`


@dataclass(frozen=True, slots=True)
class Arrival:
    """A folder, `drops/<id>/` or `sources/<source>/<id>/`, with a new `_READY`."""

    folder: str
    mark: str

    @property
    def what(self) -> tuple[Literal["drop", "delivery"], str, str]:
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
    def open(self) -> bool:
        """True if another run must process the arrival."""
        match self.state:
            case ArrivalState.ANNOUNCED | ArrivalState.REGISTERED:
                return True
            case ArrivalState.UNFINISHED | ArrivalState.FAILED:
                return self.tries < MOST_TRIES
        return False

    @property
    def counts(self) -> str:
        """Text with the number of records, warnings and files by outcome."""
        warned = "warning" if len(self.warnings) == 1 else "warnings"
        counts = {"records": self.rows, "unreadable records": self.dropped, warned: len(self.warnings), **self.outcomes}
        return ", ".join(f"{n} {name}" for name, n in counts.items() if n)

    def __str__(self) -> str:
        said = (self.counts, self.detail, "; ".join(self.warnings[:5]))
        return f"{self.name}: {self.outcome}" + "".join(f" ({text})" for text in said if text)


def put_row(lake: Lake, row: ArrivalStatus) -> None:
    """Write an arrival's row and delete all other rows of its folder."""
    kept = _key(row.folder, row.mark, closed=not row.open)
    lake.put(kept, orjson.dumps(asdict(row), option=orjson.OPT_INDENT_2))
    for name in ("open", "closed"):
        for entry in lake.list(f"arrivals/{name}/{row.folder}"):
            if entry.key != kept:
                lake.delete(entry.key)


def row_of(lake: Lake, arrival: Arrival) -> ArrivalStatus | None:
    """Read an arrival's row; return None if it does not exist."""
    for closed in (True, False):
        try:
            raw = orjson.loads(lake.get(_key(arrival.folder, arrival.mark, closed=closed))[0])
        except FileNotFoundError:
            continue
        refusal = Refusal(raw["refusal"]) if raw["refusal"] else None
        return ArrivalStatus(**{**raw, "state": ArrivalState(raw["state"]), "refusal": refusal})
    return None


def mark_of(lake: Lake, folder: str) -> str | None:
    """Return a hash of the folder's current `_READY` (from its ETag), or None if the file does not exist."""
    etag = lake.etag(f"{folder}_READY")
    return None if etag == ABSENT else hashlib.sha256(etag.encode()).hexdigest()[:16]


def list_open(lake: Lake) -> list[Arrival]:
    """Return every arrival with an open row: announced, or left by a run that did not finish it."""
    closed = set(_arrivals(lake, "closed"))
    return [arrival for arrival in _arrivals(lake, "open") if arrival not in closed]


class Watch:
    """Polls the lake and reports every arrival once."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self._given: dict[str, str] = {}
        self._unconfirmed: list[Arrival] = []
        self._turns = {MOST_NEW: 0, MOST_KNOWN: 0}
        self._repeats: dict[Arrival, tuple[float, float]] = {}

    def look(self, most: int | None = None) -> list[Arrival]:
        """Return new arrivals: arrivals without a row that this watch has not returned before.

        The poll stops soon after it has found `most` arrivals.
        """
        known = _marks(self.lake)
        here = [folder for folder in _folders(self.lake) if is_text(folder)]
        self._given = {f: mark for f, mark in self._given.items() if mark not in known.get(f, ())}
        asked = [
            *self._some([folder for folder in here if folder not in known and folder not in self._given], MOST_NEW),
            *self._some([folder for folder in here if folder in known], MOST_KNOWN),
        ]
        found: list[Arrival] = []
        with ThreadPoolExecutor(_THREADS) as pool:
            for start in range(0, len(asked), _TOGETHER):
                some = asked[start : start + _TOGETHER]
                for folder, mark in zip(some, pool.map(lambda f: mark_of(self.lake, f), some), strict=True):
                    if mark and mark not in known.get(folder, ()) and self._given.get(folder) != mark:
                        found.append(Arrival(folder, mark))
                if most is not None and len(found) >= most:
                    break
        self._given |= {arrival.folder: arrival.mark for arrival in found}
        self._unconfirmed += found
        return found

    def confirm(self) -> None:
        """Write a row for every returned arrival, so that no other watch returns it."""
        while self._unconfirmed:
            announce(self.lake, self._unconfirmed[-1])
            self._unconfirmed.pop()

    def list_unanswered(self, now: float) -> list[Arrival]:
        """Return the announced arrivals whose event must be fired again, because no run has begun with them.

        A triggerer that is killed, or a busy database, can lose an event after the arrival was announced.

        Args:
            now: seconds of a clock that never goes back.
        """
        unanswered: list[Arrival] = []
        repeats: dict[Arrival, tuple[float, float]] = {}
        for arrival in list_open(self.lake):
            due, wait = self._repeats.get(arrival, (now + FIRST_REPEAT, FIRST_REPEAT))
            if due <= now:
                row = row_of(self.lake, arrival)
                if row is not None and row.state is ArrivalState.ANNOUNCED:
                    unanswered.append(arrival)
                    wait = min(2 * wait, LAST_REPEAT)
                due = now + wait
            repeats[arrival] = (due, wait)
        self._repeats = repeats
        return unanswered

    def _some(self, among: Sequence[str], most: int) -> Sequence[str]:
        """Return at most `most` of these; successive calls return different items."""
        if len(among) <= most:
            return among
        turn = self._turns[most] % len(among)
        self._turns[most] = turn + most
        return [*among[turn : turn + most], *among[: max(0, turn + most - len(among))]]


def announce(lake: Lake, arrival: Arrival) -> None:
    """Write the first row of an arrival unless a row exists."""
    if row_of(lake, arrival) is None:
        row = ArrivalStatus(arrival.folder, arrival.mark, ArrivalState.ANNOUNCED)
        try:
            lake.put(_key(row.folder, row.mark, closed=False), orjson.dumps(asdict(row)), expect=ABSENT)
        except Conflict:
            return  # Another process wrote the row first.


def listed(lake: Lake, max_rows: int | None = None) -> Iterator[ArrivalStatus]:
    """Yield the row of every drop and delivery in the lake, or of the last `max_rows` by name.

    A folder without a row gives a row with the state `writing`, `waiting` or `refused`.
    """
    here = _folders(lake)
    if max_rows is not None:
        here = here[-max_rows:]

    def row(folder: str) -> ArrivalStatus:
        if not is_text(folder):
            return ArrivalStatus(folder, "", ArrivalState.REFUSED, Refusal.BAD_NAME, NOT_TEXT)
        mark = mark_of(lake, folder)
        if mark is None:
            return ArrivalStatus(folder, "", ArrivalState.WRITING)
        return row_of(lake, Arrival(folder, mark)) or ArrivalStatus(folder, mark, ArrivalState.WAITING)

    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(row, here)


def rows_of(lake: Lake, arrivals: Iterable[Arrival]) -> list[ArrivalStatus]:
    """Read the rows of arrivals; skip arrivals without a row."""
    with ThreadPoolExecutor(_THREADS) as pool:
        return [row for row in pool.map(lambda arrival: row_of(lake, arrival), arrivals) if row is not None]


def _folders(lake: Lake) -> list[str]:
    return [folder_of(kind, source, id_) for kind, source, id_ in folders(lake)]


def folder_of(kind: str, source: str, id_: str) -> str:
    """Return the folder of a drop or delivery in the lake."""
    return f"drops/{id_}/" if kind == "drop" else f"sources/{source}/{id_}/"


def _key(folder: str, mark: str, *, closed: bool) -> str:
    return f"arrivals/{'closed' if closed else 'open'}/{folder}{mark}.json"


def _arrivals(lake: Lake, name: str) -> list[Arrival]:
    prefix = f"arrivals/{name}/"
    found = []
    for entry in lake.list(prefix):
        folder, _, file = entry.key.removeprefix(prefix).rpartition("/")
        found.append(Arrival(f"{folder}/", file.removesuffix(".json")))
    return found


def _marks(lake: Lake) -> dict[str, set[str]]:
    """Return the marks of every folder with rows."""
    found: dict[str, set[str]] = {}
    for name in ("open", "closed"):
        for arrival in _arrivals(lake, name):
            found.setdefault(arrival.folder, set()).add(arrival.mark)
    return found
