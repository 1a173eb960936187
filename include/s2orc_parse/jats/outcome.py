"""Outcomes of publishers' files."""

from __future__ import annotations

from enum import StrEnum


class JatsOutcome(StrEnum):
    """The outcome of a file; all outcomes except `ok` mean that there is no parse."""

    OK = "ok"
    EMPTY = "empty"
    TOO_LARGE = "too_large"  # more bytes or elements than real articles have
    TOO_DEEP = "too_deep"  # elements or values are nested too deep
    ENTITIES = "entities"  # declares entities, which allow expansion attacks
    NOT_WELL_FORMED = "not_well_formed"  # neither valid XML nor valid JSON
    NOT_AN_ARTICLE = "not_an_article"  # another kind of document
    SEVERAL_ARTICLES = "several_articles"  # contains more than one article
    WRONG_TYPE = "wrong_type"  # the type of a field differs from the schema
    NO_BODY = "no_body"  # metadata only


class BadArticle(Exception):
    """A publisher's file without a parse; `detail` explains the outcome."""

    def __init__(self, outcome: JatsOutcome, detail: str = "") -> None:
        super().__init__(f"{outcome}: {detail}" if detail else str(outcome))
        self.outcome = outcome
        self.detail = detail
