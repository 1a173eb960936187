"""Datasets: sentences beside peers' on gold sentences of real papers, speed a core, and memory by the number of documents.

python bench/datasets.py [--documents 100000]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "include"), str(ROOT)]

from s2corpus.datasets.job import Job  # noqa: E402
from s2corpus.datasets.protocol import Made  # noqa: E402
from s2corpus.datasets.registry import DATASETS, dataset  # noqa: E402
from s2corpus.datasets.source import Source  # noqa: E402
from s2corpus.datasets.spec import DatasetSpec  # noqa: E402
from s2corpus.storage.lake import open_lake  # noqa: E402
from s2corpus.text.sentences import sentence_spans  # noqa: E402
from tests.gold_sentences import DATA, gold, measure  # noqa: E402
from tests.snapshots import paper, real_articles, write_snapshot  # noqa: E402


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
    size = sum(len(text.text.encode()) for text in texts) / 1e6
    for name, split in splitters():
        began = time.process_time()
        every = measure(split, texts)
        seconds = time.process_time() - began
        apart = measure(split, [text for text in texts if text.apart])
        print(
            f"{name:<10} {every.sentences} sentences: whole {every.whole:.1%}, precision {every.precision:.1%}, recall {every.recall:.1%}; "
            f"apart {apart.whole:.1%} of {apart.sentences}; {every.sentences / seconds:,.0f} sentences/s, {size / seconds:.2f} MB/s"
        )


def speed() -> None:
    """What each dataset takes of real articles, in CPU seconds of one core."""
    with tempfile.TemporaryDirectory() as folder:
        source = Source(open_lake(str(write_snapshot(Path(folder), real_articles(), files=1))))
        papers = list(source.papers(0))
        texts = [p["text"] for one in papers for parse in one.parses.values() for p in parse["body_text"]]
        size = sum(len(text.encode()) for text in texts) / 1e6
        number = sum(len(sentence_spans(text)) for text in texts)
        for name in DATASETS:
            one = dataset(name)
            params, made = one.params(), Made()
            began = time.process_time()
            rows = sum(1 for p in papers for _ in one.rows(params, p, made))
            seconds = time.process_time() - began
            print(
                f"{name:<12} {rows:>6} rows; {number / seconds:>9,.0f} sentences/s, {size / seconds:6.2f} MB/s a core"
            )


def documents(number: int) -> Iterator[dict[str, Any]]:
    text = "We measured it in ponds [1]. It was as in the other study. Then we stopped. " * 4
    spans = [{"start": 24 + 76 * i, "end": 27 + 76 * i, "text": "[1]", "ref_id": "BIBREF0"} for i in range(4)]
    for n in range(number):
        body = [{"section": "Introduction", "text": text.strip(), "cite_spans": spans}] * 3
        entry = {
            "title": "T",
            "authors": [],
            "year": 2000,
            "venue": "",
            "link": f"{(n * 7) % number:015x}",
            "other_ids": {},
        }
        parse = {
            "abstract": [],
            "body_text": body,
            "bib_entries": {"BIBREF0": entry},
            "ref_entries": {},
            "back_matter": [],
        }
        yield paper(f"{n:015x}", {"pdf": parse}, inbound=["x"], title=f"T {n}", abstract="One. Two.", journal="J", date="2015",
                    fields_of_study=["Biology"])  # fmt: skip


def memory(number: int) -> None:
    """The greatest resident memory of a child that works through a tenth of the documents, and through all of them."""
    for count in (number // 10, number):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, __file__, "--write", str(count), "--in", folder], check=True)
            for name in DATASETS:
                command = [sys.executable, __file__, "--work", name, "--in", folder]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                print(f"{name:<12} {count:>8,} documents: {done.stdout.strip()}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--write", type=int)
    parser.add_argument("--work")
    parser.add_argument("--in", dest="folder")
    given = parser.parse_args()
    if given.write:
        write_snapshot(Path(given.folder), documents(given.write), files=1)
    elif given.work:
        from s2corpus.datasets import runner

        (snapshot,) = (Path(given.folder) / "snapshots").iterdir()
        job = Job(
            DatasetSpec(name=given.work, dataset=given.work), Source(open_lake(str(snapshot))), open_lake(given.folder)
        )
        began = time.process_time()
        runner.work(job, [0])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{peak:,.0f} MB at most, {time.process_time() - began:,.1f} s")
    else:
        if DATA.exists():
            sentences()
            speed()
        else:
            print("../shared/data is not there: no gold sentences, no real articles")
        if os.environ.get("SKIP_MEMORY") is None:
            memory(given.documents)


if __name__ == "__main__":
    main()
