"""`corpus list` and `corpus status` show every snapshot, release and drop of a lake; a misspelt name gets a suggestion."""

import json
import shutil
from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2corpus.snapshot.pointer import yank
from s2corpus.spec_files import load_spec
from s2corpus.storage.lake import open_lake
from tests.commands import invoke
from tests.releases import PUBLISHED, SECOND, UNFINISHED, Built


@pytest.fixture
def lake(built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a copy of the lake with two published releases and an unfinished one; its catalog is in the environment."""
    shutil.copytree(built.lake, tmp_path / "lake")
    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("S2CORPUS_CATALOG", built.catalog)
    return str(tmp_path / "lake")


def test_list_shows_the_state_of_each_snapshot(built: Built, lake: str) -> None:
    first, second = (built.runs[name].snapshot_id for name in (PUBLISHED, SECOND))
    rows = {row["snapshot"]: row for row in json.loads(invoke("list", "--json").output)["snapshots"]}
    assert {name: (row["state"], row["as_of"]) for name, row in rows.items()} == {
        first: ("published", "2023-02-01"), second: ("latest", "2023-03-01"),
    }  # fmt: skip
    for name, row in rows.items():
        manifest = json.loads(open_lake(lake).get(f"snapshots/{name}/manifest.json")[0])
        assert row["bytes"] == sum(file["bytes"] for file in manifest["files"]) and row["documents"] > 0
    yank(open_lake(lake), second, "the test withdraws this snapshot")
    lines = dict(line.split("\t")[:2] for line in invoke("list").output.splitlines())
    assert (lines[first], lines[second]) == ("latest", "withdrawn")
    assert lines["own"] == "no snapshot"


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"files": 3}'])
def test_damaged_manifest_is_named(built: Built, lake: str, content: bytes) -> None:
    key = f"snapshots/{built.runs[SECOND].snapshot_id}/manifest.json"
    open_lake(lake).put(key, content)
    for command in ("list", "status"):
        error = invoke(command).exception
        assert isinstance(error, UserError) and "is damaged" in str(error) and "corpus doctor" in str(error)


def test_status_shows_what_is_built_what_waits_and_the_disk(built: Built, lake: str) -> None:
    open_lake(lake).put("drops/2023-05/a.pdf", b"%PDF")
    status = json.loads(invoke("status", "--json").output)
    assert [(release["release"], release["state"], release["stage"]) for release in status["releases"]] == [
        (UNFINISHED, "running", "filter")
    ]
    assert ("drops/2023-05", "writing") in [(drop["folder"], drop["state"]) for drop in status["drops"]]
    disk = {use["kind"]: use["bytes"] for use in status["disk"]}
    tables = sum(entry.bytes for name in ("releases/", "batches/") for entry in open_lake(lake).list(name))
    assert disk["tables of releases"] == tables
    in_lake = sum(entry.bytes for entry in open_lake(lake).list(""))
    assert sum(disk[kind] for kind in disk if kind not in ("logs", "scratch")) == in_lake
    printed = invoke("status", "sample").output
    assert f"{UNFINISHED}\trunning\tafter filter" in printed and "disk\tdrops\t" in printed


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("statsu",), "no command 'statsu' (did you mean status?)"),
        (("status", "sampel"), "no corpus 'sampel' (did you mean sample?)"),
        (("report", "funnel", "sample-2023021"), "no such release in .* (did you mean sample-20230201?)"),
        (("build", "smaple"), "no such release spec (did you mean sample?)"),
    ],
)
def test_misspelt_name_gets_a_suggestion(command: tuple[str, ...], said: str, lake: str) -> None:
    result = invoke(*command)
    words = result.output + str(result.exception)
    assert result.exit_code != 0 and all(part in words for part in said.split(" .* ")), words


def test_init_writes_a_spec_with_its_own_drops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_RELEASES", str(tmp_path))
    assert invoke("init", "plants").exit_code == 0
    spec = load_spec(tmp_path / "plants.yaml")
    assert (spec.name, spec.profile, spec.description) == ("plants", "own", "One's own papers")
    assert spec.selects("drop", "", "plants-1") and spec.selects("delivery", "crossref", "plants-1")
    assert not spec.selects("drop", "", "own-1") and not spec.selects("delivery", "crossref", "own-1")
    assert isinstance(invoke("init", "plants").exception, UserError)
    assert isinstance(invoke("init", "Plants").exception, UserError)
    assert invoke("init", "monthly", "--like", "s2_v2").exit_code == 0
    assert load_spec(tmp_path / "monthly.yaml").schedule == load_spec(Path("include/releases/s2_v2.yaml")).schedule
