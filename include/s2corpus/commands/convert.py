"""`corpus convert`: convert the full texts in files to S2ORC JSON, one line for each file."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click
import orjson

from s2corpus.commands._options import FILE, PATH, progress_bar, with_examples
from s2corpus.errors import UserError
from s2corpus.secret_files import read_secret
from s2orc_parse.bibliography.author import MAX_ENTRY_BYTES
from s2orc_parse.cli import (
    LATEX_SUFFIX,
    SCHEMAS,
    SHA1,
    Document,
    ParsedInput,
    format_line,
    parse_document,
    parse_latex,
    reject,
    write_parses,
)
from s2orc_parse.cores import map_in_order
from s2orc_parse.files import SUFFIX
from s2orc_parse.outputs import format_counts, open_atomic, printable

if TYPE_CHECKING:
    from s2corpus.extractors import ExtractorIdentity

GROBID_CONCURRENCY = 10
"""Default number of threads of a GROBID server."""
PDF_SECONDS = 600.0
_PDF_SUFFIX = re.compile(r"\.pdf$", re.IGNORECASE)
_SUFFIXES = (_PDF_SUFFIX, LATEX_SUFFIX, SUFFIX)
_EXPECTED = "PDF, TEI, JATS, Elsevier JSON or LaTeX sources (.pdf, .xml, .nxml, .tei, .json, .gz, .tgz, .tar, .tex)"
_MAX_NAME_BYTES = 200
_ROW_KEYS = {"file_sha1", "outcome", "tei_sha1"}


@dataclass(frozen=True, slots=True)
class Input:
    """A file to convert."""

    path: Path
    paper_id: str
    sha1: str = ""
    """SHA-1 of a PDF; empty for other files"""
    is_latex: bool = False
    outcome: str = "ok"
    """outcome of the extraction of a PDF"""


@with_examples(
    "corpus convert papers/ --out s2orc.jsonl",
    "corpus convert a.pdf b.nxml 2004.14974.gz --out s2orc.jsonl --rejects rejects.jsonl",
    "GROBID_URL=http://localhost:8070 corpus convert papers/ --out s2orc.jsonl --tei tei",
)
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@click.option("--out", type=FILE, help="Output file (JSONL).  [default: standard output]")
@click.option("--rejects", type=FILE, help="Write the files that give no line, with their outcome (JSONL).")
@click.option(
    "--tei", type=click.Path(path_type=Path, file_okay=False), help="Store the TEI of the PDFs in this folder."
)
@click.option(
    "--schema",
    type=click.Choice(SCHEMAS),
    default=SCHEMAS[0],
    show_default=True,
    help="Output schema: S2ORC 20200705 or GORC 20190928.",
)
@click.option(
    "--in-flight",
    type=click.IntRange(1, 256),
    help="PDFs extracted at the same time.  [default: 10 with GROBID_URL, else the number of cores]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    help=f"Time limit of one file.  [default: {PDF_SECONDS:.0f} for a PDF, `resources.file_seconds` for LaTeX]",
)
@click.option("--quiet", is_flag=True, help="Print no progress and no summary.")
def command(
    inputs: tuple[Path, ...],
    out: Path | None,
    rejects: Path | None,
    tei: Path | None,
    schema: str,
    in_flight: int | None,
    seconds: float | None,
    quiet: bool,
) -> None:
    """Convert PDFs, TEI, JATS, Elsevier JSON and LaTeX sources to S2ORC JSON, one line for each file.

    INPUTS are files or folders (read recursively, in order of name); the content decides the format. The file name without
    suffix is the paper_id; files with equal names keep the suffix or their path. A file that gives no line is reported with
    its outcome, and the exit status is 1. GROBID_URL names one or more servers, separated by commas; if it is not set, the
    command starts the embedded extractor. After an interruption, the same command continues: the TEI of finished PDFs is in
    the folder of --tei, by default `<out>.partial` until all PDFs have a final outcome.
    """
    logging.basicConfig(level=logging.WARNING if quiet else logging.INFO, format="%(message)s")
    with ExitStack() as stack:
        folder = tei or (out and out.with_name(f"{out.name}.partial"))
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        files, ignored = _list_files(inputs, folder)
        items = [_read_kind(path, id_) for path, id_ in zip(files, _assign_ids(files), strict=True)]
        pdfs = {item.sha1: item for item in reversed(items) if item.sha1}
        outcomes: dict[str, str] = {}
        made_by = None
        if pdfs:
            outcomes, made_by = _extract(pdfs, folder, in_flight, seconds or PDF_SECONDS, quiet=quiet)
        work = partial(_convert, schema, seconds, folder, pdfs, outcomes, made_by)
        # A LaTeX source takes longer than the imports, so worker processes convert also the first sources.
        inline = int(len(items) == 1) if any(item.is_latex for item in items) else 8
        parses = map_in_order(work, items, inline=inline)
        counts = write_parses(parses, "files", out=out, rejects=rejects, quiet=quiet, total=len(items))
        if ignored and not quiet:
            click.echo(f"ignored files: {format_counts(ignored)}; expected {_EXPECTED}", err=True)
        if pdfs and tei is None and not any(outcome.startswith("gave_up:") for outcome in outcomes.values()):
            _remove_tei(folder, pdfs)
    if counts.total() > counts["ok"]:
        sys.exit(1)


def _list_files(inputs: Sequence[Path], tei: Path) -> tuple[list[Path], Counter[str]]:
    """Return the files, and the number of ignored files in folders by suffix. The folder `tei` is not an input.

    Raises:
        UserError: a path does not exist, contains no full text, or is in the folder `tei`.
    """
    files: dict[Path, Path] = {}
    ignored: Counter[str] = Counter()
    for path in inputs:
        if not path.exists():
            raise UserError(f"{printable(path)} does not exist: give {_EXPECTED}, or folders")
        if path.resolve().is_relative_to(tei.resolve()):
            raise UserError(f"{printable(path)} is in the folder of the TEI, {printable(tei)}: name another with --tei")
        found = [path]
        if path.is_dir():
            below = [p for p in sorted(path.rglob("*")) if not p.is_dir() and tei not in p.parents]
            found = [p for p in below if not p.name.startswith(".") and any(s.search(p.name) for s in _SUFFIXES)]
            ignored.update(p.suffix.lower() or p.name for p in below if p not in set(found))
            if not found:
                raise UserError(f"{printable(path)} contains no full text: expected {_EXPECTED}")
        files |= {p.parent.resolve() / p.name: p for p in found}
    return list(files.values()), ignored


def _assign_ids(files: Sequence[Path]) -> list[str]:
    """Return a unique id for each file: its name without suffix, or else with suffix, or else its path below the common folder."""
    paths = [path.parent.resolve() / path.name for path in files]
    common = os.path.commonpath([path.parent for path in paths])
    forms = [
        [printable(form) for form in (_remove_suffix(path.name), path.name, path.relative_to(common))] for path in paths
    ]
    used, before = [0] * len(files), [-1]
    while used != before:
        ids = [form[n] for form, n in zip(forms, used, strict=True)]
        counts = Counter(ids)
        used, before = [min(n + (counts[id_] > 1), 2) for n, id_ in zip(used, ids, strict=True)], used
    return ids


def _remove_suffix(name: str) -> str:
    return next((short for suffix in _SUFFIXES if (short := suffix.sub("", name)) != name), name)


def _read_kind(path: Path, paper_id: str) -> Input:
    """Return the input with its kind, detected from its first bytes, then from its suffix; only regular files are read."""
    head, sha1 = b"", ""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(512)
                if head.lstrip().startswith(b"%PDF-") or _PDF_SUFFIX.search(path.name):
                    file.seek(0)
                    sha1 = hashlib.file_digest(file, "sha1").hexdigest()
    is_packed = head.startswith(b"\x1f\x8b") or head[257:262] == b"ustar"
    return Input(path, paper_id, sha1, not sha1 and bool(is_packed or LATEX_SUFFIX.search(path.name)))


def _convert(
    schema: str,
    seconds: float | None,
    folder: Path,
    pdfs: Mapping[str, Input],
    outcomes: Mapping[str, str],
    made_by: tuple[str, ExtractorIdentity] | None,
    item: Input,
) -> ParsedInput:
    """Convert one file; a PDF from the answer of the extractor `made_by` (name of the adapter, identity)."""
    name = printable(item.path)
    if item.is_latex:
        from s2orc_parse import latex

        options = {"seconds": seconds or latex.SECONDS, "parse_reference": _parse_reference}
        return parse_latex(item.path, schema, item.paper_id, **options)
    if item.sha1 and (outcome := outcomes[item.sha1]) != "ok":
        return reject(outcome, name)
    path, data = (_tei_path(folder, pdfs[item.sha1]) if item.sha1 else item.path), None
    with suppress(OSError):
        if path.is_file() or not item.path.is_dir():
            with path.open("rb") as stream:
                data = stream.read(MAX_ENTRY_BYTES + 1)
    if made_by and item.sha1 and data is not None:
        from s2corpus.extractors import EXTRACTORS, BadAnswer

        try:
            parse = EXTRACTORS.load(made_by[0]).convert(data, file_sha1=item.sha1, made_by=made_by[1])
        except BadAnswer as refused:
            return reject(refused.outcome, name)
        return ParsedInput("ok", format_line(parse, item.paper_id, schema), {})
    sha1 = item.sha1 or (item.paper_id if SHA1.fullmatch(item.paper_id) else "")
    return parse_document(schema, Document(name, item.paper_id, sha1, data), _parse_reference)


def _parse_reference(text: str) -> dict[str, Any]:
    """Return the fields of a printed reference. A TEI needs none, so the models are imported with the first one."""
    from pdf2tei.references.fields import parse_bibliography_item

    return parse_bibliography_item(text)


def _extract(
    pdfs: Mapping[str, Input], folder: Path, in_flight: int | None, seconds: float, *, quiet: bool
) -> tuple[dict[str, str], tuple[str, ExtractorIdentity]]:
    """Write the TEI, or the other answer, of each PDF that the folder does not contain.

    Return the outcome of each PDF by its SHA-1, and the extractor: name of its adapter, and identity.

    `extractions.jsonl` records extractor, version, options and outcome of each PDF.
    """
    from s2corpus.extractors import Limits, Pool
    from s2corpus.extractors.embedded import embedded_extractor

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{printable(folder)}: cannot create the folder ({error.strerror}): name another with --tei"
        ) from None
    with ExitStack() as stack:
        show = stack.enter_context(progress_bar("extracting", "PDFs", quiet=quiet))
        if sys.stderr.isatty():
            logging.getLogger("s2corpus.extractors").setLevel(logging.WARNING)  # Its lines are the progress of logs.
        servers = [url for url in os.environ.get("GROBID_URL", "").split(",") if url.strip()]
        token = read_secret("S2CORPUS_EXTRACTOR_TOKEN")
        if not servers:
            in_flight = in_flight or len(os.sched_getaffinity(0))
            url, token = stack.enter_context(embedded_extractor(in_flight, seconds))
            servers = [url]
        limits = Limits(in_flight=in_flight or GROBID_CONCURRENCY, deadline=seconds, request=seconds)
        pool = Pool(servers, None, limits, token=token)
        identity = pool.identity()
        table = folder / "extractions.jsonl"
        old_rows = [row for row in _read_rows(table) if identity.key.items() <= row.items()]
        rows = {
            row["file_sha1"]: row
            for row in old_rows
            if row["file_sha1"] in pdfs and _is_reusable(row, _tei_path(folder, pdfs[row["file_sha1"]]))
        }
        items = [(sha1, partial(_open, item.path)) for sha1, item in pdfs.items() if sha1 not in rows]
        if n_reused := len(pdfs) - len(items):
            logging.info("%d of %d PDFs were already extracted with %s", n_reused, len(pdfs), identity)
        # Each result is appended at once: after a crash, finished PDFs are not sent again.
        with table.open("ab") as lines:
            for done, result in enumerate(pool.extract(items, total=len(items)), 1):
                show(done, len(items))
                item = pdfs[result.file_sha1]
                if result.tei is not None:
                    (path := _tei_path(folder, item)).parent.mkdir(parents=True, exist_ok=True)
                    with open_atomic(path) as tei:
                        tei.write(result.tei)
                names = {"file": printable(item.path), "paper_id": item.paper_id, **identity.key}
                columns = ("file_sha1", "outcome", "tries", "seconds", "server", "tei_sha1")
                row = names | {name: getattr(result, name) for name in columns}
                rows[result.file_sha1] = row
                lines.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                lines.flush()
    with open_atomic(table) as file:
        file.writelines(orjson.dumps(rows[sha1], option=orjson.OPT_APPEND_NEWLINE) for sha1 in sorted(rows))
    return {sha1: row["outcome"] for sha1, row in rows.items()}, (pool.adapter, identity)


def _open(path: Path) -> BinaryIO:
    return path.open("rb")


def _tei_path(folder: Path, item: Input) -> Path:
    name = item.paper_id if len(item.paper_id.encode()) <= _MAX_NAME_BYTES else item.sha1
    return folder / f"{name}.tei.xml"


def _read_rows(table: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete rows of an earlier run; skip a truncated last line."""
    if table.exists():
        for line in table.read_bytes().splitlines():
            with suppress(orjson.JSONDecodeError):
                row = orjson.loads(line)
                if isinstance(row, dict) and row.keys() >= _ROW_KEYS:
                    yield row


def _is_reusable(row: Mapping[str, Any], tei: Path) -> bool:
    """Return whether a row needs no new extraction: its outcome is final and its TEI file has the recorded SHA-1."""
    if row["outcome"].startswith("gave_up:"):
        return False
    if row["tei_sha1"] is None:
        return True
    return tei.is_file() and hashlib.sha1(tei.read_bytes(), usedforsecurity=False).hexdigest() == row["tei_sha1"]


def _remove_tei(folder: Path, pdfs: Mapping[str, Input]) -> None:
    """Remove the TEI of the PDFs, and the folder if it contains nothing else."""
    paths = [_tei_path(folder, item) for item in pdfs.values()]
    for path in (*paths, folder / "extractions.jsonl"):
        path.unlink(missing_ok=True)
    parents = {parent for path in paths for parent in path.relative_to(folder).parents}
    for parent in sorted(parents, key=lambda parent: -len(parent.parts)):
        with suppress(OSError):
            (folder / parent).rmdir()
