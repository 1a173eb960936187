"""`corpus check`: report the outcome of every file and metadata line before delivery."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import orjson

from s2corpus.commands._options import PATH, json_option, with_examples
from s2corpus.errors import UserError
from s2orc_parse.outputs import format_counts, printable

if TYPE_CHECKING:
    from s2corpus.deliveries.ready import Delivery, Digests

SECONDS, MEMORY_BYTES = 120.0, 1 << 30


class Fate(NamedTuple):
    """What will become of a file."""

    name: str
    outcome: str
    detail: str = ""
    is_used: bool = True
    """whether a release uses the file as it is"""


@with_examples(
    "corpus check papers",
    "corpus check --source crossref crossref-2026-11.json",
)
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--source", help="Check PATHS, files or folders, as metadata of this source (docs/sources.md).")
@json_option
def command(paths: tuple[Path, ...], source: str | None, as_json: bool) -> None:
    """Show the outcome of each file and metadata line before delivery.

    PATHS is one folder of papers (its crossref*.json is metadata), or with --source files and folders of metadata. Each line of
    output has outcome, file and detail. PDFs are inspected, LaTeX sources and publishers' files are read, and metadata lines are read
    as intake reads them. Nothing is written. The exit status is 1 if a file or line is not used as it is.
    """
    from s2corpus.deliveries.upload import files_below, new_delivery

    if source is None:
        if len(paths) != 1:
            raise UserError("give one folder of papers, or --source NAME for files of metadata")
        delivery, files = new_delivery("drop", "", "check"), files_below(paths[0])
        fates = _check_drop(delivery, files, paths[0])
    else:
        delivery = new_delivery("delivery", source, "check")
        files = {}
        for path in paths:
            files |= {str(path / n): f for n, f in files_below(path).items()} if path.is_dir() else {str(path): path}
        fates = _check_metadata(delivery, files)
    counts: Counter[str] = Counter()
    n_unused = 0
    for fate in fates:
        line = "\t".join([fate.outcome, fate.name, fate.detail]).rstrip()
        click.echo(orjson.dumps(fate._asdict()) if as_json else line)
        counts[fate.outcome] += 1
        n_unused += not fate.is_used
    click.echo(f"{len(files)} files: {format_counts(counts)}; {n_unused} need a look", err=True)
    if n_unused:
        sys.exit(1)


def _check_drop(delivery: Delivery, files: Mapping[str, Path], folder: Path) -> Iterator[Fate]:
    from s2corpus.deliveries.adding import split_works
    from s2corpus.deliveries.declarations import FILE as RECORDS_FILE
    from s2corpus.deliveries.entries import kind_of
    from s2corpus.deliveries.preview import find_unread_files
    from s2corpus.deliveries.upload import check_declarations, digests_of, new_delivery

    all_files = files
    files, works = split_works(files)
    digests = digests_of(files)
    facts, unread = {}, find_unread_files(files)
    if RECORDS_FILE in files:
        declared = check_declarations(delivery, files[RECORDS_FILE], {n: d.sha1 for n, d in digests.items()})
        facts = declared.facts
        n_lines = sum(bool(line.strip()) for line in files[RECORDS_FILE].open("rb"))
        yield Fate(RECORDS_FILE, "metadata", f"{n_lines} lines describe {len(facts)} files")
        for warning in declared.warning_messages:
            place, _, what = warning.partition(": ")
            yield Fate(place, "warning", what, is_used=False)
    if works:
        yield from _check_metadata(new_delivery("delivery", "crossref", "check"), works)
    yield from _inspect_pdfs({name: path for name, path in files.items() if kind_of(name) == "pdf"}, digests)
    for name, path in files.items():
        if name in unread:
            yield Fate(name, "not_read", unread[name], is_used=False)
        elif kind_of(name) == "latex":
            yield _check_latex(name, path, facts[name].arxiv_id if name in facts else None)
        elif kind_of(name) == "other" and name != RECORDS_FILE:
            yield _check_article(name, path)
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if not path.is_dir() and path.relative_to(folder).as_posix() not in all_files and parts != ("_READY",):
            why = "hidden" if any(part.startswith(".") for part in parts) else "not a file, or a broken link"
            yield Fate(printable(path.relative_to(folder)), "not_delivered", why, is_used=why == "hidden")


def _inspect_pdfs(pdfs: Mapping[str, Path], digests: Mapping[str, Digests]) -> Iterator[Fate]:
    """Yield the outcome of each PDF in order of name; a copy has the outcome `copy`."""
    from s2corpus.pdf import inspect_many
    from s2corpus.spec import SelectRules

    first: dict[str, str] = {}
    for name in pdfs:
        first.setdefault(digests[name].sha1, name)
    items = [(sha1, pdfs[name]) for sha1, name in first.items()]
    workers = min(len(os.sched_getaffinity(0)), len(items)) or 1
    inspect = partial(inspect_many, rules=SelectRules(), workers=workers, timeout=SECONDS, memory_bytes=MEMORY_BYTES)
    found = {selection.file_sha1: selection for selection in inspect(items)}
    for name in pdfs:
        sha1 = digests[name].sha1
        if first[sha1] != name:
            yield Fate(name, "copy", f"the same bytes as {first[sha1]}: one PDF")
            continue
        is_selected = found[sha1].outcome == "selected"
        yield Fate(name, found[sha1].outcome, found[sha1].detail or "", is_used=is_selected)


def _check_latex(name: str, path: Path, arxiv_id: str | None) -> Fate:
    from s2corpus.deliveries.entries import arxiv_id_of
    from s2orc_parse.cli import parse_latex

    id_ = arxiv_id or arxiv_id_of(name)
    if id_ is None:
        detail = f'no arXiv id in the name: {{"name": "{name}", "arxiv_id": "…"}} in records.jsonl gives it one'
        return Fate(name, "no_arxiv_id", detail, is_used=False)
    parsed = parse_latex(path)
    if parsed.line is None:
        return Fate(name, parsed.outcome, parsed.reject.get("detail", ""), is_used=False)
    return Fate(name, "latex", f"joins arXiv {id_}")


def _check_article(name: str, path: Path) -> Fate:
    from s2corpus.sources import scienceparse
    from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
    from s2orc_parse.files import convert_document

    with path.open("rb") as file:
        data = file.read(MAX_ENTRY_BYTES + 1)
    if scienceparse.has_form(data):
        return Fate(name, "scienceparse", "metadata of a PDF of the drop")
    parse, outcome = convert_document(data, "")
    return Fate(name, "article" if parse else outcome, is_used=parse is not None)


def _check_metadata(delivery: Delivery, files: Mapping[str, Path]) -> Iterator[Fate]:
    from s2corpus.deliveries.entries import has_records
    from s2corpus.deliveries.preview import check_source, count_entries

    if like := check_source(delivery.source, files):
        yield Fate(delivery.source, "warning", like, is_used=False)
    for name, path in files.items():
        if not path.is_file():
            raise UserError(f"{name} does not exist: give files of the source {delivery.source}")
        if not has_records(delivery, path.name):
            yield Fate(name, "names", "names of PDFs")
            continue
        counts, lines = count_entries(delivery, name, path)
        yield Fate(
            name, "metadata", format_counts(counts) or "no entries", is_used=counts["record"] == counts.total() > 0
        )
        for line in lines:
            yield Fate(name, "dropped", line, is_used=False)
