"""Measure the speed of `corpus convert` on LaTeX on one core: `python -m devtools.bench.latex [--rounds 5]`.

The figure is the CPU time of this process and of its pandoc processes, as on an unshared core; the wall-clock time is
printed too. The script prints the best round over the real sources.
"""

from __future__ import annotations

import argparse
import resource
import time

from devtools.real_data import MISSING, REAL_DATA
from pdf2tei.references.fields import parse_bibliography_item
from s2orc_parse import tei
from s2orc_parse.latex import convert

DATA = REAL_DATA / "latex"


def cpu_seconds() -> float:
    """Return the CPU time, in seconds, of this process and its finished child processes."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def measure(sources: list[bytes]) -> tuple[float, float]:
    """Return the CPU and wall-clock seconds of the complete conversion, bytes → parse → JSON."""
    cpu, wall = cpu_seconds(), time.monotonic()
    for source in sources:
        tei.to_json_bytes(tei.to_s2orc(convert(source, sha1="0" * 40, parse_reference=parse_bibliography_item)))
    return cpu_seconds() - cpu, time.monotonic() - wall


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    paths = sorted(DATA.glob("*.gz"))
    if not paths:
        raise SystemExit(MISSING)
    sources = [path.read_bytes() for path in paths]
    rounds = [measure(sources) for _ in range(arguments.rounds)]
    cpu, wall = (min(values) for values in zip(*rounds, strict=True))
    papers = len(sources)
    print(
        f"pandoc: {papers / cpu:.2f} papers/s of one core ({cpu / papers:.3f} s a paper), {papers / wall:.2f} papers/s by the clock"
    )


if __name__ == "__main__":
    main()
