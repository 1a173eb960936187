"""Measure speed and memory of `corpus parse` on one core: `python -m devtools.bench.parse [--rounds 5] [--files 10000]`.

Speed is compared with a peer: the complete conversion (bytes → parse → JSON) against the time that BeautifulSoup(…,
"xml") needs to load the same files. Rounds alternate in the same run. The figure is the CPU time of the best round,
because the machine may be shared. Memory is the resident size of a process that streams many files, after the first
tenth and at the end.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from devtools.real_data import MISSING, REAL_DATA
from s2orc_parse import tei


def convert_all(documents: list[bytes]) -> None:
    for document in documents:
        tei.to_json_bytes(tei.to_s2orc(tei.convert(document, file_sha1="0" * 40)))


def load_with_beautifulsoup(documents: list[bytes]) -> None:
    from bs4 import BeautifulSoup

    for document in documents:
        BeautifulSoup(document, "xml")


def seconds(work: Callable[[list[bytes]], None], documents: list[bytes]) -> float:
    gc.collect()  # Collect the other program's garbage before this measurement starts.
    start = time.process_time()
    work(documents)
    return time.process_time() - start


def resident_megabytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def stream(documents: list[bytes], files: int) -> None:
    """Convert many files one after the other in the child process, as the command line does; print the memory."""
    convert_all(documents)
    at_tenth = 0.0
    for done in range(files):
        convert_all([documents[done % len(documents)]])
        if done == files // 10:
            at_tenth = resident_megabytes()
    print(f"memory over {files:,} files: {at_tenth:.1f} MB after a tenth, {resident_megabytes():.1f} MB at the end")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--stream", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    paths = sorted([*REAL_DATA.glob("pairs/*.tei.xml"), *REAL_DATA.glob("pmc-with-tei/*.tei.xml")])
    if not paths:
        sys.exit(MISSING)
    documents = [path.read_bytes() for path in paths]
    if given.stream:
        stream(documents, given.files)
        return
    convert_all(documents)
    load_with_beautifulsoup(documents)
    ours, theirs = [], []
    for _ in range(given.rounds):
        ours.append(seconds(convert_all, documents))
        theirs.append(seconds(load_with_beautifulsoup, documents))
    size = sum(map(len, documents))
    for name, times in (("convert to S2ORC JSON", ours), ("BeautifulSoup, load only", theirs)):
        best = min(times)
        print(
            f"{name:26} {1000 * best / len(documents):7.2f} ms a file  {size / best / 1e6:6.1f} MB/s  "
            f"(best of {', '.join(f'{t:.3f}' for t in times)} s for {len(documents)} files)"
        )
    print(f"ratio {min(ours) / min(theirs):.3f} (asked: at most 0.200)", flush=True)
    if given.files:
        subprocess.run(
            [sys.executable, "-m", "devtools.bench.parse", "--stream", "--files", str(given.files)], check=True
        )


if __name__ == "__main__":
    main()
