"""Commands on corpora: `corpus init`, `add`, `list` and `status`."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import click
import orjson

from s2corpus.commands._options import (
    current_account,
    json_option,
    lake_option,
    list_local_logs,
    progress_bar,
    with_examples,
)
from s2corpus.errors import UserError, suggest
from s2corpus.storage.lake import open_lake


@with_examples("corpus init plants", "corpus init plants_s2orc --like s2orc_2020")
@click.argument("name")
@click.option("--like", default="own", show_default=True, help="Copy the rules of this corpus.")
def init_command(name: str, like: str) -> None:
    """Create a corpus: write its spec.

    The spec is `<NAME>.yaml` in the folder of the specs (S2CORPUS_RELEASES, or include/releases). A corpus like `own` takes the drops
    `<NAME>-*`, and its PDFs count as open access. Edit the file to change its rules (docs/reference-spec.md).
    """
    from s2corpus.ids import check_spec_name
    from s2corpus.spec_files import SHIPPED, find_spec, load_spec

    path, model = find_spec(check_spec_name(name)), find_spec(like)
    model = model if model.exists() else SHIPPED / model.name
    copied = load_spec(model).name
    if path.exists():
        raise UserError(f"{path} exists already: choose another name, or edit the file")
    own_lines = re.compile(r"^(?:name|drops|sources):.*$", re.M)
    text = own_lines.sub(lambda line: re.sub(rf"\b{re.escape(copied)}\b", name, line[0]), model.read_text("utf-8"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in text.splitlines() if not line.startswith("#")), "utf-8")
    spec = load_spec(path)
    click.echo(f"{path}: the corpus {name} takes the drops {', '.join(spec.drops)}")
    click.echo(f"Next: corpus add {name} FOLDER, then corpus build {name}", err=True)


@with_examples(
    "corpus add own papers",
    "corpus add s2_v2 papers --as 2026-11-21",
    "corpus add s2_v2 --source crossref 2026-11-*.json.gz",
)
@click.argument("corpus")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--as", "id_", metavar="ID", help="Id of the drop or delivery.  [default: made from the content, or the time]"
)
@click.option("--source", help="Add PATHS, files or folders, as metadata of this source (docs/sources.md).")
@click.option("--full", is_flag=True, help="With --source: replace all earlier deliveries of this source.")
@click.option(
    "--by", help="Airflow user who delivers; cannot approve a release of the delivery.  [default: current user]"
)
@lake_option()
def add_command(
    corpus: str, paths: tuple[Path, ...], id_: str | None, source: str | None, full: bool, by: str | None, lake: str
) -> None:
    """Add a folder of papers, or metadata of a source, to a corpus.

    A folder contains PDFs, JATS or LaTeX, also in subfolders, and becomes a drop. At its top may be records.jsonl, which describes its
    files, and crossref*.json with works of Crossref. With --source, PATHS become a delivery of metadata. `_READY` is uploaded last.
    After an interruption, run the same command again: it sends only missing files. If a release would refuse the metadata,
    nothing is uploaded. Unusable records and files that no release reads are shown; `corpus check` shows every file.
    """
    from s2corpus.deliveries.adding import add_metadata, add_papers
    from s2corpus.spec_files import find_spec, load_spec

    spec, opened, by = load_spec(find_spec(corpus)), open_lake(lake), by or current_account()
    with progress_bar("uploading", "MB", 1e6) as progress:
        if source is not None:
            added = add_metadata(opened, spec, source, paths, id_, is_full=full, by=by, progress=progress)
        elif len(paths) != 1 or full:
            raise UserError("give one folder of papers; several paths and --full are for --source")
        else:
            added = add_papers(opened, spec, paths[0], id_, by, progress)
    for delivered in filter(None, (added.works, added.uploaded)):
        for warning in delivered.warnings:
            click.echo(f"warning: {warning}", err=True)
        counts = f"{delivered.sent} files sent" + (f", {delivered.kept} already in the lake" if delivered.kept else "")
        click.echo(f"{opened.uri(delivered.folder)}: {counts}, ready at {delivered.ready_at.isoformat()}")


@with_examples("corpus list", "corpus list --json")
@json_option
@lake_option()
def list_command(as_json: bool, lake: str) -> None:
    """List the snapshots of all corpora.

    Each line has the snapshot, its state, the instant that it sees, documents, and bytes. States: latest, published, withdrawn (yanked),
    pruned (its files were deleted), unpublished (complete; `corpus publish`), unfinished. Corpora without a snapshot follow.
    """
    from s2corpus.corpora.listing import list_snapshots
    from s2corpus.spec_files import read_specs, releases_folder

    snapshots = list_snapshots(open_lake(lake))
    empty = sorted({spec.name for spec in read_specs(releases_folder())[0]} - {listed.corpus for listed in snapshots})
    if as_json:
        rows = [asdict(listed) | {"corpus": listed.corpus} for listed in snapshots]
        click.echo(orjson.dumps({"snapshots": rows, "corpora_without_snapshot": empty}))
        return
    for listed in snapshots:
        size = "–" if listed.bytes is None else f"{listed.bytes / 1e6:,.1f} MB"
        documents = "–" if listed.documents is None else f"{listed.documents:,} documents"
        click.echo("\t".join([listed.snapshot, listed.state, listed.as_of, documents, size]))
    for name in empty:
        click.echo(f"{name}\tno snapshot")


@with_examples("corpus status", "corpus status own", "corpus status --json")
@click.argument("corpus", required=False)
@json_option
@lake_option()
def status_command(corpus: str | None, as_json: bool, lake: str) -> None:
    """Show the snapshots of corpora, running builds, waiting releases with the reason, and the disk usage.

    Releases without a snapshot have a state (running, awaiting an approval, stopped by a check, failed), the latest finished stage, and
    the expected drops that are missing. Drops and deliveries that no snapshot contains are listed. Disk is measured for the whole lake.
    """
    from s2corpus.catalog import Catalog
    from s2corpus.corpora.listing import list_corpora, list_open_releases, list_snapshots, measure_disk
    from s2corpus.drops.standing import RELEASED, iterate_drop_statuses
    from s2corpus.spec_files import read_specs, releases_folder

    opened = open_lake(lake)
    specs = {spec.name: spec for spec in read_specs(releases_folder())[0]}
    if corpus is not None and corpus not in (names := {*specs, *list_corpora(opened)}):
        raise UserError(f"no corpus {corpus!r}{suggest(corpus, names)}; existing corpora: {', '.join(sorted(names))}")
    snapshots = list_snapshots(opened, corpus)
    releases = list_open_releases(opened, Catalog.from_environment(), corpus)
    spec = specs.get(corpus) if corpus else None
    waiting = [
        status
        for status in iterate_drop_statuses(opened)
        if status.name != RELEASED and (spec is None or spec.selects(*status.identity))
    ]
    disk = measure_disk(opened, list_local_logs())
    if as_json:
        drops = [
            {"folder": w.row.name, "state": w.outcome, "counts": w.row.counts, "detail": w.detail} for w in waiting
        ]
        value = {"snapshots": [asdict(s) for s in snapshots], "releases": [asdict(r) for r in releases], "drops": drops}
        click.echo(orjson.dumps(value | {"disk": [asdict(use) for use in disk]}))
        return
    for name in sorted({s.corpus for s in snapshots} | ({corpus} if corpus else set())):
        of_corpus = [s for s in snapshots if s.corpus == name]
        latest = next((s for s in of_corpus if s.state == "latest"), None)
        contains = f"{latest.snapshot}, {latest.documents:,} documents" if latest else "no published snapshot"
        click.echo(f"{name}\t{contains}\t{len(of_corpus)} snapshots")
    for release in releases:
        stage = f"after {release.stage}" if release.stage else "before its first check"
        waits = f"waits for {', '.join(release.missing)}" if release.missing else ""
        click.echo("\t".join([release.release, release.state, stage, waits]).rstrip("\t"))
    for status in waiting:
        click.echo("\t".join([status.row.name, status.outcome, status.row.counts, status.detail]).rstrip("\t"))
    for use in filter(lambda use: use.files, disk):
        bound = "" if use.is_complete else "more than "
        click.echo(f"disk\t{use.kind}\t{bound}{use.files:,} files\t{bound}{use.bytes / 1e6:,.1f} MB")
