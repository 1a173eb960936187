"""`corpus report`: the S2ORC paper's tables, for our release."""

from __future__ import annotations

import click

NAMES = ("funnel", "provenance", "coverage")


@click.command(epilog="Example: corpus report provenance s2_v2-20230201")
@click.argument("name", type=click.Choice(NAMES))
@click.argument("release")
@click.option("--csv", "as_csv", is_flag=True, help="Comma-separated values instead of tables.")
def command(name: str, release: str, as_csv: bool) -> None:
    """Print what was left out (funnel: S2ORC Tables 2 and 8), where papers come from (provenance: Table 3), or how much was
    extracted and linked (coverage: Table 4) in RELEASE, <spec>-<YYYYMMDD> in the lake that S2CORPUS_LAKE names.
    """
    import csv
    import sys

    from rich.console import Console
    from rich.table import Table

    from s2corpus.commands._lake_option import use_local_services
    from s2corpus.pipeline.reports import reports

    use_local_services()

    console = Console()
    writer = csv.writer(sys.stdout)
    for report in reports(name, release):
        if as_csv:
            writer.writerow([report.title])
            writer.writerow(report.columns)
            writer.writerows(report.rows)
            continue
        table = Table(*report.columns, title=report.title, title_justify="left")
        for row in report.rows:
            table.add_row(
                *(
                    "–" if value is None else f"{value:,}" if isinstance(value, int | float) else str(value)
                    for value in row
                )
            )
        console.print(table)
        if report.missing:
            console.print(f"not yet written: {', '.join(report.missing)}")
