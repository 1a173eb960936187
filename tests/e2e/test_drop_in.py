"""Code written for S2ORC release 20200705 (its README and public code) works unchanged on `corpus/` of our snapshots,
except for the address.

Each reader here is rewritten from the parts of such code that touch the data: opened files, their names, and required
keys.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devtools.sample.truth import Truth
from s2corpus.pipeline.run import Run
from tests.releases import WIDE

pytestmark = pytest.mark.slow
BATCHES = int(WIDE["corpus_files"])


@pytest.fixture(scope="module")
def full(sampled: tuple[Run, Truth], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy `corpus/` of the snapshot to a folder `full/`, as the README describes it."""
    folder = tmp_path_factory.mktemp("drop-in") / "20200705v1" / "full"
    shutil.copytree(sampled[0].lake.uri(f"snapshots/{sampled[0].snapshot_id}/corpus"), folder)
    return folder


@pytest.fixture(scope="module")
def unpacked(full: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the same folder after `gunzip *`."""
    folder = tmp_path_factory.mktemp("unpacked") / "full"
    for path in sorted(full.glob("*/*.jsonl.gz")):
        plain = folder / path.parent.name / path.stem
        plain.parent.mkdir(parents=True, exist_ok=True)
        plain.write_bytes(gzip.decompress(path.read_bytes()))
    return folder


def read(full: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(full.glob(pattern)):
        with gzip.open(path) as lines:
            yield from map(json.loads, lines)


def test_files_are_named_as_in_20200705(full: Path) -> None:
    for folder in ("metadata", "pdf_parses"):
        names = {path.name for path in (full / folder).glob("*.gz")}
        assert names == {f"{folder}_{n}.jsonl.gz" for n in range(BATCHES)}


def test_readme_code_counts_citation_edges(sampled: tuple[Run, Truth], unpacked: Path) -> None:
    num_edges = 0
    for name in os.listdir(unpacked / "metadata"):  # noqa: PTH208 (as the README does)
        with (unpacked / "metadata" / name).open() as f_meta:
            for line in f_meta:
                num_edges += len(json.loads(line)["outbound_citations"])
    stats = json.loads(sampled[0].lake.get(f"snapshots/{sampled[0].snapshot_id}/stats.json")[0])
    table = next(table for table in stats["tables"] if table["name"] == "citations")
    assert num_edges == table["rows"][0][1] > 0


def test_readme_code_gathers_citation_contexts(unpacked: Path) -> None:
    """Check the README's example: pair metadata and parses of one batch, resolve each inline citation, and take its paragraph."""
    contexts: list[dict[str, Any]] = []
    titles: dict[str, str] = {}
    heads: set[str] = set()
    for batch in range(BATCHES):
        parses = {}
        with (unpacked / f"pdf_parses/pdf_parses_{batch}.jsonl").open() as f_pdf:
            for line in f_pdf:
                parse = json.loads(line)
                parses[parse["paper_id"]] = parse
        with (unpacked / f"metadata/metadata_{batch}.jsonl").open() as f_meta:
            for line in f_meta:
                metadata = json.loads(line)
                titles[metadata["paper_id"]] = metadata["title"]
                assert (metadata["paper_id"] in parses) == metadata["has_pdf_parse"], "the batch of one has the other"
                if not metadata["has_outbound_citations"] or metadata["paper_id"] not in parses:
                    continue
                parse = parses[metadata["paper_id"]]
                for paragraph in parse["abstract"] + parse["body_text"]:
                    heads.add(paragraph["section"].lower())
                    for span in paragraph["cite_spans"]:
                        linked = parse["bib_entries"][span["ref_id"]]["link"]
                        if linked:
                            contexts.append(
                                {"citing": metadata["paper_id"], "cited": linked, "context": paragraph["text"],
                                 "start": span["start"], "end": span["end"], "text": span["text"]}
                            )  # fmt: skip
    assert len(contexts) > 100
    assert sum("introduction" in head for head in heads) > 0, "the code that selects sections by their title finds them"
    assert all(c["context"][c["start"] : c["end"]] == c["text"] for c in contexts)
    assert {c["cited"] for c in contexts} <= titles.keys()


def test_code_that_selects_complete_papers_works(full: Path) -> None:
    """Select only papers with citations in both directions, title, abstract, authors, venue and all parts of the parse.
    No key may be absent.
    """
    allowed = [
        m
        for m in read(full, "metadata/*.gz")
        if m["mag_field_of_study"] and len(m["mag_field_of_study"]) > 0
        and m["has_inbound_citations"] and m["has_outbound_citations"]
        and m["title"] and m["abstract"] and m["authors"]
        and m["has_pdf_parse"] and m["has_pdf_parsed_body_text"] and m["has_pdf_parsed_bib_entries"]
        and m["has_pdf_parsed_ref_entries"]
        and (m["journal"] or m["venue"] or m["arxiv_id"] or m["acl_id"] or m["pubmed_id"] or m["pmc_id"])
    ]  # fmt: skip
    assert allowed
    for m in allowed:
        assert isinstance(m["year"], int) and all(isinstance(m[key], str) for key in ("paper_id", "title", "abstract"))
        assert all(isinstance(a["middle"], list) and isinstance(a["last"], str) for a in m["authors"])


def test_code_that_builds_a_citation_graph_works(full: Path) -> None:
    """Join the links of bibliography entries with inbound and outbound citations of the metadata. All three must give the same graph."""
    outbound, inbound, linked = (defaultdict[str, set[str]](set) for _ in range(3))
    for m in read(full, "metadata/*.gz"):
        outbound[m["paper_id"]] |= set(m["outbound_citations"])
        for citing in m["inbound_citations"]:
            inbound[citing].add(m["paper_id"])
    for parse in read(full, "*_parses/*.gz"):
        linked[parse["paper_id"]] |= {entry["link"] for entry in parse["bib_entries"].values()} - {None}
    assert {k: v for k, v in outbound.items() if v} == dict(inbound)
    assert all(outbound[paper] <= links for paper, links in linked.items())


def test_gorc_object_has_the_keys_of_20190928(full: Path, shared_data: Path) -> None:
    """Compare keys with the published examples at every depth; each entry's `links` contains the cited paper."""
    published = [
        json.loads(path.read_text("utf-8"))
        for path in sorted((shared_data / "s2orc/doc2json_fixtures/s2orc/20190928").glob("*.json"))
    ]
    ours = list(read(full, "gorc/*.gz"))
    assert ours and published
    theirs = shape(published)
    theirs["body_text[].eq_spans[]"] = theirs["body_text[].cite_spans[]"]  # The published examples have no formulas.
    for place, keys in shape([line for line in ours if line["grobid_parse"]]).items():
        assert keys <= theirs[place] or place.endswith("other_ids"), place
    assert shape(ours)["bib_entries*"] == theirs["bib_entries*"]
    assert shape(ours)["body_text[].cite_spans[]"] == theirs["body_text[].cite_spans[]"]
    assert any(
        e["links"] for line in ours if line["grobid_parse"] for e in line["grobid_parse"]["bib_entries"].values()
    )
    assert [line for line in ours if line["latex_parse"]], "a paper of LaTeX source"
    parsed = {}
    for kind in ("pdf", "latex"):
        for parse in read(full, f"{kind}_parses/*.gz"):
            parsed[parse["paper_id"], kind] = {key: e["link"] for key, e in parse["bib_entries"].items()}
    for line in ours:
        for kind, name in (("pdf", "grobid_parse"), ("latex", "latex_parse")):
            links = line[name] and {key: entry["links"] for key, entry in line[name]["bib_entries"].items()}
            assert links == parsed.get((line["paper_id"], kind))


def shape(lines: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the keys of every object by its path. Entries are keyed by their ids, so their keys are merged."""
    found: dict[str, set[str]] = defaultdict(set)

    def walk(value: Any, at: str) -> None:
        if isinstance(value, list):
            for item in value:
                walk(item, f"{at}[]")
        elif isinstance(value, dict):
            if at in ("bib_entries", "ref_entries"):
                for item in value.values():
                    walk(item, f"{at}*")
                return
            found[at] |= value.keys()
            for key, item in value.items():
                walk(item, key if at in ("", "grobid_parse", "latex_parse") else f"{at}.{key}")

    for line in lines:
        walk(line, "")
    return found
