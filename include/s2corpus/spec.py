"""`ReleaseSpec`: the complete specification of a release; each threshold has its source.

`ReleaseSpec.digest` covers the fields that affect the bytes of a snapshot.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from s2corpus.ids import SPEC_NAME
from s2corpus.rules import BenchmarkRules, Count, NonNegative, Rules
from s2corpus.rules import CleanRules as CleanRules
from s2corpus.rules import ExtractRules as ExtractRules
from s2corpus.rules import FilterRules as FilterRules
from s2corpus.rules import LinkRules as LinkRules
from s2corpus.rules import ModelTextRules as ModelTextRules
from s2corpus.rules import SelectRules as SelectRules
from s2corpus.rules import SplitRules as SplitRules
from s2corpus.rules import TokenizerRules as TokenizerRules
from s2corpus.rules import UnigramRules as UnigramRules
from s2corpus.rules import VoteRules as VoteRules

_PLACEHOLDER = re.compile(r"\{(year|month|day)\}")
Hours = Annotated[float, Field(gt=0, le=366 * 24)]
_EXPECTED = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?", re.ASCII)


class ScheduleRules(Rules):
    """The schedule of releases. Only the end of a release's interval (`as_of`) is part of the snapshot id."""

    cron: str | None = "0 0 1 * *"
    """cron expression in UTC. A release contains what was ready before the end of its interval. null: only manual runs"""
    on_drop: bool = False
    """whether new drops and deliveries start a release as soon as they are processed, instead of `cron`"""
    start_date: date = date(2023, 1, 1)
    """start of the first interval; earlier runs are refused"""
    end_date: date | None = None
    """start of the last interval, for a spec that is no longer built"""
    catchup: bool = False
    """whether missed intervals are built automatically"""
    late_after_hours: Hours = 24
    """an unfinished release is reported as late after this many hours since the start of its run"""
    expects: tuple[str, ...] = ()
    """drops (`name`) and deliveries (`source/name`) that a release needs; {year}, {month} and {day} are those of its interval's start.
    The release waits for them, and contains them although they became ready after its interval"""
    expects_hours: Hours = 72
    """hours that a run waits for `expects`"""
    without_expected: Literal["fail", "continue"] = "fail"
    """what a run does after `expects_hours`"""

    def intervals(self, first: date, last: date) -> Iterator[tuple[datetime, datetime]]:
        """Yield (start, end) of the intervals of `cron` that start between `first` and `last`, within start_date and end_date."""
        from croniter import croniter

        if self.cron is None or self.on_drop:
            return
        begin = datetime.combine(max(first, self.start_date), time(), UTC)
        until = datetime.combine(min(last, self.end_date or last), time(), UTC)
        starts = croniter(self.cron, begin - timedelta(seconds=1))
        start: datetime = starts.get_next(datetime)
        while start <= until:
            end: datetime = starts.get_next(datetime)
            yield start, end
            start = end

    def list_expected(self, as_of: datetime) -> tuple[str, ...]:
        """Return the names of `expects` for the release of the interval that ends at `as_of`, or contains it."""
        from croniter import croniter

        start = croniter(self.cron, as_of).get_prev(datetime) if self.cron else as_of
        values = {"year": f"{start:%Y}", "month": f"{start:%m}", "day": f"{start:%d}"}
        return tuple(_PLACEHOLDER.sub(lambda match: values[match[1]], name) for name in self.expects)

    @field_validator("expects")
    @classmethod
    def _are_names(cls, expects: tuple[str, ...]) -> tuple[str, ...]:
        for name in expects:
            if not _EXPECTED.fullmatch(_PLACEHOLDER.sub("0", name)):
                raise ValueError(
                    f"{name!r} given; expected a drop, e.g. 'publisher-a-{{year}}-{{month}}', or a delivery, "
                    "e.g. 'crossref/{year}-{month}-{day}'"
                )
        return expects

    @field_validator("cron")
    @classmethod
    def _is_cron(cls, cron: str | None) -> str | None:
        from croniter import CroniterBadDateError, croniter

        if cron is not None and not croniter.is_valid(cron):
            raise ValueError(f"{cron!r} given; a cron expression was expected, e.g. '0 0 1 * *', or null")
        try:
            if cron is not None:
                croniter(cron).get_next()
        except CroniterBadDateError:
            raise ValueError(f"{cron!r} given, which names no day of any year: correct its day and month") from None
        return cron

    @model_validator(mode="after")
    def _has_one_trigger(self) -> ScheduleRules:
        if self.end_date is not None and self.end_date < self.start_date:
            raise ValueError(
                f"end_date: {self.end_date} is before start_date: {self.start_date}, so no release is allowed"
            )
        if self.on_drop and self.cron is not None and "cron" in self.model_fields_set:
            raise ValueError(f"on_drop: true and cron: {self.cron!r} given; expected one of them: remove cron")
        if self.on_drop and self.expects:
            raise ValueError(
                "on_drop: true and expects given; expected one of them: only releases of intervals wait for drops"
            )
        return self

    @property
    def interval(self) -> str | None:
        """Return the cron expression of the intervals; None if drops or people start the releases."""
        return None if self.on_drop else self.cron


_FILE_NUMBERS, _PAPERS_PER_FILE = (1, 2, 4, 8, 16, 32), 5000
"""the number of files grows by doubling, so that few releases move papers between files"""


def _read_approval(given: object) -> object:
    """Read `true` and `false` of versions before 1.0.0."""
    return ("none", "other")[given] if isinstance(given, bool) else given


class ExportRules(Rules):
    """Rules for published files (SPEC §10)."""

    files: Annotated[int, Field(ge=1, le=1000)] | None = None
    """gzip files per set and split (S2 V2 card: 30); null: the smallest of 1, 2, 4, 8, 16 and 32 with at most 5,000 papers for each file,
    or 32"""
    corpus_files: Annotated[int, Field(ge=1, le=1000)] | None = None
    """gzip files of corpus/metadata and of each kind of parse; null: the number of `files` (S2ORC 20200705 has 100)"""
    gorc: bool = False
    """whether corpus/gorc also contains the papers with a parse, in the form of release 20190928 (GORC, Appendix E)"""
    benchmarks: tuple[BenchmarkRules, ...] = ()
    """benchmark texts; overlaps.parquet lists documents that share n-grams with them. These documents are still published"""
    tokenizer: TokenizerRules | None = None
    """tokenizer that counts `num_tokens` of each document; null: not counted (see docs/formats.md)"""
    text: ModelTextRules = ModelTextRules()
    """form of the texts for models (docs/formats.md); default: the form of the S2 V2 card"""
    approval: Annotated[Literal["none", "other", "anyone"], BeforeValidator(_read_approval)] = "none"
    """who must approve the release before the pointer moves. other: a person who neither started the run nor delivered its new inputs"""

    @property
    def needs_approval(self) -> bool:
        """Return whether a person must approve the release."""
        return self.approval != "none"

    def count_files(self, papers: int) -> tuple[int, int]:
        """Return the number of files per set and split, and in each folder of `corpus/`."""
        fitting = (number for number in _FILE_NUMBERS if papers <= number * _PAPERS_PER_FILE)
        files = self.files or next(fitting, _FILE_NUMBERS[-1])
        return files, self.corpus_files or files


class QualityRules(Rules):
    """Limits of the checks that compare with the parent release (SPEC §11)."""

    drift_min_n: NonNegative = 1000
    """shares of fewer items are not compared"""


class ResourceRules(Rules):
    """Size of shards and limits of tasks. They never change a byte of the snapshot."""

    pdfs_per_shard: Count = 500
    """files of one shard in the stages before cluster"""
    papers_per_shard: Count = 50_000
    """papers of one shard in the later stages"""
    max_tasks: Annotated[int, Field(ge=1, le=1000)] = 1000
    """maximum mapped tasks of a stage (Airflow allows 1024); additional shards share tasks"""
    memory_mb: Annotated[int, Field(ge=64)] = 2048
    """memory for the joins and sorts of one task, MB"""
    file_memory_mb: Annotated[int, Field(ge=128)] = 1024
    """address space of the child process that reads one PDF, and heap of the converter for one LaTeX source, MB"""
    file_seconds: Annotated[float, Field(gt=0)] = 120
    """time limit of the child process that reads one PDF or LaTeX source, seconds"""
    extract_seconds: Annotated[float, Field(gt=0)] = 600
    """deadline of one PDF in the pool of extractors, seconds, including retries after 503 and polling; each attempt may use a third"""
    task_hours: Hours = 24
    """time limit of one Airflow task, hours; Airflow ends the task and reports it"""
    in_flight: Count = 2
    """open requests of one extract task, and its slots of the Airflow pool `grobid`"""


class ReleaseSpec(Rules):
    """The complete specification of a release."""

    name: str = Field(pattern=f"^{SPEC_NAME}$")
    """name of the spec, the beginning of its release ids; equal to the name of the file"""
    description: str = ""
    """introduction of the data card"""
    profile: Literal["public", "own"] = "public"
    """own: the PDFs belong to the user and count as open access; papers without a year stay in the corpus"""
    drops: tuple[str, ...] = ("*",)
    """shell patterns of the drop ids in the release"""
    sources: tuple[str, ...] = ("*",)
    """shell patterns of the metadata sources in the release; `<source>/<delivery id>` selects single deliveries"""
    schedule: ScheduleRules = ScheduleRules()
    select: SelectRules = SelectRules()
    extract: ExtractRules = ExtractRules()
    vote: VoteRules = VoteRules()
    filter: FilterRules = FilterRules()
    link: LinkRules = LinkRules()
    clean: CleanRules = CleanRules()
    split: SplitRules = SplitRules()
    export: ExportRules = ExportRules()
    quality: QualityRules = QualityRules()
    resources: ResourceRules = ResourceRules()

    @field_validator("drops")
    @classmethod
    def _no_paths(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if "/" in pattern or not pattern:
                raise ValueError(f"{pattern!r} is not an id pattern: an id has no '/' and is not empty")
        return patterns

    @field_validator("sources")
    @classmethod
    def _at_most_source_and_delivery(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if pattern.count("/") > 1 or not all(pattern.split("/")):
                raise ValueError(f"{pattern!r} is not a pattern of a source: use <source> or <source>/<delivery id>")
        return patterns

    def selects_drop(self, drop: str) -> bool:
        """Return whether the release contains a drop."""
        return any(fnmatchcase(drop, pattern) for pattern in self.drops)

    def selects_delivery(self, source: str, delivery: str) -> bool:
        """Return whether the release contains a delivery of metadata."""
        for pattern in self.sources:
            of_source, _, of_delivery = pattern.partition("/")
            if fnmatchcase(source, of_source) and fnmatchcase(delivery, of_delivery or "*"):
                return True
        return False

    def selects(self, kind: str, source: str, id_: str) -> bool:
        """Return whether the release contains a drop or a delivery."""
        return self.selects_drop(id_) if kind == "drop" else self.selects_delivery(source, id_)

    @model_validator(mode="after")
    def _check_export_text(self) -> ReleaseSpec:
        if self.clean.profile == "recipe-2024" and self.export.text != ModelTextRules():
            raise ValueError(
                "export.text given; texts of clean.profile recipe-2024 have no sections: remove export.text"
            )
        return self

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the fields that affect bytes: all except resources, schedule and approval."""
        rules = self.model_dump(mode="json", exclude={"resources", "schedule"})
        del rules["export"]["approval"]
        return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()
