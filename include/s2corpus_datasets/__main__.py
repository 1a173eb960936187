"""Make a dataset of a snapshot: `python -m s2corpus_datasets contexts --snapshot https://… --out out/`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import s2corpus_reader
from s2corpus_datasets import description, runner
from s2corpus_datasets.job import Job
from s2corpus_datasets.lake import LocalLake
from s2corpus_datasets.source import SnapshotSource
from s2corpus_datasets.spec import DATASETS, DatasetSpec, load_dataset_spec
from s2corpus_reader.folder import Folder
from s2orc_parse.errors import TransientError, UserError


def main() -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(prog="s2corpus_datasets", description="Make a dataset of a snapshot.")
    parser.add_argument("name", help=f"{', '.join(DATASETS.names)}, or the path of a YAML file with parameters")
    parser.add_argument(
        "--snapshot", required=True, help="address of a snapshot or of a spec: a folder, s3://… or https://…"
    )
    parser.add_argument("--out", required=True, type=Path, help="folder for datasets/<name>/<snapshot>/")
    given = parser.parse_args()
    try:
        if given.name.endswith((".yaml", ".yml")):
            spec = load_dataset_spec(Path(given.name))
        else:
            spec = DatasetSpec(name=given.name, dataset=given.name)
        source = SnapshotSource(Folder(s2corpus_reader.open(given.snapshot).address))
        job = Job(spec, source, LocalLake(given.out))
        runner.make(job)
        print(description.summary(job))
    except (UserError, TransientError, s2corpus_reader.SnapshotError, s2corpus_reader.UnreachableError) as error:
        print(f"s2corpus_datasets: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
