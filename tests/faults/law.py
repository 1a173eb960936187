"""Two tiny releases whose steps repeat with faults: drops, deliveries, publications, a delta, a yank and a restore (`test_law.py`)."""

import hashlib
import json
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

import botocore.config
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.httpsession import URLLib3Session

from s2corpus.deliveries.upload import deliver_tree
from s2corpus.pipeline import publication, runner, sealed
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES, stage_row
from s2corpus.snapshot import pointer
from s2corpus.snapshot.reader import open_snapshot
from s2corpus.storage.error_kinds import convert_errors
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.s3_requests import S3Requests
from s2corpus.tables.intake import DELIVERIES
from s2corpus.tables.parses import EXTRACTIONS, LATEX_PARSES, SELECTIONS
from s2corpus_reader.difference import write_delta
from tests.releases import AS_OF, spec
from tests.s3_store import Fault, Request, Store, lose, s3_store, stall
from tests.unit.s2corpus.storage.test_lakes import use_server

LATER = datetime(2023, 3, 1, tzinfo=UTC)
SPEC = spec().model_copy(update={"export": spec().export.model_copy(update={"files": 1})})
LATE_SECONDS = 0.05
"""time that a client waits for an answer that does not arrive; it waits a minute for other answers, which a busy machine may delay"""
NAMING = {DELIVERIES: "detail", SELECTIONS: "detail", EXTRACTIONS: "outcome", LATEX_PARSES: "outcome"}
"""table → the column that records that an object could not be read"""


@dataclass
class Step:
    """One task of Airflow: its release, its work, the objects before and after, and its requests."""

    name: str
    as_of: datetime
    do: Callable[[], object]
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    requests: Sequence[Request]


def write_change(tree: Path, folder: Path) -> Path:
    """Write a tree with one delivery: the first record of Crossref with another title. Return the tree."""
    record = json.loads((tree / "sources/crossref/2023-01-full/works.jsonl").read_bytes().splitlines()[0])
    data = json.dumps(record | {"title": ["A title that was corrected"]}).encode() + b"\n"
    delivery = folder / "change/sources/crossref/2023-02"
    delivery.mkdir(parents=True)
    (delivery / "works.jsonl").write_bytes(data)
    file = {"name": "works.jsonl", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (delivery / "_READY").write_text(json.dumps({"ready_at": "2023-02-10T00:00:00Z", "files": [file], "mode": "delta"}))
    return folder / "change"


class Release:
    """The steps of two tiny releases on the store, and of the delta between them."""

    def __init__(self, store: Store, scratch: Path) -> None:
        self.store, self.scratch, self.as_of = store, scratch, AS_OF
        self.meets: Callable[[Request], bool] = lambda request: False
        self.steps: list[Step] = []

    def task(self, as_of: datetime, work: Callable[..., object], *arguments: Any) -> None:
        """Run a task as Airflow does, with a new run."""
        work(Run(SPEC, as_of, open_lake("s3://corpus"), self.scratch), *arguments)

    def add_all(self, tree: Path, *, both: bool) -> None:
        """Run all steps without faults: the first release, a delivery that changes records, and where the second release differs."""
        last = first = self._add_release(AS_OF, tree, STAGE_NAMES)
        if both:
            last = self._add_release(LATER, write_change(tree, self.scratch), ("intake", "export"))
            self._add("delta", lambda: self._write_delta(first, last))
        self._add("yank", lambda: pointer.yank(open_lake("s3://corpus"), last, "a test of its faults"))
        self._add("restore", lambda: pointer.restore(open_lake("s3://corpus"), last, "a test of its faults"))

    def _add_release(self, as_of: datetime, tree: Path, stages: Sequence[str]) -> str:
        """Add the steps of these stages; run the other stages. Return the snapshot's id."""
        self.as_of = as_of
        self._add("deliver", lambda: deliver_tree(open_lake("s3://corpus"), tree))
        self._add("seal", partial(self.task, as_of, sealed.seal))
        run = Run(SPEC, as_of, open_lake("s3://corpus"), self.scratch)
        for name in STAGE_NAMES:
            if name not in stages:
                runner.run_stage(run, name)
                continue
            for number in range(stage_row(name).rounds):
                self._add(f"{name}.plan.{number}", partial(self.task, as_of, runner.plan, name, number))
                for index in runner.plan(run, name, number):
                    self._add(f"{name}.work.{number}", partial(self.task, as_of, runner.work, name, [index], number))
            self._add(f"{name}.finish", partial(self.task, as_of, runner.finish, name))
            self._add(f"{name}.check", partial(self.task, as_of, runner.check, name))
        self._add("publish", partial(self.task, as_of, publication.publish))
        return run.snapshot_id

    def _write_delta(self, first: str, second: str) -> None:
        """Write a delta, and store its files, so that they are compared like the objects of the lake."""
        with convert_errors(), TemporaryDirectory(dir=self.scratch) as folder:
            out = Path(folder, "delta")
            write_delta(
                open_snapshot(first, "s3://corpus"), open_snapshot(second, "s3://corpus"), out, lambda path: None
            )
            for path in filter(Path.is_file, out.rglob("*")):
                self.store.objects[f"delta/{path.relative_to(out)}"] = path.read_bytes()

    def _add(self, name: str, do: Callable[[], object]) -> None:
        """Run a step, and record its requests."""
        before, requests = dict(self.store.objects), list[Request]()
        self.start(before, lose, lambda request: requests.append(request) or False)  # type: ignore[func-returns-value]  # None becomes False
        do()
        self.store.fault = None
        self.steps.append(Step(name, self.as_of, do, before, dict(self.store.objects), requests))

    def start(self, objects: Mapping[str, bytes], fault: Fault, meets: Callable[[Request], bool]) -> None:
        """Reset the store to these objects; let the requests fail that `meets` selects."""
        self.store.objects, self.meets, self.store.fault = dict(objects), meets, fault

    def find_differences(self, step: Step) -> list[str]:
        """Return the objects that an undisturbed run writes with the same bytes each time, and that the store does not have."""
        found = self.store.objects
        different = {key for key, data in step.after.items() if found.get(key) != data}
        if different:
            self.store.objects = dict(step.before)
            step.do()
            again, self.store.objects = self.store.objects, found
            different = {key for key in different if again.get(key) == step.after[key]}
        return sorted(key for key in different if not re.search("/(published|yanked)/", key))  # Marks contain the time.

    def is_named(self, step: Step) -> bool:
        """Return whether a row names the object that could not be read."""
        if any(b"unreadable_object" in data for data in self.store.objects.values() if data.startswith(b"[")):
            return True  # the plan of intake
        run = Run(SPEC, step.as_of, open_lake("s3://corpus"), self.scratch)
        details: list[str] = []
        for table, column in NAMING.items():
            parts = f"releases/{run.release_id}/{table.name}/part-"
            for shard in sorted({int(k.removeprefix(parts)[:5]) for k in self.store.objects if k.startswith(parts)}):
                details += [str(value) for value in run.table(table).read_shard(shard)[column].to_pylist()]
        return any("access refused" in text or text in ("gave_up:lake", "unreadable") for text in details)


@contextmanager
def built_release(
    tree: Path, scratch: Path, stored: Lake, variables: Mapping[str, str], *, both: bool
) -> Iterator[Release]:
    """Build the first release, or both. Their TEI is stored, so that only the test of the extractor sends PDFs.

    A client of boto3 needs as long to start as a step, so the steps share it. It decides which of its requests fail.
    """
    config, start, sent = botocore.config.Config, S3Requests.__dict__["_client"].func, URLLib3Session.send
    impatient = URLLib3Session(timeout=LATE_SECONDS)  # type: ignore[arg-type]  # The stub knows no fractions.
    lock = threading.Lock()

    def send(session: URLLib3Session, request: AWSPreparedRequest) -> AWSResponse:
        frames = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_stack(None))
        lines = [f"{Path(file).name}:{line}" for file, line in frames if "/include/s2corpus" in file]
        key = unquote(urlsplit(request.url).path).removeprefix("/corpus").removeprefix("/")
        with lock:
            is_met = store.fault is not None and made.meets(Request(request.method, key, b"", " ".join(lines[:7])))
        if is_met:
            request.headers["x-fault"] = "1"
        return sent(impatient if is_met and store.fault is stall else session, request)

    with s3_store() as store, pytest.MonkeyPatch.context() as patch:
        use_server(patch, store.port)
        patch.delenv("S2CORPUS_CATALOG", raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(time, "sleep", lambda seconds: None)
        retries = {"mode": "standard", "max_attempts": 2}
        patch.setattr(botocore.config, "Config", lambda **options: config(**options | {"retries": retries}))
        patch.setattr(S3Requests, "_client", property(lambda lake: client))
        patch.setattr(URLLib3Session, "send", send)
        client = start(None)
        made = Release(store, scratch)
        store.objects = {entry.key: stored.get(entry.key)[0] for entry in stored.list("stored_tei/")}
        made.add_all(tree, both=both)
        yield made
