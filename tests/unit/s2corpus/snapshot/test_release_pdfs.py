"""The dataset of figures reads the PDFs of the snapshot's release from the lake of the snapshot."""

from pathlib import Path

import pytest

from s2corpus.datasets import ReleasePdfs
from s2corpus.errors import UserError
from s2corpus.pipeline.run import ReleaseTables
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import PDFS
from s2corpus_datasets import runner
from s2corpus_datasets.job import Job
from s2corpus_datasets.source import SnapshotSource
from s2corpus_datasets.spec import DatasetSpec
from tests.snapshots import paper, write_snapshot
from tests.unit.s2corpus_datasets.conftest import FIGURE, SHA1, outcomes
from tests.unit.s2corpus_datasets.test_crops import PDF


def test_pdfs_are_read_from_the_snapshots_lake(tmp_path: Path) -> None:
    parse = {
        "_pdf_hash": SHA1, "title": "Frogs", "abstract": [], "body_text": [], "back_matter": [], "bib_entries": {},
        "ref_entries": {"FIGREF0": FIGURE},
    }  # fmt: skip
    snapshot = write_snapshot(tmp_path, [paper("a" * 15, {"pdf": parse}, title="Frogs")], files=1)
    (tmp_path / "drops" / "d").mkdir(parents=True)
    (tmp_path / "drops" / "d" / "frogs.pdf").write_bytes(PDF)
    pdfs = ReleaseTables(open_lake(str(tmp_path)), "real-20260401")(PDFS)
    place = {"drop": "d", "name": "frogs.pdf", "open_access": True, "license": None}
    pdfs.write(0, [{"file_sha1": SHA1, "bytes": len(PDF), "places": [place], "first_seen": "2026-04-01T00:00:00Z"}])
    pdfs.commit([0], {"pdf_shards": 1})

    def make(folder: Path, out: str) -> Job:
        source = SnapshotSource(open_lake(str(folder)))
        release_pdfs = ReleasePdfs(open_lake(str(folder)), source.id)
        spec = DatasetSpec(name="figures", dataset="figures")
        job = Job(spec, source, open_lake(str(tmp_path / out)), pdfs=release_pdfs)
        runner.make(job)
        return job

    assert outcomes(make(snapshot, "out"))["cropped"] == 1
    with pytest.raises(UserError, match=r"is not in a lake .* set the parameter `pdfs`"):
        make(snapshot.rename(tmp_path / snapshot.name), "alone")
