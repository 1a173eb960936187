"""Compile every kernel, by making the tiny sample's release in a temporary folder: `python -m s2corpus.local.kernels`.

What a release compiles is then what it uses, whatever the stages are. With `--few` those that a release of few rows needs, a fifth
of the time (`compiled.for_few`): beside the first demo.
"""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from s2corpus import compiled, sample
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.extractors.embedded import embedded_extractor
from s2corpus.pipeline import runner
from s2corpus.pipeline.registry import STAGES
from s2corpus.pipeline.run import Run
from s2corpus.spec import load_spec, releases_folder
from s2corpus.storage.lake import open_lake


def make_release() -> None:
    """Make the release once; numba keeps what it compiles (`s2corpus.compiled`)."""
    with tempfile.TemporaryDirectory(prefix="s2corpus-kernels-") as name, embedded_extractor(workers=1) as (url, token):
        os.environ |= {"GROBID_URL": url, "S2CORPUS_EXTRACTOR_TOKEN": token}
        os.environ.pop("S2CORPUS_CATALOG", None)
        folder = Path(name)
        sample.tiny(folder / "papers")
        run = Run(
            load_spec(releases_folder() / "sample.yaml"),
            datetime.fromisoformat(sample.AS_OF),
            open_lake(str(folder / "lake")),
            folder,
        )
        deliver_tree(run.lake, folder / "papers")
        for stage in STAGES:
            runner.run_stage(run, stage)


if __name__ == "__main__":
    whole = compiled.FOLDER / compiled.WHOLE
    if not whole.exists():
        if "--few" in sys.argv:
            make_release()
        else:
            compiled.FEW = 0
            make_release()
            whole.touch()
