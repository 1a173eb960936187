"""A published snapshot as a Python object: papers and documents by what is known of them, read in pieces where they lie."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.snapshot import documents, flat, keys
from s2corpus.snapshot.bounded import check_parquet, read_object
from s2corpus.snapshot.files import documents_path, list_files, number, parquet_copy, whole
from s2corpus.snapshot.manifest import rule_fault
from s2corpus.sources.identifiers import normalise_acl, normalise_arxiv, normalise_doi, normalise_pmcid, normalise_pmid
from s2corpus.storage.lake import Lake
from s2corpus.titles.normalised import normalise_one

Row = dict[str, Any]
_PLAIN_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)")
"""What stands before a DOI; one that intake would take for a placeholder may be asked for."""
SETS, SPLITS = ("s2orc", "s2ag"), ("train", "valid")


class Snapshot:
    """One snapshot. Only what an answer needs is read: footers, the columns asked for, row groups that may hold the id."""

    def __init__(self, folder: Lake) -> None:
        self._folder = folder
        try:
            self.manifest: dict[str, Any] = read_object(folder, "manifest.json")
            self.id = str(self.manifest["snapshot"])
            self._files = list_files(self.manifest)
            wrong = rule_fault(self.manifest["rules"])
            self._shards = self.manifest["rules"]["export.files"]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            wrong = str(error)
        if wrong:
            raise UserError(f"{folder.uri('manifest.json')} is damaged ({wrong}): corpus verify shows where")

    def documents(
        self,
        set: str | None = None,
        split: str | None = None,
        *,
        where: pc.Expression | None = None,
        columns: Sequence[str] | None = None,
        batch_size: int = 1024,
    ) -> Iterator[pa.RecordBatch]:
        """Documents as Arrow batches with the columns of `documents/`, or those named; `where` is a filter over any of them.

        >>> for batch in snapshot.documents("s2orc", "train", where=pc.field("licence") == "CC-BY-4.0"): ...

        Raises:
            UserError: there is no such set or split.
        """
        for given, known, what in ((set, SETS, "set"), (split, SPLITS, "split")):
            if given is not None and given not in known:
                raise UserError(f"{given!r} is not a {what}: give one of {', '.join(known)}")
        wanted = [
            path
            for path in self._files
            if path.startswith("documents/")
            and (set is None or path.split("/")[1] == set)
            and (split is None or path.split("/")[2] == split)
        ]
        for path in wanted:
            self._folder.check_file(path)
        filesystem, root = self._folder.filesystem()
        found = ds.dataset(
            [f"{root}{path}" for path in wanted], documents.SCHEMA, format="parquet", filesystem=filesystem
        )
        for batch in found.to_batches(columns=list(columns) if columns else None, filter=where, batch_size=batch_size):
            if batch.num_rows:
                yield batch

    def paper(
        self,
        id: str | None = None,
        *,
        doi: str | None = None,
        arxiv: str | None = None,
        pmid: str | None = None,
        pmcid: str | None = None,
        acl: str | None = None,
        sha1: str | None = None,
        title: str | None = None,
    ) -> Row | None:
        """The row of `tables/papers` of the paper with this id (or former id), identifier, SHA-1 of its text's file, or title.

        Identifiers may be written in any usual form; titles are compared without case, accents and punctuation. Of several with
        one title, the one of the smallest id. None where the snapshot has none.

        Raises:
            UserError: not exactly one of them was given, or it is not an identifier of its kind.
        """
        given = {
            name: value
            for name, value in (
                ("id", id), ("doi", doi), ("arxiv_id", arxiv), ("pubmed_id", pmid), ("pmc_id", pmcid), ("acl_id", acl),
                ("sha1", sha1), ("title", title),
            )
            if value is not None
        }  # fmt: skip
        if len(given) != 1:
            raise UserError(f"give one of id, doi, arxiv, pmid, pmcid, acl, sha1, title; {len(given)} were given")
        name, value = next(iter(given.items()))
        paper_id = self._former(value) if name == "id" else self._id_of(name, _normal(name, value))
        return (
            None if paper_id is None else self._row(flat.path("papers", self._number(paper_id)), "paper_id", paper_id)
        )

    def document(self, id: str) -> Row | None:
        """The document of a paper, with its text and signals; None where it has none in this snapshot."""
        id = self._former(id)
        for set_ in SETS:
            for split in SPLITS:
                own = parquet_copy(documents_path(set_, split, self._number(id)))
                for path in self._pieces.get(own, ()):
                    if found := self._row(path, "id", id):
                        return found
        return None

    @cached_property
    def _pieces(self) -> dict[str, list[str]]:
        """The Parquet files of documents, by the name that they would have if they were not in pieces."""
        found: dict[str, list[str]] = {}
        for path in self._files:
            found.setdefault(whole(path), []).append(path)
        return found

    def citations(self, id: str) -> pa.Table:
        """The links of `graph/links` that go from a paper: which of its bibliography entries is which paper."""
        id = self._former(id)
        path = f"graph/links/{self._number(id):02d}.parquet"
        filesystem, root = self._folder.filesystem()
        self._folder.check_file(path)
        return ds.dataset(f"{root}{path}", format="parquet", filesystem=filesystem).to_table(
            filter=pc.field("paper_id") == id
        )

    def _number(self, paper_id: str) -> int:
        return number(paper_id, self._shards)

    def _former(self, paper_id: str) -> str:
        """The paper's id today, where `paper_id` is a former one."""
        found = self._row("aliases.parquet", "alias", paper_id)
        return str(found["paper_id"]) if found else paper_id

    def _id_of(self, column: str, value: str) -> str | None:
        """The smallest id of the papers with this value."""
        key = keys.key(column, value)
        path = keys.path(key % self._shards)
        return min((row["paper_id"] for row in self._rows(path, "key", key)), default=None)

    def _row(self, path: str, column: str, value: str) -> Row | None:
        return next(self._rows(path, column, value), None)

    def _rows(self, path: str, column: str, value: str | int) -> Iterator[Row]:
        """The rows of a file that is sorted by `column`, where that is `value`: only row groups whose range holds it are read."""
        with self._open(path) as file:
            parquet = pq.ParquetFile(file)
            check_parquet(parquet, path, file.size())  # type: ignore[attr-defined]
            number = parquet.schema_arrow.get_field_index(column)
            for group in range(parquet.num_row_groups):
                statistics = parquet.metadata.row_group(group).column(number).statistics
                if statistics is not None and statistics.has_min_max and not statistics.min <= value <= statistics.max:
                    continue
                hits = pc.indices_nonzero(pc.equal(parquet.read_row_group(group, [column])[column], value))
                if len(hits):
                    yield from parquet.read_row_group(group).take(hits).to_pylist()

    def _open(self, path: str) -> BinaryIO:
        filesystem, root = self._folder.filesystem()
        self._folder.check_file(path)
        try:
            file: BinaryIO = filesystem.open_input_file(f"{root}{path}")
        except FileNotFoundError:
            raise UserError(
                f"{self._folder.uri(path)}: not there: the snapshot is not whole, or was made before it had such files"
            ) from None
        return file


def _normal(column: str, value: str) -> str:
    """An identifier as the snapshot writes it.

    Raises:
        UserError: it is not an identifier of its kind.
    """
    forms: dict[str, Callable[[str], str | None]] = {
        "doi": lambda text: normalise_doi(text) or _PLAIN_DOI.sub("", text.strip().lower()) or None,
        "arxiv_id": normalise_arxiv,
        "pubmed_id": normalise_pmid,
        "pmc_id": normalise_pmcid,
        "acl_id": normalise_acl,
        "title": normalise_one,
        "sha1": str.lower,
    }
    found = forms.get(column, str)(value.strip())
    if not found or (column == "doi" and not found.startswith("10.")):
        raise UserError(f"{value!r} is not a {column.removesuffix('_id').upper()}")
    return found
