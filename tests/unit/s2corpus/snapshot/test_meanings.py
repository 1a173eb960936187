"""The description of a rule is the docstring below it, as pydantic reads it for models with `use_attribute_docstrings`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, create_model

from s2corpus.snapshot.manifest import describe_rule, list_rules, read_descriptions
from s2corpus.spec import load_spec, releases_folder


class Shared(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)

    first: int = 1
    """what comes first"""
    plain: int = 2


class Section(Shared):
    """A section. This docstring describes the class and is not the description of a field."""

    second: str = ""
    """goes over
    two lines"""
    third: int = 3
    4  # noqa: B018


class Stated(Section):
    second: str = Field("", description="as stated")
    """as written below"""


def test_meaning_of_a_field_is_the_docstring_below() -> None:
    expected = {"first": "what comes first", "second": "goes over\ntwo lines"}
    assert read_descriptions(Section) == expected
    assert expected == {name: field.description for name, field in Section.model_fields.items() if field.description}
    assert read_descriptions(Stated) == expected | {"second": "as stated"}, "a stated description takes precedence"
    typed_in = create_model("TypedIn", third=(int, Field(3, description="the third")), fourth=(int, 4))
    assert read_descriptions(typed_in) == {"third": "the third"}


def test_rule_has_the_description_of_its_field() -> None:
    assert "select.max_pages" in list_rules(load_spec(releases_folder() / "sample.yaml"))
    assert describe_rule("select.max_pages") == "maximum pages of a paper (S2ORC App. B)"
    assert describe_rule("select.unheard_of") == ""
