"""Compile every kernel by making the tiny sample's release in a temporary folder: `python -m devtools.local.kernels`.

So the compiled kernels are the kernels that a release uses, regardless of its stages. With `--few`, compile only the
kernels that a release of few rows needs in addition to `compiled.interpret_if_small`. This takes a quarter of the time and runs
during the first demo.
"""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from s2corpus import compiled
from s2corpus.text import minhash
from s2corpus.text.signals import compute_signals
from s2corpus.titles.arrays import hash_strings, read_only, text_of
from s2orc_parse.children import end_with_parent


def compile_few() -> None:
    """Compile the kernels that read texts, by reading one text.

    Even for a few texts, Python takes longer than the compiler.
    """
    text = "The same words again, and again the same words."
    hash_strings(*text_of(pa.array([text])))  # used by intake, so needed first
    compute_signals(text)
    shingles = np.unique(minhash.hash_shingles(text, 2))
    keys = minhash.compute_keys(shingles, 2, 2, 0)
    minhash.list_candidate_pairs(keys, np.arange(len(keys)), 1)
    begin, end = np.array([0]), np.array([len(shingles)])
    minhash.compute_jaccards(read_only(shingles), begin, end, begin, begin)


def make_release() -> None:
    """Make the release once; numba caches the compiled kernels (`s2corpus.compiled`)."""
    from devtools import sample
    from s2corpus.deliveries.upload import deliver_tree
    from s2corpus.extractors.embedded import embedded_extractor
    from s2corpus.pipeline import runner
    from s2corpus.pipeline.run import Run
    from s2corpus.pipeline.stages import STAGE_NAMES
    from s2corpus.spec import load_spec, releases_folder
    from s2corpus.storage.lake import open_lake

    with tempfile.TemporaryDirectory(prefix="s2corpus-kernels-") as name, embedded_extractor(workers=1) as (url, token):
        os.environ |= {"GROBID_URL": url, "S2CORPUS_EXTRACTOR_TOKEN": token}
        os.environ.pop("S2CORPUS_CATALOG", None)
        folder = Path(name)
        sample.tiny(folder / "papers")
        run = Run(
            load_spec(releases_folder() / "sample.yaml"), datetime.fromisoformat(sample.AS_OF), open_lake(str(folder / "lake")), folder,
        )  # fmt: skip
        deliver_tree(run.lake, folder / "papers")
        for stage in STAGE_NAMES:
            runner.run_stage(run, stage)


if __name__ == "__main__":
    whole = compiled.FOLDER / compiled.ALL_COMPILED
    if not whole.exists():
        if "--few" in sys.argv:
            end_with_parent(int(sys.argv[-1]))
            compile_few()
        else:
            compiled.MAX_PYTHON_COMPARISONS = 0
            make_release()
            whole.touch()
