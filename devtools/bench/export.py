"""Measure gzipped JSON lines written to S3, in MB/s on one core: `python -m devtools.bench.export [MEGABYTES]`.

The documents are those in REAL_DATA/jats, repeated with other ids. Methods compared: `gzip.open` + `json.dumps` at
its default level and at 6; the export's own method (orjson, libdeflate in members); zlib-ng and isal at levels of about
the same size. Each writes a local file and uploads it to a real S3 server on this machine. The script shows CPU time
and wall-clock time.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import deflate
import orjson
from isal import igzip
from zlib_ng import gzip_ng

from devtools.bench.jats_documents import documents
from devtools.local import Services
from devtools.real_data import REAL_DATA
from s2corpus.storage.lake import Lake, open_lake
from s2corpus_reader.files import LEVEL, MEMBER_BYTES, GzipLines, document_line

Document = tuple[str, str, str]
"""id, sha1, text"""


def with_gzip(level: int) -> Callable[[Path, Iterable[Document]], None]:
    def write(path: Path, made: Iterable[Document]) -> None:
        with gzip.open(path, "wt", compresslevel=level, encoding="utf-8") as file:
            for id_, sha1, text in made:
                file.write(json.dumps({"id": id_, "sha1": sha1, "text": text}, ensure_ascii=False) + "\n")

    return write


def with_module(module: Any, level: int) -> Callable[[Path, Iterable[Document]], None]:
    def write(path: Path, made: Iterable[Document]) -> None:
        with module.open(path, "wb", compresslevel=level) as file:
            for document in made:
                file.write(document_line(*document))

    return write


def with_deflate(level: int) -> Callable[[Path, Iterable[Document]], None]:
    def write(path: Path, made: Iterable[Document]) -> None:
        buffer = bytearray()
        with path.open("wb") as file:
            for document in made:
                buffer += document_line(*document)
                if len(buffer) >= MEMBER_BYTES:
                    file.write(deflate.gzip_compress(buffer, level))
                    buffer.clear()
            file.write(deflate.gzip_compress(buffer, level))

    return write


def own(path: Path, made: Iterable[Document]) -> None:
    with GzipLines(path) as file:
        for document in made:
            file.write(document_line(*document))


WAYS: dict[str, Callable[[Path, Iterable[Document]], None]] = {
    "gzip.open + json.dumps, level 9": with_gzip(9),
    "gzip.open + json.dumps, level 6": with_gzip(6),
    f"the export (libdeflate {LEVEL}, SHA-256 twice)": own,
    **{f"libdeflate {level} + orjson": with_deflate(level) for level in (3, 4, 5, 6)},
    **{f"zlib-ng {level} + orjson": with_module(gzip_ng, level) for level in (3, 4, 5)},
    **{f"isal {level} + orjson": with_module(igzip, level) for level in (2, 3)},
}


def measure(write: Callable[[Path, Iterable[Document]], None], made: list[Document], lake: Lake, folder: Path) -> Any:
    """Return the CPU seconds, the wall-clock seconds and the bytes written."""
    path = folder / "documents.jsonl.gz"
    cpu, clock = time.process_time(), time.perf_counter()
    write(path, made)
    lake.upload("devtools/bench/documents.jsonl.gz", path)
    return time.process_time() - cpu, time.perf_counter() - clock, path.stat().st_size


def main() -> None:
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 40
    articles = documents(REAL_DATA / "jats")
    texts = ["\n\n".join([d["title"], d["abstract"] or "", *(unit["text"] for unit in d["body"])]) for d in articles]
    made: list[Document] = []
    size = 0
    while size < megabytes * 1e6:
        text = texts[len(made) % len(texts)]
        made.append((f"{len(made):015x}", f"{len(made):040x}", text))
        size += len(orjson.dumps(text))
    with tempfile.TemporaryDirectory(prefix="s2corpus-bench-") as folder:
        services = Services(Path(folder) / "state")
        try:
            os.environ.update(services.up({"s3"}).environ())
            lake = open_lake(os.environ["S2CORPUS_LAKE"])
            first: tuple[float, int] | None = None
            for name, write in WAYS.items():
                cpu, clock, written = min(measure(write, made, lake, Path(folder)) for _ in range(2))
                first = first or (cpu, written)
                print(
                    f"{name:45} {size / 1e6 / cpu:6.1f} MB/s of CPU {size / 1e6 / clock:6.1f} on the clock, "
                    f"{first[0] / cpu:5.2f} times as fast, {written / first[1] - 1:+.1%} bytes",
                    flush=True,
                )
        finally:
            services.down()


if __name__ == "__main__":
    main()
