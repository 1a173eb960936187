"""Rules that select and clean documents."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, field_validator, model_validator

from s2corpus.rules import Count, Fraction, FullText, NonNegative, Rules


class UnigramRules(Rules):
    """A word list for log probabilities: CSV `word,count` or word TAB count."""

    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


IGNORED_BY_RECIPE = (
    "language_letters", "layout", "max_top_share", "min_log_prob", "min_words", "min_year", "unknown_year",
)  # fmt: skip
"""Fields of `clean` that the published recipe ignores (SPEC annex A)."""


class CleanRules(Rules):
    """Rules that select documents and remove parts of them (S2 V2 card)."""

    sets: tuple[Literal["s2orc", "s2ag"], ...] = ("s2orc", "s2ag")
    """s2orc: full texts; s2ag: titles and abstracts of all other papers (S2 V2 card), or of all papers if s2orc is not listed"""
    profile: Literal["card", "card-wordfreq", "recipe-2024"] = "card-wordfreq"
    """rules of the card with its word list, rules of the card with the list of wordfreq, or rules of the published recipe"""
    unigrams: UnigramRules | None = None
    """required by the profiles card and recipe-2024"""
    text_from: tuple[FullText, ...] = ("pdf", "latex", "jats", "elsevier")
    """order of preference if a paper has several full texts; kinds not listed follow in the default order (S2ORC: PDFs first)"""
    extractor_metadata: Literal["keep", "drop"] = "keep"
    """drop: ignore titles and abstracts that only the extractor provides (S2 V2 card: never from GROBID)"""
    citations: Literal["keep", "drop"] = "keep"
    """keep: leave inline citations as printed"""
    layout: Literal["sections", "template", "template_blank"] = "sections"
    """sections: empty lines between sections (text of the S2 V2 card). template: empty lines between paragraphs too, but none below
    a header (first template of the card). template_blank: also an empty line below a header (second template)"""
    pii: Literal["keep", "mask"] = "keep"
    """mask: replace e-mail addresses, phone numbers and IP addresses before the rules apply, in all published text (Dolma)"""
    min_words: NonNegative = 500
    """words of the body and its headers, split at white space (S2 V2 card)"""
    min_year: int = 1970
    """first year of publication (S2 V2 card: after 1969)"""
    min_paragraphs: NonNegative = 5
    """minimum number of paragraphs after improbable sections were removed (S2 V2 card)"""
    max_top_share: Fraction = 0.075
    """drop a text if its most frequent word has at least this share (S2 V2 card)"""
    min_log_prob: float | None = None
    """mean log2 probability of a word; null: default of the profile (S2 V2 card: −20; card-wordfreq: −19.82, docs/quality.md)"""
    language_characters: Count = 2000
    """leading characters of a paragraph that identify its language (S2 V2 card)"""
    language_letters: NonNegative = 10
    """a paragraph with fewer letters in these characters has no vote: table cells and formulas have no language (not in recipe-2024)"""
    min_abstract_words: NonNegative = 50
    """for s2ag (S2 V2 card)"""
    max_abstract_words: NonNegative = 1000
    """for s2ag (S2 V2 card)"""
    unknown_year: Literal["drop", "keep"] = "drop"
    """keep: assign documents with an unknown year to train (for the profile own)"""
    editorial: Literal["flag", "exclude"] = "flag"
    """retracted and withdrawn papers: flag their text (the S2 V2 card drops none) or exclude it"""
    evaluate_all: bool = False
    """compute every value of every document, to tune thresholds; decisions do not change"""

    @field_validator("text_from", mode="before")
    @classmethod
    def _complete_order(cls, given: object) -> object:
        """Return all kinds: first the given kinds, then the others."""
        named = (given,) if isinstance(given, str) else given
        if not isinstance(named, list | tuple):
            return named
        return tuple(dict.fromkeys((*named, *get_args(FullText))))

    @model_validator(mode="after")
    def _check_ignored_fields(self) -> CleanRules:
        for name in IGNORED_BY_RECIPE if self.profile == "recipe-2024" else ():
            default = type(self).model_fields[name].default
            if (given := getattr(self, name)) != default:
                raise ValueError(f"{name}: {given!r} given; profile recipe-2024 ignores this field: remove it")
        return self

    @model_validator(mode="after")
    def _check_unigrams(self) -> CleanRules:
        if self.profile != "card-wordfreq" and self.unigrams is None:
            raise ValueError(
                f"profile {self.profile} needs unigrams: {{uri, sha256}}; if you have no list, use card-wordfreq"
            )
        return self
