"""Find papers in the latest snapshots by DOI, id, SHA-1 or title, and append lines to the lists of operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.corpora.listing import list_corpora
from s2corpus.errors import LostRace, UserError
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Conflict, Lake
from s2corpus.titles import normalize_one
from s2corpus_reader.bounded import read_object
from s2corpus_reader.files import file_number, keys_path, lookup_key, table_path
from s2orc_parse.bibliography.identifiers import normalize_doi

_PAPER_ID, _SHA1 = re.compile("[0-9a-f]{15}"), re.compile("[0-9a-f]{40}")
_MAX_PAPERS = 20
"""papers of one title that an action lists; a longer list means a title that names no paper"""


@dataclass(frozen=True, slots=True)
class FoundPaper:
    """A paper in the latest snapshot of a corpus."""

    corpus: str
    snapshot: str
    paper_id: str
    row: Mapping[str, Any]
    """of `tables/papers`"""

    @property
    def title(self) -> str | None:
        """Its title."""
        title: str | None = self.row["title"]
        return title

    @property
    def doi(self) -> str | None:
        """Its DOI."""
        doi: str | None = self.row["doi"]
        return doi


def read_name(text: str) -> tuple[str, str]:
    """Return the kind of a paper's name (id, sha1, doi or title) and its normalized value.

    Raises:
        UserError: the text is none of them.
    """
    text = text.strip()
    kind, value = next(
        (
            (kind, found)
            for kind, found in (
                ("id", text if _PAPER_ID.fullmatch(text) else None),
                ("sha1", text if _SHA1.fullmatch(text) else None),
                ("doi", normalize_doi(text)),
                ("title", normalize_one(text)),
            )
            if found
        ),
        ("", ""),
    )
    if not kind:
        raise UserError(f"{text!r} given: expected a DOI, the id of a paper, the SHA-1 of a file, or a title")
    return kind, value


def find_papers(lake: Lake, text: str) -> list[FoundPaper]:
    """Return the papers with a DOI, paper id, SHA-1 or title in the latest snapshot of each corpus.

    Raises:
        UserError: the text is none of them, too many papers have the title, or a snapshot cannot be searched.
    """
    kind, value = read_name(text)
    found = []
    for corpus in list_corpora(lake):
        if snapshot := pointer.read_latest(lake, corpus).snapshot:
            try:
                found += _find_in_snapshot(lake, corpus, snapshot, kind, value)
            except FileNotFoundError as error:
                raise UserError(
                    f"{snapshot} cannot be searched ({error}): it is damaged, or older than its look-up files. Restore it, or withdraw it"
                ) from None
    if len(found) > _MAX_PAPERS:
        raise UserError(f"{len(found)} papers have the title {text!r}: give the DOI or the id of one")
    return found


def _find_in_snapshot(lake: Lake, corpus: str, snapshot: str, kind: str, value: str) -> list[FoundPaper]:
    files = read_object(lake, f"snapshots/{snapshot}/manifest.json")["rules"]["export.files"]
    ids = [value]
    if kind != "id":
        key = lookup_key(kind, value)
        rows = _read_rows(lake, f"snapshots/{snapshot}/{keys_path(key % files)}", pc.field("key") == key, ["paper_id"])
        ids = [row["paper_id"] for row in rows]
    papers = (_read_table(lake, snapshot, files, "papers", id_) for id_ in ids[: _MAX_PAPERS + 1])
    return [FoundPaper(corpus, snapshot, row["paper_id"], row) for rows in papers for row in rows]


def read_rights(lake: Lake, paper: FoundPaper) -> dict[str, dict[str, Any]]:
    """Return the rights of each full text of a paper with a parse in the snapshot, by SHA-1."""
    files = read_object(lake, f"snapshots/{paper.snapshot}/manifest.json")["rules"]["export.files"]
    rows = _read_table(lake, paper.snapshot, files, "rights", paper.paper_id)
    return {row["sha1"]: row for row in rows if row["sha1"]}


def _read_table(lake: Lake, snapshot: str, files: int, table: str, paper_id: str) -> list[dict[str, Any]]:
    """Return the rows of a paper in a table of a snapshot."""
    path = table_path(table, file_number(paper_id, files))
    return _read_rows(lake, f"snapshots/{snapshot}/{path}", pc.field("paper_id") == paper_id)


def _read_rows(lake: Lake, key: str, where: pc.Expression, columns: list[str] | None = None) -> list[dict[str, Any]]:
    fs, root = lake.filesystem()
    with fs.open_input_file(root + key) as source:
        rows: list[dict[str, Any]] = pq.read_table(source, columns=columns, filters=where).to_pylist()
    return rows


def append_lines(lake: Lake, name: str, lines: Iterable[bytes], check: Callable[[bytes], object]) -> None:
    """Append lines that are not present to a list at the top of the lake.

    Raises:
        UserError: `check` refuses the content of the list, which would stop every release.
        LostRace: another person changed the list at the same time.
    """
    etag = lake.etag(name)
    content = lake.get(name)[0] if lake.size(name) is not None else b""
    check(content)
    present = {orjson.dumps(orjson.loads(line)) for line in content.splitlines() if line.strip()}
    new = [line for line in lines if line not in present]
    if content and not content.endswith(b"\n"):
        content += b"\n"
    try:
        lake.put(name, content + b"".join(line + b"\n" for line in new), expect=etag)
    except Conflict:
        raise LostRace(f"{lake.uri(name)} was changed by another person: read the plan again") from None
