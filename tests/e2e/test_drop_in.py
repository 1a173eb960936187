"""docs/comparison.md: code for S2ORC release 20200705 (its README and public code) reads `corpus/` of our snapshots.

Each reader here is rewritten from the parts of such code that touch the data: opened files, their names, and required
keys.
"""

import gzip
import json
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


def read(full: Path, pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(full.glob(pattern)):
        with gzip.open(path) as lines:
            yield from map(json.loads, lines)


def test_files_are_named_as_in_20200705(full: Path) -> None:
    for folder in ("metadata", "pdf_parses"):
        names = {path.name for path in (full / folder).glob("*.gz")}
        assert names == {f"{folder}_{n}.jsonl.gz" for n in range(BATCHES)}


def test_readme_code_gathers_citation_contexts(full: Path) -> None:
    """Check the README's example: pair metadata and parses of one batch, resolve each inline citation, and take its paragraph."""
    contexts: list[dict[str, Any]] = []
    titles: dict[str, str] = {}
    for batch in range(BATCHES):
        parses = {parse["paper_id"]: parse for parse in read(full, f"pdf_parses/pdf_parses_{batch}.jsonl.gz")}
        for metadata in read(full, f"metadata/metadata_{batch}.jsonl.gz"):
            titles[metadata["paper_id"]] = metadata["title"]
            assert (metadata["paper_id"] in parses) == metadata["has_pdf_parse"], "the batch of one has the other"
            if not metadata["has_outbound_citations"] or metadata["paper_id"] not in parses:
                continue
            parse = parses[metadata["paper_id"]]
            for paragraph in parse["abstract"] + parse["body_text"]:
                for span in paragraph["cite_spans"]:
                    if linked := parse["bib_entries"][span["ref_id"]]["link"]:
                        assert paragraph["text"][span["start"] : span["end"]] == span["text"]
                        contexts.append({"citing": metadata["paper_id"], "cited": linked, "context": paragraph["text"]})
    assert len(contexts) > 100
    assert {context["cited"] for context in contexts} <= titles.keys()


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
    """Compare the keys of lines, parses, bibliography entries and spans with the published examples, and with GORC's Appendix E.

    The published files lack the title and authors of the appendix.
    """
    examples = (shared_data / "s2orc/doc2json_fixtures/s2orc/20190928").glob("*.json")

    def keys(lines: list[dict[str, Any]]) -> list[set[str]]:
        parses = [line["grobid_parse"] for line in lines if line["grobid_parse"]]
        entries = [entry for parse in parses for entry in parse["bib_entries"].values()]
        spans = [span for parse in parses for part in parse["body_text"] for span in part["cite_spans"]]
        return [set().union(*of) for of in (lines, parses, entries, spans)]

    lines, parses, entries, spans = keys([json.loads(path.read_text("utf-8")) for path in examples])
    assert keys(list(read(full, "gorc/*.gz"))) == [lines, parses | {"title", "authors"}, entries, spans]
