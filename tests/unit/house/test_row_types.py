"""The types of rows say what the tables' columns are."""

from __future__ import annotations

import re
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa
import pytest

from s2corpus import row_types, tables
from s2corpus.tables import Column, Table

TYPED = re.findall(r"(?m)^([A-Z_]+) = Table\[rows\.(\w+)\]\(", Path(tables.__file__).read_text("utf-8"))
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
    """Whether a Python type is what `to_pylist` makes of an Arrow type. Which fields of a struct may be null is not compared."""
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
def test_a_row_has_the_columns_of_its_table(table: str, row: str) -> None:
    stated: Table[Any] = getattr(tables, table)
    hints = get_type_hints(getattr(row_types, row))
    assert hints.keys() == {column.name for column in stated.columns}
    assert [column for column in stated.columns if not right(hints[column.name], column)] == []


def test_every_row_type_is_of_a_table() -> None:
    stated = {name for name in vars(row_types) if name.endswith("Row")}
    assert stated == {row for _, row in TYPED}


def test_every_table_says_its_rows() -> None:
    assert {name for name, _ in TYPED} == {name for name, value in vars(tables).items() if isinstance(value, Table)}
