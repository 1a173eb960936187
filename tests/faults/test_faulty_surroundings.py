"""A release during faults of S3, disks, clocks and other runs has unchanged bytes; the steps retried are those that the DAG retries."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from devtools.local import Services
from devtools.sample.truth import Truth
from pdf2tei import alto
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.errors import TransientError, UserError
from s2corpus.pdf import inspect_many
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES, stage_row
from s2corpus.spec import SelectRules
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.parts import DamagedPart
from s2corpus.tables.parses import EXTRACTIONS
from tests.faults.credentials import Keys
from tests.faults.proxy import Mode, Proxy
from tests.releases import AS_OF, ROOT, run_in, snapshot_bytes, spec

pytestmark = [pytest.mark.services, pytest.mark.slow]

Step = Callable[[Run], Any]


def bind(act: Callable[..., Any], *arguments: Any) -> Step:
    """Return a step that calls a function with the run and these arguments."""
    return lambda run: act(run, *arguments)


def tried(
    open_run: Callable[[], Run], step: Step, said: list[str], *, wait: float = 1.0, first: Run | None = None
) -> Any:
    """Run a step as Airflow runs a task.

    Each attempt has a separate run, with three retries after `TransientError` and no other retries.
    """
    for attempt in range(4):
        try:
            return step(first if first and not attempt else open_run())
        except TransientError as error:
            said.append(str(error))
            if attempt == 3:
                raise
            threading.Event().wait(wait * 2**attempt)


def build_patiently(
    open_run: Callable[[], Run], said: dict[str, list[str]], before: Mapping[str, Callable[[], None]] | None = None
) -> None:
    """Run all stages and publish. `before` maps a stage to a function that is called before its work, when a run is already open."""
    for name in STAGE_NAMES:
        heard = said.setdefault(name, [])
        shards = tried(open_run, bind(runner.plan, name), heard)
        opened = open_run()
        if before and name in before:
            before[name]()
        tried(open_run, bind(runner.work, name, shards), heard, first=opened)
        for number in range(1, stage_row(name).rounds):
            buckets = tried(open_run, bind(runner.plan, name, number), heard)
            tried(open_run, bind(runner.work, name, buckets, number), heard)
        tried(open_run, bind(runner.finish, name), heard)
        tried(open_run, bind(runner.check, name), heard)
    tried(open_run, runner.publish, said.setdefault("publish", []))


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Services, Keys, Proxy]]:
    """Run S3 behind a proxy, with its keys in a file; the environment contains both."""
    folder = tmp_path_factory.mktemp("services")
    local = Services(folder / "state")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "S2CORPUS_CATALOG"):
            patch.delenv(name, raising=False)
        try:
            local.up({"s3"})
            keys = Keys(local.state, folder / "credentials")
            keys.rotate()
            with Proxy(local.state.ports()["s3"]) as proxy:
                patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
                patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(keys.file))
                patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
                patch.setenv("AWS_ENDPOINT_URL", proxy.url)
                yield local, keys, proxy
        finally:
            local.down()


@pytest.fixture(autouse=True)
def environment(extracting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("S2CORPUS_CATALOG", raising=False)


FAULTS = {
    "intake": Mode.ERROR_500,
    "select": Mode.CUT,
    "postprocess": Mode.ERROR_503,
    "cluster": Mode.REFUSE,
    "vote": Mode.SLOW,
    "filter": Mode.CUT,
    "link": Mode.SILENT,
    "clean": Mode.ERROR_500,
    "export": Mode.REFUSE,
}


@pytest.mark.long
def test_faults_of_s3_do_not_change_the_release(
    s3: tuple[Services, Keys, Proxy], tiny: tuple[Path, Truth], reference: dict[str, str], tmp_path: Path
) -> None:
    """Check a release with three seconds of each fault at the beginning of a stage's work.

    The keys are rotated during two other stages. All drops are delivered again during another stage.
    """
    _, keys, proxy = s3
    lake = "s3://corpus/errs"
    deliver_tree(open_lake(lake), tiny[0])

    def disturb(mode: Mode) -> None:
        proxy.turn(mode)
        threading.Timer(3, proxy.turn, (Mode.PASS,)).start()

    def deliver_again() -> None:
        again = open_lake(lake)
        for entry in list(again.list("drops/")):
            if entry.key.endswith("/_READY"):
                again.delete(entry.key)
        assert deliver_tree(again, tiny[0]) > 10

    before: dict[str, Callable[[], None]] = {name: partial(disturb, mode) for name, mode in FAULTS.items()}
    before |= {"assemble": keys.rotate, "split": keys.rotate, "extract": deliver_again}
    said: dict[str, list[str]] = {}

    def open_run() -> Run:
        return Run.open(spec(), AS_OF, lake=lake, scratch=tmp_path)

    build_patiently(open_run, said, before)
    assert set(FAULTS.values()) - {Mode.REFUSE} <= set(proxy.met)  # Refused connections reach no mode counter.
    for name in ("assemble", "split"):
        assert "the AWS keys that it accepted before" in " ".join(said[name]) or "ACCESS_DENIED" in " ".join(said[name])
    assert snapshot_bytes(open_run()) == reference


def fill(ballast: Path) -> None:
    """Fill the remaining space of a disk."""
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 12))


def with_a_small_disk(folder: Path, function: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a function of this module in a process with a TMPDIR on a disk of 64 MB."""
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode:
        pytest.skip("no small disk can be made here: `unshare -rm mount -t tmpfs` is refused")
    (small := folder / "small").mkdir()
    code = f"import sys; from tests.faults import test_faulty_surroundings as t; t.{function}(*sys.argv[1:])"
    script = f'mount -t tmpfs -o size=64m tmpfs {small} && exec {sys.executable} -c "$0" "$@"'
    return subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, code, *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(small), "PYTHONPATH": f"{ROOT}/include:{ROOT}"},
        capture_output=True,
        text=True,
    )


def in_a_small_disk(lake: str) -> None:
    """Build a release with a scratch folder that is full when each stage begins and has room on the second attempt."""
    scratch = Path(tempfile.gettempdir())  # Determine the folder while it has room: `tempfile` skips a full folder.
    ballast = scratch / "ballast"

    def open_run() -> Run:
        return Run.open(spec(), AS_OF, lake=lake)

    for name in STAGE_NAMES:
        shards = runner.plan(open_run(), name)
        fill(ballast)
        for attempt in (1, 2):
            try:
                runner.work(open_run(), name, shards)
                runner.run_rounds(open_run(), name, first=1)
                runner.finish(open_run(), name)
                break
            except TransientError as error:
                assert attempt == 1, error
                print(f"{name}\t{error}", flush=True)
                ballast.unlink()
        ballast.unlink(missing_ok=True)
        runner.check(open_run(), name)
    runner.publish(open_run())


@pytest.mark.long
def test_full_disk_stops_a_stage_until_there_is_room(
    tiny: tuple[Path, Truth], reference: dict[str, str], tmp_path: Path
) -> None:
    run = run_in(tmp_path, spec(), tiny[0])
    done = with_a_small_disk(tmp_path, "in_a_small_disk", str(tmp_path / "lake"))
    assert done.returncode == 0, done.stderr[-3000:]
    said = dict(line.split("\t") for line in done.stdout.splitlines())
    assert set(said) == set(STAGE_NAMES)
    assert all("the disk is full: " in line and "free space in the scratch folder" in line for line in said.values())
    assert snapshot_bytes(run) == reference


def read_in_a_full_disk(pdf: str) -> None:
    """Check that the PDF readers raise OSError if their programs cannot write (disk full)."""
    ballast = Path(tempfile.gettempdir()) / "ballast"
    fill(ballast)
    os.truncate(ballast, ballast.stat().st_size - (8 << 10))  # The remaining space is less than pdfalto's output.
    with pytest.raises(OSError, match="No space left on device"):
        list(
            inspect_many(
                [("0" * 40, Path(pdf))], rules=SelectRules(max_pages=50), workers=1, timeout=20, memory_bytes=1 << 30
            )
        )
    with pytest.raises(OSError, match="No space left on device"):
        alto.read_document(Path(pdf), 20)


def test_full_disk_gives_no_pdf_an_outcome(tiny: tuple[Path, Truth], tmp_path: Path) -> None:
    pdf = max(tiny[0].glob("drops/*/*.pdf"), key=lambda path: path.stat().st_size)
    done = with_a_small_disk(tmp_path, "read_in_a_full_disk", str(pdf))
    assert done.returncode == 0, done.stderr[-3000:]


def halve(lake: Lake, key: str) -> None:
    data, _ = lake.get(key)
    lake.put(key, data[: len(data) // 2])


@pytest.mark.long
def test_truncated_part_is_named_and_rewritten_by_its_stage(
    tiny: tuple[Path, Truth], reference: dict[str, str], tmp_path: Path
) -> None:
    run = run_in(tmp_path, spec(), tiny[0])

    def again() -> Run:
        return run_in(tmp_path, spec())

    def known(prefixes: tuple[str, ...]) -> list[str]:
        return [
            entry.key for entry in run.lake.list("") if entry.key.startswith(prefixes) and entry.key.endswith("parquet")
        ]

    stored: list[str] = []
    for name in STAGE_NAMES:
        runner.run_stage(again(), name)
        new = [key for key in known(("stored", "registered")) if key not in stored]
        for table in stage_row(name).written_tables:
            for key in again().table(table).keys()[:1]:
                halve(run.lake, key)
                with pytest.raises(
                    DamagedPart, match=f"{key}: committed with .*run the stage that writes {table.name} again"
                ):
                    again().table(table).read()
        for key in new:
            halve(run.lake, key)
        stored += new
        runner.run_stage(again(), name)
        assert all(again().table(table).is_complete() for table in stage_row(name).written_tables)
    assert {key.split("/")[0] for key in stored} == {"registered", "stored_parses", "stored_selections", "stored_tei"}
    for key in [entry.key for entry in run.lake.list(f"snapshots/{again().snapshot_id}/")][::20]:
        halve(run.lake, key)
        with pytest.raises(UserError, match="run export again"):
            runner.publish(again())
        runner.run_stage(again(), "export")
    runner.publish(again())
    assert snapshot_bytes(run) == reference


def test_pdf_changed_after_registration_is_not_read_as_another(tiny: tuple[Path, Truth], tmp_path: Path) -> None:
    run = run_in(tmp_path, spec(), tiny[0])
    runner.run_stage(run, "intake")
    pdf = next(entry.key for entry in run.lake.list("drops/") if entry.key.endswith(".pdf") and entry.bytes > 30_000)
    whole, _ = run.lake.get(pdf)
    halve(run.lake, pdf)
    with pytest.raises(UserError, match=f"{pdf}: changed since its drop was registered: restore the file"):
        runner.run_stage(run, "select")
    run.lake.put(pdf, whole)
    runner.run_stage(run, "select")
    halve(run.lake, pdf)
    runner.run_stage(run, "extract")
    assert outcomes(run).count("gave_up:connection") == 1
    run.lake.put(pdf, whole)
    runner.run_stage(run, "extract")
    assert "gave_up:connection" not in outcomes(run)


def outcomes(run: Run) -> list[str]:
    found: list[str] = run.table(EXTRACTIONS).read(["outcome"])["outcome"].to_pylist()
    return found


def build_in_a_child(lake: str, scratch: Path) -> None:
    build_patiently(lambda: Run.open(spec(), AS_OF, lake=lake, scratch=scratch), {})


@pytest.mark.long
def test_two_concurrent_runs_of_one_release_end(
    s3: tuple[Services, Keys, Proxy], tiny: tuple[Path, Truth], reference: dict[str, str], tmp_path: Path
) -> None:
    lake = "s3://corpus/twice"
    deliver_tree(open_lake(lake), tiny[0])
    spawned = multiprocessing.get_context("spawn")
    both = [spawned.Process(target=build_in_a_child, args=(lake, tmp_path)) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert [each.exitcode for each in both] == [0, 0]
    assert snapshot_bytes(Run.open(spec(), AS_OF, lake=lake, scratch=tmp_path)) == reference


CLOCK = """
import sys, time
from pathlib import Path
from tests.releases import run_in, spec
from s2corpus.pipeline import runner
from s2corpus.pipeline.stages import STAGE_NAMES
folder, clock = Path(sys.argv[1]), Path(sys.argv[2])
days = set()
for name in STAGE_NAMES:
    clock.write_text("+1d" if len(name) % 2 else "-1d")  # a day ahead, a day back, from stage to stage
    days.add(time.strftime("%Y-%m-%d"))
    runner.run_stage(run_in(folder, spec()), name)
clock.write_text("+1d")
runner.publish(run_in(folder, spec()))
print(*sorted(days))
"""


def faketime(clock: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the clock that a file describes."""
    _, faked = pytest.importorskip("libfaketime").get_reload_information()
    environ = {**os.environ, **faked, "FAKETIME_TIMESTAMP_FILE": str(clock), "PYTHONPATH": f"{ROOT}/include:{ROOT}"}
    command = [sys.executable, "-c", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)


@pytest.mark.long
def test_clock_that_jumps_by_days_changes_no_byte(
    tiny: tuple[Path, Truth], reference: dict[str, str], tmp_path: Path
) -> None:
    run = run_in(tmp_path, spec(), tiny[0])
    (clock := tmp_path / "clock").write_text("+0")
    done = faketime(clock, CLOCK, str(tmp_path), str(clock))
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(done.stdout.split()) == 2, "the clock never jumped"
    assert snapshot_bytes(run) == reference


def test_signature_of_another_day_is_a_transient_error(s3: tuple[Services, Keys, Proxy], tmp_path: Path) -> None:
    (clock := tmp_path / "clock").write_text("+1d")
    refused = faketime(clock, "from s2corpus.storage.lake import open_lake; open_lake('s3://corpus')").stderr
    assert "TransientError: s3://corpus: An error occurred (RequestTimeTooSkewed)" in refused
