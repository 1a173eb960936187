"""Measure `corpus convert` (TEI, LaTeX) and `clean` as complete processes, alternating with their peers.

    python -m devtools.bench.whole [--runs 3] [--only clean]

  parse  105 TEIs (the real TEIs, repeated)     --doc2json CMD: a command with two arguments, a folder and the TEIs.
                                                It writes the JSON of s2orc-doc2json's
                                                `convert_tei_xml_soup_to_s2orc_json` to the folder, one file per TEI.
  clean  628 articles (the real articles        --pes2o CMD: a command with two arguments, a Parquet file and a path.
         complete, cut, mixed and noisy),       It writes the .json.gz of peS2o's `process_s2orc.py` to the path,
         recipe-2024                            with the word list that we use.
  latex  10 sources (the real sources,          no peer: papers per second
         repeated)

Times are measured from the start of a process to its end, including start and imports: the wall-clock time, and the CPU
seconds of the process and its children. The peers are not dependencies: a part without its command is timed alone.
--corpus is the path of another installation's `corpus`. This installation also contains development packages: numba
searches for scipy and coverage when it starts, 0.2 s.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from devtools.bench.jats_documents import documents
from devtools.bench.variants import variants
from devtools.real_data import MISSING, REAL_DATA

WORD_LIST = REAL_DATA / "unigrams" / "count_1w.txt.gz"
TEIS, SOURCES = 105, 10
Times = list[tuple[float, float]]


def run(command: list[str]) -> tuple[float, float]:
    """Run a command; return the wall-clock seconds and the CPU seconds of it and its children."""
    with tempfile.TemporaryFile() as said:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        clock = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            sys.exit(f"{shlex.join(command)[:200]} ended with {process.returncode}: {said.read()[-500:].decode()}")
    return clock, used.ru_utime + used.ru_stime


def in_turn(commands: list[list[str]], runs: int) -> list[Times]:
    """Return the times of some commands that run alternately; a first run of each is not counted."""
    for command in commands:
        run(command)
    found: list[Times] = [[] for _ in commands]
    for _ in range(runs):
        for times, command in zip(found, commands, strict=True):
            times.append(run(command))
    return found


def shown(name: str, times: Times) -> tuple[float, float]:
    """Print medians and ranges; return the medians."""
    parts = []
    for kind, values in zip(("clock", "processor"), zip(*times, strict=True), strict=True):
        parts.append(f"{kind} {statistics.median(values):6.2f} s ({min(values):.2f} to {max(values):.2f})")
    print(f"  {name:10} {', '.join(parts)}")
    clock, processor = (statistics.median(values) for values in zip(*times, strict=True))
    return clock, processor


def compared(ours: list[str], peer: list[str] | None, runs: int, missing: str) -> None:
    """Print the times of a command and of its peer, and their ratio."""
    found = [
        shown(*pair)
        for pair in zip(("s2corpus", "peer"), in_turn([ours, *([peer] if peer else [])], runs), strict=False)
    ]
    if len(found) == 2:
        (clock, processor), (clock_of_peer, processor_of_peer) = found
        print(
            f"  {clock_of_peer / clock:.1f} times as fast by the clock, {processor_of_peer / processor:.1f} by processor"
        )
    else:
        print(f"  no peer: {missing}")


def teis(folder: Path) -> list[Path]:
    """Return links to the real TEIs, repeated."""
    real = sorted([*REAL_DATA.glob("pairs/*.tei.xml"), *REAL_DATA.glob("pmc-with-tei/*.tei.xml")])
    return linked(real, TEIS, folder, ".tei.xml")


def linked(real: list[Path], wanted: int, folder: Path, suffix: str) -> list[Path]:
    """Create `wanted` files in a folder, as links to the real files, repeated."""
    if not real:
        sys.exit(MISSING)
    folder.mkdir()
    links = []
    for number, path in enumerate(islice(cycle(real), wanted)):
        links.append(folder / f"{number:03}-{path.name.removesuffix(suffix)}{suffix}")
        links[-1].symlink_to(path)
    return links


def articles(lines: Path, rows: Path) -> int:
    """Write the articles as `corpus clean` and peS2o's script read them; return their number."""
    found = [document for name in ("jats", "pmc-with-tei") for document in documents(REAL_DATA / name)]
    if not found:
        sys.exit(MISSING)
    table = []
    with lines.open("w") as file:
        for number, document in enumerate(variants(found)):
            body = [unit for unit in document["body"] if unit["text"]]
            document = {**document, "id": f"{document['id']}-{number}", "body": body}
            file.write(json.dumps(document) + "\n")
            table.append({
                "id": document["id"], "title": document["title"], "abstract": document["abstract"],
                "year": float(document["date"][:4]) if document["date"] else None, "all_paragraphs": list(paragraphs(body)),
                "added": "", "created": "", "fields_of_study": [], "authors": [],
            })  # fmt: skip
    pq.write_table(pa.Table.from_pylist(table), rows)
    return len(table)


def paragraphs(body: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Yield the paragraphs of an article, and a section's header before its first paragraph."""
    before = None
    for unit in body:
        if unit["section"] and unit["section"] != before:
            yield {"type": "section_header", "text": unit["section"].split("::")[-1]}
            before = unit["section"]
        yield {"type": "paragraph", "text": unit["text"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=("parse", "clean", "latex"))
    parser.add_argument("--corpus", default=str(Path(sys.executable).parent / "corpus"))
    parser.add_argument("--doc2json", type=shlex.split)
    parser.add_argument("--pes2o", type=shlex.split)
    given = parser.parse_args()
    if shutil.which(given.corpus) is None:
        sys.exit(f"{given.corpus} is not there: name the command by --corpus")
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder)
        if given.only in (None, "parse"):
            files = list(map(str, teis(own / "teis")))
            (own / "peer").mkdir()
            peer = given.doc2json and [*given.doc2json, str(own / "peer"), *files]
            print(f"parse, {len(files)} TEIs")
            command = [given.corpus, "convert", str(own / "teis"), "--quiet", "--out", str(own / "parses.jsonl")]
            compared(command, peer, given.runs, "--doc2json CMD")
        if given.only in (None, "clean"):
            print(f"clean, {articles(own / 'docs.jsonl', own / 'docs.parquet')} articles")
            peer = given.pes2o and [*given.pes2o, str(own / "docs.parquet"), str(own / "peer.json.gz")]
            command = [
                given.corpus,
                "clean",
                "--in",
                str(own / "docs.jsonl"),
                "--set",
                "s2orc",
                "--profile",
                "recipe-2024",
            ]
            command += ["--unigrams", str(WORD_LIST), "--out", str(own / "kept"), "--dropped", str(own / "dropped")]
            compared(command, peer, given.runs, "--pes2o CMD")
        if given.only in (None, "latex"):
            linked(sorted((REAL_DATA / "latex").glob("*.gz")), SOURCES, own / "sources", ".gz")
            print(f"latex, {SOURCES} sources")
            command = [given.corpus, "convert", str(own / "sources"), "--quiet", "--out", str(own / "latex.jsonl")]
            (times,) = in_turn([command], given.runs)
            clock, processor = shown("s2corpus", times)
            print(f"  {SOURCES / clock:.1f} papers a second by the clock, {SOURCES / processor:.1f} of one core")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
