"""The primary field is the field that most sources name (SPEC §5.14).

In a tie, it is the first field of the most trusted source.
"""

from __future__ import annotations

import pytest

from s2corpus.sources import RecordKind
from tests.unit.vote.test_vote import header, record, vote

DOI = "10.18653/v1/x"


@pytest.mark.parametrize(
    ("subjects", "fields"),
    [
        ({"crossref": ["Chemistry", "Biology"], "pubmed": ["Biology"], "s2": ["Medicine"]}, ("Biology", "Chemistry")),
        # Trust decides the tie.
        ({"s2": ["Physics"], "arxiv": ["math.AP"], "crossref": ["Chemistry"]}, ("Chemistry",)),
        ({"crossref": ["Chemistry", "Physics"], "arxiv": ["physics.optics", "math.AP"]}, ("Physics", "Chemistry")),
        # In the tie, dblp's first field wins.
        ({"s2": ["Medicine", "Biology"], "dblp": ["Biology", "Medicine"]}, ("Biology", "Medicine")),
        ({"s2": ["a section of a journal"]}, None),
    ],
)  # fmt: skip
def test_primary_field_is_named_by_most_sources(subjects: dict[str, list[str]], fields: tuple[str, ...] | None) -> None:
    paper = vote(*(record(source, subjects=tuple(given)) for source, given in subjects.items()))
    assert paper.values.get("fields_of_study") == fields


def test_publisher_does_not_decide_the_primary_field() -> None:
    publisher = record("crossref", kind=RecordKind.PUBLISHER, doi=DOI, subjects=("Chemistry", "Biology"))
    others = [record(source, doi=DOI, subjects=("Biology",)) for source in ("pubmed", "s2")]
    assert vote(header(doi=DOI), publisher, *others).values["fields_of_study"] == ("Biology", "Chemistry")


def test_primary_field_is_always_among_the_fields() -> None:
    given = {
        "s2": ("Physics", "Biology"),
        "arxiv": ("cs.LG",),
        "acl": ("Computer Science",),
        "dblp": ("Physics", "Geology"),
        "x": ("Physics",),
    }
    fields = vote(*(record(source, subjects=subjects) for source, subjects in given.items())).values["fields_of_study"]
    assert fields == ("Physics", "Computer Science")


def test_openalex_decides_only_without_declared_fields() -> None:
    openalex = record("openalex", subjects=("subfields/1702",))
    assert vote(openalex).values["fields_of_study"] == ("Computer Science",)
    assert vote(openalex, record("s2", subjects=("unknown section",))).values["fields_of_study"] == (
        "Computer Science",
    )
    assert vote(openalex, record("s2", subjects=("Medicine",))).values["fields_of_study"] == ("Medicine",)
