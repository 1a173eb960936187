"""Compile every kernel by making the tiny sample's release in a temporary folder: `python -m devtools.local.kernels`.

So the compiled kernels are the kernels that a release uses, regardless of its stages. numba caches them (`s2corpus.compiled`).
"""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import redirect_stderr
from pathlib import Path

from s2corpus import compiled


def make_release() -> None:
    """Build the release by `corpus build`."""
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
        compiled.MAX_PYTHON_COMPARISONS = 0
        make_release()
        whole.touch()
