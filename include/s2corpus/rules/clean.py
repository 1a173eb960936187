"""Which documents are kept and what is removed from them."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, field_validator, model_validator

from s2corpus.rules import Count, Fraction, FullText, NonNegative, Rules


class Unigrams(Rules):
    """A word list for log probabilities: CSV `word,count` or word TAB count."""

    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


RECIPE_HAS_ITS_OWN = (
    "language_letters",
    "layout",
    "max_top_share",
    "min_log_prob",
    "min_words",
    "min_year",
    "unknown_year",
)
"""What of `clean` the published recipe does not honour (SEMANTICS: Annex)."""


class Clean(Rules):
    """Which documents are kept and what is removed from them (the S2 V2 card)."""

    sets: tuple[Literal["s2orc", "s2ag"], ...] = ("s2orc", "s2ag")
    """full texts, and titles and abstracts of papers that are not among them (S2 V2 card)"""
    profile: Literal["card", "card-wordfreq", "recipe-2024"] = "card-wordfreq"
    """the card's rules with its own word list or with wordfreq's, or the published recipe's behaviour"""
    unigrams: Unigrams | None = None
    """needed by the profiles card and recipe-2024"""
    text_from: tuple[FullText, ...] = ("pdf", "latex", "jats", "elsevier")
    """which full text comes first where a paper has several; kinds that are not named come after, in this order (S2ORC: PDFs)"""
    extractor_metadata: Literal["keep", "drop"] = "keep"
    """drop: a title or abstract that only the extractor gives counts as missing (S2 V2 card: never from GROBID)"""
    citations: Literal["keep", "drop"] = "keep"
    """whether inline citations stay as printed"""
    layout: Literal["sections", "template", "template_blank"] = "sections"
    """empty lines between sections (the S2 V2 card's sentence), or between paragraphs too (its template): there a header stands
    right above its first paragraph, as the template's first, or with an empty line between, as its second (template_blank)"""
    pii: Literal["keep", "mask"] = "keep"
    """mask: e-mail addresses, phone numbers and IP addresses are replaced, before the rules and in all that is published (Dolma)"""
    min_words: NonNegative = 500
    """words of the body with its headers, split at white space (S2 V2 card)"""
    min_year: int = 1970
    """published after 1969 (S2 V2 card)"""
    min_paragraphs: NonNegative = 5
    """paragraphs left after improbable sections are removed (S2 V2 card)"""
    max_top_share: Fraction = 0.075
    """a text whose most frequent word has at least this share is dropped (S2 V2 card)"""
    min_log_prob: float | None = None
    """mean log2 probability a word; null: the profile's own (S2 V2 card: −20; card-wordfreq: −19.82, docs/calibration.md)"""
    language_characters: Count = 2000
    """of each paragraph, its language is identified from these leading characters (S2 V2 card)"""
    language_letters: NonNegative = 10
    """letters among them that a paragraph needs to vote: table cells and formulas are in no language (real papers; not in recipe-2024)"""
    min_abstract_words: NonNegative = 50
    """s2ag (S2 V2 card)"""
    max_abstract_words: NonNegative = 1000
    """s2ag (S2 V2 card)"""
    unknown_year: Literal["drop", "keep"] = "drop"
    """`keep` for a user's own folder (profile own): unknown years are kept and go to train"""
    editorial: Literal["flag", "exclude"] = "flag"
    """text of papers that were retracted or withdrawn: with a flag (the S2 V2 card drops none), or none"""
    evaluate_all: bool = False
    """compute every value of every document, for those who tune; decisions stay the same"""

    @field_validator("text_from", mode="before")
    @classmethod
    def _whole_order(cls, given: object) -> object:
        """One kind, or the first few: the others follow."""
        named = (given,) if isinstance(given, str) else given
        if not isinstance(named, list | tuple):
            return named
        return tuple(dict.fromkeys((*named, *get_args(FullText))))

    @model_validator(mode="after")
    def _thresholds_are_honoured(self) -> Clean:
        for name in RECIPE_HAS_ITS_OWN if self.profile == "recipe-2024" else ():
            default = type(self).model_fields[name].default
            if (given := getattr(self, name)) != default:
                raise ValueError(
                    f"{name}: {given!r} given; profile recipe-2024 has its own and would ignore it: leave it out"
                )
        return self

    @model_validator(mode="after")
    def _unigrams_given(self) -> Clean:
        if self.profile != "card-wordfreq" and self.unigrams is None:
            raise ValueError(
                f"profile {self.profile} needs unigrams: {{uri, sha256}}; without a list use card-wordfreq"
            )
        return self
