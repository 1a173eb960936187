"""Each table has one description: the types of a row class agree with its Arrow schema."""

from __future__ import annotations

import re
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import pyarrow as pa
import pytest

from s2corpus import tables
from s2corpus.tables.schema import Table

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
    numbers = {c.name: (pa.types.is_integer(c.type), pa.types.is_floating(c.type)) for c in stated.columns}
    assert numbers == {name: (type_ is int, type_ is float) for name, type_ in overridden.items()}


def test_every_table_is_defined_by_a_row_class() -> None:
    assert {name for name, _ in TYPED} == {name for name, value in DEFINED.items() if isinstance(value, Table)}
