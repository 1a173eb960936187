"""Compile every kernel, by making the tiny sample's release in a temporary folder: `python -m s2corpus.local.kernels`.

What a release compiles is then what it uses, whatever the stages are. For images, and beside the services' first start.
"""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
from pathlib import Path

from s2corpus import sample
from s2corpus.compiled import FOLDER
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.extractors.embedded import embedded_extractor
from s2corpus.pipeline import runner
from s2corpus.pipeline.registry import STAGES
from s2corpus.pipeline.run import Run
from s2corpus.spec import load_spec, releases_folder
from s2corpus.storage.lake import open_lake


def compile_all() -> None:
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
    whole = FOLDER / "whole"
    if not whole.exists():
        compile_all()
        whole.touch()
