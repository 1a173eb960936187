"""Extract PDFs into a folder of TEI, with a table of outcomes: finished PDFs are not sent again."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from s2corpus.commands._inputs import Input
from s2corpus.commands._options import progress_bar
from s2corpus.errors import UserError
from s2corpus.secret_files import read_secret
from s2orc_parse.outputs import open_atomic, printable

if TYPE_CHECKING:
    from s2corpus.extractors import ExtractorIdentity

GROBID_CONCURRENCY = 10
"""Default number of threads of a GROBID server."""
_MAX_NAME_BYTES = 200
_ROW_KEYS = {"file_sha1", "outcome", "tei_sha1"}


def extract(
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
            if row["file_sha1"] in pdfs and _is_reusable(row, tei_path(folder, pdfs[row["file_sha1"]]))
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
                    (path := tei_path(folder, item)).parent.mkdir(parents=True, exist_ok=True)
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


def tei_path(folder: Path, item: Input) -> Path:
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


def remove_tei(folder: Path, pdfs: Mapping[str, Input]) -> None:
    """Remove the TEI of the PDFs, and the folder if it contains nothing else."""
    paths = [tei_path(folder, item) for item in pdfs.values()]
    for path in (*paths, folder / "extractions.jsonl"):
        path.unlink(missing_ok=True)
    parents = {parent for path in paths for parent in path.relative_to(folder).parents}
    for parent in sorted(parents, key=lambda parent: -len(parent.parts)):
        with suppress(OSError):
            (folder / parent).rmdir()
