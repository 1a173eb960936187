"""Compare a release of real papers with a reader's findings: `python -m devtools.bench.real_release`.

With `--tree FOLDER`, it only writes the drops and deliveries, for `corpus build --from FOLDER`.

The papers are in REAL_DATA; devtools/real/truth.yaml contains the reader's findings. The table has a row for each
fact, and a line for each wrong value. docs/quality.md lists the known errors with
their reasons.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

from devtools.real.compare import FACTS, compare
from devtools.real.release import build, write_tree
from devtools.real_data import MISSING, REAL_DATA
from s2corpus.extractors.embedded import embedded_extractor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, help="only write the drops and deliveries to this folder")
    options = parser.parse_args()
    if not REAL_DATA.is_dir():
        print(MISSING)
        return
    if options.tree:
        write_tree(options.tree, REAL_DATA)
        return
    with tempfile.TemporaryDirectory() as temporary, embedded_extractor(workers=2) as (url, token):
        os.environ |= {"GROBID_URL": url, "S2CORPUS_EXTRACTOR_TOKEN": token}
        started = time.perf_counter()
        run = build(Path(temporary), REAL_DATA)
        seconds = time.perf_counter() - started
        lines = compare(run)
    right = Counter(line.fact for line in lines if line.right)
    total = Counter(line.fact for line in lines)
    print(f"{'fact':<12}{'right':>7}{'of':>5}")
    for fact in FACTS:
        print(f"{fact:<12}{right[fact]:>7}{total[fact]:>5}")
    print(f"{'all':<12}{right.total():>7}{total.total():>5}   built in {seconds:.0f} s\n")
    for line in lines:
        if not line.right:
            print(f"{line.paper:<12}{line.fact:<12}{line.expected}  ->  {line.found}")


if __name__ == "__main__":
    main()
