"""Vectors of papers (GORC §6.1): learned once, nearly equal on other CPUs, nearest within a field, with both pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.job import Job
from tests.snapshots import write_snapshot
from tests.unit.s2corpus.datasets.conftest import content, job, papers, stats


def test_vectors_are_learned_again_only_for_changed_documents(
    lake: Path, made: dict[str, Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = job(lake, "vectors", snapshot=write_snapshot(tmp_path, papers(), files=3, day="20260601"))
    assert later.source.id != made["vectors"].source.id
    monkeypatch.setattr("s2corpus.datasets.vectors.dataset.learn", lambda *_: pytest.fail("learned again"))
    runner.make(later)
    assert content(later, "vectors/0") == content(made["vectors"], "vectors/0")
    grown = papers()
    grown[0]["title"] = "Another title"
    changed = job(lake, "vectors", snapshot=write_snapshot(tmp_path, grown, files=3, day="20260701"))
    with pytest.raises(pytest.fail.Exception, match="learned again"):
        runner.make(changed)


def test_neighbors_share_fields_and_pictures_show_papers(made: dict[str, Job]) -> None:
    one = made["vectors"]
    metrics = stats(one)["metrics"]
    assert metrics["neighbours_same_field"] > 2 * metrics["chance_same_field"]
    circles = {name: content(one, name)[f"/{name}"].count(b"<circle") for name in ("picture.svg", "arxiv.svg")}
    assert circles == {"picture.svg": 60, "arxiv.svg": 20}
