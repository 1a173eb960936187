"""Count the inputs that the next release processes again because a rule version or an extractor changed, before it starts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson

from s2corpus.deliveries.ready import READER_VERSION
from s2corpus.errors import UserError
from s2corpus.extractors import EXTRACTORS, ExtractorIdentity
from s2corpus.ids import ReleaseId
from s2corpus.pdf import library_versions
from s2corpus.pipeline.run import ReleaseTables, Run
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.extract import ExtractStage, find_stored
from s2corpus.stages.postprocess import list_converters, parse_store
from s2corpus.stages.select import selection_store
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import PDFS
from s2corpus.tables.parses import EXTRACTIONS, SELECTIONS, STORED_PARSES, STORED_SELECTIONS, STORED_TEI

INSPECTION_SECONDS, EXTRACTION_SECONDS, PARSE_SECONDS = 0.016, 0.2, 0.0036
"""CPU seconds of a PDF (docs/sizing.md; 8.6 pages). The measured duration of the release's extractions replaces the second."""


@dataclass(slots=True)
class UpgradePlan:
    """The PDFs of a spec's latest release that its next release processes again."""

    release: ReleaseId
    pdfs: int = 0
    to_inspect: int = 0
    to_extract: int = 0
    to_parse: int = 0
    extraction_seconds: float = EXTRACTION_SECONDS
    """seconds of one extraction"""

    @property
    def hours(self) -> tuple[float, float, float]:
        """Return the estimated core-hours of inspection, extraction and parsing."""
        return (
            self.to_inspect * INSPECTION_SECONDS / 3600,
            self.to_extract * self.extraction_seconds / 3600,
            self.to_parse * PARSE_SECONDS / 3600,
        )


def plan_upgrade(run: Run, adapter_name: str, identity: ExtractorIdentity) -> UpgradePlan:
    """Compare the PDFs of the spec's latest release with the stored results that the run would use. Nothing is written.

    PDFs whose inspection or extraction is missing count as in the latest release: selected PDFs are extracted and parsed.

    Raises:
        UserError: the lake has no release of the spec before the run whose PDFs and selections can be read.
    """
    release, latest = _find_latest(run)
    plan = UpgradePlan(release)
    adapter, seconds, durations = EXTRACTORS.load(adapter_name), 0.0, 0
    for shard in range(latest.pdf_shards):
        sha1s = sorted(row["file_sha1"] for row in latest(PDFS).rows(["file_sha1"], shard=shard))
        plan.pdfs += len(sha1s)
        if not sha1s:
            continue
        before = {
            row["file_sha1"]: row["outcome"] for row in latest(SELECTIONS).rows(["file_sha1", "outcome"], shard=shard)
        }
        known = {
            sha1: row["outcome"]
            for sha1, (row, _) in selection_store(run).known(sha1s[0], sha1s[-1], ["outcome"]).items()
        }
        plan.to_inspect += sum(sha1 not in known for sha1 in sha1s)
        selected = [sha1 for sha1 in sha1s if known.get(sha1, before.get(sha1)) == "selected"]
        stored = find_stored(run, identity.key, selected)
        plan.to_extract += len(selected) - len(stored)
        plan.to_parse += len(selected) - len(stored)
        by_key: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for sha1, row in stored.items():
            if row["outcome"] == "ok":
                by_key[row["extractor"], row["version"], row["options_hash"]].append(sha1)
        for key, files in by_key.items():
            parsed = parse_store(run, adapter, key).known(min(files), max(files), ["outcome"])
            plan.to_parse += sum(sha1 not in parsed for sha1 in files)
        for extraction in latest.rows(EXTRACTIONS, None, ["seconds"], shard):
            seconds, durations = seconds + extraction["seconds"], durations + 1
    if durations:
        plan.extraction_seconds = seconds / durations
    return plan


def _find_latest(run: Run) -> tuple[ReleaseId, ReleaseTables]:
    """Return the latest release of the spec before the run with readable PDFs and selections."""
    names = (ReleaseId(name) for name in run.lake.folders("releases/") if ReleaseId.is_valid(name))
    for release in sorted(
        (r for r in names if r.spec == run.spec.name and r.day < run.release_id.day), key=lambda r: r.day, reverse=True
    ):
        tables = ReleaseTables(run.lake, release)
        if tables(PDFS).is_complete() and tables(SELECTIONS).is_complete():
            return release, tables
    raise UserError(
        f"{run.lake.root} has no release of {run.spec.name} before {run.release_id.date} that this version can read"
    )


@dataclass(frozen=True, slots=True)
class StoreUse:
    """The part of the stored results that a spec's next release uses: those of the extractor that runs, and of its adapter."""

    spec: ReleaseSpec
    identity: ExtractorIdentity
    adapter: str


def find_store_uses(lake: str, specs: Iterable[ReleaseSpec], now: datetime) -> list[StoreUse]:
    """Return the stored results that the next release of each spec uses.

    Raises:
        TransientError: the extractor does not answer.
    """
    pools = [(spec, ExtractStage().open_pool(Run.open(spec, now, lake=lake))) for spec in specs]
    return [StoreUse(spec, pool.identity(), pool.adapter) for spec, pool in pools]


def list_unused(lake: Lake, used: Sequence[StoreUse]) -> Iterator[tuple[str, int, int]]:
    """Yield (folder, files, bytes) of stored results that neither a next release nor a release of the lake refers to."""
    facts = list(_read_facts(lake))
    extractors = {tuple(use.identity.key.values()) for use in used}
    for value in facts:
        name, version, options, *_ = [*str(value.get("extractor", "")).split(), "", "", ""]
        reused = re.findall(r"\d+ of ([^,;\s]+)", str(value.get("extractor")))
        extractors |= {(name, one, options) for one in (version, *reused)}
    converters = {part for value in facts for part in str(value.get("converter", "")).replace(";", ",").split(",")}
    converters |= {one for use in used for one in list_converters(EXTRACTORS.load(use.adapter))}
    any_version = {
        (use.identity.extractor, use.identity.options_hash) for use in used if use.spec.extract.reuse == "any"
    }
    for name in lake.folders(f"{STORED_TEI.name}/"):
        for version in lake.folders(f"{STORED_TEI.name}/{name}/"):
            for options in lake.folders(f"{STORED_TEI.name}/{name}/{version}/"):
                if (name, version, options) not in extractors and (name, options) not in any_version:
                    yield _measure(lake, f"{STORED_TEI.name}/{name}/{version}/{options}/")
    for table, current in (
        (STORED_PARSES.name, converters), (STORED_SELECTIONS.name, {library_versions()}), ("registered", {READER_VERSION}),
    ):  # fmt: skip
        for name in lake.folders(f"{table}/"):
            if name not in current:
                yield _measure(lake, f"{table}/{name}/")


def _read_facts(lake: Lake) -> Iterator[Mapping[str, object]]:
    """Yield the facts of the committed extractions and parses of all releases with any columns."""
    for release in lake.folders("releases/"):
        for table in ("extractions", "parses"):
            try:
                yield orjson.loads(lake.get(f"releases/{release}/{table}/_COMMITTED.json")[0])["facts"]
            except (FileNotFoundError, ValueError, LookupError):
                continue


def _measure(lake: Lake, folder: str) -> tuple[str, int, int]:
    sizes = [entry.bytes for entry in lake.list(folder)]
    return folder, len(sizes), sum(sizes)
