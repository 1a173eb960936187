"""Commands on releases: `corpus drops`, `build`, `accept` and `report`."""

from __future__ import annotations

import logging
import os
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from s2corpus.commands._options import (
    current_account,
    json_option,
    lake_option,
    local_environment,
    open_release,
    progress_bar,
    use_local_services,
    with_examples,
)
from s2corpus.deployment.http import AirflowClient
from s2corpus.errors import TransientError, UserError
from s2corpus.ids import ReleaseId
from s2corpus.storage.lake import open_lake
from s2orc_parse.outputs import format_counts

if TYPE_CHECKING:
    from s2corpus.pipeline.run import Run


@with_examples(
    "corpus build own",
    "corpus build sample --as-of 2023-02-01 --lake ./lake --from sample",
    "corpus build s2orc_2020 --as-of 2023-02-01 --ablate s2_v2",
    "corpus build own --dry-run",
)
@click.argument("spec", metavar="CORPUS")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="Use only drops and deliveries that were ready before this day or time (UTC).  [default: now]",
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
@click.option(
    "--ablate",
    metavar="CORPUS",
    help="Then build this corpus too and, unpublished, with each single rule of CORPUS that differs; `corpus diff` compares them.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only print how many PDFs of the latest release are processed again, and stored results without a use.",
)
def build_command(
    spec: str,
    as_of: datetime | None,
    lake: str,
    tree: Path | None,
    workers: int,
    publish: bool,
    ablate: str | None,
    dry_run: bool,
) -> None:
    """Build a release of a corpus without Airflow, stage by stage.

    CORPUS is the name of a spec, or a spec file (YAML). GROBID_URL names the extractor; if it is not set, the command starts the
    embedded extractor.
    """
    from s2corpus.deliveries import expected
    from s2corpus.deliveries.upload import deliver_tree
    from s2corpus.pipeline import publication, runner, sealed
    from s2corpus.pipeline.run import Run
    from s2corpus.pipeline.stages import STAGE_NAMES
    from s2corpus.pipeline.summary import format_summary, list_losses
    from s2corpus.snapshot.ablation import make_variants
    from s2corpus.snapshot.pointer import check_pointer
    from s2corpus.spec_files import find_spec, load_spec

    rules = load_spec(find_spec(spec))
    ours = load_spec(find_spec(ablate)) if ablate else None
    specs = [rules, ours, *make_variants(ours, rules)] if ours else [rules]
    opened, now = open_lake(lake), datetime.now(UTC)
    if dry_run:
        if tree or ablate:
            raise UserError("--dry-run writes nothing: use it without --from and --ablate")
        with ExitStack() as stack:
            use_extractor(stack)
            print_upgrade_plan(Run.open(rules, as_of.replace(tzinfo=UTC) if as_of else now, lake=lake))
        return
    check_pointer(opened, ReleaseId.from_spec(rules.name, as_of or now))
    if tree:
        deliver_tree(opened, tree)
    instant = as_of.replace(tzinfo=UTC) if as_of else datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)
    if missing := expected.find_missing(opened, expected.list_expected(rules, instant)):
        sentence = expected.describe_missing(missing, rules.name)
        if rules.schedule.without_expected == "fail":
            raise UserError(sentence)
        click.echo(f"the release continues without them; {sentence}", err=True)
    runs = [sealed.seal(Run.open(one, instant, lake=lake), started_by=current_account()) for one in specs]
    run = runs[0]
    with ExitStack() as stack:
        use_extractor(stack)
        for each in runs:
            for number, name in enumerate(STAGE_NAMES, 1):
                label = f"{each.release_id}, {each.spec.description}: " if ablate else ""
                click.echo(f"{label}[{number}/{len(STAGE_NAMES)}] {name}", err=True)
                with progress_bar(name, "shards") as progress:
                    runner.run_stage(each, name, workers=workers, progress=progress)
    for line in list_losses(run):
        click.echo(f"fewer than {run.parent}: {line}", err=True)
    if publish and not (needs_approval := run.spec.export.needs_approval):
        publication.publish(run)
    else:
        publication.record_unpublished(run)
    for each in runs[1:]:
        publication.record_unpublished(each)
    click.echo(format_summary(run))
    if publish and needs_approval:
        click.echo(
            f"Not published: the spec requires an approval. A second person runs: corpus publish {run.snapshot_id} --reason …"
        )
    if ablate:
        click.echo(f"corpus diff {runs[1].snapshot_id} {run.snapshot_id} --lake {lake}")


def use_extractor(stack: ExitStack) -> None:
    """Start the embedded extractor until the stack closes, unless `GROBID_URL` names another."""
    from s2corpus.extractors.embedded import embedded_extractor

    if "GROBID_URL" not in os.environ:
        url, token = stack.enter_context(embedded_extractor(workers=2))
        os.environ |= {"GROBID_URL": url, "S2CORPUS_EXTRACTOR_TOKEN": token}


def print_upgrade_plan(run: Run) -> None:
    """Print the inputs that a release processes again because of other versions, and stored results without a reference."""
    from s2corpus.drops.upgrade import StoreUse, list_unused, plan_upgrade
    from s2corpus.stages.extract import ExtractStage

    pool = ExtractStage().open_pool(run)
    identity = pool.identity()
    plan = plan_upgrade(run, pool.adapter, identity)
    click.echo(
        f"{plan.pdfs:,} PDFs of {plan.release}; extractor {identity.extractor} {identity.full_version}; new drops not counted"
    )
    work = ("to inspect", "to extract", "to parse")
    for name, pdfs, hours in zip(work, (plan.to_inspect, plan.to_extract, plan.to_parse), plan.hours, strict=True):
        click.echo(f"{name:<11} {pdfs:>12,} PDFs {hours:>12,.1f} core-hours (estimated)")
    unused = list(list_unused(run.lake, [StoreUse(run.spec, identity, pool.adapter)]))
    total = sum(size for _, _, size in unused)
    click.echo(
        f"stored results that nothing refers to: {len(unused)} folders, {total:,} bytes (corpus prune deletes them)"
    )
    for folder, files, size in unused:
        click.echo(f"  {folder}  {files:,} files, {size:,} bytes")


@with_examples(
    "corpus drops",
    "corpus drops --process",
)
@click.option("--process", is_flag=True, help="First process new drops and those that an earlier run did not finish.")
@json_option
@lake_option()
def drops_command(process: bool, as_json: bool, lake: str) -> None:
    """List drops and deliveries with their state.

    Each line has the state (released, waiting, paused, refused …), the folder, counts and details. Unusable records of a
    drop's records.jsonl follow. docs/drops.md describes the states.

    --process does the work of the DAG pdf_drops without Airflow: it registers new drops and runs select, extract (by
    GROBID_URL) and postprocess for their PDFs. The next release uses the results. Release specs select the drops
    (S2CORPUS_RELEASES, or include/releases).
    """
    from s2corpus.drops import processing
    from s2corpus.drops.standing import iterate_drop_statuses
    from s2corpus.spec_files import read_specs, releases_folder

    opened = open_lake(lake)
    if process:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        specs, errors = read_specs(releases_folder())
        if errors:
            raise UserError("; ".join(errors))
        processing.process(opened, specs)
    counts: Counter[str] = Counter()
    for status in iterate_drop_statuses(opened, paused=_is_drops_dag_paused(lake)):
        row = status.row
        counts[status.name] += 1
        if as_json:
            click.echo(orjson.dumps(asdict(row) | {"state": status.outcome, "detail": status.detail}))
            continue
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

    CHECK is `<stage>.<check>`; RELEASE is `<spec>-<YYYYMMDD>`. The check is a warning, or a block that can be overridden. To continue,
    clear the task `<stage>.quality` in Airflow, or build the release again with its `--as-of`. The reason is part of the snapshot's id
    and manifest.
    """
    from s2corpus.pipeline import checks
    from s2corpus.pipeline.acceptance import accept
    from s2corpus.pipeline.quality import tell_continuation

    by = by or current_account()
    opened, release = open_release(lake, release)
    is_new = accept(opened, release, {check: reason}, by, checks.list_all_checks())
    then = tell_continuation(release, check.partition(".")[0])
    click.echo(f"{check} {'is' if is_new else 'was already'} accepted for {release}; {then}")


REPORTS = ("tables", "funnel", "provenance", "coverage")


@with_examples(
    "corpus report tables s2_v2-20230201",
    "corpus report funnel s2_v2 --json",
)
@click.argument("name", type=click.Choice(REPORTS))
@click.argument("release")
@json_option
def report_command(name: str, release: str, as_json: bool) -> None:
    """Print a report on a release.

    tables: the paper's tables next to the paper's own numbers. funnel: which papers were left out, and why (Tables 2 and 8).
    provenance: the sources of the metadata. coverage: the fields that papers have. RELEASE is <spec>-<YYYYMMDD>, or a corpus, in the lake
    of S2CORPUS_LAKE; a running release also works, except for tables. For tables, RELEASE can also be a snapshot.
    """
    import pandas

    from s2corpus.pipeline.reports import read_paper_tables, run_report

    use_local_services()
    reports = read_paper_tables(release) if name == "tables" else run_report(name, release)
    if as_json:
        click.echo(orjson.dumps(list(reports), default=str))
        return
    for report in reports:
        table = pandas.DataFrame(report.rows, columns=report.columns, dtype=object)
        click.echo(f"{report.title}\n{table.map(_format_cell).to_string(index=False)}")
        if report.missing:
            click.echo(f"stages not finished yet; missing tables: {', '.join(report.missing)}")


def _format_cell(value: object) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int | float) else str(value)
