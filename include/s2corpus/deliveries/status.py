"""Drops and deliveries as they arrive: which are new, and what became of each, as a row beside them in the lake.

An arrival is a folder of `drops/` or `sources/` with its `_READY`; `mark` names this very `_READY` by its etag, so that one written
again is a new arrival and the same one delivered twice is not. Rows are JSON, `arrivals/open/<folder><mark>.json` while something is
left to do and `arrivals/closed/…` from then on: two listings say all that a look at the lake needs to know, however much it holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Literal

import orjson

from s2corpus.deliveries.ready import Refusal, folders
from s2corpus.storage.lake import ABSENT, Conflict, Lake

MOST_NEW = 1_000
"""folders without a row that one look asks for their `_READY`; the others have their turn at the next"""
MOST_KNOWN = 100
"""folders with a row that one look asks whether their `_READY` was written again, in turn"""
MOST_TRIES = 3
"""runs that take on an arrival which does not come to its end; then it is closed as it is"""
FIRST_REPEAT, LAST_REPEAT = 60.0, 3600.0
"""seconds until an event that started no run is fired again, first and at most; each repetition doubles them"""
_THREADS = 8
_TOGETHER = 50


class State(StrEnum):
    """What became of a drop or delivery."""

    WRITING = "writing"  # no _READY yet
    WAITING = "waiting"  # ready, not announced yet
    ANNOUNCED = "announced"  # its event is out, no run has begun with it
    REGISTERED = "registered"  # verified and kept; its files are being worked on
    WORKED = "worked"  # all is done that can be before a release: the next one finds it
    UNWANTED = "unwanted"  # no release spec takes drops or sources of this name
    REFUSED = "refused"  # it differs from its _READY, see the refusal
    UNFINISHED = "unfinished"  # the extractor gave up on too many of its PDFs
    FAILED = "failed"  # an error that a retry does not fix, see the detail


@dataclass(frozen=True, slots=True)
class Arrival:
    """A folder, `drops/<id>/` or `sources/<source>/<id>/`, with a `_READY` that was not there before."""

    folder: str
    mark: str

    @property
    def what(self) -> tuple[Literal["drop", "delivery"], str, str]:
        """Kind, source (empty for a drop) and id."""
        steps = self.folder.rstrip("/").split("/")
        return ("drop", "", steps[1]) if steps[0] == "drops" else ("delivery", steps[1], steps[2])


@dataclass(frozen=True, slots=True)
class Row:
    """What became of an arrival; counts are of its files, PDFs, records taken and records that could not be read.

    `key` is its delivery's digest (see `registration`), `outcomes` counts its files by what came of them.
    """

    folder: str
    mark: str
    state: State
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
    """what its records.jsonl says that cannot be used, by line and key"""

    @property
    def name(self) -> str:
        """The folder, as it may be shown to people."""
        name = self.folder.rstrip("/")
        return name if name.isprintable() else name.encode("unicode_escape").decode()

    @property
    def outcome(self) -> str:
        """The state as one word, a refusal with its reason as in the table `deliveries`."""
        return f"{self.state}:{self.refusal}" if self.refusal else str(self.state)

    @property
    def open(self) -> bool:
        """Whether another run has something to do with it."""
        match self.state:
            case State.ANNOUNCED | State.REGISTERED:
                return True
            case State.UNFINISHED | State.FAILED:
                return self.tries < MOST_TRIES
        return False

    @property
    def counts(self) -> str:
        """What it held, and what came of it."""
        warned = "warning" if len(self.warnings) == 1 else "warnings"
        counts = {"records": self.rows, "unreadable records": self.dropped, warned: len(self.warnings), **self.outcomes}
        return ", ".join(f"{n} {name}" for name, n in counts.items() if n)

    def __str__(self) -> str:
        said = (self.counts, self.detail, "; ".join(self.warnings[:5]))
        return f"{self.name}: {self.outcome}" + "".join(f" ({text})" for text in said if text)


def put_row(lake: Lake, row: Row) -> None:
    """Keep an arrival's row, instead of any other of its folder."""
    kept = _key(row.folder, row.mark, closed=not row.open)
    lake.put(kept, orjson.dumps(asdict(row), option=orjson.OPT_INDENT_2))
    for name in ("open", "closed"):
        for entry in lake.list(f"arrivals/{name}/{row.folder}"):
            if entry.key != kept:
                lake.delete(entry.key)


def row_of(lake: Lake, arrival: Arrival) -> Row | None:
    """An arrival's row, None where it has none."""
    for closed in (True, False):
        try:
            raw = orjson.loads(lake.get(_key(arrival.folder, arrival.mark, closed=closed))[0])
        except FileNotFoundError:
            continue
        refusal = Refusal(raw["refusal"]) if raw["refusal"] else None
        return Row(**{**raw, "state": State(raw["state"]), "refusal": refusal})
    return None


def mark_of(lake: Lake, folder: str) -> str | None:
    """What names the `_READY` that a folder has now; None where it has none."""
    etag = lake.etag(f"{folder}_READY")
    return None if etag == ABSENT else hashlib.sha256(etag.encode()).hexdigest()[:16]


def list_open(lake: Lake) -> list[Arrival]:
    """Return every arrival with an open row: announced, or left by a run that did not finish it."""
    closed = set(_arrivals(lake, "closed"))
    return [arrival for arrival in _arrivals(lake, "open") if arrival not in closed]


class Watch:
    """Looks at the lake again and again, and gives every arrival once."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self._given: dict[str, str] = {}
        self._unconfirmed: list[Arrival] = []
        self._turns = {MOST_NEW: 0, MOST_KNOWN: 0}
        self._repeats: dict[Arrival, tuple[float, float]] = {}

    def look(self, most: int | None = None) -> list[Arrival]:
        """What has arrived since: arrivals without a row that this watch has not given yet, `most` of them or a few more."""
        known = _marks(self.lake)
        here = [folder_of(kind, source, id_) for kind, source, id_ in folders(self.lake)]
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
        """Note in the lake that what was given so far is announced: no other watch gives it again."""
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
                if row is not None and row.state is State.ANNOUNCED:
                    unanswered.append(arrival)
                    wait = min(2 * wait, LAST_REPEAT)
                due = now + wait
            repeats[arrival] = (due, wait)
        self._repeats = repeats
        return unanswered

    def _some(self, among: Sequence[str], most: int) -> Sequence[str]:
        """At most `most` of these, others each time."""
        if len(among) <= most:
            return among
        turn = self._turns[most] % len(among)
        self._turns[most] = turn + most
        return [*among[turn : turn + most], *among[: max(0, turn + most - len(among))]]


def announce(lake: Lake, arrival: Arrival) -> None:
    """Give an arrival its first row, unless it has one."""
    if row_of(lake, arrival) is None:
        row = Row(arrival.folder, arrival.mark, State.ANNOUNCED)
        try:
            lake.put(_key(row.folder, row.mark, closed=False), orjson.dumps(asdict(row)), expect=ABSENT)
        except Conflict:
            return  # a run has begun with it meanwhile


def listed(lake: Lake, max_rows: int | None = None) -> Iterator[Row]:
    """Every drop and delivery that is in the lake, or the last `max_rows` by name: its row or, before it has one, how far it is."""
    here = [folder_of(kind, source, id_) for kind, source, id_ in folders(lake)]
    if max_rows is not None:
        here = here[-max_rows:]

    def row(folder: str) -> Row:
        mark = mark_of(lake, folder)
        if mark is None:
            return Row(folder, "", State.WRITING)
        return row_of(lake, Arrival(folder, mark)) or Row(folder, mark, State.WAITING)

    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(row, here)


def rows_of(lake: Lake, arrivals: Iterable[Arrival]) -> list[Row]:
    """The rows of those that have one."""
    with ThreadPoolExecutor(_THREADS) as pool:
        return [row for row in pool.map(lambda arrival: row_of(lake, arrival), arrivals) if row is not None]


def folder_of(kind: str, source: str, id_: str) -> str:
    """Where a drop or delivery lies in the lake."""
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
    """The marks of every folder that has rows."""
    found: dict[str, set[str]] = {}
    for name in ("open", "closed"):
        for arrival in _arrivals(lake, name):
            found.setdefault(arrival.folder, set()).add(arrival.mark)
    return found
