"""Define the parameters of the stages, one class per stage. `spec.py` combines them; functions receive them as arguments."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from s2corpus.trust import TRUST
from s2corpus_reader.layout import TextRules

MIN_REASON = 10
"""Minimum characters of a reason for overriding a check, or withdrawing or restoring a snapshot."""
Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
NonNegative = Annotated[int, Field(ge=0)]
FullText = Literal["pdf", "latex", "jats", "elsevier"]


class Rules(BaseModel):
    """Base class of the sections of a release spec. Fields are validated; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OwnRule(Rules):
    """A filter or cleaning rule of another package (docs/own-filter.md)."""

    name: str = Field(pattern="^[a-z][a-z0-9_]*$")
    """name of its entry point; its outcome is `rule:<name>`"""
    version: Count
    """its `VERSION`. A release stops if another version is installed"""
    options: dict[str, int | float | str] = Field(default={})
    """parameters of the rule"""

    @property
    def outcome(self) -> str:
        """Return the outcome of the items that it drops."""
        return f"rule:{self.name}"


def _check_names(rules: tuple[OwnRule, ...]) -> tuple[OwnRule, ...]:
    names = [rule.name for rule in rules]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{', '.join(repeated)} given twice; expected each rule once")
    return rules


OwnRules = Annotated[tuple[OwnRule, ...], AfterValidator(_check_names)]


class SelectRules(Rules):
    """Rules that select PDFs for extraction (S2ORC App. B)."""

    max_pages: Count = 50
    """maximum pages of a paper (S2ORC App. B)"""


class ExtractRules(Rules):
    """Parameters of the extractor (SPEC §2)."""

    ocr: Literal["off", "scans"] = "off"
    """scans: recognize the text of pages without a usable text layer (embedded extractor, extra `ocr`)"""
    options: dict[str, Annotated[str, BeforeValidator(lambda given: str(given) if type(given) is int else given)]] = (
        Field(default={})
    )
    """parameters of the extractor by its own names, such as GROBID's `consolidateHeader: 1` and `teiCoordinates: ref,figure`
    (docs/extractors.md)"""
    reuse: Literal["current", "any"] = "current"
    """any: keep the stored answers of earlier versions of the extractor with the same options. Texts then come from several versions"""
    max_failure_rate: Fraction = 0.2
    """maximum share of PDFs with outcome gave_up in a shard; above it, the shard fails"""


UNRELATED_SCORE = 0.3
"""Titles with a lower S are unrelated. If the surnames are disjoint too, equal identifiers do not join records (SPEC §4)."""
MIN_TITLE_SCORE = 0.8
"""Titles of records are similar if S is above this threshold (S2ORC §2.6, eq. 1)."""
MIN_SCORE_WITHOUT_AUTHORS = 0.9
"""Records without authors, volume and page join if S is higher. Titles of clinical trials by one company can differ in one word:
"… in Adult Patients" and "… in Pediatric Patients" have S = 0.87."""


class VoteRules(Rules):
    """Rules that choose canonical metadata (S2ORC §2.3)."""

    support: Literal["similar", "equal"] = "similar"
    """similar: a vote supports similar values too; equal: only equal values (S2ORC §2.3)"""
    pdf_fields: Literal["all", "title_authors"] = "all"
    """fields that a PDF's front matter supplies if no record has them. title_authors: only these two (S2ORC §2.3)"""
    infer_fields: bool = True
    """whether a paper without a field of study takes the one that its journal's other papers declare (SPEC §5.14)"""
    openness: Literal["file", "paper"] = "file"
    """unit of open access. paper: all files of a paper are open if it is in arXiv, the ACL Anthology or PMC's open access subset, or if
    Unpaywall has an open copy under any of its DOIs (S2ORC §2.4). No closed file is published with `file`"""
    records: Literal["weighed", "equal"] = "weighed"
    """weighed: records of preprints do not vote on a published paper, and a publisher's record that all others contradict loses
    (SPEC §5.23, §5.24); equal: all records have a vote (S2ORC §2.3)"""
    trust: tuple[str, ...] = TRUST
    """sources in descending order of trust, which breaks ties after publishers (SPEC §5.10); sources not listed follow by name"""


class FilterRules(Rules):
    """Rules that select papers (S2ORC §2.5)."""

    min_characters: NonNegative = 100
    """characters of abstract and body (S2ORC §2.5)"""
    min_english: Fraction = 0.9
    """P(en) over abstract + body (S2ORC §2.5, footnote 14)"""
    language: Literal["cld3", "cld2"] = "cld3"
    """detector of P(en). cld2, which S2ORC used, needs pycld2 (extra cld2) and counts the papers that CLD3 decides differently"""
    rules: OwnRules = ()
    """filters of other packages, {name, version, options}, after the built-in rules (docs/own-filter.md)"""


class LinkRules(Rules):
    """Rules that link bibliography entries to papers (S2ORC §2.6)."""

    min_score: Fraction = 0.8
    """an entry links if S of the titles is above this threshold (S2ORC §2.6)"""
    evidence: Literal["all", "title"] = "all"
    """title: only S of the titles decides, without warnings; the smallest paper_id wins a tie (S2ORC §2.6)"""


class UnigramRules(Rules):
    """A word list for log probabilities: CSV `word,count` or word TAB count."""

    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


IGNORED_BY_RECIPE = (
    "formulas", "language_letters", "layout", "min_log_prob", "min_words", "min_year", "unknown_year",
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
    formulas: Literal["remove", "placeholder"] = "remove"
    """remove: text without display formulas (S2 V2 card). placeholder: a display formula leaves the token EQUATION in its sentence"""
    layout: Literal["sections", "template", "template_blank"] = "sections"
    """sections: empty lines between sections (text of the S2 V2 card). template: empty lines between paragraphs too, but none below
    a header (first template of the card). template_blank: also an empty line below a header (second template)"""
    pii: Literal["keep", "mask"] = "keep"
    """mask: replace e-mail addresses, phone numbers and IP addresses before the rules apply, in all published text (Dolma)"""
    min_words: NonNegative = 500
    """words of the body and its headers, split at white space (S2 V2 card)"""
    min_year: int = 1970
    """first year of publication (S2 V2 card: after 1969)"""
    min_log_prob: float | None = None
    """mean log2 probability of a word; null: default of the profile (S2 V2 card: −20; card-wordfreq: −19.82, docs/quality.md)"""
    language_letters: NonNegative = 10
    """a paragraph with fewer letters in these characters has no vote: table cells and formulas have no language (not in recipe-2024)"""
    unknown_year: Literal["drop", "keep"] = "drop"
    """keep: assign documents with an unknown year to train (for the profile own)"""
    editorial: Literal["flag", "exclude"] = "flag"
    """retracted and withdrawn papers: flag their text (the S2 V2 card drops none) or exclude it"""
    rules: OwnRules = ()
    """cleaning rules of other packages, {name, version, options}, after the rules of the profile (docs/own-filter.md)"""

    @property
    def text_rules(self) -> TextRules:
        """The rules that decide which parts of a body are in the text."""
        return TextRules(self.profile, self.citations, self.layout, self.min_log_prob, self.formulas)

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


class SplitRules(Rules):
    """Rules that assign documents to train or validation by publication date (SPEC §9)."""

    kind: Literal["fixed", "rolling"] = "fixed"
    """fixed: by the given days; rolling: valid is the last 33 days before `as_of` (SPEC §9.2)"""
    train_before: date = date(2022, 12, 1)
    """fixed: first day after train (S2 V2 card)"""
    valid_until: date = date(2023, 1, 3)
    """fixed: last day of valid (S2 V2 card)"""
    imprecise_dates: Literal["hold_back", "first_day"] = "hold_back"
    """hold_back: a month or year decides only if all its days are in one split; first_day: it counts as its first day"""
    near_duplicates: Literal["publish", "hold_back", "ignore"] = "publish"
    """publish: publish all similar texts of one split; hold_back: publish one of them and hold back the others. With both, a valid text
    that is similar to a train text, and every repetition of a text, is held back. ignore: compare no texts (S2 V2 card)"""

    @model_validator(mode="after")
    def _check_order(self) -> SplitRules:
        if self.valid_until < self.train_before:
            raise ValueError(
                f"valid_until {self.valid_until} is before train_before {self.train_before}: use this day or a later one"
            )
        return self


class TokenizerRules(Rules):
    """A file of the library `tokenizers` (extra `tokens`): a URI, or a file of an installed package (`package:<package>/<file>`)."""

    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class BenchmarkRules(Rules):
    """A file of test texts: JSON lines (all their strings are used) or plain lines."""

    name: str
    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class ModelTextRules(Rules):
    """Format of `model_text` in `documents/`, in addition to the text of the card. It is null if the two texts are equal."""

    headings: Literal["plain", "markdown"] = "plain"
    """markdown: write one # per level before a header, and an empty line between paragraphs"""
    citations: Literal["printed", "linked"] = "printed"
    """linked: write inline citations of papers in the corpus as [@paper_id]"""
    captions: bool = False
    """write captions of figures and tables after the section that first mentions them"""
    tables: Literal["none", "markdown"] = "none"
    """markdown: write tables with known cells, and their captions"""
    formulas: Literal["none", "latex"] = "none"
    """latex: write the LaTeX of a formula, if available, between $ and $ or $$ and $$"""


class EvaluationRules(Rules):
    """Samples of a release that people judge (S2ORC §4, GORC §5). They are not part of a spec: no release depends on them."""

    seed: int = 20200705
    """seed of the samples"""
    clusters: Annotated[int, Field(ge=1, le=5000)] = 500
    """number of papers with PDFs"""
    pdf_links: Annotated[int, Field(ge=1, le=5000)] = 500
    """number of bibliography links of PDFs, each to a different paper"""
    latex_links: Annotated[int, Field(ge=1, le=5000)] = 100
    """number of bibliography links of LaTeX sources, each to a different paper"""
    parses: Annotated[int, Field(ge=1, le=5000)] = 200
    """number of PDF parses with inline citations and bibliography entries to judge (S2ORC §4)"""
    author_overlap: Annotated[float, Field(gt=0, le=1)] = 0.5
    """minimum share of the shorter author list in the other list ("substantial overlap", S2ORC Appendix D; the value is our choice)"""
