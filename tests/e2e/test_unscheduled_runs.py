"""The command line, the approval and the page describe runs that no schedule starts: at noon, on one drop, after a withdrawal."""

import json
import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import pytest
from click.testing import Result

from devtools.sample.truth import Truth
from s2corpus.ids import ReleaseId
from s2corpus.pipeline import runner, sealed
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.pipeline.summary import format_approval_request, format_summary
from s2corpus.snapshot.markers import explain_missing_parent
from s2corpus.snapshot.pointer import yank
from s2corpus.storage.lake import Lake, open_lake
from tests.commands import invoke
from tests.releases import PUBLISHED, SECOND, Built, build, spec
from tests.ui.conftest import page_over
from tests.ui.pages import read, words
from tests.unit.s2corpus.deliveries.samples import deliver

pytestmark = pytest.mark.slow
NOON = datetime(2023, 3, 15, 12, tzinfo=UTC)
REASON = "the test withdraws this snapshot"


@pytest.fixture
def lake(built: Built, extractor: Mapping[str, str], tmp_path: Path) -> object:
    """Yield a copy of the lake with two published snapshots, without a catalog."""
    shutil.copytree(built.lake, tmp_path / "lake")
    with mock.patch.dict(os.environ, {**extractor, "S2CORPUS_LAKE": str(tmp_path / "lake")}):
        os.environ.pop("S2CORPUS_CATALOG", None)
        yield open_lake(str(tmp_path / "lake"))


def shown(lake: Lake, run: Run) -> tuple[str, str, str]:
    """Return the summary, the approval request and the page of a release."""
    page = read(page_over(lake.root.removeprefix("file://")), run.release_id.page_path)
    return format_summary(run), format_approval_request(run, {}), words(page)


def test_run_at_noon_whose_parent_is_withdrawn_later(built: Built, lake: Lake, tmp_path: Path) -> None:
    run = Run(spec(), NOON, lake, tmp_path)
    build(run)
    parent = built.runs[SECOND].snapshot_id
    assert run.parent == parent
    summary, approval, page = shown(lake, run)
    assert "Release sample-20230315T120000" in summary
    assert "ready before 2023-03-15 12:00 UTC" in approval and f"Documents since its parent `{parent}`:" in approval
    assert "As of 2023-03-15 12:00:00 UTC" in page and f"Compared with {parent}" in page and "withdrawn" not in page
    yank(lake, parent, REASON)
    _, approval, page = shown(lake, run)
    assert f"`{parent}`, which was withdrawn:" in approval and "which was withdrawn" in page


def test_trial_on_one_drop_of_a_second_corpus_says_what_it_leaves_out(lake: Lake, tmp_path: Path) -> None:
    deliver(lake, "drops/2023-02-b", {"a.txt": b"no paper"}, ready_at="2023-02-01T00:00:00Z")
    run = sealed.seal(Run(spec().model_copy(update={"name": "other"}), NOON, lake, tmp_path), drops=["2023-01-a"])
    for name in STAGE_NAMES:
        runner.run_stage(run, name)
    said = "It is a trial on the drops 2023-01-a: it leaves out 2023-02-b. Only a person publishes it."
    summary, approval, page = shown(lake, run)
    assert said in summary and said in approval and said in page
    for text in (approval, page):
        assert "It has no parent: it is the first snapshot of other." in text


def test_each_reason_for_a_missing_parent_has_a_sentence(built: Built, lake: Lake) -> None:
    first, second = (built.runs[name].snapshot_id for name in (PUBLISHED, SECOND))
    assert explain_missing_parent(lake, ReleaseId("sample-20230101")) == (
        "It has no parent: the 2 published snapshots of sample are of later instants."
    )
    for snapshot in (first, second):
        yank(lake, snapshot, REASON)
    assert explain_missing_parent(lake, ReleaseId("sample-20230601")) == (
        f"It has no parent: the earlier snapshots were withdrawn ({first}, {second})."
    )


def run(*arguments: object) -> Result:
    result = invoke(*arguments, catch=False)
    assert result.exit_code == 0, result.output
    return result


def test_license_of_a_delivered_crossref_record_reaches_the_text(
    tiny: tuple[Path, Truth], extractor: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record with the PDF's DOI and another title and author is another paper, unless the drop declares the DOI of the file."""
    pdf = next(pdf for pdf in tiny[1].pdfs if pdf.paper == "bracket")
    (papers := tmp_path / "papers").mkdir()
    shutil.copy(tiny[0] / "drops" / pdf.places[0][0] / pdf.places[0][1], papers / "a.pdf")
    license_ = {"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor", "delay-in-days": 0}
    work = {
        "DOI": pdf.doi, "type": "journal-article", "title": ["Another title about something else"], "license": [license_],
    }  # fmt: skip
    (papers / "crossref.json").write_text(json.dumps(work | {"author": [{"given": "Zoe", "family": "Xylander"}]}))
    for name, value in {
        **extractor,
        "S2CORPUS_LAKE": str(tmp_path / "lake"),
        "S2CORPUS_RELEASES": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    run("init", "mine")
    run("add", "mine", papers)
    run("build", "mine")
    explained = run("explain", f"s2corpus-layout:{pdf.sha1}", "--release", "mine").output
    assert f"PDF {pdf.sha1}: open by declared; no license stated" in explained
    assert f"crossref:{pdf.doi} has the DOI {pdf.doi} of this paper, but is another paper" in explained
    assert "its license (CC-BY-4.0) does not apply; if it describes this file, declare its doi" in explained
    (papers / "records.jsonl").write_text(json.dumps({"name": "a.pdf", "doi": pdf.doi}))
    run("add", "mine", papers)
    run("build", "mine")
    explained = run("explain", f"s2corpus-layout:{pdf.sha1}", "--release", "mine").output
    assert f"PDF {pdf.sha1}: open by publisher; CC-BY-4.0" in explained
    assert f"crossref:{pdf.doi} states open access, CC-BY-4.0: opens this text and states its license" in explained
    assert json.loads(run("explain", f"crossref:{pdf.doi}", "--release", "mine", "--json").output)["unjoined"] == []
    assert json.loads(run("read", "mine", pdf.doi).output)["sha1"] == pdf.sha1
