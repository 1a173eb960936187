"""docs/snapshot.yaml is a contract: it has each published file and column, and an entry changes only with the format number."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from s2corpus.snapshot.columns import PUBLISHED
from s2corpus.tables.schema import TABLES, Column
from s2corpus_reader.schemas import METADATA, PARSE

CONTRACT = yaml.safe_load((Path(__file__).parents[4] / "docs" / "snapshot.yaml").read_text("utf-8"))
FROZEN = {"s2corpus-snapshot-3": "cbae8bb0c1ea6f8e"}
"""format → hash of its entries. Never change the hash of a published format: add a format."""
NAMES = {
    "set": "s2orc|s2ag", "split": "train|valid", "nn": r"\d\d(?:-\d{6})?", "n": r"\d+", "kind": "pdf|latex|jats|elsevier",
}  # fmt: skip
"""placeholder of a path → its values"""
COLUMNS: dict[str, tuple[Column, ...]] = PUBLISHED | {
    name: TABLES[name].columns for name in ("aliases", "clusters", "contexts", "duplicates", "links")
}

LATER_FILES = {entry["table"] for entry in CONTRACT["files"] if "since" in entry}


def make_pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"<(\w+)>", lambda name: f"(?:{NAMES[name[1]]})", path.replace(".", r"\.")))


def find_faults(name: str, schema: pa.Schema, *, with_nullability: bool = True) -> Iterator[str]:
    """Yield the differences of a written table from the contract, with the next step."""
    entries = {entry["name"]: entry for entry in CONTRACT["tables"][name]}
    for field in schema:
        entry = entries.pop(field.name, None)
        if entry is None:
            yield f"{name}.{field.name} ({field.type}) has no entry: add it to docs/snapshot.yaml with its meaning and `since: true`"
        elif (written := str(field.type).replace("<element: ", "<item: ")) != entry["type"] or (
            with_nullability and field.nullable != entry["nullable"]
        ):
            yield (
                f"{name}.{field.name} is {written}, nullable: {field.nullable}; the contract has {entry}: "
                "restore it, or increase the format number"
            )
    for left in entries:
        yield f"{name}.{left} is not written any more: restore it, or increase the format number"


def test_each_written_file_follows_the_contract(published: Path) -> None:
    patterns = [(make_pattern(entry["path"]), entry) for entry in CONTRACT["files"]]
    faults = []
    for file in sorted(path for path in published.rglob("*") if path.is_file()):
        path = file.relative_to(published).as_posix()
        tables = [entry["table"] for pattern, entry in patterns if pattern.fullmatch(path)]
        if len(tables) != 1:
            faults.append(f"{path} has {len(tables)} entries in docs/snapshot.yaml: it needs one")
        elif file.suffix == ".parquet":
            faults += find_faults(tables[0], pq.read_schema(file))
        elif file.suffix == ".gz" and (lines := gzip.decompress(file.read_bytes()).splitlines()):
            known = {entry["name"] for entry in CONTRACT["tables"][tables[0]]}
            faults += [f"{path}: {key} has no entry" for key in orjson.loads(lines[0]) if key not in known]
    assert faults == []
    assert orjson.loads((published / "manifest.json").read_bytes())["format"] == CONTRACT["format"]


@pytest.mark.parametrize("name", COLUMNS)
def test_defined_columns_are_the_contract(name: str) -> None:
    """Check also columns of files that only some snapshots have, and the meanings."""
    columns = COLUMNS[name]
    assert list(find_faults(name, pa.schema([pa.field(c.name, c.type, nullable=c.nullable) for c in columns]))) == []
    entries = {entry["name"]: entry for entry in CONTRACT["tables"][name]}
    assert {key: entry["meaning"] for key, entry in entries.items()} == {c.name: c.meaning for c in columns}
    if name not in LATER_FILES:  # no snapshot of version 1.0 has such a file
        later = {key for key, entry in entries.items() if "since" in entry}
        assert later == {c.name for c in columns if c.is_later}, "a column with `since: true` is `Annotated[…, LATER]`"


@pytest.mark.parametrize(("name", "schema"), [("metadata", METADATA), ("parses", PARSE)])
def test_schemas_of_the_reader_are_the_contract(name: str, schema: pa.Schema) -> None:
    assert list(find_faults(name, schema, with_nullability=False)) == []


def test_entries_of_a_format_do_not_change() -> None:
    """Check names, types and nullability; a meaning may be written better. Entries with `since` are later than the format."""
    frozen: dict[str, Any] = {
        "files": sorted((entry["path"], entry["table"]) for entry in CONTRACT["files"] if "since" not in entry),
        "tables": {
            name: sorted((e["name"], e["type"], e["nullable"]) for e in entries if "since" not in e)
            for name, entries in sorted(CONTRACT["tables"].items())
            if any("since" not in entry for entry in entries)
        },
    }
    digest = hashlib.sha256(json.dumps(frozen).encode()).hexdigest()[:16]
    assert FROZEN.get(CONTRACT["format"]) == digest, (
        f"an entry of {CONTRACT['format']} was removed or changed, or a new one has no `since: true`: "
        "readers of published snapshots depend on it, so restore it or increase the format number"
    )


def test_each_entry_has_a_meaning_and_each_table_a_file() -> None:
    entries = [*CONTRACT["files"], *(entry for table in CONTRACT["tables"].values() for entry in table)]
    assert [entry for entry in entries if not entry["meaning"]] == []
    assert {entry["table"] for entry in CONTRACT["files"]} - {""} == CONTRACT["tables"].keys()
