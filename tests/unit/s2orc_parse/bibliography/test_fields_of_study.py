"""Complete tables map the subjects of every source to MAG's 19 fields."""

import csv
from pathlib import Path

import pytest

from s2orc_parse.bibliography import fields_of_study as tables
from s2orc_parse.bibliography.fields_of_study import FIELDS, fields_of, fields_of_study

FOLDER = Path(tables.__file__).parent / "classifications"


def rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader((FOLDER / f"{table}.csv").read_text("utf-8").splitlines()))


def test_classification_tables_are_complete() -> None:
    for table in ("arxiv", "asjc", "mesh", "subjects"):
        assert {field for row in rows(table) for field in row["fields"].split(";") if field} <= set(FIELDS)
    assert len(FIELDS) == 19
    assert sum(row["code"].isdecimal() for row in rows("asjc")) == 334
    assert {row["tree"] for row in rows("mesh") if len(row["tree"]) == 1} == set("ABCDEFGHIJKLMNVZ")
    assert sum("." in row["code"] for row in rows("arxiv")) == 146  # As of 2026, including aliases.
    # The numbers are from https://api.openalex.org/fields.
    assert all(fields_of(f"fields/{number}") for number in range(11, 37))


@pytest.mark.parametrize(
    ("subject", "fields"),
    [
        ("Law", ("Political Science",)), ("cmp-lg", ("Computer Science",)), ("C14.280.647", ("Medicine",)), ("Neoplasms", ("Medicine",)),
        ("Computer Science - Computation and Language", ("Computer Science",)), ("MEDI", ("Medicine",)), ("2725", ("Medicine",)),
        ("Palaeontology", ("Geology", "Biology")), ("Biology and Life Sciences", ("Biology",)), ("Multidisciplinary", ()), ("", ()),
    ],
)  # fmt: skip
def test_subject_maps_to_its_fields(subject: str, fields: tuple[str, ...]) -> None:
    assert fields_of(subject) == fields


def test_field_of_first_arxiv_category_is_first() -> None:
    assert fields_of_study(["math.ST", "cs.LG", "cs.CV"]) == ("Mathematics", "Computer Science")
    assert fields_of_study(["a journal's own section"]) == ()
