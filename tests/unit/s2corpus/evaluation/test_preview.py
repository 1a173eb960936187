"""`corpus preview` reports the effect of another threshold: both releases are built and compared."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from s2corpus.errors import UserError
from s2corpus.evaluation.preview import Effect, change_spec, preview
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.sealed import seal
from s2corpus.tables.texts import DOCUMENTS, FILTERED, LINKS, SPLITS
from tests.commands import invoke
from tests.unit.s2corpus.snapshot.test_removed import make


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make(tmp_path_factory.mktemp("preview") / "plain")


def kept(run: Run) -> dict[str, str]:
    rows = run.table(DOCUMENTS).rows(["set", "paper_id", "outcome"])
    return {row["paper_id"]: row["set"] for row in rows if row["outcome"] == "kept"}


@pytest.mark.parametrize(
    "rule",
    [
        {"min_log_prob": -1000.0}, {"min_log_prob": -13.9}, {"min_words": 520}, {"min_words": 560}, {"min_year": 2012},
        {"min_year": 1900},
    ],
)  # fmt: skip
def test_preview_of_clean_is_the_release(release: Run, tmp_path: Path, rule: dict[str, Any]) -> None:
    spec = change_spec(release.spec, {f"clean.{name}": value for name, value in rule.items()})
    changes = list(preview(release, spec))
    built = make(tmp_path / "built", **rule)
    before, after = kept(release), kept(built)
    expected = {
        paper: Effect.RETURNS if paper not in before else Effect.GOES if paper not in after else Effect.MOVES
        for paper in before.keys() | after.keys()
        if before.get(paper) != after.get(paper)
    }
    assert {change.paper_id: change.effect for change in changes if change.item == "document"} == expected
    removed = [
        {row["paper_id"]: row["removed_sections"] for row in run.table(DOCUMENTS).rows() if row["set"] == "s2orc"}
        for run in (release, built)
    ]
    for paper, n in removed[1].items():
        sections = [change for change in changes if change.item == "section" and change.paper_id == paper]
        if n is not None and (former := removed[0][paper]) is not None:
            assert len(sections) == abs(n - former)


@pytest.mark.parametrize("before", ["remove", "placeholder"])
def test_preview_of_formulas_is_the_release(tmp_path: Path, before: str) -> None:
    after = {"remove": "placeholder", "placeholder": "remove"}[before]
    old = make(tmp_path / "old", formulas=before)
    changes = list(preview(old, change_spec(old.spec, {"clean.formulas": after})))
    counts: list[Counter[str]] = [
        Counter({row["paper_id"]: row["text"].count("EQUATION") for row in run.table(DOCUMENTS).rows() if row["text"]})
        for run in (old, make(tmp_path / "new", formulas=after))
    ]
    assert Counter(change.paper_id for change in changes) == (counts[1] - counts[0] or counts[0] - counts[1])
    effect, places = (
        (Effect.RETURNS, "removed: … We use") if before == "remove" else (Effect.GOES, "placeholder: … We use")
    )
    assert len(changes) > 20 and {(change.item, change.effect) for change in changes} == {("formula", effect)}
    assert all(
        change.before.startswith(f"{places} EQUATION, as shown") and change.after != before for change in changes
    )


def test_preview_of_dates_is_the_release(release: Run) -> None:
    spec = change_spec(release.spec, {"split.train_before": "2012-01-01", "split.valid_until": "2023-01-31"})
    moved = {change.paper_id: (change.before, change.after) for change in preview(release, spec)}
    assert {("train", "valid"), ("held_back:late", "valid")} == set(moved.values())
    splits = {row["paper_id"]: row["split"] for row in release.table(SPLITS).rows()}
    assert all(splits[paper] == before for paper, (before, _) in moved.items())


def test_preview_of_links_and_filter(release: Run) -> None:
    fuzzy = [row for row in release.table(LINKS).rows() if row["reason"] == "fuzzy"]
    assert fuzzy == [] == list(preview(release, change_spec(release.spec, {"link.min_score": 0.9})))
    papers = {row["paper_id"] for row in release.table(FILTERED).rows() if row["outcome"] == "kept"}
    for rule, after in (({"filter.min_characters": 601}, "short_text"), ({"filter.min_english": 0.96}, "not_english")):
        changes = list(preview(release, change_spec(release.spec, rule)))
        assert {change.paper_id for change in changes} == papers and len(changes) == len(papers)
        assert {(change.effect, change.before, change.after) for change in changes} == {(Effect.GOES, "kept", after)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"clean.min_word": 1}, r"'clean.min_word' has no preview \(did you mean clean.min_words\?\); expected one of clean.min_log_prob"),
        ({"link.min_score": 0.5}, "link.min_score: 0.5 given, but the release stored nothing below 0.8: give a higher value, or"),
        ({"clean.min_words": "many"}, "clean.min_words"),
    ],
)  # fmt: skip
def test_preview_refuses_what_it_cannot_tell(release: Run, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        change_spec(release.spec, given)


def test_command_prints_changes_and_writes_nothing(release: Run, tmp_path: Path) -> None:
    seal(release)
    files = sorted(Path(release.lake.root).rglob("*"))
    preview = ("preview", release.release_id, "--lake", release.lake.root, "--set")
    done = invoke(*preview, "clean.min_log_prob=-1000", catch=False)
    assert "sections: returns, " in done.output and "section returns: removed: Residue (-2" in done.output
    assert sorted(Path(release.lake.root).rglob("*")) == files
    wrong = invoke(*preview, "x")
    assert isinstance(wrong.exception, UserError) and "expected <rule>=<value>" in str(wrong.exception)
