"""The kept papers as linking reads them: the index of `index`, mapped, in passes, so that memory does not grow with the papers.

What links some entries reads the papers past what these entries want, and the titles past what is left of them.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run
from s2corpus.stages.link.index import BYTES_BESIDE_KEYS, OVER_FULL, SCHEMA, batches_of, download
from s2corpus.stages.link.relink import inputs, rules
from s2corpus.titles.candidates import Pairs, Search, candidates_among, over_full_keys
from s2corpus.titles.changes import fingerprints
from s2corpus.titles.choosing import MOST
from s2corpus.titles.equal import EqualStrings, Groups
from s2corpus.titles.partial import Sought
from s2corpus.titles.postings import Keys, over_full
from s2corpus.titles.targets import FACTS, Facts, Targets
from s2orc_parse.scratch import shared

_BYTES_PER_PAPER = 1024
"""Memory that a paper takes which some entries want, an upper estimate."""
_AT_ONCE = 1 << 17
"""Titles whose keys are mapped at once: 5 MB."""
_OF_PAPERS = [name for name in SCHEMA.names if name != "hash"]
_EQUAL = MOST + 2
"""Papers of one title, year, first author and place that can matter to an entry: its own, all that are looked at, and one more."""


class KeptPapers:
    """The papers of a release that entries may link to (`linking.Papers`): an index in a folder that nobody changes."""

    def __init__(self, folder: Path, search: Search, memory_mb: int) -> None:
        """`search` is the one that the index was made for."""
        self._papers = sorted(folder.glob("papers-*"))
        self._room = max((memory_mb << 19) // _BYTES_PER_PAPER, 1)
        self._titles = TitlesOnDisk(folder, search)

    @staticmethod
    @contextmanager
    def of(run: Run, search: Search) -> Iterator[KeptPapers]:
        """Those of a release whose index is in the lake: copied once to this machine, for all tasks on it."""
        key = f"{run.lake.uri(run.folder)} {inputs(run)} {rules(run)}"

        def fill(folder: Path) -> None:
            download(run, folder)
            titles = TitlesOnDisk(folder, search)
            np.save(folder / OVER_FULL, over_full_keys(titles, search.bands))

        with shared(f"link-{hashlib.sha256(key.encode()).hexdigest()[:16]}", fill) as folder:
            yield KeptPapers(folder, search, run.spec.resources.memory_mb)

    def equal(self, wanted: Mapping[str, EqualStrings]) -> tuple[Targets, np.ndarray]:
        """See `linking.Papers`."""
        return self._equal(wanted, [name for name in _OF_PAPERS if name not in ("title", "journal")])

    def _equal(self, wanted: Mapping[str, EqualStrings], names: list[str]) -> tuple[Targets, np.ndarray]:
        """`equal`, of these columns."""
        rows = self._where(wanted, names)
        titles = Groups(rows["wanted"].to_numpy(), len(wanted.get("normalised", ())))
        group = np.full(len(titles) + 1, -1, np.int32)  # the last is of papers whose title nobody wants
        group[titles.groups] = titles.groups
        return Targets.of(rows, titles=titles), group[:-1]

    @property
    def titles(self) -> TitlesOnDisk:
        """See `linking.Papers`."""
        return self._titles

    def similar(self, titles: pa.Array, search: Search) -> Pairs:
        """See `linking.Papers`."""
        return candidates_among(titles, self._titles, search)

    def titled(self, numbers: np.ndarray) -> tuple[Targets, np.ndarray]:
        """See `linking.Papers`."""
        once, inverse = np.unique(numbers, return_inverse=True)
        found = []
        for first, texts in self._titles.texts():
            low, high = np.searchsorted(once, (first, first + len(texts)))
            found.append(texts.take(pa.array(once[low:high] - first)))
        titles = pa.concat_arrays([pa.array([], pa.string()), *found])
        # A group each: they are distinct.
        targets, group = self._equal({"normalised": EqualStrings.of(titles)}, _OF_PAPERS)
        return targets, group[inverse]

    def having(self, sought: Sought) -> pa.Table:
        """See `linking.Papers`."""
        names = ["paper_id", "title", "journal", *FACTS.names]
        found = [SCHEMA.empty_table().select(names)]
        for batch in self._batches() if len(sought.keys) else ():
            table = pa.Table.from_batches([batch]).select(names)
            found.append(table.filter(pa.array(sought.fitting(Facts.of(table)))))
        return pa.concat_tables(found)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for path in self._papers:
            yield from batches_of(path)

    def _where(self, wanted: Mapping[str, EqualStrings], names: list[str]) -> pa.Table:
        """These columns of the papers equal to a wanted string in its column, and in `wanted` the group of the wanted title, or -1.

        Which title that is, its group says: normalised titles are there for the papers that are wanted for another string.
        """
        by_title = wanted.get("normalised")
        named = {name: strings for name, strings in wanted.items() if name != "normalised" and len(strings)}
        found: list[pa.Table] = []
        rows, room = 0, self._room
        for batch in self._batches():
            needed = np.zeros(len(batch), np.bool_)
            for name, strings in named.items():
                needed |= strings.find(batch[name]) >= 0
            group = np.full(len(batch), -1, np.int32)
            if by_title is not None:
                group = by_title.find(batch["normalised"], batch["hash"].to_numpy())
            columns = {name: batch[name] for name in names}
            columns |= {"needed": pa.array(needed), "wanted": pa.array(group)}
            # Copying the titles of most papers would take longer than all else here.
            if needed.any():
                columns["normalised"] = pc.if_else(columns["needed"], batch["normalised"], pa.scalar(None, pa.string()))
            else:
                columns["normalised"] = pa.nulls(len(batch), pa.string())
            found.append(pa.table(columns).filter(pa.array(needed | (group >= 0))))
            rows += len(found[-1])
            if rows > room:
                found = [_first_of_each(pa.concat_tables(found))]
                rows = len(found[0])
                room = rows + self._room
        schema = pa.schema([*map(SCHEMA.field, names), ("wanted", pa.int32())])
        return pa.concat_tables([schema.empty_table(), *(table.select(schema.names) for table in found)])


class TitlesOnDisk:
    """The distinct normalised titles and their keys (`candidates.Passing`), in order of hash, mapped a piece at a time."""

    def __init__(self, folder: Path, search: Search) -> None:
        self._pieces = [_Piece(path, search.bands) for path in sorted(folder.glob("titles-*"))]
        self._count = sum(len(piece) for piece in self._pieces)
        self._stays = sum(piece.bytes for piece in self._pieces) <= search.memory_mb << 19
        known = np.load(folder / OVER_FULL) if (folder / OVER_FULL).exists() else None
        self._crowded: dict[int, np.ndarray] = {}
        if known is not None:
            bands = known >> np.uint64(32)
            self._crowded = {band: known[bands == band].astype(np.uint32) for band in range(search.bands)}

    def __len__(self) -> int:
        return self._count

    def over_full(self, band: int) -> np.ndarray:
        """See `Passing`."""
        if band not in self._crowded:
            self._crowded[band] = over_full(lambda: (some.keys[0] for _, some in self.chunks(band)), len(self))
        return self._crowded[band]

    def chunks(self, band: int) -> Iterator[tuple[int, Keys]]:
        """See `Passing`."""
        first = 0
        for piece in self._pieces:
            for begin in range(0, len(piece), _AT_ONCE):
                yield first + begin, piece.keys(band, slice(begin, min(begin + _AT_ONCE, len(piece))))
                if not self._stays:
                    piece.let_go()
            first += len(piece)

    def texts(self) -> Iterator[tuple[int, pa.Array]]:
        """See `Passing`."""
        begin = 0
        for piece in self._pieces:
            for batch in batches_of(piece.path):
                yield begin, batch.column(0)
                begin += len(batch)


class _Piece:
    """A piece of the titles, with its keys."""

    def __init__(self, path: Path, bands: int) -> None:
        self.path = path
        with path.with_name(path.name.replace("titles-", "keys-")).open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._count = len(self._map) // (4 * bands + BYTES_BESIDE_KEYS)
        keys, sketches = 4 * bands * self._count, 32 * self._count
        self._sketches = np.frombuffer(self._map, np.uint64, 4 * self._count).reshape(self._count, 4)
        self._keys = np.frombuffer(self._map, np.uint32, keys // 4, sketches).reshape(bands, self._count)
        self._sizes = np.frombuffer(self._map, np.int32, self._count, sketches + keys)

    def __len__(self) -> int:
        return self._count

    @property
    def bytes(self) -> int:
        """Of its file."""
        return len(self._map)

    def keys(self, band: int, some: slice) -> Keys:
        """One band's keys of some titles, their sizes and sketches."""
        return Keys(self._keys[band : band + 1, some], self._sizes[some], self._sketches[some])

    def let_go(self) -> None:
        """Mapped pages are the system's to keep, not this process's."""
        self._map.madvise(mmap.MADV_DONTNEED)


def _first_of_each(rows: pa.Table) -> pa.Table:
    """Without the papers that no tie rule can choose: a title shared by millions leaves a few for each year, surname and place."""
    facts = [name for name in FACTS.names if name not in ("normalised", "little")]
    key = fingerprints(rows.select(["wanted", *facts])) ^ rows["little"].to_numpy().astype(np.uint64)
    order = np.lexsort((np.asarray(pc.rank(rows["paper_id"])), key))
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows)) - np.searchsorted(key[order], key[order])
    return rows.filter(pc.or_(rows["needed"], pa.array(place < _EQUAL)))
