"""`corpus report`: print reports on a release."""

from __future__ import annotations

import click

from s2corpus.commands._help import Command

NAMES = ("tables", "funnel", "provenance", "coverage")


@click.command(cls=Command, epilog=("corpus report tables s2_v2-20230201\ncorpus report funnel s2_v2-20230201 --csv"))
@click.argument("name", type=click.Choice(NAMES))
@click.argument("release")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values instead of tables.")
def command(name: str, release: str, as_csv: bool) -> None:
    """Print a report on a release.

    tables: the paper's tables next to the paper's own numbers. funnel: which papers were left out, and why (Tables 2 and 8).
    provenance: the sources of the metadata. coverage: the fields that papers have. RELEASE is <spec>-<YYYYMMDD> in the lake of
    S2CORPUS_LAKE; a running release also works, except for tables. For tables, RELEASE can also be a snapshot.
    """
    import pandas

    from s2corpus.commands._lake_option import use_local_services
    from s2corpus.escaping import escape_cell
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
