"""Commands on releases: `corpus deliver`, `drops`, `build`, `accept` and `report`."""

from __future__ import annotations

import getpass
import logging
import os
import time
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import click

from s2corpus.commands._options import (
    PATH,
    lake_option,
    local_environment,
    open_release,
    use_local_services,
    with_examples,
)
from s2corpus.deployment.http import AirflowClient
from s2corpus.errors import TransientError, UserError
from s2corpus.escaping import escape_cell
from s2corpus.storage.lake import open_lake
from s2orc_parse.outputs import ProgressLine, format_counts


@with_examples("corpus build include/releases/sample.yaml --as-of 2023-02-01 --lake ./lake --from sample")
@click.argument("spec", type=PATH)
@click.option(
    "--as-of",
    required=True,
    type=click.DateTime(["%Y-%m-%d"]),
    help="Use only drops and deliveries that were ready before this day (UTC).",
)
@lake_option()
@click.option(
    "--from",
    "tree",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="First deliver this folder with drops/ and sources/.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of child processes for the shards.",
)
@click.option("--publish/--no-publish", default=True, show_default=True, help="Point latest.json to the snapshot.")
def build_command(spec: Path, as_of: datetime, lake: str, tree: Path | None, workers: int, publish: bool) -> None:
    """Build a release without Airflow, stage by stage.

    SPEC is a release spec (YAML). GROBID_URL names the extractor; if it is not set, the command starts the embedded extractor.
    """
    from s2corpus.deliveries.upload import deliver_tree
    from s2corpus.extractors.embedded import embedded_extractor
    from s2corpus.pipeline import runner
    from s2corpus.pipeline.run import Run
    from s2corpus.pipeline.stages import STAGE_NAMES
    from s2corpus.pipeline.summary import format_summary, list_losses
    from s2corpus.snapshot.pointer import check_pointer
    from s2corpus.spec import load_spec

    run = Run.open(load_spec(spec), as_of.replace(tzinfo=UTC), lake=lake)
    check_pointer(run.lake, run.spec.name)
    if tree:
        deliver_tree(run.lake, tree)
    with ExitStack() as stack:
        if "GROBID_URL" not in os.environ:
            url, token = stack.enter_context(embedded_extractor(workers=2))
            os.environ |= {"GROBID_URL": url, "S2CORPUS_EXTRACTOR_TOKEN": token}
        for number, name in enumerate(STAGE_NAMES, 1):
            click.echo(f"[{number}/{len(STAGE_NAMES)}] {name}", err=True)
            runner.run_stage(run, name, workers=workers)
    for line in list_losses(run):
        click.echo(f"fewer than {run.parent}: {line}", err=True)
    if publish:
        runner.publish(run)
    else:
        runner.record_unpublished(run)
    click.echo(format_summary(run))


@with_examples(
    "corpus deliver papers --drop 2026-11-21 --lake s3://corpus",
    "corpus deliver --source crossref 2026-11-*.json.gz",
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--drop", help="Deliver PATHS, one folder, as the drop of this id.")
@click.option("--source", help="Deliver PATHS, files or folders, as metadata of this source (docs/sources.md).")
@click.option("--delivery", help="With --source: id of the delivery.  [default: the current time]")
@click.option("--full", is_flag=True, help="With --source: replace all earlier deliveries of this source.")
@click.option(
    "--by", help="Airflow user who delivers; cannot approve a release of the delivery.  [default: current user]"
)
@lake_option("--to")
def deliver_command(
    paths: tuple[Path, ...],
    drop: str | None,
    source: str | None,
    delivery: str | None,
    full: bool,
    by: str | None,
    lake: str,
) -> None:
    """Deliver papers as a drop, or metadata of a source.

    A drop is a folder of PDFs, TEI, JATS or LaTeX with its subfolders; a delivery is files of one source. `_READY` is uploaded last.
    After an interruption, run the same command again: it sends only missing files. The `records.jsonl` of a drop is checked
    first: if intake would refuse this file, nothing is uploaded. Every unusable record is shown.
    """
    from s2corpus.deliveries.upload import deliver, files_below, new_delivery

    by = by or getpass.getuser()
    if (drop is None) == (source is None):
        raise UserError("give either --drop ID, for a folder of papers, or --source NAME, for files of metadata")
    if drop is not None:
        if len(paths) != 1 or delivery is not None or full:
            raise UserError("a drop is one folder; --delivery and --full are for --source")
        delivery_, files = new_delivery("drop", "", drop, by=by), files_below(paths[0])
    else:
        id_ = delivery or time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime())
        delivery_ = new_delivery("delivery", str(source), id_, "full" if full else "delta", by)
        files = {}
        for path in paths:
            for name, file in (files_below(path) if path.is_dir() else {path.name: path}).items():
                if files.setdefault(name, file) != file:
                    raise UserError(f"{file}: {files[name]} has the same name in the delivery: rename one")
    line = ProgressLine()

    def show_progress(done: int, total: int) -> None:
        line.show(lambda: f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB")

    opened = open_lake(lake)
    delivered = deliver(opened, delivery_, files, progress=show_progress)
    line.clear()
    for warning in delivered.warnings:
        click.echo(f"warning: {warning}", err=True)
    counts = f"{delivered.sent} files sent" + (f", {delivered.kept} already in the lake" if delivered.kept else "")
    click.echo(f"{opened.uri(delivered.folder)}: {counts}, ready at {delivered.ready_at.isoformat()}")


@with_examples(
    "corpus drops",
    "corpus drops --state refused",
    "corpus drops --process",
)
@click.option("--process", is_flag=True, help="First process new drops and those that an earlier run did not finish.")
@click.option("--state", help="Show only drops in this state.")
@lake_option()
def drops_command(process: bool, state: str | None, lake: str) -> None:
    """List drops and deliveries with their state.

    Each line has the state (released, waiting, paused, refused …), the folder, counts and details. Unusable records of a
    drop's records.jsonl follow. docs/drops.md describes the states.

    --process does the work of the DAG pdf_drops without Airflow: it registers new drops and runs select, extract (by
    GROBID_URL) and postprocess for their PDFs. The next release uses the results. Release specs select the drops
    (S2CORPUS_RELEASES, or include/releases).
    """
    from s2corpus.drops import processing
    from s2corpus.drops.standing import NAMES, iterate_drop_statuses
    from s2corpus.spec import read_specs, releases_folder

    if state and state not in NAMES:
        raise UserError(f"no state {state!r}: expected one of {', '.join(NAMES)}")
    opened = open_lake(lake)
    if process:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        specs, errors = read_specs(releases_folder())
        if errors:
            raise UserError("; ".join(errors))
        processing.process(opened, specs)
    counts: Counter[str] = Counter()
    for status in iterate_drop_statuses(opened, paused=_is_drops_dag_paused(lake)):
        if state in (None, status.name):
            row = status.row
            counts[status.name] += 1
            click.echo("\t".join([status.outcome, row.name, row.counts, status.detail]).rstrip("\t"))
            for warning in row.warnings:
                click.echo(f"\t{row.name}\t{warning}")
    click.echo(format_counts(counts) or "no drops or deliveries", err=True)


def _is_drops_dag_paused(lake: str) -> bool:
    """Return whether the local Airflow uses this lake and has paused the DAG `pdf_drops`."""

    services = local_environment()
    if services.get("S2CORPUS_LAKE", "").rstrip("/") != lake.rstrip("/"):
        return False
    try:
        client = AirflowClient(*(services[f"AIRFLOW_{name}"] for name in ("URL", "USER", "PASSWORD")))
        return bool(client.call("GET", "dags/pdf_drops", absent={}).get("is_paused"))
    except (UserError, TransientError, OSError):
        return False


@with_examples(
    'corpus accept s2_v2-20230301 link.drift_of_linked_entries_block --reason "the source dblp ended in February"'
)
@click.argument("release")
@click.argument("check")
@click.option("--reason", required=True, help="Reason; recorded, and part of the manifest.")
@click.option("--by", help="Person to record.  [default: current user]")
@lake_option()
def accept_command(release: str, check: str, reason: str, by: str | None, lake: str) -> None:
    """Accept a failed check of a release, with a reason.

    CHECK is `<stage>.<check>`; RELEASE is `<spec>-<YYYYMMDD>`. The check is a warning, or a block that can be overridden.
    In Airflow, clear the task `<stage>.quality` afterwards to continue the release. The reason is part of the snapshot's id and manifest.
    """
    from s2corpus.pipeline import quality
    from s2corpus.pipeline.acceptance import accept

    by = by or getpass.getuser()
    is_new = accept(open_release(lake, release), release, {check: reason}, by, quality.list_all_checks())
    stage = check.partition(".")[0]
    click.echo(f"{check} {'is' if is_new else 'was already'} accepted for {release}; clear {stage}.quality in Airflow")


REPORTS = ("tables", "funnel", "provenance", "coverage")


@with_examples(
    "corpus report tables s2_v2-20230201",
    "corpus report funnel s2_v2-20230201 --csv",
)
@click.argument("name", type=click.Choice(REPORTS))
@click.argument("release")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values instead of tables.")
def report_command(name: str, release: str, as_csv: bool) -> None:
    """Print a report on a release.

    tables: the paper's tables next to the paper's own numbers. funnel: which papers were left out, and why (Tables 2 and 8).
    provenance: the sources of the metadata. coverage: the fields that papers have. RELEASE is <spec>-<YYYYMMDD> in the lake of
    S2CORPUS_LAKE; a running release also works, except for tables. For tables, RELEASE can also be a snapshot.
    """
    import pandas

    from s2corpus.pipeline.reports import read_paper_tables, run_report

    use_local_services()
    for report in read_paper_tables(release) if name == "tables" else run_report(name, release):
        table = pandas.DataFrame(report.rows, columns=report.columns, dtype=object)
        if as_csv:
            click.echo(pandas.DataFrame(columns=[report.title]).to_csv(index=False), nl=False)
            click.echo(table.map(escape_cell).to_csv(index=False), nl=False)
            continue
        click.echo(f"{report.title}\n{table.map(_format_cell).to_string(index=False)}")
        if report.missing:
            click.echo(f"stages not finished yet; missing tables: {', '.join(report.missing)}")


def _format_cell(value: object) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int | float) else str(value)
