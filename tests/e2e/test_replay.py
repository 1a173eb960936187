"""Thirteen real papers pass through every stage to the snapshot, with the TEI that a real GROBID returned for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from devtools.own_papers import deliver_own
from s2corpus.extractors import Limits
from s2corpus.pipeline.run import Run
from s2corpus.snapshot.verify import verify
from s2corpus.spec import load_spec
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES, SELECTIONS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS
from tests.releases import ROOT, build
from tests.standin_grobid import StandIn, Upload

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Quick(Limits):
    """The stage's limits, without the wait of five seconds after a 503."""

    busy_wait: tuple[float, float] = (0.05, 0.1)


def test_real_papers_pass_through_every_stage_to_an_intact_snapshot(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Build a release of the 13 papers with a server that answers every third request with 503. The funnel sums exactly."""
    lake = open_lake(str(tmp_path / "lake"))
    _, drop = deliver_own(lake, shared_data / "pairs")
    tei = {path.name[:40]: path.read_bytes() for path in (shared_data / "pairs").glob("*.tei.xml")}

    def busy(upload: Upload) -> str | None:
        return "busy" if upload.number % 3 == 0 else None

    spec = load_spec(ROOT / "include/releases/own.yaml").model_copy(update={"drops": (drop,)})
    run = Run(spec, datetime(2100, 1, 1, tzinfo=UTC), lake, tmp_path)
    with StandIn(faults=busy, tei=tei) as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        monkeypatch.delenv("S2CORPUS_EXTRACTOR_TOKEN", raising=False)
        monkeypatch.setattr("s2corpus.stages.extract.Limits", Quick)
        build(run)
    assert sum(server.uploads.values()) > 13, "no request was answered with 503"

    def outcomes(table: Table[Any]) -> list[str]:
        return list(run.table(table).read(["outcome"])["outcome"].to_pylist())

    assert outcomes(SELECTIONS) == ["selected"] * 13
    assert outcomes(EXTRACTIONS) == outcomes(PARSES) == ["ok"] * 13
    papers, kept = run.table(PAPERS).read().num_rows, outcomes(FILTERED).count("kept")
    sets = run.table(DOCUMENTS).read(["set"])["set"].to_pylist()
    assert run.table(PDFS).read().num_rows == papers == len(outcomes(FILTERED)) == 13
    assert sets.count("s2orc") == kept
    assert outcomes(DOCUMENTS).count("kept") == run.table(SPLITS).read().num_rows
    assert list(verify(open_lake(run.lake.uri(f"snapshots/{run.snapshot_id}")))) == []
    splits = run.table(SPLITS).read(["split"])["split"].to_pylist()
    assert sum(split in ("train", "valid") for split in splits) >= 9
