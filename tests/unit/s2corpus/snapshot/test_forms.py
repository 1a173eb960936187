"""SPEC §10, options of the export: masked texts and texts for models; the statement of rights agrees with them."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from s2corpus.pipeline import quality
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import open_lake
from s2corpus.storage.local_lake import LocalLake
from tests.unit.s2corpus.snapshot.release import Paper, build, lay_out, papers, snapshot_folder

ADDRESS = "ada.lovelace@cs.ox.ac.uk"
RECIPE = {"profile": "recipe-2024", "unigrams": {"uri": "x", "sha256": "0" * 64}}
TEXT = {"headings": "markdown", "citations": "linked", "captions": True, "tables": "markdown"}
FORM = {"clean": {"pii": "mask"}, "export": {"files": 2, "text": TEXT}}


def with_addresses(count: int) -> Iterator[Paper]:
    """Yield papers with an address in abstract, first paragraph, caption and bibliography, and with citations before and after it."""
    for paper in papers(count, words=4500):
        row = {**paper.row, "abstract": paper.row["abstract"] and f"{paper.row['abstract']} Ask {ADDRESS} for it."}
        parse = paper.parse
        if parse is not None:
            first, *rest = parse["body_text"]
            text = f"As [1] shows, {ADDRESS} knows; {first['text']} So [1] again."
            spans = [{"start": at, "end": at + 3, "text": "[1]", "ref_id": "BIBREF0"} for at in (3, len(text) - 10)]
            cells = {"cells": [["a", "b"], ["1", ADDRESS]], "cite_spans": [], "html": None, "latex": None}
            table = {"type": "table", "num": "1", "text": f"Data of {ADDRESS}.", **cells}
            entry = parse["bib_entries"]["BIBREF0"] | {"raw_text": f"A. Author, {ADDRESS}"}
            body = [{**first, "text": text, "cite_spans": spans}, *rest]
            parse |= {"body_text": body, "ref_entries": {"TABREF0": table}, "bib_entries": {"BIBREF0": entry}}
        yield replace(paper, row=row, parse=parse)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    spec = ReleaseSpec.model_validate({"name": "small", **FORM})
    return snapshot_folder(build(lay_out(LocalLake(folder / "lake"), folder, spec, with_addresses(48), buckets=2)))


def documents(folder: Path, set_: str = "s2orc") -> list[dict[str, Any]]:
    paths = sorted(folder.glob(f"documents/{set_}/*/*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def test_masked_snapshot_is_valid_and_has_no_email_address(folder: Path) -> None:
    assert list(verify(open_lake(str(folder)))) == []
    for path in folder.rglob("*"):
        if path.suffix == ".gz":
            assert ADDRESS.encode() not in gzip.decompress(path.read_bytes()), path
        elif path.suffix == ".parquet":
            assert ADDRESS not in str(pq.read_table(path).to_pylist()), path
        elif path.is_file():
            assert ADDRESS.encode() not in path.read_bytes(), path
    found = documents(folder)
    assert all("|||EMAIL_ADDRESS|||" in row["text"] and row["num_emails"] >= 2 for row in found) and len(found) > 12


def test_model_text_has_the_requested_format(folder: Path) -> None:
    links = [row for path in folder.glob("graph/links/*.parquet") for row in pq.read_table(path).to_pylist()]
    linked = {row["paper_id"]: row["cited_paper_id"] for row in links}
    seen = 0
    for row in documents(folder):
        lines = row["model_text"].split("\n")
        assert lines[0] == f"# {row['title']}"
        assert {"Table 1: Data of |||EMAIL_ADDRESS|||.", "| a | b |"} <= set(lines)
        if "## Introduction" in lines and row["id"] in linked:
            seen += 1
            assert f"As [@{linked[row['id']]}] shows, |||EMAIL_ADDRESS||| knows" in row["model_text"]
    assert seen > 5
    assert all(row["model_text"].split("\n")[0] == f"# {row['title']}" for row in documents(folder, "s2ag"))


def test_recipe_has_no_model_text() -> None:
    with pytest.raises(ValueError, match="no sections"):
        ReleaseSpec.model_validate({"name": "x", "clean": RECIPE, "export": {"text": {"captions": True}}})


@pytest.mark.parametrize(("removed", "of"), [({"provenance": []}, "abstract"), ({"oa_evidence": None}, "pdf")])
def test_text_without_known_rights_stops_the_release(removed: dict[str, Any], of: str, tmp_path: Path) -> None:
    spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 1}})
    made = (replace(paper, row=paper.row | removed) for paper in papers(12))
    run = build(lay_out(LocalLake(tmp_path / "lake"), tmp_path, spec, made, buckets=1))
    (verdict,) = [verdict for verdict in quality.evaluate(run, "export") if verdict.verdict == "block"]
    assert verdict.check == "everything_has_its_evidence" and not verdict.overridable
    assert {row["of"] for row in verdict.rows} == {of}
