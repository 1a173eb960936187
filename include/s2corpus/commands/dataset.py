"""`corpus dataset`: build a dataset from a published snapshot, without Airflow."""

from __future__ import annotations

from pathlib import Path

import click

from s2corpus.commands._options import lake_option, reads_snapshot, with_examples


@with_examples(
    "corpus dataset citeworth --snapshot s3://lake/snapshots/s2_v2",
    "corpus dataset my.yaml --snapshot s2_v2 --out out/",
)
@click.argument("name")
@click.option("--snapshot", required=True, help="Address, id, or a spec for its latest snapshot.")
@click.option("--out", help="Lake or folder for `datasets/<name>/<snapshot>/`.  [default: the snapshot's lake]")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Number of processes.")
@lake_option(needed=False)
@reads_snapshot
def command(name: str, snapshot: str, out: str | None, workers: int, lake: str | None) -> None:
    """Build a dataset from a snapshot.

    NAME is a spec in `include/datasets/`, or the path of a YAML file.
    """
    from s2corpus.datasets import ReleasePdfs
    from s2corpus.snapshot.reader import open_lake_of, open_snapshot
    from s2corpus.spec_files import datasets_folder
    from s2corpus.storage.lake import open_lake
    from s2corpus_datasets import description, runner
    from s2corpus_datasets.job import Job
    from s2corpus_datasets.source import SnapshotSource
    from s2corpus_datasets.spec import load_dataset_spec

    path = Path(name) if name.endswith((".yaml", ".yml")) else datasets_folder() / f"{name}.yaml"
    spec = load_dataset_spec(path)
    folder = open_snapshot(snapshot, lake)
    source = SnapshotSource(folder)
    to = open_lake(out) if out else open_lake_of(folder, source.id, "name the output lake or folder with --out")
    job = Job(spec, source, to, pdfs=ReleasePdfs(folder, source.id))
    runner.make(job, workers=workers)
    click.echo(description.summary(job))
