"""Compile every kernel by making the tiny sample's release in a temporary folder: `python -m devtools.local.kernels`.

So the compiled kernels are the kernels that a release uses, regardless of its stages. With `--few`, compile only the
kernels that a release of few rows needs in addition to `compiled.interpret_if_small`. This takes a quarter of the time and runs
during the first demo.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from contextlib import redirect_stderr
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
    """Build the release by `corpus build`; numba caches the compiled kernels (`s2corpus.compiled`)."""
    from devtools import sample
    from s2corpus.commands.releases import build_command

    for name in ("GROBID_URL", "S2CORPUS_CATALOG"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="s2corpus-kernels-") as folder, redirect_stderr(io.StringIO()):
        sample.tiny(Path(folder, "papers"))
        os.environ["S2CORPUS_LAKE"] = f"{folder}/lake"
        build_command(["sample", "--as-of", sample.AS_OF[:10], "--from", f"{folder}/papers"], standalone_mode=False)


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
