"""`corpus report`: the S2ORC paper's tables, for our release."""

from __future__ import annotations

import click

NAMES = ("tables", "funnel", "provenance", "coverage")


@click.command(epilog="Example: corpus report tables s2_v2-20230201")
@click.argument("name", type=click.Choice(NAMES))
@click.argument("release")
@click.option("--csv", "as_csv", is_flag=True, help="Comma-separated values instead of tables.")
def command(name: str, release: str, as_csv: bool) -> None:
    """Print the S2ORC paper's tables of the snapshot that RELEASE made, beside the paper's own numbers (tables), or, of any release as
    far as it has come, what was left out (funnel: Tables 2 and 8), who says what papers are (provenance), or which fields they
    have (coverage). RELEASE is <spec>-<YYYYMMDD> in the lake that S2CORPUS_LAKE names; for tables also a snapshot.
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
