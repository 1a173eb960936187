"""`corpus report`: the S2ORC paper's tables, for our release."""

from __future__ import annotations

import click

from s2corpus.commands._help import Command

NAMES = ("tables", "funnel", "provenance", "coverage")


@click.command(cls=Command, epilog=("corpus report tables s2_v2-20230201\ncorpus report funnel s2_v2-20230201 --csv"))
@click.argument("name", type=click.Choice(NAMES))
@click.argument("release")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values instead of tables.")
def command(name: str, release: str, as_csv: bool) -> None:
    """Print the S2ORC paper's tables for a release.

    tables: the paper's tables next to the paper's own numbers. funnel: which papers were left out, and why (Tables 2 and 8).
    provenance: the sources of the metadata. coverage: the fields that papers have. RELEASE is <spec>-<YYYYMMDD> in the lake of
    S2CORPUS_LAKE; a running release also works, except for tables. For tables, RELEASE can also be a snapshot.
    """
    import csv
    import sys

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from s2corpus.commands._lake_option import use_local_services
    from s2corpus.escaping import escape_cell
    from s2corpus.pipeline.reports import read_paper_tables, run_report

    use_local_services()

    console = Console()
    writer = csv.writer(sys.stdout)
    for report in read_paper_tables(release) if name == "tables" else run_report(name, release):
        if as_csv:
            writer.writerow([report.title])
            writer.writerow(report.columns)
            writer.writerows([escape_cell(cell) for cell in row] for row in report.rows)
            continue
        table = Table(*report.columns, title=report.title, title_justify="left")
        for row in report.rows:
            table.add_row(
                *(
                    "–" if value is None else f"{value:,}" if isinstance(value, int | float) else escape(str(value))
                    for value in row
                )
            )
        console.print(table)
        if report.missing:
            console.print(f"not yet written: {', '.join(report.missing)}")
