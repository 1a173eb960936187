"""A third of `devtools/bench/tamper.py`'s manipulations of a generated release are found from the publication, and most
are found without it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from devtools.bench import tamper
from s2corpus.snapshot.pointer import publish
from s2corpus.snapshot.verify import verify
from s2corpus.storage.lake import open_lake
from tests.unit.snapshot.test_export import release


def test_manipulations_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = release(tmp_path)
    publish(made.lake, made.snapshot_id)
    names = list(tamper.MANIPULATIONS | tamper.AFTER)
    for table in ("MANIPULATIONS", "AFTER"):
        third = {n: act for n, act in getattr(tamper, table).items() if names.index(n) % 3 == 0}
        monkeypatch.setattr(tamper, table, third)
    results = list(tamper.trials(tmp_path / "lake", made.snapshot_id, []))
    assert len(results) > 40
    assert [(r.name, r.traceback) for r in results if r.traceback] == []
    assert [r.name for r in results if not r.published] == []
    assert {r.name for r in results if not r.alone} == tamper.CANNOT & {r.name for r in results}


def test_contradicting_publication_is_found(tmp_path: Path) -> None:
    made = release(tmp_path)
    publish(made.lake, made.snapshot_id)
    mark = tmp_path / "lake" / "snapshots" / made.spec.name / "published" / made.snapshot_id
    for data in (mark.read_bytes().replace(b'_sha256":"', b'_sha256":"0'), b"null"):
        mark.write_bytes(data)
        said = tamper.said(tmp_path / "lake" / "snapshots" / made.snapshot_id)
        assert "this is not the published manifest" in said[0]


def test_diff_is_compared_with_the_parent(tmp_path: Path) -> None:
    made = release(tmp_path)
    folder = open_lake(str(tmp_path / "lake" / "snapshots" / made.snapshot_id))
    assert [str(fault) for fault in verify(folder, parent=folder)] == [
        f"manifest.json: the parent is None; expected {made.snapshot_id}"
    ]
