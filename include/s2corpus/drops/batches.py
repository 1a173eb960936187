"""Files of new drops on their way through select → extract → postprocess, before any release: a wave is a shard's worth of them.

A wave has tables of its own, `waves/<id>/<table>/`, in which every file has its outcome; what costs, TEI and parses, goes to the
content stores, where a release finds it. A wave is named by its files: worked on twice, it is the same wave, and all is known.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.deliveries.status import State
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.registry import stage
from s2corpus.pipeline.run import ChangedInput, Run
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.extract import TooManyFailures
from s2corpus.storage.lake import Lake
from s2corpus.storage.transient import explained
from s2corpus.tables import (
    ARTICLE_PARSES,
    ARTICLES,
    EXTRACTIONS,
    LATEX_PARSES,
    LATEX_SOURCES,
    PARSES,
    PDFS,
    SELECTIONS,
    Table,
)

_FILES = (PDFS, LATEX_SOURCES, ARTICLES)

log = logging.getLogger(__name__)
STAGES = ("select", "extract", "postprocess")


@dataclass(frozen=True)
class Wave(Run):
    """A run of these stages over the files of one wave."""

    id: str = ""

    @property
    def folder(self) -> str:
        """Where its tables are."""
        return f"waves/{self.id}"

    @property
    def drops(self) -> list[str]:
        """The folders of the drops that have a file in it."""
        drops: list[str] = orjson.loads(self.lake.get(f"{self.folder}/plan.json")[0])["drops"]
        return drops


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of a wave: the drops that stay open, as (state, detail), and for each drop how many files had which outcome."""

    stopped: Mapping[str, tuple[State, str]]
    outcomes: Mapping[str, Mapping[str, int]]


def rules(specs: Sequence[ReleaseSpec]) -> dict[str, ReleaseSpec]:
    """The different sets of rules of these stages, by digest, each as the spec whose resources the work has: the largest shards."""
    ordered = sorted(specs, key=lambda spec: (spec.resources.pdfs_per_shard, spec.name))
    return {digest(spec): spec for spec in ordered}


def digest(spec: ReleaseSpec) -> str:
    """16 hex digits over what decides the outcomes of these stages."""
    decisive = spec.model_dump(mode="json", include={"select", "extract", "latex"})
    return hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def new_wave(lake: Lake, spec: ReleaseSpec, scratch: Path | None) -> Wave:
    """A wave without files."""
    folder = scratch or Path(os.environ.get("S2CORPUS_SCRATCH", "/tmp"))
    return Wave(spec, datetime.fromtimestamp(0, UTC), lake, folder)


def cut(wave: Wave, *files: pa.Table) -> list[Wave]:
    """Files (rows of the tables of `_FILES`) as waves of at most a shard's size, written to the lake; a drop's files lie together."""
    size = wave.spec.resources.pdfs_per_shard
    found = [_by_drop(part) for part in files]
    waves = []
    for start in range(0, max(part.num_rows for part in found), size):
        parts = [(table, part.slice(start, size)) for table, part in zip(_FILES, found, strict=True)]
        parts = [(table, part.sort_by(table.key[0])) for table, part in parts]
        drops = sorted({drop for _, part in parts for found in _drops(part).values() for drop in found})
        plan = {"rules": digest(wave.spec), "drops": drops, "files": [part[0].to_pylist() for _, part in parts]}
        made = replace(wave, id=hashlib.sha256(orjson.dumps(plan)).hexdigest()[:16])
        for table, part in parts:
            made.table(table).write(0, part)
            made.table(table).commit([0], {"pdf_shards": 1})
        made.lake.put(f"{made.folder}/plan.json", orjson.dumps({"rules": plan["rules"], "drops": drops}))
        waves.append(made)
    return waves


def find(lake: Lake, id_: str, specs: Sequence[ReleaseSpec], scratch: Path | None) -> Wave:
    """A wave that was written before.

    Raises:
        UserError: no spec has its rules any more.
    """
    plan = orjson.loads(lake.get(f"waves/{id_}/plan.json")[0])
    spec = rules(specs).get(plan["rules"])
    if spec is None:
        raise UserError(f"wave {id_}: the release specs were changed since it was made: clear the run from `gather` on")
    return replace(new_wave(lake, spec, scratch), id=id_)


def work(wave: Wave, *, last: bool) -> Worked:
    """Take a wave through the stages and keep what came of it.

    Drops with a file that was changed or that an error of ours stops at, in the `last` try also those that the extractor gives up
    on, are worked on one by one, so that none is in the others' way.

    Raises:
        TransientError: a server does not answer; before the last try also: the extractor gave up on too many PDFs.
        UserError: something is set up wrong.
    """
    try:
        with explained():
            _through(wave)
        worked = Worked({}, _outcomes(wave))
    except Exception as error:
        if isinstance(error, TooManyFailures):
            if not last:
                raise
            state = State.UNFINISHED
        elif isinstance(error, ChangedInput):
            state = State.REFUSED
        elif isinstance(error, TransientError | UserError):
            raise
        else:
            state = State.FAILED
        drops = wave.drops
        if len(drops) > 1:
            log.warning("wave %s: %s: working on its %d drops one by one", wave.id, error, len(drops))
            alone = [work(part, last=last) for drop in drops for part in _only(wave, drop)]
            outcomes = Counter[tuple[str, str]]()
            for part in alone:
                outcomes.update({(drop, word): n for drop, of in part.outcomes.items() for word, n in of.items()})
            stopped = {drop: why for part in alone for drop, why in part.stopped.items()}
            counted = {drop: {word: n for (of, word), n in sorted(outcomes.items()) if of == drop} for drop in drops}
            worked = Worked(stopped, counted)
        else:
            log.warning("wave %s: %s", wave.id, error, exc_info=state == State.FAILED)
            known = isinstance(error, TooManyFailures | ChangedInput)
            worked = Worked(
                {drops[0]: (state, (str(error) if known else f"{type(error).__name__}: {error}")[:300])}, {}
            )
    wave.lake.put(f"{wave.folder}/worked.json", orjson.dumps(worked))
    return worked


def came_of(wave: Wave) -> Worked | None:
    """What came of a wave; None where no work on it came to its end."""
    try:
        raw = orjson.loads(wave.lake.get(f"{wave.folder}/worked.json")[0])
    except FileNotFoundError:
        return None
    return Worked({drop: (State(state), why) for drop, (state, why) in raw["stopped"].items()}, raw["outcomes"])


def _through(wave: Wave) -> None:
    for name in STAGES:
        step = stage(name)
        shards = step.plan(wave)
        wave.put_plan(name, shards)
        for shard in shards:
            step.work(wave, shard)
        step.finish(wave)


def _only(wave: Wave, drop: str) -> list[Wave]:
    """The files of one drop of a wave, as a wave of their own."""
    tables = []
    for table in _FILES:
        files = wave.table(table).read()
        held = _drops(files)
        tables.append(files.filter(pa.array([drop in held[sha1] for sha1 in files[0].to_pylist()], pa.bool_())))
    return cut(wave, *tables)


def _outcomes(wave: Wave) -> dict[str, dict[str, int]]:
    """For each drop how many of its files had which outcome: that of the last stage that had the file."""
    ends: dict[str, str] = {}
    for table, column in ((SELECTIONS, "pdf_sha1"), (EXTRACTIONS, "pdf_sha1"), (PARSES, "pdf_sha1")):
        ends |= _outcome_of(wave, table, column)
    latex = {sha1: f"latex:{outcome}" for sha1, outcome in _outcome_of(wave, LATEX_PARSES, "archive_sha1").items()}
    articles = {sha1: f"article:{outcome}" for sha1, outcome in _outcome_of(wave, ARTICLE_PARSES, "file_sha1").items()}
    counts: dict[str, Counter[str]] = {drop: Counter() for drop in wave.drops}
    for table, outcomes in ((PDFS, ends), (LATEX_SOURCES, latex), (ARTICLES, articles)):
        for sha1, drops in _drops(wave.table(table).read()).items():
            for drop in drops:
                counts[drop][outcomes[sha1].removeprefix("none:")] += 1
    return {drop: dict(sorted(counted.items())) for drop, counted in counts.items()}


def _outcome_of(wave: Wave, table: Table, column: str) -> dict[str, str]:
    rows = wave.table(table).read([column, "outcome"])
    return dict(zip(rows[column].to_pylist(), rows["outcome"].to_pylist(), strict=True))


def _drops(files: pa.Table) -> dict[str, list[str]]:
    """SHA-1 → the folders of the drops that hold the file."""
    places = zip(files[0].to_pylist(), files["places"].to_pylist(), strict=True)
    return {sha1: sorted({place.get("folder") or f"drops/{place['drop']}/" for place in held}) for sha1, held in places}


def _by_drop(files: pa.Table) -> pa.Table:
    keys = pa.table({"drop": pa.array([held[0] for held in _drops(files).values()], pa.string()), "sha1": files[0]})
    return files.take(pc.sort_indices(keys, [("drop", "ascending"), ("sha1", "ascending")]))
