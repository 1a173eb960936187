"""`corpus records`: convert files of a metadata source to the table `records`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from s2corpus.commands._options import FILE, PATH, with_examples

_NOT_GENERIC = ["later_licenses", "notices", "original_title"]
"""columns that the generic form does not have; its title is the delivered one"""


@with_examples("corpus records crossref dump/*.json.gz --out records.parquet")
@click.argument("source")
@click.argument("files", nargs=-1, required=True, type=PATH)
@click.option(
    "--out", required=True, type=FILE, help="Records, .parquet; or .jsonl in the generic form, without notices."
)
@click.option("--dropped", type=FILE, help="Write the entries that give no record, with their reason (JSONL).")
def command(source: str, files: tuple[Path, ...], out: Path, dropped: Path | None) -> None:
    """Convert files of a metadata source to records.

    SOURCE is a metadata source, such as crossref; docs/sources.md lists them. Report the number of records and dropped entries of
    each file. FILES can be compressed (gzip, bzip2, xz, zstd). Memory use does not depend on the size of a file.
    """
    import contextlib

    import orjson
    import pyarrow.compute as pc

    from s2corpus import sources
    from s2corpus.errors import UserError
    from s2corpus.sources.arrow import batches
    from s2corpus.storage.parquet import check_table, open_table
    from s2corpus.tables.intake import RECORDS
    from s2orc_parse.outputs import open_atomic, printable

    sources.SOURCES.load(source)
    for file in files:
        if not file.is_file():
            raise UserError(f"{file}: no such file: expected files of the source {source}")
    check_table(out)
    with contextlib.ExitStack() as stack:
        write = stack.enter_context(open_table(out, RECORDS.schema))
        reject = stack.enter_context(open_atomic(dropped)) if dropped else None

        def read_records(file: Path, counts: Counter[str]) -> Iterator[sources.Record]:
            """Yield the records of a file; count all entries and write the others to --dropped."""
            for entry in sources.read(source, file):
                kind = "records" if isinstance(entry, sources.Record) else getattr(entry, "reason", "withdrawn")
                counts[kind] += 1
                if isinstance(entry, sources.Record):
                    yield entry
                elif reject is not None:
                    what = entry if isinstance(entry, sources.Dropped) else {"deleted": entry.record_id}
                    reject.write(
                        orjson.dumps({"file": printable(file), "entry": what}, option=orjson.OPT_APPEND_NEWLINE)
                    )

        for file in files:
            counts: Counter[str] = Counter()
            for batch in batches(read_records(file, counts)):
                if out.suffix != ".parquet":
                    title = pc.coalesce(batch["original_title"], batch["title"])
                    batch = batch.set_column(batch.schema.get_field_index("title"), "title", title)
                    batch = batch.drop_columns(_NOT_GENERIC)
                write(batch)
            entries, records, withdrawn = counts.total(), counts.pop("records", 0), counts.pop("withdrawn", 0)
            others = [("withdrawn", withdrawn)] * bool(withdrawn) + sorted(counts.items())
            text = "".join(f", {kind} {number}" for kind, number in others)
            click.echo(f"{printable(file)}: {entries} entries, {records} records{text}", err=True)
