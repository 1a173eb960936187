"""Batches of files of new drops, processed by select → extract → postprocess before a release.

A batch has at most the size of a shard. Its tables, `batches/<id>/<table>/`, contain an outcome for every file. TEI and parses go to the
content stores, from which a release reads them. The id of a batch is a hash of its files, so a repeated batch reuses stored results.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.deliveries.files import ChangedInput, lake_folder
from s2corpus.deliveries.status import ArrivalState
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.runner import process_stages
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.extract import TooManyFailures
from s2corpus.storage.error_kinds import convert_errors
from s2corpus.storage.lake import Lake
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
class BatchResult:
    """Result of a batch: the state and detail of unfinished drops (`stopped`), and the number of files by drop and outcome."""

    stopped: Mapping[str, tuple[ArrivalState, str]]
    outcomes: Mapping[str, Mapping[str, int]]


def group_by_rules(specs: Sequence[ReleaseSpec]) -> dict[str, ReleaseSpec]:
    """Return one spec per distinct rule set of these stages (the one with the largest shards), by digest of the rules."""
    ordered = sorted(specs, key=lambda spec: (spec.resources.pdfs_per_shard, spec.name))
    return {digest(spec): spec for spec in ordered}


def digest(spec: ReleaseSpec) -> str:
    """Return a hash (16 hex digits) of the rules that decide the outcomes of these stages."""
    decisive = spec.model_dump(mode="json", include={"select", "extract"})
    return hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def run_of(lake: Lake, spec: ReleaseSpec, scratch: Path | None, id_: str = "") -> Run:
    """Return the run of a batch; its `as_of` is a constant, because these stages do not use it."""
    return Run(spec, datetime.fromtimestamp(0, UTC), lake, scratch or private(), f"batches/{id_}")


def write_batches(run: Run, *files: pa.Table) -> list[Batch]:
    """Write files (rows of the tables of `_FILES`) to the lake as batches of at most a shard's size, sorted by drop."""
    size = run.spec.resources.pdfs_per_shard
    sorted_files = [_sort_by_drop(part) for part in files]
    made = []
    for start in range(0, max(part.num_rows for part in sorted_files), size):
        parts = [(table, part.slice(start, size)) for table, part in zip(_FILES, sorted_files, strict=True)]
        parts = [(table, part.sort_by(table.key[0])) for table, part in parts]
        drops = sorted({drop for _, part in parts for folders in _drops_of(part).values() for drop in folders})
        plan = {"rules": digest(run.spec), "drops": drops, "files": [part[0].to_pylist() for _, part in parts]}
        id_ = hashlib.sha256(orjson.dumps(plan)).hexdigest()[:16]
        batch = Batch(id_, run_of(run.lake, run.spec, run.scratch, id_))
        for table, part in parts:
            batch.run.table(table).write(0, part)
            batch.run.table(table).commit([0], {"pdf_shards": 1})
        run.lake.put(f"{batch.run.folder}/plan.json", orjson.dumps({"rules": plan["rules"], "drops": drops}))
        made.append(batch)
    return made


def read_batch(lake: Lake, id_: str, specs: Sequence[ReleaseSpec], scratch: Path | None) -> Batch:
    """Return a batch that `write_batches` wrote.

    Raises:
        UserError: no spec has the rules of the batch.
    """
    plan = orjson.loads(lake.get(f"batches/{id_}/plan.json")[0])
    spec = group_by_rules(specs).get(plan["rules"])
    if spec is None:
        raise UserError(
            f"batch {id_}: the release specs have changed since the batch was created: clear the run from `gather`"
        )
    return Batch(id_, run_of(lake, spec, scratch, id_))


def process_batch(batch: Batch, *, last: bool) -> BatchResult:
    """Process a batch with all stages and store the result.

    If a file has changed or causes an unexpected error, the drops are processed one by one, so that other drops continue. On the
    `last` try, this also happens if the extractor fails on too many PDFs.

    Raises:
        TransientError: a server does not respond, or the extractor fails on too many PDFs before the last try.
        UserError: the configuration is wrong.
    """
    try:
        with convert_errors():
            process_stages(batch.run, STAGES)
        result = BatchResult({}, _count_outcomes(batch))
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
            log.warning("batch %s: %s: processing its %d drops separately", batch.id, error, len(drops))
            results = [process_batch(part, last=last) for drop in drops for part in _split_off(batch, drop)]
            result = merge_results(results)
        else:
            log.warning("batch %s: %s", batch.id, error, exc_info=state == ArrivalState.FAILED)
            is_expected = isinstance(error, TooManyFailures | ChangedInput)
            detail = str(error) if is_expected else f"{type(error).__name__}: {error}"
            result = BatchResult({drops[0]: (state, detail[:300])}, {})
    batch.run.lake.put(f"{batch.run.folder}/processed.json", orjson.dumps(result))
    return result


def merge_results(results: Iterable[BatchResult]) -> BatchResult:
    """Merge the results of batches, which may have files of the same drops."""
    stopped: dict[str, tuple[ArrivalState, str]] = {}
    outcomes: dict[str, Counter[str]] = {}
    for result in results:
        stopped |= result.stopped
        for drop, counts in result.outcomes.items():
            outcomes.setdefault(drop, Counter()).update(counts)
    return BatchResult(stopped, {drop: dict(sorted(counts.items())) for drop, counts in outcomes.items()})


def read_result(batch: Batch) -> BatchResult | None:
    """Read the result of a batch; return None if no run has finished it."""
    try:
        raw = orjson.loads(batch.run.lake.get(f"{batch.run.folder}/processed.json")[0])
    except FileNotFoundError:
        return None
    stopped = {drop: (ArrivalState(state), detail) for drop, (state, detail) in raw["stopped"].items()}
    return BatchResult(stopped, raw["outcomes"])


def _split_off(batch: Batch, drop: str) -> list[Batch]:
    """Write the files of one drop of a batch as separate batches."""
    tables = []
    for table in _FILES:
        files = batch.run.table(table).read()
        drops = _drops_of(files)
        tables.append(files.filter(pa.array([drop in drops[sha1] for sha1 in files[0].to_pylist()], pa.bool_())))
    return write_batches(batch.run, *tables)


def _count_outcomes(batch: Batch) -> dict[str, dict[str, int]]:
    """Count the files of each drop by outcome; the last stage that processed a file decides its outcome."""
    ends: dict[str, str] = {}
    for table, column in ((SELECTIONS, "file_sha1"), (EXTRACTIONS, "file_sha1"), (PARSES, "file_sha1")):
        ends |= _outcome_of(batch, table, column)
    latex = {sha1: f"latex:{outcome}" for sha1, outcome in _outcome_of(batch, LATEX_PARSES, "archive_sha1").items()}
    articles = {sha1: f"article:{outcome}" for sha1, outcome in _outcome_of(batch, ARTICLE_PARSES, "file_sha1").items()}
    counts: dict[str, Counter[str]] = {drop: Counter() for drop in batch.drops}
    for files, outcomes in ((PDFS, ends), (LATEX_SOURCES, latex), (ARTICLES, articles)):
        for sha1, drops in _drops_of(batch.run.table(files).read()).items():
            for drop in drops:
                # The outcome of a file without a parse is `none:` and the outcome of an earlier stage.
                counts[drop][outcomes[sha1].removeprefix("none:")] += 1
    return {drop: dict(sorted(counter.items())) for drop, counter in counts.items()}


def _outcome_of(batch: Batch, table: Table, column: str) -> dict[str, str]:
    rows = batch.run.table(table).read([column, "outcome"])
    return dict(zip(rows[column].to_pylist(), rows["outcome"].to_pylist(), strict=True))


def _drops_of(files: pa.Table) -> dict[str, list[str]]:
    """Return the folders of the drops that contain each file, by SHA-1."""
    rows = zip(files[0].to_pylist(), files["places"].to_pylist(), strict=True)
    return {sha1: sorted({lake_folder(place) for place in places}) for sha1, places in rows}


def _sort_by_drop(files: pa.Table) -> pa.Table:
    keys = pa.table(
        {"drop": pa.array([drops[0] for drops in _drops_of(files).values()], pa.string()), "sha1": files[0]}
    )
    return files.take(pc.sort_indices(keys, [("drop", "ascending"), ("sha1", "ascending")]))
