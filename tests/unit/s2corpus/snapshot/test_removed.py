"""SPEC §8.11: each word of an open full text is published or removed by a named rule, and a reader can give it back."""

import hashlib
import math
import random
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import wordfreq

import s2corpus_reader
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.sealed import seal
from s2corpus.pipeline.trace import trace_paper
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.local_lake import LocalLake
from s2corpus_reader import SnapshotError
from tests.unit.s2corpus.snapshot.release import COUNT, Paper, build, lay_out, papers, paragraph, snapshot_folder
from tests.unit.s2corpus.stages.clean.samples import NOISE


def mark(text: str, at: str, **span: Any) -> dict[str, Any]:
    start = text.index(at)
    return {"start": start, "end": start + len(at), "text": at, "ref_id": None, **span}


def extend(made: Iterator[Paper]) -> Iterator[Paper]:
    """Add to each full text what rules remove: an improbable section, formulas, citations, back matter, a figure, a table and a note."""
    rng = random.Random(1)
    for paper in made:
        if paper.parse is not None:
            text = f"We use EQUATION, as shown (Smith, 2001) {paragraph(rng, 30)}"
            cited = {
                "section": "Results", "text": text, "cite_spans": [mark(text, "(Smith, 2001)", ref_id="BIBREF0")], "ref_spans": [],
                "eq_spans": [mark(text, "EQUATION", latex="a = b + c")],
            }  # fmt: skip
            only = {"section": "Results", "text": "EQUATION", "cite_spans": [], "ref_spans": [], "eq_spans": []}
            names = {
                "section": "Residue", "text": f"{NOISE} {NOISE}", "cite_spans": [], "ref_spans": [], "eq_spans": [],
            }  # fmt: skip
            thanks = {"section": "Thanks", "text": "We thank A. Nobody.", "cite_spans": [], "ref_spans": []}
            body = paper.parse["body_text"]
            paper.parse["body_text"] = [*body[:3], names, *body[3:], cited, only]
            paper.parse["back_matter"] = [thanks]
            paper.parse["ref_entries"] = {
                "FIGREF0": {"type": "figure", "text": "Yield by day"},
                "TABREF0": {"type": "table", "text": "Yields", "cells": [["day", "yield"], ["1", "0.5"]]},
                "FOOTREF0": {"type": "footnote", "text": "At 20 degrees."},
                "SECREF0": {"type": "section", "text": "Results"},
            }
        yield paper


def make(folder: Path, **clean: Any) -> Run:
    """Return a release of the extended papers."""
    folder.mkdir()
    spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 3}, "clean": clean})
    return build(lay_out(LocalLake(folder / "lake"), folder, spec, extend(papers(COUNT)), buckets=1))


def publish(folder: Path, **clean: Any) -> Path:
    """Return the folder of a snapshot of the extended papers."""
    return snapshot_folder(make(folder, **clean))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("removed") / "plain")


@pytest.fixture(scope="module")
def dropping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("removed") / "dropping", citations="drop")


@pytest.fixture(scope="module")
def placeholders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish(tmp_path_factory.mktemp("removed") / "placeholders", formulas="placeholder", citations="drop")


def read(folder: Path, table: str) -> list[dict[str, Any]]:
    return list(
        chain.from_iterable(pq.read_table(path).to_pylist() for path in sorted((folder / table).rglob("*.parquet")))
    )


def group_parses(folder: Path, name: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the rows of a table of parses by paper and kind."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in read(folder, f"tables/{name}"):
        found.setdefault((row["paper_id"], row["parse_kind"]), []).append(row)
    return found


def count_printed(paragraphs: list[dict[str, Any]], entries: list[dict[str, Any]]) -> int:
    """Return the words of a full text: body with its headings, back matter, figures, tables and notes."""
    headings: list[str] = []
    path: tuple[str, ...] = ()
    for unit in paragraphs:
        if unit["part"] == "body":
            new = tuple(unit["section_path"].split("::"))
            if new != path:  # an inner heading that follows its outer heading is entered alone
                headings += [head for i, head in enumerate(new) if new[: i + 1] != path[: i + 1] or i == len(new) - 1]
            path = new
    printed = [unit["text"] for unit in paragraphs if unit["part"] != "abstract"]
    floats = [entry for entry in entries if entry["type"] in ("figure", "table", "footnote")]
    cells = ("\t".join(row) for entry in floats for row in entry["cells"] or ())
    texts = [*headings, *printed, *(entry["text"] or "" for entry in floats), *cells]
    return sum(len(text.split()) for text in texts)


def check_sums(folder: Path) -> tuple[int, int]:
    """Check that each word of a full text is published or in a row of `removed`; return the numbers of both papers."""
    published = {row["id"]: row for row in read(folder, "documents/s2orc")}
    paragraphs, entries = (group_parses(folder, name) for name in ("paragraphs", "ref_entries"))
    removed: dict[str, list[dict[str, Any]]] = {}
    for row in read(folder, "tables/removed"):
        if row["set"] == "s2orc" and row["words"] is not None:
            removed.setdefault(row["paper_id"], []).append(row)
    for paper_id in sorted(published.keys() | removed.keys()):
        rows, body = removed.get(paper_id, []), 0
        if document := published.get(paper_id):
            body = sum(len(block.split()) for block in document["text"].split("\n\n")[2:])
            assert document["removed_words"] == sum(row["words"] for row in rows)
            assert document["removed_sections"] == sum(row["kind"] == "section" for row in rows)
        assert (paper_id in published) != any(row["kind"] == "document" for row in rows)
        kind = document["parse_kind"] if document else rows[0]["parse_kind"]
        printed = count_printed(paragraphs[paper_id, kind], entries.get((paper_id, kind), []))
        assert body + sum(row["words"] for row in rows) == printed, paper_id
    return len(published), len(removed)


@pytest.mark.parametrize("name", ["snapshot", "dropping", "placeholders"])
def test_each_word_is_published_or_removed(name: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(name)
    published, removed = check_sums(folder)
    assert 20 < published < removed, "some documents were dropped whole"
    assert {row["removed_sections"] for row in read(folder, "documents/s2orc")} == {1}


def test_row_has_place_rule_value_threshold_and_words(dropping: Path) -> None:
    published = {row["id"] for row in read(dropping, "documents/s2orc")}
    paper_id = min(published)
    rows = [row for row in read(dropping, "tables/removed") if row["paper_id"] == paper_id]
    paragraphs = {
        row["paragraph"]: row["text"] for row in read(dropping, "tables/paragraphs") if row["paper_id"] == paper_id
    }
    found = {(row["kind"], row["rule"]): row for row in rows}
    section = found["section", "clean.min_log_prob"]
    assert section["text"] == f"Residue\n{NOISE} {NOISE}" and section["section"] == "Residue"
    assert section["value"] < section["threshold"] == -19.82
    assert paragraphs[section["paragraph"]] == f"{NOISE} {NOISE}"
    for kind, rule, text in (
        ("reference_mark", "clean.citations", "(Smith, 2001)"), ("formula", "clean.formulas", "EQUATION"),
    ):  # fmt: skip
        row = next(row for row in rows if row["kind"] == kind)
        assert row["rule"] == rule and paragraphs[row["paragraph"]][row["start"] : row["end"]] == text
    assert [row["text"] for row in rows if row["kind"] == "formula"] == ["a = b + c", "EQUATION"]
    others = {row["kind"]: row["text"] for row in rows if row["rule"] == "clean.body_only"}
    assert others == {
        "paragraph": "We thank A. Nobody.", "figure": "Yield by day", "table": "Yields\nday\tyield\n1\t0.5", "footnote": "At 20 degrees.",
    }  # fmt: skip


def test_formula_with_a_placeholder_is_not_removed(placeholders: Path) -> None:
    documents = read(placeholders, "documents/s2orc")
    rows = [row for row in read(placeholders, "tables/removed") if row["kind"] == "formula"]
    assert len(documents) > 20 and {row["id"] for row in documents} < {row["paper_id"] for row in rows}
    assert {(row["text"], row["words"], row["start"], row["end"]) for row in rows} == {("EQUATION", 1, 0, 8)}
    assert all(
        row["text"].count("We use EQUATION, as shown ") == row["text"].count("EQUATION") == 1 for row in documents
    )


def test_removed_document_names_its_rule(snapshot: Path) -> None:
    documents = [row for row in read(snapshot, "tables/removed") if row["kind"] == "document"]
    rules = {row["rule"] for row in documents}
    assert {"clean.closed", "clean.no_parse", "clean.no_year", "split.held_back:late"} <= rules
    for row in documents:
        assert (row["text"] is None) == (row["rule"] in ("clean.closed", "clean.no_parse")) == (row["words"] is None)
    old = next(row for row in documents if row["rule"] == "clean.before_min_year" and row["set"] == "s2ag")
    assert (old["value"], old["threshold"]) == (1969, 1970)


def test_trace_of_a_paper_shows_what_was_removed(tmp_path: Path) -> None:
    run = seal(make(tmp_path / "traced", pii="mask"))
    published = min(row["id"] for row in read(snapshot_folder(run), "documents/s2orc"))
    trace = trace_paper(run, published)
    assert trace is not None
    section, *others = trace.removed_descriptions
    assert re.fullmatch(
        r"removed section Residue: -2\d\.\d\d is below -19.82 \(clean.min_log_prob\), 11 words", section
    )
    assert others[:2] == ["removed 2 formulas (clean.formulas)", "removed 1 paragraph (clean.body_only)"]


@pytest.mark.parametrize(
    ("own", "rules"),
    [
        ({}, {"min_log_prob": -1000.0}), ({}, {"min_log_prob": -13.9}), ({}, {"citations": "drop", "layout": "template"}),
        ({"layout": "template_blank"}, {"min_log_prob": -1000.0}), ({"citations": "drop"}, {"citations": "keep", "min_log_prob": -1000.0}),
        ({"pii": "mask"}, {"min_log_prob": -1000.0}), ({}, {"formulas": "placeholder"}),
        ({"formulas": "placeholder", "layout": "template"}, {"formulas": "remove", "citations": "drop"}),
    ],
)  # fmt: skip
def test_rebuilt_text_equals_release_of_the_rules(tmp_path: Path, own: dict[str, Any], rules: dict[str, Any]) -> None:
    first, second = (
        s2corpus_reader.open(str(publish(tmp_path / name, **own | more)))
        for name, more in (("own", {}), ("other", rules))
    )
    given, common, changed = {f"clean.{name}": value for name, value in rules.items()}, 0, 0
    for set_, split in (("s2orc", "train"), ("s2orc", "valid"), ("s2ag", "train")):
        expected = list(second.texts(set_, split))
        ids = {row["id"] for row in expected} & {row["id"] for row in first.texts(set_, split)}
        rebuilt = [row for row in first.texts(set_, split, rules=given) if row["id"] in ids]
        assert rebuilt == [row for row in expected if row["id"] in ids], "equal texts in the same order"
        common += len(rebuilt)
        changed += len(rebuilt) - sum(row in rebuilt for row in first.texts(set_, split))
    assert common > 20 and changed > 5


def test_text_of_the_published_recipe_is_rebuilt(tmp_path: Path) -> None:
    words = "".join(f"{word},1000000\n" for word in wordfreq.top_n_list("en", 3000)).encode()
    (tmp_path / "words.csv").write_bytes(words)
    unigrams = {"uri": str(tmp_path / "words.csv"), "sha256": hashlib.sha256(words).hexdigest()}
    own = {"profile": "recipe-2024", "unigrams": unigrams}
    first, second = (publish(tmp_path / citations, **own, citations=citations) for citations in ("keep", "drop"))
    rebuilt = list(s2corpus_reader.open(str(first)).texts("s2orc", rules={"clean.citations": "drop"}))
    assert rebuilt == list(s2corpus_reader.open(str(second)).texts("s2orc")) and len(rebuilt) > 20
    sections = [row for row in read(first, "tables/removed") if row["rule"] == "clean.min_log_prob"]
    assert {row["text"] for row in sections} == {f"\nResidue\n{NOISE} {NOISE}"}


def test_rule_that_cannot_be_changed_is_refused(snapshot: Path) -> None:
    opened = s2corpus_reader.open(str(snapshot))
    for given, message in (
        ({"clean.min_words": 1}, "'clean.min_words' cannot be changed in a published text; expected clean.citations, "),
        ({"clean.citations": "hide"}, "clean.citations is 'hide'; expected one of keep, drop"),
        ({"clean.min_log_prob": "low"}, "clean.min_log_prob is 'low'; expected a number or None"),
    ):
        with pytest.raises(SnapshotError, match=message):
            next(opened.texts(rules=given))
    same = opened.texts("s2ag", rules={"clean.min_log_prob": -math.inf})
    assert list(same) == list(opened.texts("s2ag"))
