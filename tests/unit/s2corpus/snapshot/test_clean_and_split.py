"""SPEC §8–9: the stages clean and split read the right input from a release's tables and write the right documents and splits."""

import dataclasses
import hashlib
import random
from collections.abc import Callable
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2corpus.errors import UserError
from s2corpus.pipeline import quality
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.stages import split
from s2corpus.stages.clean import CleanStage
from s2corpus.stages.split import SplitStage
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS
from s2corpus.text import minhash
from s2corpus.text.near_duplicates import text_key
from tests.unit.s2corpus.snapshot.release import AS_OF, Paper, lay_out, papers, paragraph, through

Rows = dict[tuple[str, str], dict[str, Any]]
"""rows by set and paper"""


def release(
    folder: Path, change: Callable[[Paper], Paper] = lambda paper: paper, *, count: int = 24, **fields: Any
) -> tuple[Run, Rows, Rows]:
    """Build a release up to its splits; return the run, and its documents and splits by set and paper."""
    folder.mkdir(parents=True, exist_ok=True)
    spec = ReleaseSpec.model_validate({"name": "small", **fields})
    made = (change(paper) for paper in papers(count))
    run = lay_out(LocalLake(folder / "lake"), folder, spec, made, buckets=3)
    through(run, CleanStage(), SplitStage())
    tables = (run.table(DOCUMENTS).read().to_pylist(), run.table(SPLITS).read().to_pylist())
    documents, splits = ({(row["set"], row["paper_id"]): row for row in table} for table in tables)
    return run, documents, splits


def change_row(paper: Paper, **values: Any) -> Paper:
    return dataclasses.replace(paper, row={**paper.row, **values})


def test_every_kept_paper_is_judged_in_s2orc_then_s2ag(tmp_path: Path) -> None:
    run, documents, splits = release(tmp_path)
    filtered = run.table(FILTERED).read().to_pylist()
    kept = {row["paper_id"] for row in filtered if row["outcome"] == "kept"}
    full = {paper_id: row for (set_, paper_id), row in documents.items() if set_ == "s2orc"}
    short = {paper_id for set_, paper_id in documents if set_ == "s2ag"}
    assert set(full) == kept
    assert short == {paper_id for paper_id, row in full.items() if row["outcome"] != "kept"}
    assert set(splits) == {key for key, row in documents.items() if row["outcome"] == "kept"}


def test_only_requested_sets_are_written(tmp_path: Path) -> None:
    """Check that s2ag alone contains all papers, as the S2 V2 card's set does, and that a release of one set passes its checks."""
    _, both, _ = release(tmp_path)
    for set_ in ("s2ag", "s2orc"):
        run, documents, _ = release(tmp_path / set_, clean={"sets": [set_]})
        assert documents.keys() == {(set_, paper_id) for of, paper_id in both if of == "s2orc"}
        verdicts = {verdict.check: verdict.verdict for verdict in quality.evaluate(run, "clean")}
        assert verdicts["every_kept_paper_is_decided"] == verdicts["one_set_a_paper"] == "pass"


def test_retracted_papers_are_flagged_or_have_no_text(tmp_path: Path) -> None:
    statuses = {paper.row["paper_id"]: paper.row["editorial"] for paper in papers(24)}
    gone = {id_ for id_, status in statuses.items() if status in ("retracted", "withdrawn")}
    assert len(gone) == 2
    _, flagged, _ = release(tmp_path / "flag")
    _, excluded, _ = release(tmp_path / "exclude", clean={"editorial": "exclude"})
    assert gone & {id_ for (_, id_), row in flagged.items() if row["outcome"] == "kept"} == gone
    for (set_, id_), row in excluded.items():
        assert row["outcome"] == (statuses[id_] if id_ in gone else flagged[set_, id_]["outcome"])
    assert {("s2orc", id_) for id_ in gone} < excluded.keys()


@pytest.mark.parametrize(
    ("source", "rule", "outcome"), [("crossref", "majority", "kept"), ("whoever-extracts", "pdf", "no_abstract")]
)
def test_abstract_from_a_closed_pdf_is_not_published(tmp_path: Path, source: str, rule: str, outcome: str) -> None:
    decided = {"source": source, "record_id": None, "rule": rule, "votes_for": 1, "votes_against": 0}
    change = partial(
        change_row, date="2011", abstract=paragraph(random.Random(1), 60), provenance=[("abstract", decided)]
    )
    _, documents, _ = release(tmp_path, partial(change, open_access=False, access=[]))
    assert {row["outcome"] for (set_, _), row in documents.items() if set_ == "s2orc"} <= {"closed", "no_parse"}
    assert {row["outcome"] for (set_, _), row in documents.items() if set_ == "s2ag"} == {outcome}


def test_unknown_years_are_dropped_except_in_profile_own(tmp_path: Path) -> None:
    undated = partial(change_row, date=None)
    _, documents, splits = release(tmp_path / "public", undated)
    assert not splits
    assert "no_year" in {row["outcome"] for row in documents.values()}
    for name, rules in (("own", {"profile": "own"}), ("asked", {"clean": {"unknown_year": "keep"}})):
        _, _, splits = release(tmp_path / name, undated, **rules)
        assert {row["split"] for row in splits.values()} == {"train"}


@pytest.mark.parametrize(("profile", "split"), [("card", "held_back:late"), ("recipe-2024", "valid")])
def test_only_recipe_has_no_upper_bound(tmp_path: Path, profile: str, split: str) -> None:
    """The card's valid split ends; that of the recipe (A.7) does not."""
    words = tmp_path / "words.csv"
    words.write_text("word,count\nsignificant,100\n")
    unigrams = {"uri": str(words), "sha256": hashlib.sha256(words.read_bytes()).hexdigest()}
    clean = {"profile": profile, "unigrams": unigrams, "min_log_prob": None}
    _, _, splits = release(tmp_path / "release", partial(change_row, date="2030-05"), clean=clean)
    assert {row["split"] for row in splits.values()} == {split}


def test_later_duplicates_are_held_back_across_buckets_and_sets(tmp_path: Path) -> None:
    author = {"first": "Ada", "middle": [], "last": "Same", "suffix": ""}
    _, _, splits = release(tmp_path, partial(change_row, title="The Same Title", authors=[author]))
    train = [key for key, row in splits.items() if row["split"] == "train"]
    assert len(train) == 1
    duplicates = {row["reason"] for row in splits.values() if row["split"] == "held_back:near_duplicate"}
    assert duplicates == {train[0][1]}
    assert not any(row["split"] == "valid" for row in splits.values())


@pytest.mark.parametrize("ids", list(permutations("abc")))
def test_equal_texts_are_compared_by_that_of_smallest_id(tmp_path: Path, ids: tuple[str, ...]) -> None:
    """White space is no part of a text's key, but of its words; the text of the smallest paper_id counts, in any order of rows."""
    texts = {"a": "one two three four five six", "b": "onetwo threefour fivesix", "c": "onetwothree fourfive six"}
    (key,) = {text_key(text) for text in texts.values()}
    run = Run(ReleaseSpec(name="small"), AS_OF, LocalLake(tmp_path / "lake"), tmp_path)
    row = dict.fromkeys(DOCUMENTS.schema.names) | {"set": "s2orc", "outcome": "kept", "text_key": key}
    run.table(DOCUMENTS).write(0, [row | {"paper_id": id_, "text": texts[id_]} for id_ in ids])
    run.table(DOCUMENTS).commit([0])
    starts, ends = split._write_shingles(run, np.array([key]), path := tmp_path / "shingles")
    found = np.fromfile(path, np.uint64)[starts[0] : ends[0]]
    expected = np.unique(minhash.hash_shingles(texts["a"]))
    assert found.tolist() == expected.tolist() and len(found) > 0


def test_text_is_from_first_kind_of_the_spec(tmp_path: Path) -> None:

    def with_latex(paper: Paper) -> Paper:
        if paper.parse is None:
            return paper
        body = [{**part, "text": f"Typeset {part['text']}"} for part in paper.parse["body_text"]]
        return dataclasses.replace(paper, latex={**paper.parse, "body_text": body})

    closed = {paper.row["paper_id"] for paper in papers(24) if not paper.row["open_access"]}
    for first in ("pdf", "latex"):
        order = [first, *(kind for kind in ("pdf", "latex", "jats", "elsevier") if kind != first)]
        _, documents, _ = release(tmp_path / first, with_latex, clean={"text_from": order})
        kept = [row for (set_, _), row in documents.items() if set_ == "s2orc" and row["outcome"] == "kept"]
        from_latex = {row["paper_id"] for row in kept if "Typeset" in row["text"]}
        assert from_latex == {row["paper_id"] for row in kept if row["license"] == "arXiv"}
        assert from_latex == {row["paper_id"] for row in kept if first == "latex" or row["paper_id"] in closed}
        assert 0 < len(from_latex) <= len(kept)


@pytest.mark.parametrize(
    ("rule", "source", "field", "outcome"),
    [
        ("pdf", "grobid", "title", "no_title"), ("pdf", "grobid", "abstract", "no_abstract"), ("pdf", "scienceparse", "title", "kept"),
    ],
)  # fmt: skip
def test_extractor_metadata_counts_as_missing(rule: str, source: str, field: str, outcome: str, tmp_path: Path) -> None:
    decision = {"source": source, "record_id": f"{source}:1", "rule": rule, "votes_for": 1, "votes_against": 0}
    decided = partial(change_row, provenance=[(field, decision)])
    keeping, dropped = (
        release(tmp_path / handling, decided, count=9, clean={"extractor_metadata": handling})[1]
        for handling in ("keep", "drop")
    )
    kept = [key for key, row in keeping.items() if row["outcome"] == "kept" and key[0] == "s2orc"]
    assert kept and {dropped[key]["outcome"] for key in kept} == {outcome}


def test_word_list_is_fetched_once_and_verified(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("word,count\nsignificant,100\n")
    unigrams = {"uri": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    run, first, splits = release(tmp_path / "release", count=20, clean={"profile": "recipe-2024", "unigrams": unigrams})
    assert {row["split"] for row in splits.values()} == {"train", "valid"}, "recipe-2024 has no upper bound (A.7)"
    with pytest.raises(UserError, match="SHA-256 is"):
        release(tmp_path / "other", count=2, clean={"profile": "card", "unigrams": unigrams | {"sha256": "0" * 64}})
    path.unlink()
    for shard in CleanStage().plan(run):
        CleanStage().work(run, shard)
    CleanStage().finish(run)
    assert {(row["set"], row["paper_id"]): row for row in run.table(DOCUMENTS).read().to_pylist()} == first
