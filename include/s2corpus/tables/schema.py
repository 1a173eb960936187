"""Define every table between stages once: the annotations of its row class are the columns.

`define` returns the table of a row class. The table has an Arrow schema, a section in the documentation, and a Python type of its rows.
A column's annotation contains the Python type, the meaning with the unit, and the Arrow type if it does not follow from the Python type.

Every input has one row. A rejected input is a row with its outcome, so no input disappears between two tables. Rows are sorted
by key within a part. `Table.shards` defines the meaning of part numbers, by which a reader finds the part of a row:

- `pdf`: a range of the SHA-1 space (see `pdf_shard`); one part contains all rows of a PDF;
- `paper`: a hash of the paper id (see `paper_shard`); one part contains all rows of a paper;
- `record`: a hash of the record id; one part contains all rows of a record;
- `any`: part numbers have no meaning.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import NoneType
from typing import Annotated, Any, Generic, Literal, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa
from typing_extensions import TypeVar

INT32 = pa.int32()


class _Later:
    """The mark of a published column that snapshots of version 1.0 lack."""


LATER = _Later()


@dataclass(frozen=True, slots=True)
class Column:
    """A column: name, Arrow type, and meaning with its unit. Snapshots of version 1.0 lack a column that `is_later`."""

    name: str
    type: pa.DataType
    meaning: str
    nullable: bool = True
    is_later: bool = False


R_co = TypeVar("R_co", covariant=True, default=Any)
"""the type of a row as returned by `to_pylist`; Any for tables that are only read column by column"""


@dataclass(frozen=True)
class Table(Generic[R_co]):
    """A table: its columns, unique key, meaning of part numbers, and row type in Python.

    `counted` contains groups of columns. The writer counts their combined values per part, so stages sum them without reading the table.
    `plain` contains columns that Parquet stores without a dictionary, because a dictionary costs time and saves no space.
    """

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    shards: Literal["pdf", "paper", "record", "any"] = "any"
    counted: tuple[tuple[str, ...], ...] = ()
    plain: tuple[str, ...] = ()
    schema: pa.Schema = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        fields = [
            pa.field(c.name, c.type, nullable=c.nullable, metadata={b"meaning": c.meaning.encode()})
            for c in self.columns
        ]
        object.__setattr__(self, "schema", pa.schema(fields))
        missing = {*self.key, *self.plain, *(name for names in self.counted for name in names)} - set(self.schema.names)
        if missing:
            raise ValueError(f"table {self.name}: {sorted(missing)} of key, counted or plain are not among its columns")

    @property
    def schema_hash(self) -> str:
        """Return 16 hex digits of a hash over names, types and nullability. A part with a different hash is rejected."""
        text = ";".join(f"{f.name}:{f.type}:{f.nullable}" for f in self.schema)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


R = TypeVar("R")
TABLES: dict[str, Table] = {}
"""all tables by name, in the order of the stages that write them"""


def define(
    row: type[R],
    name: str,
    *,
    key: tuple[str, ...],
    shards: Literal["pdf", "paper", "record", "any"] = "any",
    counted: tuple[tuple[str, ...], ...] = (),
    plain: tuple[str, ...] = (),
    meaning: str = "",
) -> Table[R]:
    """Return the table of a row class, and add it to `TABLES`. `meaning` replaces the docstring of the row class."""
    text = meaning or (row.__doc__ or "").rstrip(".")
    TABLES[name] = table = Table[R](name, text, key, columns_of(row), shards, counted, plain)
    return table


def columns_of(row: type, *names: str) -> tuple[Column, ...]:
    """Return the columns that the annotations of a row class describe, or those with the given names."""
    hints = get_type_hints(row, include_extras=True)
    return tuple(_column(name, *get_args(hints[name])) for name in names or hints)


def schema_of(columns: Iterable[Column]) -> pa.Schema:
    """Return the Arrow schema of a published file, without the meanings of its columns."""
    return pa.schema([pa.field(c.name, c.type, nullable=c.nullable) for c in columns])


def file_schema(row: type) -> pa.Schema:
    """Return the Arrow schema of a published file with rows of this class."""
    return schema_of(columns_of(row))


def _column(name: str, hint: Any, *notes: Any) -> Column:
    """Return a column from its Python type, its meaning, and its Arrow type if that is given."""
    (meaning,) = (note for note in notes if isinstance(note, str))
    given = next((note for note in notes if isinstance(note, pa.DataType)), None)
    return Column(name, given or arrow_type(_not_null(hint)), meaning, _is_nullable(hint), LATER in notes)


_ARROW = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}


def arrow_type(hint: Any, *, strict: bool = False) -> pa.DataType:
    """Return the Arrow type of a Python type. A list of pairs becomes a map.

    Fields of a struct are nullable. If `strict`, a field is nullable only if its type allows None.
    """
    inner = get_args(hint)
    if get_origin(hint) is Annotated:
        return next(note for note in inner if isinstance(note, pa.DataType))
    if get_origin(hint) is list and get_origin(inner[0]) is tuple:
        return pa.map_(*(arrow_type(part) for part in get_args(inner[0])))
    if get_origin(hint) is list:
        return pa.list_(arrow_type(inner[0]))
    if is_typeddict(hint):
        fields = get_type_hints(hint, include_extras=True).items()
        return pa.struct(
            [pa.field(name, arrow_type(_not_null(h)), nullable=not strict or _is_nullable(h)) for name, h in fields]
        )
    return _ARROW[hint]


def _is_nullable(hint: Any) -> bool:
    return NoneType in get_args(hint)


def _not_null(hint: Any) -> Any:
    return next(option for option in get_args(hint) if option is not NoneType) if _is_nullable(hint) else hint


def pdf_shard(file_sha1: str, shards: int) -> int:
    """Return the shard of a PDF: equal ranges of the SHA-1 space by its first 8 hex digits."""
    return int(file_sha1[:8], 16) * shards >> 32


def paper_shard(paper_id: str, shards: int) -> int:
    """Return the shard of a paper: first 8 bytes of SHA-1(paper_id), big-endian, modulo `shards`."""
    return int.from_bytes(hashlib.sha1(paper_id.encode(), usedforsecurity=False).digest()[:8], "big") % shards
