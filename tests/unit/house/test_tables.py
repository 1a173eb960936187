"""Each table has one description: the types of a row class agree with its Arrow schema."""

from __future__ import annotations

import re
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypedDict, get_args, get_type_hints

import pyarrow as pa
import pytest

from s2corpus import tables
from s2corpus.tables.columns import FilePlace
from s2corpus.tables.schema import Column, Table, columns_of, define

TYPED = [
    found
    for path in sorted(Path(tables.__file__).parent.glob("*.py"))
    for found in re.findall(r"(?m)^([A-Z_]+) = define\(\s*(\w+),", path.read_text("utf-8"))
]
DEFINED = {name: value for module in tables.__all__ for name, value in vars(getattr(tables, module)).items()}


@pytest.mark.parametrize(("table", "row"), TYPED)
def test_row_class_agrees_with_the_arrow_schema(table: str, row: str) -> None:
    stated: Table[Any] = DEFINED[table]
    hints = get_type_hints(DEFINED[row])
    assert list(hints) == [column.name for column in stated.columns] == stated.schema.names
    assert [c.name for c in stated.columns if (NoneType in get_args(hints[c.name])) != c.nullable] == []
    overridden = {c.name: (get_args(hints[c.name]) or (hints[c.name],))[0] for c in stated.columns}
    assert [
        c.name
        for c in stated.columns
        if (pa.types.is_integer(c.type), pa.types.is_floating(c.type))
        != (overridden[c.name] is int, overridden[c.name] is float)
    ] == []


def test_every_table_is_defined_by_a_row_class() -> None:
    assert {name for name, _ in TYPED} == {name for name, value in DEFINED.items() if isinstance(value, Table)}


class ExampleRow(TypedDict):
    """An example row."""

    key: Annotated[str, "the key"]
    number: Annotated[int | None, pa.int32(), "a number"]
    places: Annotated[list[FilePlace], "places"]


def test_annotations_give_the_columns() -> None:
    place = pa.struct(
        [("drop", pa.string()), ("name", pa.string()), ("open_access", pa.bool_()), ("licence", pa.string())]
    )
    assert columns_of(ExampleRow) == (
        Column("key", pa.string(), "the key", nullable=False),
        Column("number", pa.int32(), "a number"),
        Column("places", pa.list_(place), "places", nullable=False),
    )
    with pytest.raises(ValueError, match="missing_column"):
        define(ExampleRow, "examples", key=("missing_column",))
