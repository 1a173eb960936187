"""Vectors of papers (GORC §6.1): learned once, nearly equal on other CPUs, nearest within a field, with both pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.job import Job
from s2corpus.datasets.vectors.dataset import CATEGORIES
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


def test_neighbors_share_the_field_more_often_than_chance(made: dict[str, Job]) -> None:
    metrics = stats(made["vectors"])["metrics"]
    assert metrics["neighbours_same_field"] > 2 * metrics["chance_same_field"]


@pytest.mark.parametrize(
    ("name", "papers", "labels"),
    [("picture", 60, ["Biology (20)", "Computer Science (20)", "Medicine (20)"]), ("arxiv", 20, ["cs.CL (20)"])],
)
def test_picture_shows_papers_by_field_and_by_arxiv_category(
    name: str, papers: int, labels: list[str], made: dict[str, Job]
) -> None:
    """Check that a paper in several of GORC's six categories is shown once."""
    assert {*CATEGORIES} == {"cs.AI", "cs.CL", "cs.LG", "cs.CV", "cs.NE", "stat.ML"}
    (picture,) = content(made["vectors"], f"{name}.svg").values()
    assert picture.count(b"<circle") == papers and all(label.encode() in picture for label in labels)
