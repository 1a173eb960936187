"""The output files of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from s2corpus_datasets.lake import Lake, read_json
from s2corpus_datasets.protocol import StepResult
from s2corpus_reader.files import GzipLines, SnapshotFile, describe_file
from s2orc_parse.errors import UserError

if TYPE_CHECKING:
    from s2corpus_reader.parquet import ParquetFile

LISTED_FILES, LISTED_BYTES = "listed_files", "listed_bytes"
"""keys of `tally`: number and bytes of files that another output file lists instead of the manifest"""


class Outputs:
    """The output files of a step. `result` contains the counts and the files that were written."""

    def __init__(self, lake: Lake, prefix: str, scratch: Path) -> None:
        self.scratch = scratch
        self.result = StepResult()
        self._lake, self._prefix = lake, prefix
        published = read_json(lake, f"{prefix}/manifest.json")
        self._published_sha256 = published and {file["path"]: file["sha256"] for file in published["files"]}

    @contextmanager
    def open_lines(self, path: str) -> Iterator[GzipLines]:
        """Yield a writer for a gzipped file of lines; upload the file when the block ends."""
        local = self._local(path)
        with GzipLines(local) as writer:
            yield writer
        self._put(writer.describe(path), local)

    @contextmanager
    def open_parquet(self, path: str, schema: pa.Schema) -> Iterator[ParquetFile]:
        """Yield a writer for a Parquet file; upload the file when the block ends."""
        from s2corpus_reader.parquet import ParquetFile

        local = self._local(path)
        with ParquetFile(local, schema) as writer:
            yield writer
        self._put(describe_file(path, local, writer.count), local)

    @contextmanager
    def open_file(self, path: str, count_rows: Callable[[], int]) -> Iterator[Path]:
        """Yield the local path of a file to write; upload the file when the block ends."""
        local = self._local(path)
        yield local
        self._put(describe_file(path, local, count_rows()), local)

    def write_bytes(self, path: str, content: bytes) -> None:
        """Upload a file with this content."""
        local = self._local(path)
        local.write_bytes(content)
        self._put(describe_file(path, local, None), local)

    def write_listed_file(self, path: str, content: bytes) -> None:
        """Upload a file that another output file lists with its checksum.

        The manifest does not list these files, because there may be one for each paper. Write the listing file first: its
        upload fails if published content would change.
        """
        self._lake.put(f"{self._prefix}/{path}", content)
        self.result.tally[LISTED_FILES] += 1
        self.result.tally[LISTED_BYTES] += len(content)

    def write_json(self, path: str, value: Any) -> None:
        """Upload a file of indented JSON."""
        self.write_bytes(path, orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def _local(self, path: str) -> Path:
        return self.scratch / path.replace("/", "~")

    def _put(self, file: SnapshotFile, local: Path) -> None:
        """Upload a file and delete its local copy.

        Raises:
            UserError: the dataset is published, and the file would change.
        """
        if self._published_sha256 is not None and self._published_sha256.get(file.path) != file.sha256:
            raise UserError(
                f"{self._lake.uri(self._prefix)} is published, and {file.path} was built again with different content (other versions "
                f"of libraries, or another kind of CPU?): give the spec another name, or delete that folder"
            )
        self._lake.upload(f"{self._prefix}/{file.path}", local)
        local.unlink()
        self.result.files.append(file)
