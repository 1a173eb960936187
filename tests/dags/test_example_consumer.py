"""The example of a consumer's DAG updates copies by deltas; each copy is byte for byte equal to a complete copy."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import s2corpus_reader
from tests.unit.s2corpus.snapshot.test_delta import _same, snapshots

pytestmark = pytest.mark.airflow
__all__ = ["snapshots"]  # a fixture


def published(consumer: Any, folder: Path) -> dict[Any, list[Any]]:
    event = SimpleNamespace(extra={"manifest": f"{folder}/manifest.json", "snapshot": folder.name})
    return {consumer.SNAPSHOT: [event]}


def test_copies_updated_by_deltas_equal_complete_copies(
    load: Callable[..., Any], snapshots: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = load("example_consumer", S2CORPUS_COPIES=str(tmp_path / "copies"))
    applied: list[str] = []
    apply = s2corpus_reader.apply

    def noting(*arguments: Any) -> str:
        applied.append(apply(*arguments))
        return applied[-1]

    monkeypatch.setattr(s2corpus_reader, "apply", noting)
    for folder in snapshots:
        copy = consumer.keep_a_copy.function(triggering_asset_events=published(consumer, folder))
        assert _same(Path(copy), folder)
    assert applied == [folder.name for folder in snapshots[1:]]  # Only the first snapshot was fetched completely.
    shutil.rmtree(tmp_path / "copies" / snapshots[-1].name)
    again = consumer.keep_a_copy.function(triggering_asset_events=published(consumer, snapshots[-1]))
    assert _same(Path(again), snapshots[-1])
    assert {path.name for path in (tmp_path / "copies").iterdir()} == {folder.name for folder in snapshots}
    monkeypatch.delenv("S2CORPUS_COPIES")
    assert consumer.keep_a_copy.function(triggering_asset_events=published(consumer, snapshots[0])) is None
