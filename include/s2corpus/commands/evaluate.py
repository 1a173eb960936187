"""`corpus evaluate`: evaluate a release by the criteria of S2ORC §4."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from s2corpus.commands._options import FILE, lake_option, open_release, with_examples


@with_examples(
    "corpus evaluate s2_v2-20230201 --sheet sheet.csv",
    "corpus evaluate s2_v2-20230201 --marks sheet.csv --by ada",
)
@click.argument("release")
@click.option("--sheet", type=FILE, help="Write the sample as a CSV file to mark.")
@click.option(
    "--parses-sheet",
    type=FILE,
    help="Write citations and bibliographies as a CSV file to mark.",
)
@click.option("--marks", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="Read a marked sheet.")
@click.option("--by", help="Person who marked the sheet.")
@click.option("--publish", is_flag=True, help="Write result and card next to the snapshot, if the items are marked.")
@click.option("--card", "show_card", is_flag=True, help="Print the data card of the snapshot, with the evaluation.")
@lake_option()
def command(
    release: str,
    sheet: Path | None,
    parses_sheet: Path | None,
    marks: Path | None,
    by: str | None,
    publish: bool,
    show_card: bool,
    lake: str,
) -> None:
    """Evaluate a release on a sample that people mark.

    Draw 500 papers with PDFs and 600 bibliography links, compare them automatically, and report the result of the marks.
    Draw 200 open PDFs to compare all their citations and bibliography entries with the parse.
    Mark the items on the release's page or in the sheets. The catalog (S2CORPUS_CATALOG) records who marked each item, and when.
    """
    from s2corpus.catalog import Catalog
    from s2corpus.errors import UserError
    from s2corpus.evaluation import results, store
    from s2corpus.evaluation import sheet as sheets
    from s2corpus.rules import EvaluationRules
    from s2orc_parse.outputs import open_atomic

    opened, release = open_release(lake, release)
    catalog = Catalog.from_environment()
    items = store.load_items(opened, release, EvaluationRules())
    parses = store.load_parses(opened, release, EvaluationRules())
    for path, number, text in (
        (sheet, len(items), partial(sheets.format_items, release, items)),
        (parses_sheet, len(parses), partial(sheets.format_parses, release, parses)),
    ):
        if path is not None:
            with open_atomic(path) as out:
                out.write(text().encode())
            click.echo(f"{number} items in {path}")
    if marks is not None:
        by = (by or "").strip()
        if not by or catalog is None:
            raise UserError("--marks needs --by NAME and S2CORPUS_CATALOG: the catalog stores the marks")
        content = marks.read_bytes()
        if sheets.is_parse_sheet(content):
            lines = sheets.read_parses(content, release, parses)
            catalog.mark_parses(release, by, {item: (m.wrong, m.unsure, m.missing) for item, m in lines.items()})
            count = len(lines)
        else:
            found = sheets.read_items(content, release, items)
            catalog.mark(release, by, found)
            count = len(found)
        click.echo(f"{count} marks of {by}")
    of_parses = results.parse_results(parses, store.list_parse_marks(catalog, release))
    result = results.result(items, store.list_marks(catalog, release), of_parses)
    if publish or show_card:
        snapshots = store.list_snapshots(opened, release)
        if len(snapshots) != 1:
            raise UserError(f"{release} has {len(snapshots)} snapshots: expected one")
        card = store.publish(opened, snapshots[0], result) if publish else store.read_card(opened, snapshots[0])
        if show_card:
            click.echo(card)
            return
    for line in result.lines:
        click.echo(results.format_result_line(line))
    for parse in result.parses:
        click.echo(results.format_parse_result(parse))
    markers = f" by {', '.join(result.markers)}" if result.markers else ""
    click.echo(f"{result.marked} of {result.items} items marked{markers}")
