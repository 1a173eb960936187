"""A snapshot of sixty small papers that cite each other, and its datasets, built once for all tests."""

import gzip
import hashlib
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from s2corpus_datasets import runner
from s2corpus_datasets.job import Job
from s2corpus_datasets.lake import LocalLake
from s2corpus_datasets.source import SnapshotPaper, SnapshotSource
from s2corpus_datasets.spec import DATASETS, DatasetSpec
from s2corpus_reader.folder import Folder
from tests.snapshots import paper, write_snapshot
from tests.unit.s2corpus_datasets.test_crops import CAPTION, PDF

Row = dict[str, Any]
FIELDS = ("Biology", "Medicine", "Computer Science")
PARAMS: dict[str, Row] = {
    "citeworth": {"fields": list(FIELDS), "min_citations": 3}, "contexts": {"negatives": 2, "years": 1},
    "pretraining": {"vocabulary_size": 300, "vocabulary_sample": 0.5}, "elsevier": {"min_sentences": 3, "per_subject": 3},
    "vectors": {"dimensions": 16, "neighbors": 3, "epochs": 20}, "figures": {},
}  # fmt: skip
WORDS = {
    "Biology": "frogs ponds breed larvae amphibians embryos", "Medicine": "patients dose trial therapy tumours survival",
    "Computer Science": "networks training parsing graphs models layers",
}  # fmt: skip
SUBJECTS = {"Biology": ["Botany"], "Medicine": ["2700", "MEDI"], "Computer Science": ["cs.CL", "cs.LG"]}
METADATA: Row = {
    "paper_id": "a" * 15, "title": "T", "abstract": None, "authors": [], "year": 2020, "journal": "J", "venue": None, "doi": None,
    "arxiv_id": None, "acl_id": None, "pubmed_id": None, "pmc_id": None, "inbound_citations": ["q"], "mag_field_of_study": ["Biology"],
}  # fmt: skip
KNOWN: Row = {
    "license": "CC-BY-4.0", "open_access": True, "issns": None, "subjects": None, "pages": None, "volume": None, "date": "2020",
}  # fmt: skip
"""metadata and columns of a paper for tests without a snapshot"""
PIECE = st.sampled_from(["We saw it. ", "Fig. 2 shows x [1]. ", "It is é… ", "A (Lee, 2010). ", "et al. ", "B? "])


CITED = "f" * 15


def citing(*texts: str) -> SnapshotPaper:
    """Return a paper with a paragraph for each text that has a citation at each `[1]`."""
    body = []
    for text in texts:
        starts = [at for at in range(len(text)) if text.startswith("[1]", at)]
        spans = [{"start": at, "end": at + 3, "text": "[1]", "ref_id": "BIBREF0"} for at in starts]
        refs = [{"start": 0, "end": 2, "ref_id": "FIGREF0"}]
        body.append({"section": "Methods", "text": text, "cite_spans": spans, "ref_spans": refs})
    parse: Row = {
        "body_text": body, "bib_entries": {"BIBREF0": {"title": "T", "authors": [], "link": CITED}}, "_pdf_hash": "0" * 40,
        "ref_entries": {"FIGREF0": {"type": "figure", "num": "1", "text": "Frogs by EQUATION in ponds."}},
    }  # fmt: skip
    metadata = {**METADATA, "abstract": "We have EQUATION. We saw many frogs."}
    return SnapshotPaper(metadata, KNOWN, {"pdf": parse}, {"pdf": 0})


def papers() -> list[Row]:
    """Return the 60 papers of the snapshot."""
    return [_paper(n) for n in range(60)]


def _paper(n: int) -> Row:
    id_, field = f"{n:015x}", FIELDS[n % 3]
    cited = [f"{(n + 3 * k) % 60:015x}" for k in (1, 2, 3)]
    words, body = WORDS[field].split(), []
    for p in range(3):
        text, spans = "", []
        for s, word in enumerate((words[p:] + words[:p])[:4]):
            text += f" We measured {word} with {words[s]} in study {n} of {words[(s + p) % 6]}"
            if s < 3:
                text += f" [{s + 1}]"
                spans.append(
                    {"start": len(text) - 4, "end": len(text) - 1, "text": f"[{s + 1}]", "ref_id": f"BIBREF{s}"}
                )
            text += "."
        body.append({"section": "Introduction", "text": text.strip(), "cite_spans": spans, "ref_spans": []})
    entry = {"authors": [], "year": 2014, "venue": "", "other_ids": {}}
    parse = {
        "abstract": [], "body_text": body, "back_matter": [], "title": f"Paper {id_}", "_pdf_hash": hashlib.sha1(id_.encode()).hexdigest(),
        "bib_entries": {f"BIBREF{s}": {**entry, "title": f"Paper {one}", "link": one} for s, one in enumerate(cited)},
        "ref_entries": {"FIGREF0": {"type": "figure", "text": "A figure."}},
    }  # fmt: skip
    if n == 0:
        parse |= {"_pdf_hash": SHA1, "ref_entries": {"FIGREF0": FIGURE}}
    return paper(
        id_, {"pdf": parse}, inbound=[f"{(n + 57) % 60:015x}"], title=f"Paper {id_}", date=f"{2014 + n % 4}",
        abstract="We looked at many things. They were as expected.", journal="Journal", fields_of_study=[field], subjects=SUBJECTS[field],
    )  # fmt: skip


def job(lake: Path, name: str, out: Path | None = None, snapshot: Path | None = None, **params: Any) -> Job:
    """Return the job of a dataset with small parameters."""
    folder = snapshot or next((lake / "snapshots").glob("real-20260401-*"))
    if name == "figures":
        (lake / "pdfs").mkdir(exist_ok=True)
        params["pdfs"] = str(lake / "pdfs")
    spec = DatasetSpec(name=name, dataset=name, params={**PARAMS[name], **params})
    return Job(spec, SnapshotSource(Folder(str(folder))), LocalLake(out or lake))


def make(folder: Path, name: str, found: list[Row], **params: Any) -> Job:
    """Build the dataset of a new snapshot with these papers."""
    one = job(folder, name, snapshot=write_snapshot(folder, found, files=2), **params)
    runner.make(one)
    return one


def build_unchecked(one: Job) -> list[int]:
    """Run all steps before the checks, with the shards in descending order; return the shards."""
    shards = runner.plan(one)
    runner.work(one, shards[::-1])
    runner.choose(one)
    for shard in shards[::-1]:
        runner.write(one, [shard])
    runner.finish(one)
    return shards


def lines(one: Job, pattern: str = ".jsonl.gz") -> list[Row]:
    """Return the rows of the dataset's JSON lines with this text in their path."""
    files = sorted(content(one, pattern).items())
    return [orjson.loads(line) for _, data in files for line in gzip.decompress(data).splitlines()]


def outcomes(one: Job, step: str = "") -> dict[str, int]:
    """Return the count of each outcome, in the steps with this text in their name."""
    return {row["outcome"]: row["count"] for row in stats(one)["funnel"] if step in row["step"]}


def content(one: Job, pattern: str = "") -> dict[str, bytes]:
    """Return the files of a dataset with this text in their path."""
    keys = [entry.key for entry in one.lake.list(f"{one.prefix}/") if pattern in entry.key]
    return {key.removeprefix(one.prefix): one.lake.get(key)[0] for key in keys}


def rows(one: Job, pattern: str) -> list[Row]:
    """Return the rows of the dataset's Parquet files with this text in their path."""
    return [row for data in content(one, pattern).values() for row in pq.read_table(pa.BufferReader(data)).to_pylist()]


def stats(one: Job) -> Row:
    """Return the statistics of a built dataset."""
    found: Row = orjson.loads(one.lake.get(f"{one.prefix}/stats.json")[0])
    return found


SHA1 = hashlib.sha1(PDF).hexdigest()
FIGURE = {"type": "figure", "num": "1", "text": CAPTION}


def deliver_pdf(lake: Path) -> None:
    """Put the PDF with `FIGURE` into a folder, under the name of its SHA-1."""
    (lake / "pdfs").mkdir(exist_ok=True)
    (lake / "pdfs" / f"{SHA1}.pdf").write_bytes(PDF)


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the snapshot into a lake."""
    folder = tmp_path_factory.mktemp("lake")
    write_snapshot(folder, papers(), files=3)
    deliver_pdf(folder)
    return folder


@pytest.fixture(scope="session")
def made(lake: Path) -> dict[str, Job]:
    """Build every dataset once."""
    found = {}
    for name in DATASETS.names:
        found[name] = job(lake, name)
        runner.make(found[name])
    return found
