"""What may become of a publisher's file."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of each file; everything but `ok` means that there is no parse."""

    OK = "ok"
    EMPTY = "empty"
    TOO_LARGE = "too_large"  # more bytes or elements than an honest article has
    TOO_DEEP = "too_deep"  # elements or values nested too deep
    ENTITIES = "entities"  # declares entities of its own: entities are how XML is made to explode
    NOT_WELL_FORMED = "not_well_formed"  # neither XML nor JSON that can be read
    NOT_AN_ARTICLE = "not_an_article"  # another kind of document
    SEVERAL_ARTICLES = "several_articles"  # a file holds the full text of one paper
    WRONG_TYPE = "wrong_type"  # a field has another type than its schema says
    NO_BODY = "no_body"  # metadata only


class BadArticle(Exception):
    """A publisher's file of which there is no parse; `detail` says where."""

    def __init__(self, outcome: Outcome, detail: str = "") -> None:
        super().__init__(f"{outcome}: {detail}" if detail else str(outcome))
        self.outcome = outcome
        self.detail = detail
