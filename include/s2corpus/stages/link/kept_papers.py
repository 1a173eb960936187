"""The kept papers as linking reads them: on scratch, in passes, so that memory is bounded by the spec and not by how many they are.

One pass over the lake writes every paper with the facts of its title, and every distinct title with its keys; what links some
entries then reads the papers past what these entries want, and the titles past what is left of them.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.pipeline.run import Run
from s2corpus.tables import FILTERED, PAPERS
from s2corpus.titles.arrays import text_of
from s2corpus.titles.candidates import Pairs, Search, candidates_among
from s2corpus.titles.changes import fingerprints
from s2corpus.titles.choosing import MOST
from s2corpus.titles.equal import EqualStrings, hash_strings
from s2corpus.titles.postings import Keys, keys_of, over_full
from s2corpus.titles.targets import FACTS, IDENTIFIERS, PLACES, Facts, Targets, first_surname, wanted_rows

_PAPERS = pa.schema(
    [(name, pa.string()) for name in ("paper_id", "title", "journal", *IDENTIFIERS)] + [*FACTS, ("hash", pa.uint64())]
)
_TEXTS = pa.schema([("normalised", pa.string())])
_TITLES = pa.schema([("normalised", pa.string()), ("hash", pa.uint64())])
_BYTES_PER_TITLE = 512
"""Memory that a title takes while equal ones are found, an upper estimate."""
_BYTES_PER_PAPER = 1024
"""Memory that a paper takes which some entries want, an upper estimate."""
_ROWS = 1 << 16
_AT_ONCE = 1 << 17
"""Titles whose keys are mapped at once: 5 MB."""
_EQUAL = MOST + 2
"""Papers of one title, year, first author and place that can matter to an entry: its own, all that are looked at, and one more."""


def read_papers(run: Run, bucket: int) -> pa.Table:
    """The kept papers of a bucket, with what the rules look at."""
    outcomes = run.table(FILTERED).read(["paper_id", "outcome"], shard=bucket)
    papers = run.table(PAPERS).read(
        ["paper_id", "title", "date", "authors", "venue", *PLACES, *IDENTIFIERS], shard=bucket
    )
    kept = pc.equal(outcomes["outcome"], "kept")
    if not outcomes["paper_id"].equals(papers["paper_id"]):  # as a rule they are in one order
        kept = pc.is_in(papers["paper_id"], outcomes["paper_id"].filter(kept))
    papers = papers.filter(kept)
    return (
        papers.append_column("year", pc.utf8_slice_codeunits(papers["date"], 0, 4).cast(pa.int32()))
        .append_column("surname", first_surname(papers["authors"]))
        .set_column(papers.column_names.index("journal"), "journal", pc.coalesce(papers["journal"], papers["venue"]))
        .drop_columns(["date", "authors", "venue"])
    )


class KeptPapers:
    """The papers of a release that entries may link to (`linking.Papers`), below a folder on scratch."""

    def __init__(self, run: Run, folder: Path, search: Search) -> None:
        """Read the papers once, and write what is read again and again. `search` decides the keys."""
        self._folder = folder
        self._room = max((run.spec.resources.memory_mb << 19) // _BYTES_PER_PAPER, 1)
        rows = run.table(PAPERS).committed().rows
        parts = max(ceil(rows * _BYTES_PER_TITLE / (run.spec.resources.memory_mb << 18)), 1)
        with ExitStack() as stack:
            papers = stack.enter_context(_writer(folder / "papers.arrow", _PAPERS))
            titles = [stack.enter_context(_writer(folder / f"titles-{part}.arrow", _TITLES)) for part in range(parts)]
            for bucket in range(run.paper_shards):
                table = read_papers(run, bucket)
                facts = Facts.of(table)
                hashes = hash_strings(*text_of(facts.normalised))
                for name, column in (*zip(FACTS.names, facts.table().columns, strict=True), ("hash", pa.array(hashes))):
                    table = table.drop_columns([name]) if name in table.column_names else table
                    table = table.append_column(name, column)
                papers.write_table(table.select(_PAPERS.names).cast(_PAPERS), _ROWS)
                first = EqualStrings.of(facts.normalised, hashes).first
                of_part = (hashes[first] >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)
                for part in range(parts):
                    mine = first[of_part == part]
                    columns = [facts.normalised.take(pa.array(mine)), hashes[mine]]
                    titles[part].write_table(pa.table(columns, schema=_TITLES), _ROWS)
        self._titles = TitlesOnDisk(folder, parts, search)

    def equal(self, wanted: Mapping[str, EqualStrings]) -> Targets:
        """See `linking.Papers`."""
        return Targets.of(self._where(wanted))

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
        targets = self.equal({"normalised": EqualStrings.of(titles)})
        return targets, targets.titles.find(titles)[inverse]

    def having(self, keys: np.ndarray) -> pa.Table:
        """See `linking.Papers`."""
        names = ["paper_id", "title", "journal", *FACTS.names]
        found = [_PAPERS.empty_table().select(names)]
        for batch in _batches(self._folder / "papers.arrow") if len(keys) else ():
            table = pa.Table.from_batches([batch]).select(names)
            found.append(table.filter(pa.array(wanted_rows(Facts.of(table), keys))))
        return pa.concat_tables(found)

    def _where(self, wanted: Mapping[str, EqualStrings]) -> pa.Table:
        """The papers equal to a wanted string in its column."""
        by_title = wanted.get("normalised")
        named = {name: strings for name, strings in wanted.items() if name != "normalised" and len(strings)}
        found: list[pa.Table] = []
        rows, room = 0, self._room
        for batch in _batches(self._folder / "papers.arrow"):
            needed = np.zeros(len(batch), np.bool_)
            for name, strings in named.items():
                needed |= strings.find(batch[name]) >= 0
            mask = needed.copy()
            if by_title is not None:
                mask |= by_title.find(batch["normalised"], batch["hash"].to_numpy()) >= 0
            table = pa.Table.from_batches([batch]).append_column("needed", pa.array(needed))
            found.append(table.filter(pa.array(mask)))
            rows += len(found[-1])
            if rows > room:
                found = [_first_of_each(pa.concat_tables(found))]
                rows = len(found[0])
                room = rows + self._room
        return pa.concat_tables([_PAPERS.empty_table(), *(table.select(_PAPERS.names) for table in found)])


class TitlesOnDisk:
    """The distinct normalised titles and their keys (`candidates.Passing`), in order of hash, mapped a piece at a time."""

    def __init__(self, folder: Path, parts: int, search: Search) -> None:
        """Put together the parts that were written: equal titles are in one."""
        self._folder = folder
        paths = [folder / f"titles-{part}.arrow" for part in range(parts)]
        room = max(sum(len(batch) for path in paths for batch in _batches(path)), 1)
        keys_map = _mapped(folder / "keys", 4 * room * search.bands)
        sizes_map, sketches_map = _mapped(folder / "sizes", 4 * room), _mapped(folder / "sketches", 32 * room)
        self._maps = (keys_map, sizes_map, sketches_map)
        self._keys = np.frombuffer(keys_map, np.uint32).reshape(search.bands, room)
        self._sizes = np.frombuffer(sizes_map, np.int32)
        self._sketches = np.frombuffer(sketches_map, np.uint64).reshape(room, 4)
        self._count = 0
        with _writer(folder / "titles.arrow", _TEXTS) as writer:
            for path in paths:
                part = pa.Table.from_batches(_batches(path), _TITLES)
                hashes = part["hash"].to_numpy()
                first = EqualStrings.of(part["normalised"], hashes).first
                first = first[np.argsort(hashes[first], kind="stable")]
                titles = part["normalised"].combine_chunks().take(pa.array(first))
                del part, hashes, first
                path.unlink()
                for begin in range(0, len(titles), _ROWS):
                    some = titles.slice(begin, _ROWS)
                    writer.write_table(pa.table([some], schema=_TEXTS))
                    made = keys_of(some, range(search.bands), search.rows)
                    here = slice(self._count, self._count + len(some))
                    self._keys[:, here], self._sizes[here], self._sketches[here] = made.keys, made.sizes, made.sketches
                    self._count += len(some)
                    self._let_go()
        self._crowded = [over_full(partial(self._keys_of, band), len(self)) for band in range(search.bands)]

    def __len__(self) -> int:
        return self._count

    def over_full(self, band: int) -> np.ndarray:
        """See `Passing`."""
        return self._crowded[band]

    def chunks(self, band: int) -> Iterator[tuple[int, Keys]]:
        """See `Passing`."""
        for begin in range(0, self._count, _AT_ONCE):
            some = slice(begin, min(begin + _AT_ONCE, self._count))
            yield begin, Keys(self._keys[band : band + 1, some], self._sizes[some], self._sketches[some])
            self._let_go()

    def _keys_of(self, band: int) -> Iterator[np.ndarray]:
        return (some.keys[0] for _, some in self.chunks(band))

    def texts(self) -> Iterator[tuple[int, pa.Array]]:
        """See `Passing`."""
        begin = 0
        for batch in _batches(self._folder / "titles.arrow"):
            yield begin, batch.column(0)
            begin += len(batch)

    def _let_go(self) -> None:
        """Mapped pages are the system's to keep, not this process's."""
        for held in self._maps:
            held.madvise(mmap.MADV_DONTNEED)


def _first_of_each(rows: pa.Table) -> pa.Table:
    """Without the papers that no tie rule can choose: a title shared by millions leaves a few for each year, surname and place."""
    key = fingerprints(rows.select([name for name in FACTS.names if name != "little"])) ^ rows[
        "little"
    ].to_numpy().astype(np.uint64)
    order = np.lexsort((np.asarray(pc.rank(rows["paper_id"])), key))
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows)) - np.searchsorted(key[order], key[order])
    return rows.filter(pc.or_(rows["needed"], pa.array(place < _EQUAL)))


def _mapped(path: Path, size: int) -> mmap.mmap:
    with path.open("w+b") as file:
        file.truncate(size)
        return mmap.mmap(file.fileno(), size)


def _writer(path: Path, schema: pa.Schema) -> pa.RecordBatchStreamWriter:
    return pa.ipc.new_stream(str(path), schema)


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        yield from reader
