"""Batches of files of new drops, processed by select → extract → postprocess before a release.

A batch has at most the size of a shard. Its tables, `batches/<id>/<table>/`, contain an outcome for every file. TEI and parses go to the
content stores, from which a release reads them. The id of a batch is a hash of its files, so a repeated batch reuses stored results.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.deliveries.files import ChangedInput
from s2corpus.deliveries.status import ArrivalState
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.runner import process_stages
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.extract import TooManyFailures
from s2corpus.storage.lake import Lake
from s2corpus.storage.transient import explained
from s2corpus.tables.intake import ARTICLES, LATEX_SOURCES, PDFS
from s2corpus.tables.parses import ARTICLE_PARSES, EXTRACTIONS, LATEX_PARSES, PARSES, SELECTIONS
from s2corpus.tables.schema import Table
from s2orc_parse.scratch import private

_FILES = (PDFS, LATEX_SOURCES, ARTICLES)

log = logging.getLogger(__name__)
STAGES = ("select", "extract", "postprocess")


@dataclass(frozen=True, slots=True)
class Batch:
    """Files of drops that one run processes together; its tables are in the folder of the batch."""

    id: str
    run: Run

    @property
    def drops(self) -> list[str]:
        """Folders of the drops with a file in the batch."""
        drops: list[str] = orjson.loads(self.run.lake.get(f"{self.run.folder}/plan.json")[0])["drops"]
        return drops


@dataclass(frozen=True, slots=True)
class Worked:
    """Result of a batch: the state and detail of unfinished drops, and the number of files by drop and outcome."""

    stopped: Mapping[str, tuple[ArrivalState, str]]
    outcomes: Mapping[str, Mapping[str, int]]


def rules(specs: Sequence[ReleaseSpec]) -> dict[str, ReleaseSpec]:
    """Return one spec for each distinct set of rules of these stages, by digest: the spec with the largest shards."""
    ordered = sorted(specs, key=lambda spec: (spec.resources.pdfs_per_shard, spec.name))
    return {digest(spec): spec for spec in ordered}


def digest(spec: ReleaseSpec) -> str:
    """Return a hash (16 hex digits) of the rules that decide the outcomes of these stages."""
    decisive = spec.model_dump(mode="json", include={"select", "extract"})
    return hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def run_of(lake: Lake, spec: ReleaseSpec, scratch: Path | None, id_: str = "") -> Run:
    """Return the run of a batch; its `as_of` is a constant, because these stages do not use it."""
    return Run(spec, datetime.fromtimestamp(0, UTC), lake, scratch or private(), f"batches/{id_}")


def cut(run: Run, *files: pa.Table) -> list[Batch]:
    """Write files (rows of the tables of `_FILES`) to the lake as batches of at most a shard's size, sorted by drop."""
    size = run.spec.resources.pdfs_per_shard
    found = [_by_drop(part) for part in files]
    made = []
    for start in range(0, max(part.num_rows for part in found), size):
        parts = [(table, part.slice(start, size)) for table, part in zip(_FILES, found, strict=True)]
        parts = [(table, part.sort_by(table.key[0])) for table, part in parts]
        drops = sorted({drop for _, part in parts for held in _drops(part).values() for drop in held})
        plan = {"rules": digest(run.spec), "drops": drops, "files": [part[0].to_pylist() for _, part in parts]}
        id_ = hashlib.sha256(orjson.dumps(plan)).hexdigest()[:16]
        batch = Batch(id_, run_of(run.lake, run.spec, run.scratch, id_))
        for table, part in parts:
            batch.run.table(table).write(0, part)
            batch.run.table(table).commit([0], {"pdf_shards": 1})
        run.lake.put(f"{batch.run.folder}/plan.json", orjson.dumps({"rules": plan["rules"], "drops": drops}))
        made.append(batch)
    return made


def find(lake: Lake, id_: str, specs: Sequence[ReleaseSpec], scratch: Path | None) -> Batch:
    """Return a batch that `cut` wrote.

    Raises:
        UserError: no spec has the rules of the batch.
    """
    plan = orjson.loads(lake.get(f"batches/{id_}/plan.json")[0])
    spec = rules(specs).get(plan["rules"])
    if spec is None:
        raise UserError(
            f"batch {id_}: the release specs were changed since it was made: clear the run from `gather` on"
        )
    return Batch(id_, run_of(lake, spec, scratch, id_))


def work(batch: Batch, *, last: bool) -> Worked:
    """Process a batch with all stages and store the result.

    If a file has changed or causes an unexpected error, the drops are processed one by one, so that other drops continue. On the
    `last` try, this also happens if the extractor fails on too many PDFs.

    Raises:
        TransientError: a server does not respond, or the extractor fails on too many PDFs before the last try.
        UserError: the configuration is wrong.
    """
    try:
        with explained():
            process_stages(batch.run, STAGES)
        worked = Worked({}, _outcomes(batch))
    except Exception as error:
        if isinstance(error, TooManyFailures):
            if not last:
                raise
            state = ArrivalState.UNFINISHED
        elif isinstance(error, ChangedInput):
            state = ArrivalState.REFUSED
        elif isinstance(error, TransientError | UserError):
            raise
        else:
            state = ArrivalState.FAILED
        drops = batch.drops
        if len(drops) > 1:
            log.warning("batch %s: %s: working on its %d drops one by one", batch.id, error, len(drops))
            alone = [work(part, last=last) for drop in drops for part in _only(batch, drop)]
            outcomes = Counter[tuple[str, str]]()
            for part in alone:
                outcomes.update({(drop, word): n for drop, of in part.outcomes.items() for word, n in of.items()})
            stopped = {drop: why for part in alone for drop, why in part.stopped.items()}
            counted = {drop: {word: n for (of, word), n in sorted(outcomes.items()) if of == drop} for drop in drops}
            worked = Worked(stopped, counted)
        else:
            log.warning("batch %s: %s", batch.id, error, exc_info=state == ArrivalState.FAILED)
            known = isinstance(error, TooManyFailures | ChangedInput)
            worked = Worked(
                {drops[0]: (state, (str(error) if known else f"{type(error).__name__}: {error}")[:300])}, {}
            )
    batch.run.lake.put(f"{batch.run.folder}/worked.json", orjson.dumps(worked))
    return worked


def result_of(batch: Batch) -> Worked | None:
    """Read the result of a batch; return None if no run has finished it."""
    try:
        raw = orjson.loads(batch.run.lake.get(f"{batch.run.folder}/worked.json")[0])
    except FileNotFoundError:
        return None
    return Worked({drop: (ArrivalState(state), why) for drop, (state, why) in raw["stopped"].items()}, raw["outcomes"])


def _only(batch: Batch, drop: str) -> list[Batch]:
    """The files of one drop of a batch, as a batch of their own."""
    tables = []
    for table in _FILES:
        files = batch.run.table(table).read()
        held = _drops(files)
        tables.append(files.filter(pa.array([drop in held[sha1] for sha1 in files[0].to_pylist()], pa.bool_())))
    return cut(batch.run, *tables)


def _outcomes(batch: Batch) -> dict[str, dict[str, int]]:
    """Count the files of each drop by outcome; the last stage that processed a file decides its outcome."""
    ends: dict[str, str] = {}
    for table, column in ((SELECTIONS, "file_sha1"), (EXTRACTIONS, "file_sha1"), (PARSES, "file_sha1")):
        ends |= _outcome_of(batch, table, column)
    latex = {sha1: f"latex:{outcome}" for sha1, outcome in _outcome_of(batch, LATEX_PARSES, "archive_sha1").items()}
    articles = {sha1: f"article:{outcome}" for sha1, outcome in _outcome_of(batch, ARTICLE_PARSES, "file_sha1").items()}
    counts: dict[str, Counter[str]] = {drop: Counter() for drop in batch.drops}
    for files, outcomes in ((PDFS, ends), (LATEX_SOURCES, latex), (ARTICLES, articles)):
        for sha1, drops in _drops(batch.run.table(files).read()).items():
            for drop in drops:
                counts[drop][outcomes[sha1].removeprefix("none:")] += 1
    return {drop: dict(sorted(counted.items())) for drop, counted in counts.items()}


def _outcome_of(batch: Batch, table: Table, column: str) -> dict[str, str]:
    rows = batch.run.table(table).read([column, "outcome"])
    return dict(zip(rows[column].to_pylist(), rows["outcome"].to_pylist(), strict=True))


def _drops(files: pa.Table) -> dict[str, list[str]]:
    """Return the folders of the drops that contain each file, by SHA-1."""
    places = zip(files[0].to_pylist(), files["places"].to_pylist(), strict=True)
    return {sha1: sorted({place.get("folder") or f"drops/{place['drop']}/" for place in held}) for sha1, held in places}


def _by_drop(files: pa.Table) -> pa.Table:
    keys = pa.table({"drop": pa.array([held[0] for held in _drops(files).values()], pa.string()), "sha1": files[0]})
    return files.take(pc.sort_indices(keys, [("drop", "ascending"), ("sha1", "ascending")]))
