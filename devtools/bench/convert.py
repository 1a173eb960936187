"""Measure `corpus convert` on TEIs as a complete process, alternating with s2orc-doc2json.

    python -m devtools.bench.convert [--runs 3] [--doc2json CMD]

The TEIs are the real TEIs, repeated. CMD is a command with two arguments, a folder and the TEIs; it writes the JSON of
s2orc-doc2json's `convert_tei_xml_soup_to_s2orc_json` to the folder, one file per TEI. The peer is no dependency: without
CMD only our command is timed, from its start to its end, including imports.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from devtools.real_data import MISSING, REAL_DATA

TEIS = 105


def run(command: list[str]) -> tuple[float, float]:
    """Run a command; return the wall-clock seconds and the CPU seconds of it and its children."""
    start = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit(f"{shlex.join(command)[:200]} ended with {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - start, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--doc2json", type=shlex.split)
    given = parser.parse_args()
    real = sorted([*REAL_DATA.glob("pairs/*.tei.xml"), *REAL_DATA.glob("pmc-with-tei/*.tei.xml")])
    if not real:
        sys.exit(MISSING)
    with tempfile.TemporaryDirectory() as name:
        teis, out = Path(name, "teis"), Path(name, "peer")
        teis.mkdir()
        out.mkdir()
        for number, path in enumerate(islice(cycle(real), TEIS)):
            (teis / f"{number:03}-{path.name}").symlink_to(path)
        corpus = str(Path(sys.executable).parent / "corpus")
        ways = {"s2corpus": [corpus, "convert", str(teis), "--quiet", "--out", str(Path(name, "parses.jsonl"))]}
        if given.doc2json:
            ways["peer"] = [*given.doc2json, str(out), *map(str, sorted(teis.iterdir()))]
        times: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
        for number in range(given.runs + 1):
            for way, command in ways.items():
                measured = run(command)
                times[way] += [measured] if number else []  # the first run is not counted
    for way, values in times.items():
        clock, cpu = (statistics.median(kind) for kind in zip(*values, strict=True))
        print(f"{way}: {TEIS} TEIs, clock {clock:.2f} s, CPU {cpu:.2f} s (medians of {given.runs})")


if __name__ == "__main__":
    main()
