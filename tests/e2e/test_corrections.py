"""A correction reaches the next release only: former releases do not change, and `corpus correct` proves it (SPEC §5.25, §5.26)."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import Result

from devtools.sample.truth import Truth
from s2corpus.corpora.actions import list_records
from s2corpus.ids import SnapshotId
from s2corpus.snapshot.pointer import read_latest
from s2corpus.storage.lake import open_lake
from tests.commands import invoke

pytestmark = pytest.mark.slow
REASON = "the publisher wrote that the record is wrong"
URL = "https://creativecommons.org/licenses/by/4.0/"


def correct(paper: object, field: str, value: str, *others: str, evidence: str = "a letter of May 3") -> Result:
    return invoke("correct", paper, field, value, "--evidence", evidence, "--reason", REASON, *others)


def test_next_release_has_the_correction_and_former_ones_keep_their_bytes(
    tiny: tuple[Path, Truth], extractor: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = next(pdf for pdf in tiny[1].pdfs if pdf.paper == "bracket")
    (papers := tmp_path / "papers").mkdir()
    shutil.copy(tiny[0] / "drops" / pdf.places[0][0] / pdf.places[0][1], papers / "a.pdf")
    stated = {
        "name": "a.pdf", "doi": pdf.doi, "date": "2019", "license": "CC-BY-4.0", "abstract": "We measure rates. " * 20,
    }  # fmt: skip
    (papers / "records.jsonl").write_text(json.dumps(stated))
    settings = {**extractor, "S2CORPUS_LAKE": str(tmp_path / "lake"), "S2CORPUS_RELEASES": str(tmp_path)}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    lake = open_lake(str(tmp_path / "lake"))
    invoke("init", "mine")
    invoke("add", "mine", papers)

    def build(*options: str) -> SnapshotId:
        done = invoke("build", "mine", *options)
        assert done.exit_code == 0, done.output
        latest = read_latest(lake, "mine").snapshot
        assert latest
        return SnapshotId(latest)

    def hash_files(snapshot: str) -> dict[str, str]:
        files = (entry.key for entry in lake.list(f"snapshots/{snapshot}/"))
        return {key: hashlib.sha256(lake.get(key)[0]).hexdigest() for key in files}

    def read_index(snapshot: str) -> list[object]:
        (row,) = pq.read_table(tmp_path / "lake" / "snapshots" / snapshot / "index.parquet").to_pylist()
        return [row["license"], row["date"]]

    first = build()
    reference = hash_files(first)
    plan = correct(pdf.doi, "license", "CC BY-NC 4.0")
    assert "license CC BY-NC 4.0, now CC-BY-4.0: not more open" in plan.output and "nothing was changed" in plan.output
    assert lake.size("corrections.jsonl") is None, "a plan changes nothing"
    done = correct(pdf.doi, "license", "CC BY-NC 4.0", "--yes")
    assert f"{first} has license CC-BY-4.0" in done.output and "a later release has it" in done.output
    assert correct(pdf.doi, "date", "2018-03", "--yes").exit_code == 0
    fields = [record["values"]["field"] for record in list_records(lake) if record["action"] == "correct"]
    assert sorted(fields) == ["date", "license"] and list_records(lake)[0]["corpora"] == ["mine"]

    second = build()
    assert second != first and hash_files(first) == reference
    assert (read_index(first), read_index(second)) == (["CC-BY-4.0", "2019"], ["CC-BY-NC-4.0", "2018-03"])
    card = lake.get(f"snapshots/{second}/README.md")[0].decode()
    assert f"| date | 2018-03 | {REASON} | a letter of May 3 |" in card
    explained = invoke("explain", f"s2corpus-layout:{pdf.sha1}", "--release", "mine").output
    assert (
        "CC-BY-NC-4.0, was CC-BY-4.0: corrected by correction:" in explained and "date “2018-03”, applied" in explained
    )
    assert invoke("verify", f"{tmp_path}/lake/snapshots/{second}").exit_code == 0

    refused = correct(pdf.doi, "license", "CC BY 4.0", "--yes")
    assert "expected the URL of the license statement as evidence" in str(refused.exception)
    opened = correct(pdf.doi, "license", "CC BY 4.0", "--yes", evidence=URL)
    assert "more open" in opened.output
    third = build()
    assert read_index(third) == ["CC-BY-4.0", "2018-03"]
    proof = correct(pdf.doi, "license", "CC BY 4.0", "--yes").output
    assert f"{third} has license CC-BY-4.0" in proof and "is corrected" in proof

    (other := tmp_path / "other").mkdir()
    shutil.copytree(tmp_path / "lake" / "drops", other / "drops")
    shutil.copy(tmp_path / "lake" / "corrections.jsonl", other)
    monkeypatch.setenv("S2CORPUS_LAKE", str(other))
    lake = open_lake(str(other))
    assert build("--as-of", f"{first.release.as_of:%Y-%m-%dT%H:%M:%S}") == first
    assert hash_files(first) == reference, "a release before the corrections has the same bytes"
