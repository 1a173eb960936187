"""The description of a rule is the docstring below it.

pydantic reads the same docstrings for models with `use_attribute_docstrings`.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, create_model

from s2corpus.snapshot.manifest import describe_rule, list_rules
from s2corpus.snapshot.meanings import read_descriptions
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


def test_meaning_of_a_field_is_the_docstring_below() -> None:
    assert read_descriptions(Section) == {"first": "what comes first", "second": "goes over\ntwo lines"}


def test_docstrings_of_plain_models_are_read() -> None:
    class Plain(BaseModel):
        """A model without `use_attribute_docstrings`, as the sections of a spec."""

        first: int = 1
        """what comes first"""
        second: int = 2
        third: int = 3
        4  # noqa: B018

    assert Plain.model_fields["first"].description is None
    assert read_descriptions(Plain) == {"first": "what comes first"}


def test_meanings_equal_those_of_pydantic() -> None:
    assert read_descriptions(Shared) == {"first": Shared.model_fields["first"].description}
    assert read_descriptions(Section)["second"] == Section.model_fields["second"].description


def test_stated_description_takes_precedence() -> None:
    class Stated(Section):
        second: str = Field("", description="as stated")
        """as written below"""

    assert read_descriptions(Stated)["second"] == "as stated"
    typed_in = create_model("TypedIn", third=(int, Field(3, description="the third")), fourth=(int, 4))
    assert read_descriptions(typed_in) == {"third": "the third"}


def test_every_rule_of_a_spec_has_a_meaning() -> None:
    rules = list_rules(load_spec(releases_folder() / "sample.yaml"))
    said = {rule.name: rule.meaning for rule in rules}
    assert said["select.max_pages"] == "maximum pages of a paper (S2ORC App. B)" == describe_rule("select.max_pages")
    assert describe_rule("select.unheard_of") == ""
