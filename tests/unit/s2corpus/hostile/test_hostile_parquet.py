"""Each command that reads a user's Parquet file refuses one with more rows or values than its size allows, in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.storage.parquet import open_parquet, read_parquet
from s2corpus_reader.bounded import TooLarge

COLUMNS = (
    "record_id", "paper_id", "source", "kind", "title", "authors", "abstract", "doi", "canonical_pdf", "file_sha1", "tei", "id", "text",
)  # fmt: skip
FORGED = {
    "many rows": pa.nulls(3_000_000, pa.string()),
    "one value again and again": pa.array(["a" * 100_000] * 1_000),
}
RECORDS = {"record_id": ["dblp:1"], "source": ["dblp"], "kind": ["archive"], "title": ["A title of five words"]}
RIGHT = {
    "RECORDS": RECORDS,
    "PAIRS": {"record_id": ["dblp:1"], "paper_id": ["1"]},
    "PAPERS": {"paper_id": ["1"], "title": ["A title"]},
    "ENTRIES": {"entry_id": ["1"], "title": ["A title"]},
}
COMMANDS = (
    "cluster --records FORGED --out OUT",
    "cluster --records RECORDS --parent FORGED --out OUT",
    "vote --records FORGED --clusters PAIRS --out OUT",
    "vote --records RECORDS --clusters FORGED --out OUT",
    "explain x --clusters FORGED --edges PAIRS",
    "explain x --clusters PAIRS --edges FORGED",
    "filter --papers FORGED --out OUT",
    "link --entries FORGED --papers PAPERS --out OUT",
    "link --entries ENTRIES --papers FORGED --out OUT",
    "parse FORGED --out OUT",
    "clean --in FORGED --set s2orc --profile card-wordfreq --out OUT",
)
_RUN = """
import sys, resource
from s2corpus.cli import corpus
from s2corpus.errors import UserError
for line in sys.stdin.read().splitlines():
    try:
        corpus.main(line.split(), standalone_mode=False)
        print("accepted:", line)
    except UserError as error:
        print(error)
own = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))  # ru_maxrss is inherited
print(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.parametrize("kind", FORGED)
def test_commands_refuse_forged_parquet(kind: str, tmp_path: Path) -> None:
    places = {name: tmp_path / f"{name}.parquet" for name in (*RIGHT, "FORGED")} | {"OUT": tmp_path / "out.jsonl"}
    for name, columns in RIGHT.items():
        pq.write_table(pa.table(columns), places[name])
    values = pa.table(dict.fromkeys(COLUMNS, FORGED[kind]))
    pq.write_table(values, places["FORGED"], compression="zstd", row_group_size=len(values))
    assert places["FORGED"].stat().st_size < 1 << 20
    lines = [" ".join(str(places.get(word, word)) for word in command.split()) for command in COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", _RUN], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *said, memory = done.stdout.splitlines()
    assert len(said) == len(COMMANDS)
    for command, sentence in zip(COMMANDS, said, strict=True):
        words = ("3,000,000 rows in",) if kind == "many rows" else ("bytes of values in", "bytes of columns in")
        assert str(places["FORGED"]) in sentence and any(word in sentence for word in words), (command, sentence[:500])
    assert max(map(int, memory.split())) < 1 << 20, "KiB; all values have 1.3 GB"
    assert not places["OUT"].exists()


def test_sizes_of_right_files_are_allowed(tmp_path: Path) -> None:
    """100,000 rows and 64 MiB of values are always allowed."""
    for length in (600, 700):
        pq.write_table(pa.table({"text": ["a" * length] * 100_000}), tmp_path / f"{length}.parquet", compression="zstd")
    with open_parquet(tmp_path / "600.parquet") as file:
        assert sum(batch.num_rows for batch in file.batches(rows=7_000)) == 100_000
    with pytest.raises(TooLarge, match=r"700\.parquet has more than"):
        read_parquet(tmp_path / "700.parquet")
