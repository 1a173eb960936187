"""Each table has one description: the types of a row class agree with its Arrow schema."""

from __future__ import annotations

import re
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

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
PYTHON = (
    (pa.types.is_integer, int),
    (pa.types.is_floating, float),
    (pa.types.is_boolean, bool),
    (pa.types.is_string, str),
    (pa.types.is_large_string, str),
    (pa.types.is_binary, bytes),
    (pa.types.is_large_binary, bytes),
)


def agree(hint: Any, column: pa.DataType) -> bool:
    """Return whether a Python type is the result of `to_pylist` for an Arrow type. Nullability of a struct's fields is not compared."""
    if pa.types.is_map(column):
        return get_origin(hint) is list and all(
            agree(one, two)
            for one, two in zip(get_args(get_args(hint)[0]), (column.key_type, column.item_type), strict=True)
        )
    if pa.types.is_list(column) or pa.types.is_large_list(column):
        return get_origin(hint) is list and agree(get_args(hint)[0], column.value_type)
    if pa.types.is_struct(column):
        fields = get_type_hints(hint) if is_typeddict(hint) else {}
        return fields.keys() == {field.name for field in column} and all(
            agree(not_null(fields[field.name]), field.type) for field in column
        )
    return hint in [python for is_type, python in PYTHON if is_type(column)]


def not_null(hint: Any) -> Any:
    options = [option for option in get_args(hint) if option is not NoneType]
    return options[0] if NoneType in get_args(hint) else hint


def right(hint: Any, column: Column) -> bool:
    return (NoneType in get_args(hint)) == column.nullable and agree(not_null(hint), column.type)


@pytest.mark.parametrize(("table", "row"), TYPED)
def test_row_class_agrees_with_the_arrow_schema(table: str, row: str) -> None:
    stated: Table[Any] = DEFINED[table]
    hints = get_type_hints(DEFINED[row])
    assert list(hints) == [column.name for column in stated.columns] == stated.schema.names
    assert [column for column in stated.columns if not right(hints[column.name], column)] == []


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
