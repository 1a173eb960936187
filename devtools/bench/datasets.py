"""Measure the datasets: sentences against peers on gold sentences of real papers, speed per core, memory by documents.

python -m devtools.bench.datasets [--part sentences|speed|figures|memory]
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from devtools.measure import call_alone, peak_mb
from devtools.real_data import REAL_DATA, require
from s2corpus.storage.lake import open_lake
from s2corpus_datasets import runner
from s2corpus_datasets.description import summary
from s2corpus_datasets.job import Job
from s2corpus_datasets.protocol import DatasetBlocked, StepResult
from s2corpus_datasets.sentences import sentence_spans
from s2corpus_datasets.source import SnapshotSource
from s2corpus_datasets.spec import DATASETS, DatasetSpec
from s2orc_parse.files import convert_document
from s2orc_parse.tei.s2orc import to_s2orc
from tests.gold_sentences import gold, measure
from tests.snapshots import paper, real_articles, write_snapshot


def splitters() -> Iterator[tuple[str, Callable[[str], list[int]]]]:
    import blingfire
    import pysbd
    from syntok import segmenter

    old = pysbd.Segmenter(language="en", clean=False, char_span=True)
    yield "s2corpus", lambda text: [start for start, _ in sentence_spans(text)]
    yield "blingfire", lambda text: [start for start, _ in blingfire.text_to_sentences_and_offsets(text)[1]]
    yield "pysbd", lambda text: [span.start for span in old.segment(text)]
    yield "syntok", lambda text: [s[0].offset for paragraph in segmenter.analyze(text) for s in paragraph]


def sentences() -> None:
    texts = gold()
    for name, split in splitters():
        every, held_out = measure(split, texts), measure(split, [text for text in texts if text.apart])
        print(
            f"{name:<10} whole {every.whole:.1%} of {every.sentences} sentences; held out {held_out.whole:.1%} of {held_out.sentences}"
        )


REAL: dict[str, dict[str, Any]] = {
    "citeworth": {"require": ["abstract", "body_text", "bibliography"], "paragraphs_per_field": 1_000_000},
    "pretraining": {"vocabulary_sample": 1.0},
    "elsevier": {"since": 1900},
}
"""Parameters for the real articles: few have inbound links or MAG fields, and they are too few to sample."""


def speed() -> None:
    """Print the sentences a second that each dataset reads in the real articles on one core."""
    with tempfile.TemporaryDirectory() as folder:
        source = SnapshotSource(open_lake(str(write_snapshot(Path(folder), real_articles(), files=1))))
        papers = list(source.papers(0))
        texts = [p["text"] for one in papers for parse in one.parses.values() for p in parse["body_text"]]
        number = sum(len(sentence_spans(text)) for text in texts)
        for name in DATASETS.names:
            one = DATASETS.load(name)
            params, made = one.params.model_validate(REAL.get(name, {})), StepResult()
            began = time.process_time()
            rows = sum(1 for p in papers for _ in one.rows(params, p, made))
            seconds = time.process_time() - began
            print(f"{name:<12} {rows:>6} rows; {number / seconds:>9,.0f} sentences/s a core")


def figures() -> None:
    """Print the figures that the papers report, computed on the real papers, next to the papers' values."""
    with tempfile.TemporaryDirectory() as folder:
        snapshot = write_snapshot(Path(folder), [*real_articles(), *extracted_papers()], files=1)
        source = SnapshotSource(open_lake(str(snapshot)))
        for name, params in REAL.items():
            job = Job(DatasetSpec(name=name, dataset=name, params=params), source, open_lake(folder))
            runner.make(job)
            print(summary(job))


def extracted_papers() -> list[dict[str, Any]]:
    """Return the papers of the shared data that GROBID read from PDFs."""
    found = []
    for path in sorted(path for folder in ("pairs", "pmc-with-tei") for path in (REAL_DATA / folder).glob("*.tei.xml")):
        parse, _ = convert_document(path.read_bytes(), hashlib.sha1(path.read_bytes()).hexdigest())
        if parse is not None:
            id_ = hashlib.sha256(path.name.encode()).hexdigest()[:15]
            found.append(paper(id_, {"pdf": to_s2orc(parse)}, title=parse.header.title, fields_of_study=[]))
    return found


SMALL: dict[str, dict[str, Any]] = {
    "citeworth": {"min_citations": 1, "min_sentences": 1},
    "elsevier": {"min_sentences": 1, "per_subject": 100},
    "vectors": {"dimensions": 20, "epochs": 1, "picture_papers": 500},
}
"""Parameters that accept documents of one paragraph and make learning quick; more epochs take no more memory."""


def documents(number: int) -> Iterator[dict[str, Any]]:
    """Yield papers of one paragraph of a real article each. The papers cite each other."""
    parses = [parse for article in real_articles() for parse in article["parses"].values()]
    paragraphs = [
        (p, parse["bib_entries"]) for parse in parses for p in parse["body_text"] if 300 < len(p["text"]) < 1000
    ]
    figure = {"FIGREF0": {"type": "figure", "text": "A figure."}}
    for n in range(number):
        paragraph, entries = paragraphs[n % len(paragraphs)]
        refs = {ref: entries[ref] for span in paragraph["cite_spans"] if (ref := span.get("ref_id")) in entries}
        linked = {
            ref: {**entry, "authors": [], "link": f"{(n * 7 + i) % number:015x}"}
            for i, (ref, entry) in enumerate(refs.items())
        }
        parse = {"abstract": [], "body_text": [{**paragraph, "section": "Introduction"}], "bib_entries": linked, "ref_entries": figure,
                 "back_matter": []}  # fmt: skip
        yield paper(f"{n:015x}", {"pdf": parse}, inbound=["x"], title=f"T {n}", abstract=paragraph["text"][:200], journal="J", date="2015",
                    fields_of_study=["Biology"])  # fmt: skip


def write(folder: str, number: int) -> None:
    write_snapshot(Path(folder), documents(number), files=4)


def make(folder: str, name: str) -> str:
    """Make a dataset of the snapshot in a folder; return the peak memory before and after."""
    (snapshot,) = (Path(folder) / "snapshots").iterdir()
    params = {"pdfs": folder} if name == "figures" else SMALL.get(name, {})
    spec = DatasetSpec(name=name, dataset=name, params=params, memory_mb=64)
    before = peak_mb()
    with suppress(DatasetBlocked):  # Generated papers have no PDF for `figures`.
        runner.make(Job(spec, SnapshotSource(open_lake(str(snapshot))), open_lake(folder)))
    return f"{peak_mb():,.0f} MB, {before:,.0f} MB before"


def memory(number: int) -> None:
    """Print the peak resident memory of processes that each make a dataset."""
    with tempfile.TemporaryDirectory() as folder:
        call_alone(write, folder, number)
        for name in DATASETS.names:
            print(f"{name:<12} {number:>8,} documents: {call_alone(make, folder, name)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000, help="documents for `memory`")
    parser.add_argument("--part", choices=["sentences", "speed", "figures", "memory"], help="only this")
    given = parser.parse_args()
    require()
    parts: dict[str, Callable[[], None]] = {
        "sentences": sentences, "speed": speed, "figures": figures, "memory": partial(memory, given.documents),
    }  # fmt: skip
    for name in [given.part] if given.part else parts:
        parts[name]()


if __name__ == "__main__":
    main()
