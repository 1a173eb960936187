"""A release during faults of S3, disks, clocks and other runs has unchanged bytes; the steps retried are those that the DAG retries."""

import contextlib
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from devtools.local import Services
from devtools.local.s3 import BUCKET
from devtools.local.state import State
from devtools.sample.truth import Truth
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline import publication, runner, sealed
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES, stage_row
from s2corpus.storage.exchange import RowsRemoved
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.tables.parses import EXTRACTIONS
from tests.faults.proxy import Mode, Proxy
from tests.releases import AS_OF, ROOT, copy_lake, run_in, snapshot_bytes, spec
from tests.waiting import until

pytestmark = [pytest.mark.services, pytest.mark.slow]


def build_patiently(open_run: Callable[[], Run], disturbances: Mapping[str, Callable[[], None]]) -> dict[str, str]:
    """Run all stages and publish; return the errors of each stage.

    Each step runs as Airflow runs a task: each attempt has a separate run, with three retries after `TransientError` and
    no other retries. A disturbance is called before the work of its stage, when a run is already open.
    """
    said = dict.fromkeys((*STAGE_NAMES, "publish"), "")

    def tried(step: Callable[..., Any], name: str, *arguments: Any, first: Run | None = None) -> Any:
        for attempt in range(4):
            try:
                return step(first if first and not attempt else open_run(), *arguments)
            except TransientError as error:
                said[name] += f"{error}\n"
                if attempt == 3:
                    raise
                time.sleep(2.0**attempt)

    tried(sealed.seal, "intake")
    for name in STAGE_NAMES:
        shards = tried(runner.plan, name, name)
        opened = open_run()
        disturbances.get(name, lambda: None)()
        tried(runner.work, name, name, shards, first=opened)
        for number in range(1, stage_row(name).rounds):
            buckets = tried(runner.plan, name, name, number)
            tried(runner.work, name, name, buckets, number)
        tried(runner.finish, name, name)
        tried(runner.check, name, name)
    tried(publication.publish, "publish")
    return said


class Keys:
    """Manages one key at a time, in a credentials file that every AWS tool can read."""

    def __init__(self, state: State, file: Path) -> None:
        self.state, self.file = state, file
        self._number = 0

    def rotate(self) -> None:
        """Create a new key and write it to the file; revoke the old key."""
        self._number += 1
        key, secret = f"KEY{self._number}", secrets.token_hex(20)
        self._shell(f"-access_key={key} -secret_key={secret} -user=user{self._number} -actions=Admin,Read,Write,List")
        until(lambda: self._is_accepted(key, secret), f"{key} is still refused")
        old = self.file.read_text().split() if self.file.exists() else []
        self.file.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
        if old:
            self._shell(f"-user=user{self._number - 1} -delete")
            until(lambda: not self._is_accepted(old[3], old[6]), f"{old[3]} is still good")

    def _shell(self, arguments: str) -> None:
        ports, home = self.state.ports(), self.state.root / "s3"
        servers = [f"-{name}=127.0.0.1:{ports[name]}.{ports[f'{name}-grpc']}" for name in ("master", "filer")]
        subprocess.run(
            [str(Path(sys.executable).with_name("weed")), "shell", *servers], input=f"s3.configure {arguments} -apply\n".encode(), cwd=home,
            env={**os.environ, "HOME": str(home)}, check=True, capture_output=True,
        )  # fmt: skip

    def _is_accepted(self, key: str, secret: str) -> bool:
        url = f"http://127.0.0.1:{self.state.ports()['s3']}"
        keys: dict[str, Any] = {"aws_access_key_id": key, "aws_secret_access_key": secret, "region_name": "us-east-1"}
        client = boto3.client("s3", endpoint_url=url, **keys)
        try:
            client.head_bucket(Bucket=BUCKET)
        except ClientError:
            return False
        return True


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Keys, Proxy]]:
    """Run S3 behind a proxy, with its keys in a file; the environment contains both."""
    folder = tmp_path_factory.mktemp("services")
    local = Services(folder / "state")
    try:
        local.up({"s3"})
        keys = Keys(local.state, folder / "credentials")
        keys.rotate()
        with Proxy(local.state.ports()["s3"]) as proxy, pytest.MonkeyPatch.context() as patch:
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                patch.delenv(name, raising=False)
            patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
            patch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(keys.file))
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            patch.setenv("AWS_ENDPOINT_URL", proxy.url)
            yield keys, proxy
    finally:
        local.down()


@pytest.fixture(autouse=True)
def environment(extracting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("S2CORPUS_CATALOG", raising=False)


FAULTS = {
    "intake": Mode.ERROR_500, "select": Mode.CUT, "postprocess": Mode.ERROR_503, "cluster": Mode.REFUSE, "vote": Mode.SLOW,
    "filter": Mode.CUT, "link": Mode.SILENT, "clean": Mode.ERROR_500, "export": Mode.REFUSE,
}  # fmt: skip


@pytest.mark.long
def test_faults_of_s3_do_not_change_the_release(
    s3: tuple[Keys, Proxy], tiny: tuple[Path, Truth], reference: dict[str, str], tmp_path: Path
) -> None:
    """Check a release with three seconds of each fault at the beginning of a stage's work.

    The keys are rotated during two other stages. All drops are delivered again during another stage.
    """
    keys, proxy = s3
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

    disturbances: dict[str, Callable[[], None]] = {name: partial(disturb, mode) for name, mode in FAULTS.items()}
    disturbances |= {"assemble": keys.rotate, "split": keys.rotate, "extract": deliver_again}

    def open_run() -> Run:
        return Run.open(spec(), AS_OF, lake=lake, scratch=tmp_path)

    said = build_patiently(open_run, disturbances)
    assert set(FAULTS.values()) - {Mode.REFUSE} <= set(proxy.met)  # Refused connections reach no mode counter.
    for name in ("assemble", "split"):
        assert "the AWS keys that it accepted before" in said[name]
    assert snapshot_bytes(open_run()) == reference


def in_a_small_disk(lake: str) -> None:
    """Build a release with a scratch folder that is full when each stage begins and has room on the second attempt."""
    scratch = Path(tempfile.gettempdir())  # Determine the folder while it has room: `tempfile` skips a full folder.
    ballast = scratch / "ballast"

    def open_run() -> Run:
        return Run.open(spec(), AS_OF, lake=lake)

    sealed.seal(open_run())
    for name in STAGE_NAMES:
        shards = runner.plan(open_run(), name)
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 12))
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
    publication.publish(open_run())


@pytest.mark.long
def test_full_disk_stops_a_stage_until_there_is_room(
    tiny: tuple[Path, Truth], reference: dict[str, str], tmp_path: Path
) -> None:
    """Check a release in a process with a TMPDIR on a disk of 64 MB."""
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode:
        pytest.skip("no small disk can be made here: `unshare -rm mount -t tmpfs` is refused")
    run = run_in(tmp_path, spec(), tiny[0])
    (small := tmp_path / "small").mkdir()
    code = "import sys; from tests.faults.test_faulty_surroundings import *; in_a_small_disk(sys.argv[1])"
    script = f'mount -t tmpfs -o size=64m tmpfs {small} && exec {sys.executable} -c "$0" "$@"'
    environ = {**os.environ, "TMPDIR": str(small), "PYTHONPATH": f"{ROOT}/include:{ROOT}"}
    command = ["unshare", "-rm", "sh", "-c", script, code, str(tmp_path / "lake")]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    said = dict(line.split("\t") for line in done.stdout.splitlines())
    assert set(said) == set(STAGE_NAMES)
    assert all("the disk is full: " in line and "free space in the scratch folder" in line for line in said.values())
    assert snapshot_bytes(run) == reference


def halve(lake: Lake, key: str) -> None:
    data, _ = lake.get(key)
    lake.put(key, data[: len(data) // 2])


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
    assert outcomes(run).count("gave_up:lake") == 1
    run.lake.put(pdf, whole)
    runner.run_stage(run, "extract")
    assert "gave_up:lake" not in outcomes(run)


def outcomes(run: Run) -> list[str]:
    found: list[str] = run.table(EXTRACTIONS).read(["outcome"])["outcome"].to_pylist()
    return found


CLOCK = """
import sys, time
from pathlib import Path
from tests.releases import run_in, spec
from s2corpus.pipeline import publication, runner, sealed
from s2corpus.pipeline.stages import STAGE_NAMES
folder, clock = Path(sys.argv[1]), Path(sys.argv[2])
days = set()
sealed.seal(run_in(folder, spec()))
for name in STAGE_NAMES:
    clock.write_text("+1d" if len(name) % 2 else "-1d")  # a day ahead, a day back, from stage to stage
    days.add(time.strftime("%Y-%m-%d"))
    runner.run_stage(run_in(folder, spec()), name)
clock.write_text("+1d")
publication.publish(run_in(folder, spec()))
print(*sorted(days))
"""


@pytest.mark.long
def test_jumping_clock_changes_no_byte(tiny: tuple[Path, Truth], reference: dict[str, str], tmp_path: Path) -> None:
    run = run_in(tmp_path, spec(), tiny[0])
    (clock := tmp_path / "clock").write_text("+0")
    _, faked = pytest.importorskip("libfaketime").get_reload_information()
    environ = {**os.environ, **faked, "FAKETIME_TIMESTAMP_FILE": str(clock), "PYTHONPATH": f"{ROOT}/include:{ROOT}"}
    command = [sys.executable, "-c", CLOCK, str(tmp_path), str(clock)]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(done.stdout.split()) == 2, "the clock never jumped"
    assert snapshot_bytes(run) == reference


def test_slower_build_uses_the_tables_of_the_faster(released: tuple[Run, Truth], tmp_path: Path) -> None:
    """Check a build if another build finishes every stage between its rounds, up to the stage that has most rounds.

    Damaged tables do not count as another build.
    """
    copy_lake(released, tmp_path)
    faster = run_in(tmp_path, spec())
    for name in STAGE_NAMES[: STAGE_NAMES.index("cluster") + 1]:
        slower = run_in(tmp_path, spec())
        runner.work(slower, name, runner.plan(slower, name))
        runner.run_stage(faster, name)
        before = [faster.table(table).keys() for table in stage_row(name).written_tables]
        for number in range(1, stage_row(name).rounds):
            runner.work(slower, name, runner.plan(slower, name, number), number)
        runner.finish(slower, name)
        runner.check(slower, name)
        assert [slower.table(table).keys() for table in stage_row(name).written_tables] == before
    for key in faster.table(stage_row("intake").written_tables[0]).keys():  # noqa: SIM118 - a method of TableRef
        faster.lake.put(key, b"")
    with pytest.raises(RowsRemoved):
        runner.work(faster, "intake", [0], 1)
