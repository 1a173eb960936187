"""Thirteen real papers pass through every stage to the snapshot, with the TEI that a real GROBID returned for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from devtools.own_papers import deliver_own
from s2corpus.extractors import Limits
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot.verify import verify
from s2corpus.spec import load_spec
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES, SELECTIONS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS
from tests.releases import ROOT
from tests.standin_grobid import StandIn, Upload

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Quick(Limits):
    """The stage's limits, without the wait of five seconds after a 503."""

    busy_wait: tuple[float, float] = (0.05, 0.1)


@pytest.fixture(scope="module")
def run(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Build a release of the 13 papers with a server that answers every third request with 503."""
    folder = tmp_path_factory.mktemp("replay")
    lake = open_lake(str(folder / "lake"))
    _, drop = deliver_own(lake, shared_data / "pairs")
    tei = {path.name[:40]: path.read_bytes() for path in (shared_data / "pairs").glob("*.tei.xml")}

    def busy(upload: Upload) -> str | None:
        return "busy" if upload.number % 3 == 0 else None

    spec = load_spec(ROOT / "include/releases/own.yaml").model_copy(update={"drops": (drop,)})
    made = Run(spec, datetime(2100, 1, 1, tzinfo=UTC), lake, folder)
    with pytest.MonkeyPatch.context() as patch, StandIn(faults=busy, tei=tei) as server:
        patch.setenv("GROBID_URL", server.url)
        patch.delenv("S2CORPUS_EXTRACTOR_TOKEN", raising=False)
        patch.setattr("s2corpus.stages.extract.Limits", Quick)
        for name in STAGE_NAMES:
            runner.run_stage(made, name)
        runner.publish(made)
    assert sum(server.uploads.values()) > 13, "no request was answered with 503"
    return made


def test_every_pdf_is_parsed_and_the_funnel_sums_exactly(run: Run) -> None:
    def outcomes(table: Table[Any]) -> list[str]:
        return list(run.table(table).read(["outcome"])["outcome"].to_pylist())

    assert outcomes(SELECTIONS) == ["selected"] * 13
    assert outcomes(EXTRACTIONS) == outcomes(PARSES) == ["ok"] * 13
    papers, kept = run.table(PAPERS).read().num_rows, outcomes(FILTERED).count("kept")
    sets = run.table(DOCUMENTS).read(["set"])["set"].to_pylist()
    assert run.table(PDFS).read().num_rows == papers == len(outcomes(FILTERED)) == 13
    assert sets.count("s2orc") == kept
    assert outcomes(DOCUMENTS).count("kept") == run.table(SPLITS).read().num_rows


def test_snapshot_of_real_papers_is_intact(run: Run) -> None:
    assert list(verify(open_lake(run.lake.uri(f"snapshots/{run.snapshot_id}")))) == []
    splits = run.table(SPLITS).read(["split"])["split"].to_pylist()
    assert sum(split in ("train", "valid") for split in splits) >= 9
