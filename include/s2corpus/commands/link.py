"""`corpus link`: link bibliography entries to papers, from files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from s2corpus.commands._options import FILE, PATH, with_examples
from s2corpus.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

_IDENTIFIERS = {
    "doi": "normalize_doi", "arxiv_id": "normalize_arxiv", "pubmed_id": "normalize_pmid", "pmc_id": "normalize_pmcid",
}  # fmt: skip
_SHARED = ("title", "authors", "year", "date", "venue", "journal", "volume", "issue", "pages", *_IDENTIFIERS)
ENTRY_KEYS = ("entry_id", "citing_paper_id", *_SHARED, "raw_text")
PAPER_KEYS = ("paper_id", *_SHARED, "acl_id")
_ROWS = 50_000


@with_examples("corpus link --entries entries.jsonl --papers papers.jsonl --out links.parquet")
@click.option("--entries", required=True, type=PATH, help="Entries, .jsonl or .parquet.")
@click.option("--papers", required=True, type=PATH, help="Papers, .jsonl or .parquet.")
@click.option("--out", required=True, type=FILE, help="Output: links, .jsonl or .parquet.")
def command(entries: Path, papers: Path, out: Path) -> None:
    """Link bibliography entries to papers.

    An entry links by identifier, by equal title, or by the most similar title (S2ORC §2.6). Truncated titles then link by
    their beginning, and entries without a title by journal, volume, first page and year. Other entries link to the
    paper whose title their printed text (raw_text) contains. The printed text supplies the fields of entries without title.

    \b
    entries: entry_id, title or raw_text; optional citing_paper_id and the columns of papers
    papers:  paper_id, title; optional authors, year or date, journal or venue,
             volume, issue, pages, doi, arxiv_id, pubmed_id, pmc_id, acl_id
    out:     entry_id, paper_id (null: not linked), score, reason (id, exact,
             fuzzy, prefix, locator, contained, none), warning (numeral, tie, contradiction:
             check these links before counting them as citations), runner_up_score

    Authors are a list of {first, middle, last, suffix}, a list of names, or one string. JSON Lines or Parquet by suffix.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from s2corpus.corpora.link_tables import link_tables
    from s2corpus.storage.parquet import check_table, write_table

    check_table(out)
    targets = pa.concat_tables(_read_tables(papers, "paper_id", PAPER_KEYS))
    paper_id = targets["paper_id"]
    if len(paper_id.unique()) < len(paper_id) or pc.any(pc.equal(paper_id, "")).as_py():
        raise UserError(f"{papers}: a paper_id is empty or repeated: every paper needs a unique paper_id")
    ids: list[pa.ChunkedArray] = []

    def read() -> Iterator[pa.Table]:
        for table in _read_tables(entries, "entry_id", ENTRY_KEYS):
            ids.append(table["entry_id"])
            yield table

    links = link_tables(targets, read())
    result = links.add_column(
        0, "entry_id", pa.chunked_array([chunk for column in ids for chunk in column.chunks], pa.string())
    )
    write_table(out, result)
    counts = {reason["values"]: reason["counts"] for reason in result["reason"].value_counts().to_pylist()}
    none = counts.pop("none", 0)
    details = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items())) or "none"
    click.echo(
        f"{len(result):,} entries, {len(result) - none:,} linked ({details}) to {len(paper_id):,} papers", err=True
    )


def _read_tables(path: Path, key: str, allowed: tuple[str, ...]) -> Iterator[pa.Table]:
    """Yield the rows of a file as tables of normalized columns; yield one empty table for an empty file."""
    from s2corpus.text.files import iterate_rows

    if not path.is_file():
        raise UserError(f"{path}: no such file: give a .jsonl or .parquet file with {key} and title")
    if path.suffix not in (".jsonl", ".parquet"):
        raise UserError(f"{path}: unsupported suffix: use .jsonl or .parquet")
    rows = (dict(row) for _, row in iterate_rows(path))
    for first in count(1, _ROWS):
        chunk = list(islice(rows, _ROWS))
        if not chunk and first > 1:
            return
        # An empty Parquet file has columns.
        names = {*_read_parquet_names(path)} if not chunk and path.suffix == ".parquet" else {*chain(*chunk)}
        if unknown := sorted(names - {*allowed}):
            raise UserError(f"{path}: unknown key {', '.join(unknown)}: expected some of {', '.join(allowed)}")
        required = "title or raw_text" if "raw_text" in allowed else "title"
        if (chunk or names) and not (key in names and names & {*required.split(" or ")}):
            raise UserError(f"{path}: a column is missing: every row has {key} and {required}")
        yield _normalize_columns(path, key, chunk, first)


def _read_parquet_names(path: Path) -> list[str]:
    from s2corpus.storage.parquet import open_parquet

    with open_parquet(path) as file:
        names: list[str] = file.schema.names
        return names


def _normalize_columns(path: Path, key: str, rows: list[dict[str, Any]], first: int) -> pa.Table:
    """Return a table with `key`, title, year, surname of the first author, identifiers and citing_paper_id."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from s2orc_parse.bibliography import identifiers

    _read_raw_texts(rows)

    def column(name: str) -> list[Any]:
        return [row.get(name) for row in rows]

    def strings(name: str) -> pa.Array:
        return _to_strings(path, name, column(name))

    ids = strings(key)
    if ids.null_count:
        row = first + ids.is_null().to_pylist().index(True)
        raise UserError(f"{path}: row {row} has no {key}: every row needs one")
    out = {
        key: ids,
        "title": strings("title"),
        "year": _to_years(column("year"), column("date")),
        "surname": pa.array(map(_first_surname, column("authors")), pa.string()),
        "citing_paper_id": strings("citing_paper_id"),
        "volume": strings("volume"),
        "pages": strings("pages"),
        "journal": pc.coalesce(strings("journal"), strings("venue")),
        "raw_text": strings("raw_text"),
    }
    for name, function in _IDENTIFIERS.items():
        texts = strings(name)
        normalize = getattr(identifiers, function)
        normalized = {text: normalize(text) for text in texts.unique().to_pylist() if text}
        out[name] = pa.array([normalized.get(t) for t in texts.to_pylist()], pa.string())
    return pa.table(out)


def _read_raw_texts(rows: list[dict[str, Any]]) -> None:
    """Add the fields of the printed text to each entry without a title; fields that the entry states remain."""
    from pdf2tei.references.fields import parse_bibliography_item
    from s2corpus.titles.contained import MAX_RAW

    for row in rows:
        if not row.get("title") and isinstance(text := row.get("raw_text"), str):
            printed = parse_bibliography_item(text[:MAX_RAW])
            printed["arxiv_id"] = printed.pop("eprint")
            authors = [{"last": author.last} for author in printed["authors"]]
            fields = {name: value for name, value in printed.items() if name in _SHARED} | {"authors": authors}
            row.update({name: value for name, value in fields.items() if value and not row.get(name)})


def _to_strings(path: Path, name: str, values: list[Any]) -> pa.Array:
    import pyarrow as pa

    for value in values:
        if value is not None and (not isinstance(value, str | int) or isinstance(value, bool)):
            raise UserError(f"{path}: {name}: expected a string, found {value!r}")
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _to_years(years: list[Any], dates: list[Any]) -> pa.Array:
    import pyarrow as pa

    def year(value: Any) -> int | None:
        text = str(value)[:4] if value is not None else ""
        return int(text) if text.isdecimal() and len(text) == 4 else None

    return pa.array([year(y) or year(d) for y, d in zip(years, dates, strict=True)], pa.int32())


def _first_surname(value: Any) -> str | None:
    from s2orc_parse.bibliography.names import parse_authors, parse_name

    if isinstance(value, list):
        value = value[0] if value else None
        author = parse_name(value) if isinstance(value, str) else None
        if isinstance(value, dict):
            return str(value.get("last") or value.get("first") or "")
    else:
        author = next(iter(parse_authors(value)), None) if isinstance(value, str) else None
    return (author.last or author.first) if author else None
