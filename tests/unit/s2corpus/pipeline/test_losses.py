"""SPEC §11: a release is stopped, however small, if it lost data of its parent or was built by two versions of the code."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from s2corpus.commands.releases import build_command
from s2corpus.pipeline import quality, runner, stages
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import load_stage
from s2corpus.pipeline.summary import format_approval_request, format_summary, list_losses
from s2corpus.spec import ReleaseSpec
from s2corpus.storage import parts
from s2corpus.storage.lake import Lake
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, DUPLICATES, FILTERED, FULLTEXTS, SPLITS

PARENT = "t-20230101-00000000"


def release(lake: Lake, scratch: Path, pdfs: int, *, profile: str = "public", parent_drops: str = "*") -> Run:
    """Return a release after intake with one drop of `pdfs` files; its parent had 4 PDFs and 4 documents from `parent_drops`."""
    run = Run(ReleaseSpec(name="t", profile=profile), datetime(2023, 2, 1, tzinfo=UTC), lake, scratch)  # type: ignore[arg-type]  # pydantic checks the profile
    files = {f"{n}.pdf": b"%%PDF %d" % n for n in range(pdfs)}
    for name, data in files.items():
        lake.put(f"drops/a/{name}", data)
    listed = [{"name": n, "bytes": len(d), "sha256": hashlib.sha256(d).hexdigest()} for n, d in files.items()]
    lake.put("drops/a/_READY", json.dumps({"ready_at": "2023-01-15T00:00:00Z", "files": listed}).encode())
    lake.put(f"snapshots/t/published/{PARENT}", b"{}")
    lake.put(f"snapshots/{PARENT}/manifest.json", json.dumps({"spec": "t", "drops": [parent_drops]}).encode())
    metrics = {"intake": {"pdfs": 4}, "split": {"s2orc.train": 3, "s2orc.valid": 1, "s2orc.train.words": 9999}}
    stats = {"metrics": metrics, "sets": {"s2orc": {"train": {"documents": 3}}}}
    lake.put(f"snapshots/{PARENT}/stats.json", json.dumps(stats).encode())
    runner.work(run, "intake", runner.plan(run, "intake"))
    runner.run_rounds(run, "intake", first=1)
    quality.measure(run, "intake", load_stage("intake").finish(run))
    for table, facts in ((EXTRACTIONS, {"extractor": "e"}), (PARSES, {"converter": "c"})):
        run.table(table).write(0, [])
        run.table(table).commit([0], facts)
    return run


def find_blocks(run: Run, name: str) -> set[str]:
    return {v.check for v in quality.evaluate(run, name) if v.verdict == "block"}


def split_into(run: Run, splits: list[str]) -> None:
    keys = [{"set": "s2orc", "paper_id": f"{n:015x}"} for n in range(len(splits))]
    run.table(SPLITS).write(
        0, [{**key, "split": split, "reason": None} for key, split in zip(keys, splits, strict=True)]
    )
    run.table(DOCUMENTS).write(0, [{**key, "outcome": "kept", "text": key["paper_id"]} for key in keys])
    empty: tuple[Table[Any], ...] = (DUPLICATES, PAPERS, FILTERED, FULLTEXTS)
    for table in empty:
        run.table(table).write(0, [])
    for table in (SPLITS, DOCUMENTS, *empty):
        run.table(table).commit([0])


def test_summary_begins_with_losses(lake: Lake, tmp_path: Path) -> None:
    run = release(lake, tmp_path, 1)
    assert list_losses(run) == ["documents of s2orc train: 3 → 0 (-100.0%)", "PDFs: 4 → 1 (-75.0%)"]
    lines = [line.strip() for line in format_summary(run).splitlines()]
    assert lines[2:4] == [f"Counts below {PARENT}", "documents of s2orc train: 3 → 0 (-100.0%)"]
    stats = {"sets": {"s2orc": {"train": {"documents": 0, "words": 0}}}}
    lake.put(f"snapshots/{run.snapshot_id}/stats.json", json.dumps(stats).encode())
    none: dict[str, Any] = {change: {"documents": {}} for change in ("added", "removed", "moved", "changed", "same")}
    lake.put(f"snapshots/{run.snapshot_id}/diff.json", json.dumps(none).encode())
    request = f"**Counts below its parent `{PARENT}`:**\n\n- documents of s2orc train: 3 → 0"
    assert format_approval_request(run, {}).startswith(request)


def test_build_prints_losses_first(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release(lake, tmp_path, 3)
    (tmp_path / "t.yaml").write_text("name: t\n")
    monkeypatch.setattr(stages, "STAGE_NAMES", ("intake",))
    monkeypatch.setenv("GROBID_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("S2CORPUS_CATALOG", raising=False)
    arguments = [str(tmp_path / "t.yaml"), "--as-of", "2023-02-01", "--no-publish", "--lake", str(tmp_path / "lake")]
    done = CliRunner().invoke(build_command, arguments)
    said = [line.strip() for line in done.output.splitlines()]
    assert said[:3] == [
        "[1/1] intake",
        f"fewer than {PARENT}: documents of s2orc train: 3 → 0 (-100.0%)",
        f"fewer than {PARENT}: PDFs: 4 → 3 (-25.0%)",
    ], done.output


@pytest.mark.parametrize(("pdfs", "said"), [(1, {"half_of_the_pdfs"}), (2, set()), (5, set())])
def test_fewer_than_half_of_parents_pdfs_block_the_release(
    lake: Lake, tmp_path: Path, pdfs: int, said: set[str]
) -> None:
    assert find_blocks(release(lake, tmp_path, pdfs), "intake") == said


def test_other_drops_and_own_folder_are_not_compared(lake: Lake, tmp_path: Path) -> None:
    assert not find_blocks(release(lake, tmp_path, 1, parent_drops="2022-*"), "intake")
    run = release(lake, tmp_path, 1, profile="own")
    assert run.parent is None and not find_blocks(run, "intake")


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        (["train", "valid"], set()),
        (["train", "held_back:undated"], {"half_of_the_documents"}),
        (["held_back:undated"], {"some_documents", "half_of_the_documents"}),
    ],
)
def test_too_few_documents_block_the_release(lake: Lake, tmp_path: Path, splits: list[str], said: set[str]) -> None:
    run = release(lake, tmp_path, 4)
    split_into(run, splits)
    assert find_blocks(run, "split") == said


def test_release_by_two_code_versions_is_blocked(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = release(lake, tmp_path, 4)
    split_into(run, ["train", "valid"])
    quality.measure(run, "export", {"documents.s2orc.train": 1, "documents.s2orc.valid": 1})
    assert not find_blocks(run, "export")
    monkeypatch.setattr(parts, "code_version", lambda: "0.2.0+upgraded")
    run.table(SPLITS).commit([0])
    (verdict,) = (v for v in quality.evaluate(run, "export") if v.verdict == "block")
    assert verdict.check == "one_code" and not verdict.overridable and verdict.offending == 2
