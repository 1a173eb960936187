"""`python -m devtools …`: the sample, the demo, releases on this machine, and the local services."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from s2corpus.cli import run
from s2corpus.commands._options import Command, progress_bar

if TYPE_CHECKING:
    from s2corpus.pipeline.run import Run


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def tools() -> None:
    """Try the project in a checkout: build releases under the local Airflow.

    `python -m devtools COMMAND --help` describes a command, with examples.
    """


@tools.command("demo", cls=Command)
def demo() -> None:
    """Build two sample releases and compare them with the truth.

    Deliver about sixty generated papers, and build two monthly releases under the local Airflow.
    """
    from devtools import sample
    from devtools.local.interruption import end_with_a_sentence
    from devtools.local.release import COMMAND, make_release, print_next_steps, process_drops, start_services
    from devtools.local.state import State, default_state
    from devtools.sample.compare import TABLES as COMPARED
    from devtools.sample.generate import truths
    from s2corpus.deliveries.upload import deliver_tree
    from s2corpus.storage.lake import open_lake
    from s2corpus.tables.schema import TABLES

    end_with_a_sentence()
    began = time.monotonic()

    def step(text: str) -> None:
        click.echo(f"\n[{time.monotonic() - began:4.0f} s] {text}")

    step("Starting S3, PostgreSQL, the extractor and Airflow; typesetting the sample papers")
    State(default_state()).create()
    folder = default_state() / "sample"
    with ThreadPoolExecutor(1) as pool:
        generated = pool.submit(sample.generate, folder)
        endpoints = start_services()
        generated.result()
    january, february = truths(folder)
    lake = open_lake(endpoints.environ()["S2CORPUS_LAKE"])
    sent = deliver_tree(lake, folder)
    step(f"Delivered {len(january.pdfs)} PDFs and their metadata ({sent} new files) to {lake.root}")
    first, second = (sum(pdf.seen for pdf in truth.pdfs) for truth in (january, february))
    click.echo(
        f"  {first} PDFs were ready before February 1; {second - first} more arrive in February. "
        "A release contains only what was ready before its date."
    )
    click.echo("  The sensor of the DAG pdf_drops finds the new drops; the DAG extracts and parses them.")
    click.echo(f"  Drops and deliveries: {process_drops(endpoints, lake)}")

    runs: list[Run] = []
    for truth in (january, february):
        end = datetime.fromisoformat(truth.as_of).astimezone(UTC)
        start = end.replace(month=end.month - 1) if end.month > 1 else end.replace(year=end.year - 1, month=12)
        step(f"Building the release as of {end:%B %-d, %Y}: what was ready in {start:%B}" + (" is new" if runs else ""))
        runs.append(make_release(endpoints, "sample", start, end, scheduled=True))
        click.echo()
        click.echo(str(sample.compare(truth, {name: runs[-1].table(TABLES[name]).read() for name in COMPARED})))
        manifest, _ = lake.get(f"snapshots/{runs[-1].snapshot_id}/manifest.json")
        click.echo(f"  Manifest     sha256 {hashlib.sha256(manifest).hexdigest()}")
    for old, new in pairwise(runs):
        step(f"Changes from {old.snapshot_id} to {new.snapshot_id}")
        click.echo("  The deliveries of February add, merge, split and withdraw papers; some get their PDF.")
        subprocess.run([COMMAND, "diff", old.snapshot_id, new.snapshot_id], check=True)
        click.echo(f"  List them    {COMMAND} diff {old.snapshot_id} {new.snapshot_id} --list")
    step("Done. Next steps:")
    text = f"A text         {COMMAND} read sample --sample 1 --text"
    print_next_steps(endpoints, text, "Your papers    make release PDFS=~/papers")


@tools.command("release", cls=Command, epilog="python -m devtools release ~/papers\nmake release PDFS=~/papers")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("corpus", default="own")
def release(folder: Path, corpus: str) -> None:
    """Add a folder of papers to a corpus, and build its release under the local Airflow.

    FOLDER contains PDFs, JATS or LaTeX, also in subfolders. CORPUS is the name of a spec (`corpus init`), `own` by default. The release
    contains everything that was added before.

    Metadata files at the top of FOLDER are optional. crossref*.json or crossref*.jsonl (also .gz) contains Crossref works: an
    answer of the REST API, or one work a line. records.jsonl has one JSON object for each file (docs/drops.md lists the keys):

    \b
    {"name": "a.pdf", "title": "On a", "authors": ["Ada Byron"], "doi": "10.1000/a"}
    """
    from devtools.local.interruption import STOP, announce, end_with_a_sentence
    from devtools.local.release import make_release, own_interval, print_next_steps, start_services
    from devtools.papers_report import format_papers_report
    from s2corpus.deliveries.adding import add_papers, check_papers
    from s2corpus.pipeline.quality import read_metrics
    from s2corpus.spec_files import find_spec, load_spec
    from s2corpus.storage.lake import open_lake

    end_with_a_sentence()
    spec = load_spec(find_spec(corpus))
    check_papers(folder)
    click.echo("Starting S3, PostgreSQL, the extractor and Airflow")
    endpoints = start_services()
    lake = open_lake(endpoints.environ()["S2CORPUS_LAKE"])
    with progress_bar("uploading", "MB", 1e6) as progress:
        added = add_papers(lake, spec, folder, progress=progress)
    for warning in (*added.uploaded.warnings, *(added.works.warnings if added.works else ())):
        click.echo(f"warning: {warning}", err=True)
    announce(f"the drop {added.id} is delivered, and Airflow processes it. {STOP}")
    click.echo(f"Delivered as drop {added.id}; building the release")
    start, end = own_interval(added.uploaded.ready_at)
    run = make_release(endpoints, spec.name, start, end, scheduled=False)
    click.echo()
    click.echo(format_papers_report(run))
    if not read_metrics(run)["intake"].get("records"):
        click.echo("\nThis release has only the metadata in the PDFs: docs/openalex.md shows how to add metadata.")
    print_next_steps(endpoints)


@tools.command(
    "sample", cls=Command, epilog="python -m devtools sample --out sample && corpus select sample/drops/*/*.pdf"
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Output folder: new, empty, or an earlier sample.",
)  # fmt: skip
@click.option("--tiny", is_flag=True, help="Generate eight papers only.")
def generate(out: Path, tiny: bool) -> None:
    """Generate sample papers with known truth.

    Typeset the PDFs of a sample drop, write their metadata by source, and the truth (truth.json).
    """
    from devtools import sample

    truth = sample.tiny(out) if tiny else sample.generate(out)
    click.echo(f"{out}: {len(truth.pdfs)} PDFs, {len(truth.papers)} papers, for a release as of {truth.as_of}")


@tools.command("up", cls=Command)
def up() -> None:
    """Start the local services.

    Start S3 (SeaweedFS), PostgreSQL, the embedded extractor (unless GROBID_URL names a GROBID) and Airflow on 127.0.0.1.
    Healthy services continue to run. Ports are chosen once and stored with the passwords in the state folder: `.s2corpus` in
    the project, or S2CORPUS_STATE.
    """
    from devtools.local import Services, default_state
    from devtools.local.airflow import ADMIN, APPROVER

    state = default_state()
    endpoints = Services(state).up()
    passwords = state / "airflow" / "passwords.json"
    click.echo(f"Airflow: {endpoints.airflow_url} (passwords of the users {ADMIN} and {APPROVER}: {passwords})")


@tools.command("status", cls=Command, epilog="python -m devtools status || python -m devtools up")
def status() -> None:
    """Show the state of the local services.

    Print the address and log file of each service. The exit status is 1 unless all services run.
    """
    from devtools.local import Condition, Services, default_state
    from devtools.local.airflow import ADMIN, APPROVER

    services = Services(default_state())
    statuses = services.status()
    if not statuses:
        click.echo(f"no local services in {services.state.root}: `make up` starts them")
        sys.exit(1)
    for status in statuses:
        pid = f"pid {status.pid}" if status.pid else ""
        condition = f"{status.condition} ({status.reason})" if status.reason else str(status.condition)
        click.echo(f"{status.name:22} {condition:10} {pid:12}  {status.url}")
        if status.log:
            click.echo(f"{'':22} log {status.log}")
    folder = services.state.root / "airflow"
    click.echo(f"Airflow's tasks log into {folder / 'logs'}")
    click.echo(
        f"Airflow's users are {ADMIN} and {APPROVER}, who may approve what {ADMIN} started; "
        f"their passwords: {folder / 'passwords.json'}"
    )
    if any(status.condition not in (Condition.RUNNING, Condition.EXTERNAL) for status in statuses):
        sys.exit(1)


@tools.command("env", cls=Command, epilog="eval $(python -m devtools env) && airflow dags list")
def env() -> None:
    """Print the addresses and keys of the local services.

    The output is `export …` lines for a shell, with the settings of Airflow.
    """
    from devtools.local import Services, default_state

    for name, value in Services(default_state()).endpoints().environ().items():
        click.echo(f"export {name}={shlex.quote(value)}")


@tools.command("down", cls=Command)
def down() -> None:
    """Stop the local services.

    Data, ports and passwords remain in the state folder. Remove the folder to delete them.
    """
    from devtools.local import Services, default_state

    Services(default_state()).down()


def main() -> None:
    """Run the command line of the tools."""
    run(tools, "python -m devtools")
