"""The first matching rule decides about a PDF, and a hostile PDF affects no other (S2ORC App. B)."""

import os
import random
import signal
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import suppress
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from s2corpus.outcomes import SelectOutcome
from s2corpus.pdf import Selection, inspect_many, inspection
from s2corpus.spec import SelectRules
from s2corpus.tables.parses import SELECTIONS
from s2orc_parse import sandbox
from s2orc_parse.sandbox.confine import NOT_CONFINED
from tests.commands import invoke
from tests.unit.s2corpus.pdf.bad_pdfs import KINDS, assemble, drawn_forever, paper

MB = 1 << 20
SLOWEST_FIRST = ("a_thousand_million_nothings", "a_thousand_million_words")


def stream(
    items: Iterable[tuple[str, Path]], *, timeout: float = 20.0, memory: int = 1024 * MB, workers: int = 1
) -> Generator[Selection, None, None]:
    return inspect_many(items, rules=SelectRules(), workers=workers, timeout=timeout, memory_bytes=memory)


def inspect(
    items: list[tuple[str, Path]], *, timeout: float = 20.0, memory: int = 1024 * MB, workers: int = 2
) -> dict[str, Selection]:
    selections = list(stream(items, timeout=timeout, memory=memory, workers=workers))
    assert sorted(s.file_sha1 for s in selections) == sorted(name for name, _ in items)
    return {s.file_sha1: s for s in selections}


@pytest.fixture(scope="module")
def selections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Selection]:
    folder = tmp_path_factory.mktemp("kinds")
    items = []
    for name in sorted(KINDS, key=lambda name: name not in SLOWEST_FIRST):
        (folder / name).write_bytes(KINDS[name][0]())
        items.append((name, folder / name))
    return inspect(items, timeout=3.0, workers=4)


@pytest.mark.parametrize("at", range(-8, 2))
def test_text_is_found_across_the_pieces_of_a_file(tmp_path: Path, at: int) -> None:
    (tmp_path / "alto").write_bytes(b" " * (2 * inspection._PIECE + at) + b"<String ")
    assert inspection._contains(tmp_path / "alto", b"<String ")
    assert not inspection._contains(tmp_path / "alto", b"<String>")


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_pdf_has_its_outcome(selections: dict[str, Selection], name: str) -> None:
    assert selections[name].outcome is KINDS[name][1], selections[name]


def test_selection_has_reason_and_displayed_size(selections: dict[str, Selection]) -> None:
    for found in selections.values():
        assert (found.detail is None) == (found.outcome in (SelectOutcome.SELECTED, SelectOutcome.LANDSCAPE))
    shown = {name: (s.pages, s.width_pt, s.height_pt) for name, s in selections.items()}
    assert shown["paper"] == (1, 595, 842)
    assert shown["rotated_to_landscape"] == (1, 842, 595)
    assert shown["cropped_to_landscape"] == (1, 595, 442)
    assert shown["count_too_high"] == (1_000_000, None, None)
    assert "more than 3 s" in str(selections["a_thousand_million_nothings"].detail)


@pytest.mark.parametrize(
    ("status", "alto", "said"),
    [
        (1, None, "exit status 1"),
        (-signal.SIGSEGV, None, "killed by signal 11"),
        (None, None, "took more than 7 s"),
        (0, None, "wrote nothing"),
        (0, "<alto/>", inspection.NO_TEXT),
        (0, "." * (MB - 3) + '<String CONTENT="a"/>', None),  # The output is read one megabyte at a time.
        (5, '<String CONTENT="a"/>', None),  # pdfalto could not stream, and wrote all text at the end.
        (1, '<String CONTENT="a"/>', "exit status 1"),
    ],
)
def test_exit_of_pdfalto_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int | None, alto: str | None, said: str | None
) -> None:
    def ended(process: object, timeout: float) -> int | None:
        if alto:
            (tmp_path / "out.xml").write_text(alto)
        return status

    monkeypatch.setattr(sandbox, "start", lambda *_, **__: None)
    monkeypatch.setattr(sandbox, "wait", ended)
    assert inspection.find_text_failure(b"%PDF", tmp_path, timeout=7) == said
    assert not list(tmp_path.iterdir())


def test_pdfalto_is_limited_and_restarted_after_a_foreign_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[int] = []
    limits: list[dict[str, int]] = []

    def start(command: list[str], policy: sandbox.Policy, *, seconds: float) -> None:
        limits.append(dict(policy.limits))
        assert seconds == 7.5

    monkeypatch.setattr(sandbox, "start", start)
    monkeypatch.setattr(sandbox, "wait", lambda *_: ends.pop(0))
    ends[:] = [-signal.SIGKILL, -signal.SIGKILL, 0]
    assert inspection.find_text_failure(b"%PDF", tmp_path, timeout=7.5) == "killed by signal 9"
    assert limits == [{"CPU": 8, "FSIZE": 1 << 30, "CORE": 0}] * 2
    ends[:] = [-signal.SIGKILL, 3]
    assert inspection.find_text_failure(b"%PDF", tmp_path, timeout=7.5) == "exit status 3"
    ends[:] = [NOT_CONFINED]
    with pytest.raises(OSError, match="could not be started in its sandbox"):
        inspection.find_text_failure(b"%PDF", tmp_path, timeout=7.5)
    assert not list(tmp_path.iterdir())


def papers(folder: Path, count: int) -> list[tuple[str, Path]]:
    for number in range(count):
        (folder / f"{number}.pdf").write_bytes(assemble(paper()))
    return [(f"{number}.pdf", folder / f"{number}.pdf") for number in range(count)]


@pytest.mark.slow
def test_pipe_and_huge_file_cost_one_outcome_each(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(600 * MB)
    items = [(name, tmp_path / name) for name in ("pipe", "large", "missing")]
    found = inspect([*items, *papers(tmp_path, 4)], timeout=2.0, memory=512 * MB)
    assert [(s.outcome, s.detail) for s in (found["pipe"], found["large"])] == [
        (SelectOutcome.UNREADABLE, "not a file"),
        (SelectOutcome.UNREADABLE, "needs more than its memory"),
    ]
    assert "No such file" in str(found["missing"].detail)
    assert [s.outcome for name, s in found.items() if name.endswith(".pdf")] == [SelectOutcome.SELECTED] * 4


def children(thread: int | None = None) -> list[int]:
    """Return the ids of the processes that read PDFs for this thread, or for another one."""
    started = Path(f"/proc/self/task/{thread or threading.get_native_id()}/children").read_text().split()
    programs = {p.pid: p.info["cmdline"] or () for p in psutil.process_iter(["cmdline"])}
    return [pid for pid in map(int, started) if any("s2corpus.pdf.child" in word for word in programs.get(pid, ()))]


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "detail"), [(1, "took more than 3 s"), (2, "ended its process (status -9)")])
def test_killed_reader_process_gets_a_second_try(tmp_path: Path, kills: int, detail: str) -> None:
    (tmp_path / "slow").write_bytes(drawn_forever(b"q Q"))
    results = stream([("slow", tmp_path / "slow")], timeout=3.0)
    main = threading.get_native_id()

    def kill() -> None:
        killed: set[int] = set()
        while len(killed) < kills:
            for victim in set(children(main)) - killed:
                while not Path(f"/proc/{victim}/task/{victim}/children").read_text():
                    time.sleep(0.01)
                os.kill(victim, signal.SIGKILL)
                killed.add(victim)
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    (slow,) = results
    killer.join()
    assert (slow.outcome, slow.detail) == (SelectOutcome.PDFALTO_FAILED, detail)


def test_reader_process_has_no_secrets_and_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cret")
    (tmp_path / "slow").write_bytes(drawn_forever(b"q Q"))
    results = stream([("slow", tmp_path / "slow"), *papers(tmp_path, 3)], workers=2, timeout=30.0)
    next(results)
    groups = children()
    assert [b"s3cret" in Path(f"/proc/{group}/environ").read_bytes() for group in groups] == [False] * 2
    results.close()
    assert not children()
    for _ in range(100):  # A killed process ends when the kernel runs it next.
        left = [p.pid for p in psutil.process_iter(["status"]) if is_running_in(p, groups)]
        if not left:
            break
        time.sleep(0.05)
    assert not left


def is_running_in(process: psutil.Process, groups: list[int]) -> bool:
    """Return whether a process belongs to one of the groups. A killed process may wait for init to reap it."""
    with suppress(ProcessLookupError):
        return process.info["status"] != psutil.STATUS_ZOMBIE and os.getpgid(process.pid) in groups
    return False


def test_pdf_with_flipped_bytes_has_one_outcome(tmp_path: Path) -> None:
    rng = random.Random(20200705)
    items = papers(tmp_path, 20)
    for _, path in items:
        data = bytearray(path.read_bytes())
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
    assert len(inspect(items, timeout=5.0)) == 20


def test_command_prints_outcomes_and_writes_the_table(tmp_path: Path) -> None:
    """A copy counts once, and other files of a folder are not read."""
    for name, kind in (("a.pdf", "paper"), ("b.PDF", "paper"), ("c.pdf", "html"), ("notes.txt", "html")):
        (tmp_path / name).write_bytes(KINDS[kind][0]())
    out = tmp_path / "selections.parquet"
    result = invoke("select", tmp_path, "--out", out)
    assert result.exit_code == 0, result.output
    assert f"selected\t{tmp_path}/a.pdf\n" in result.stdout
    assert result.stderr == "2 PDFs: 1 selected, 1 unreadable\n"
    rows = pq.read_table(out).to_pylist()
    assert sorted(row["outcome"] for row in rows) == ["selected", "unreadable"]
    assert list(rows[0]) == SELECTIONS.schema.names
