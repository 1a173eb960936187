"""Write the files of a dataset step: created in a scratch folder, uploaded when complete, listed with checksums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from s2corpus.datasets.protocol import Made
from s2corpus.errors import UserError
from s2corpus_reader.files import GzipLines, SnapshotFile, describe_file

if TYPE_CHECKING:
    from s2corpus.datasets.job import Job
    from s2corpus.snapshot.documents import ParquetFile

LISTED_FILES, LISTED_BYTES = "listed_files", "listed_bytes"
"""names of the counts for files that another file lists"""


class Outputs:
    """The files that a step writes; `made` contains its counts."""

    def __init__(self, job: Job, scratch: Path) -> None:
        self.scratch = scratch
        self.made = Made()
        self._lake = job.lake
        self._prefix = job.prefix
        published = job.published()
        self._published = published and {file["path"]: file["sha256"] for file in published["files"]}

    @contextmanager
    def lines(self, path: str) -> Iterator[GzipLines]:
        """Yield a writer for a gzipped file of lines; upload the file when the block ends."""
        local = self._local(path)
        with GzipLines(local) as writer:
            yield writer
        self._put(writer.describe(path), local)

    @contextmanager
    def parquet(self, path: str, schema: pa.Schema) -> Iterator[ParquetFile]:
        """Yield a writer for a Parquet file; upload the file when the block ends."""
        from s2corpus.snapshot.documents import ParquetFile

        local = self._local(path)
        with ParquetFile(local, schema) as writer:
            yield writer
        self._put(describe_file(path, local, writer.count), local)

    @contextmanager
    def file(self, path: str, count_rows: Callable[[], int]) -> Iterator[Path]:
        """Yield the local path of a file to write; upload the file when the block ends."""
        local = self._local(path)
        yield local
        self._put(describe_file(path, local, count_rows()), local)

    def content(self, path: str, content: bytes, rows: int | None = None) -> None:
        """Upload a file with this content."""
        local = self._local(path)
        local.write_bytes(content)
        self._put(describe_file(path, local, rows), local)

    def member(self, path: str, content: bytes) -> None:
        """Upload a file that another of the dataset's files lists with its checksum.

        The number of such files can equal the number of papers. The manifest does not list these files.
        Write the listing file first, because its upload fails if published content would change.
        """
        self._lake.put(f"{self._prefix}/{path}", content)
        self.made.tally[LISTED_FILES] += 1
        self.made.tally[LISTED_BYTES] += len(content)

    def json(self, path: str, value: Any) -> None:
        """Upload a file of indented JSON."""
        self.content(path, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def _local(self, path: str) -> Path:
        return self.scratch / path.replace("/", "~")

    def _put(self, file: SnapshotFile, local: Path) -> None:
        """Upload a file and delete its local copy.

        Raises:
            UserError: the dataset is published, and the file would change.
        """
        if self._published is not None and self._published.get(file.path) != file.sha256:
            raise UserError(
                f"{self._lake.uri(self._prefix)} is published, and {file.path} made again is another (other versions of libraries, or "
                f"another kind of CPU?): give the spec another name, or delete that folder"
            )
        self._lake.upload(f"{self._prefix}/{file.path}", local)
        local.unlink()
        self.made.files.append(file)
