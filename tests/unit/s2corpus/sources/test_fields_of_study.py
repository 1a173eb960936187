"""Complete tables map the subjects of every source to MAG's 19 fields."""

from __future__ import annotations

import csv
from pathlib import Path

import orjson
import pytest

from s2corpus.sources import fields_of_study as tables
from s2corpus.sources.fields_of_study import FIELDS, fields_of, fields_of_study

FOLDER = Path(tables.__file__).parent / "classifications"


def rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader((FOLDER / f"{table}.csv").read_text("utf-8").splitlines()))


@pytest.mark.parametrize("table", ["arxiv", "asjc", "mesh", "subjects"])
def test_tables_name_only_mag_fields(table: str) -> None:
    assert {field for row in rows(table) for field in row["fields"].split(";") if field} <= set(FIELDS)


def test_classification_tables_are_complete() -> None:
    assert len(FIELDS) == 19
    codes = [row["code"] for row in rows("asjc")]
    assert sum(code.isdecimal() for code in codes) == 334 and sum(code.isalpha() for code in codes) == 27
    assert {row["tree"] for row in rows("mesh") if len(row["tree"]) == 1} == set("ABCDEFGHIJKLMNVZ")
    archives = {row["code"].partition(".")[0] for row in rows("arxiv")}
    assert archives >= {
        "astro-ph", "cond-mat", "cs", "econ", "eess", "gr-qc", "hep-th", "math", "nlin", "physics", "q-bio", "q-fin", "stat",
    }  # fmt: skip
    assert sum("." in row["code"] for row in rows("arxiv")) == 146  # As of 2026, including aliases.
    assert all(row["fields"] for row in rows("arxiv"))


def test_field_names_equal_those_of_s2orc(shared_data: Path) -> None:
    lines = (shared_data / "s2orc" / "metadata_20200705_sample.jsonl").read_bytes().splitlines()
    given = {field for line in lines for field in orjson.loads(line)["mag_field_of_study"] or ()}
    assert given == set(FIELDS)


@pytest.mark.parametrize(
    ("subject", "fields"),
    [
        ("Medicine", ("Medicine",)), ("Law", ("Political Science",)), ("Computer science", ("Computer Science",)),
        ("cs.CL", ("Computer Science",)), ("hep-th", ("Physics",)), ("cmp-lg", ("Computer Science",)),
        ("Computer Science - Computation and Language", ("Computer Science",)), ("High Energy Physics - Theory", ("Physics",)),
        ("MEDI", ("Medicine",)), ("2725", ("Medicine",)), ("General Medicine", ("Medicine",)), ("Chemistry(all)", ("Chemistry",)),
        ("Radiology, Nuclear Medicine and imaging", ("Medicine",)), ("Palaeontology", ("Geology", "Biology")),
        ("Humans", ("Medicine",)), ("C14.280.647", ("Medicine",)), ("Neoplasms", ("Medicine",)), ("Physics", ("Physics",)),
        ("Biology and Life Sciences", ("Biology",)), ("Virology/Diagnosis", ("Biology",)), ("Genetics &amp; co", ()),
        ("Research and analysis methods", ()), ("Multidisciplinary", ()), ("nothing that is known", ()), ("", ()),
    ],
)  # fmt: skip
def test_subject_maps_to_its_fields(subject: str, fields: tuple[str, ...]) -> None:
    assert fields_of(subject) == fields


@pytest.mark.parametrize(
    ("subjects", "fields"),
    [
        # arXiv's first category is the paper's.
        (["cs.LG", "stat.ML", "math.OC"], ("Computer Science", "Mathematics")),
        (["math.ST", "cs.LG", "cs.CV"], ("Mathematics", "Computer Science")),
        (["Genetics", "Oncology", "Surgery"], ("Medicine", "Biology")),  # The field with most subjects.
        (["Chemistry", "Physics"], ("Chemistry", "Physics")),  # In a tie, the first field wins.
        (["a journal's own section"], ()),
        ([], ()),
    ],
)
def test_primary_field_is_first(subjects: list[str], fields: tuple[str, ...]) -> None:
    assert fields_of_study(subjects) == fields
