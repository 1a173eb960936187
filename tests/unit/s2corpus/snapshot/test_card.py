"""The data card's head has the format of the Hub (Hub docs: Dataset Cards), and every published column has a description.

Every sentence of the card follows from the spec or the data.

The sample records of the card contain no markup, and no text whose license forbids copies or changes.
"""

import json
from typing import Any

import pytest
import yaml

from s2corpus.snapshot import documents, hub
from s2corpus.snapshot.columns import describe_column
from s2corpus.snapshot.report import data_card, format_record, may_show, shorten_record
from s2corpus_reader.cards import yaml_head


def test_names_in_head_cannot_add_keys() -> None:
    hostile = 'x\n---\n<script>alert(1)</script>\nlicense: mit\n"quoted": {a: 1}'
    head = yaml_head(hostile, {}, [], tags=[hostile], count=1)
    parts = list(yaml.safe_load_all(head))
    assert parts[0]["pretty_name"] == hostile and parts[0]["tags"] == [hostile]
    assert parts[0]["license"] == "other" and len(parts) == 2
    heads = (yaml_head("x", {}, [], tags=[], count=n) for n in (999, 1000, 10**9 - 1, 10**9))
    sizes = [size for head in heads for size in next(yaml.safe_load_all(head))["size_categories"]]
    assert sizes == ["n<1K", "1K<n<10K", "100M<n<1B", "n>1B"]


def test_every_published_column_has_a_description() -> None:
    schemas = {"documents": documents.SCHEMA} | {name: schema for name, (_, schema) in hub.TABLES.items()}
    columns = [(name, column) for name, schema in schemas.items() for column in schema]
    assert [(name, column.name) for name, column in columns if not describe_column(name, column)] == []


# -- sample records


def test_only_licenses_of_free_works_permit_a_sample() -> None:
    """Creative Commons approves CC0, CC BY and CC BY-SA for Free Cultural Works; ND forbids cuts, NC some uses of the card."""
    assert all(map(may_show, ("CC0-1.0", "CC-BY-4.0", "CC-BY-3.0-US", "CC-BY-SA-4.0", "MIT")))
    assert not any(map(may_show, ("CC-BY-ND-4.0", "CC-BY-NC-4.0", "NOASSERTION", "LicenseRef-publisher", "arXiv", "")))


def test_forbidden_texts_are_omitted() -> None:
    document = {"license": "CC-BY-ND-4.0", "title": "T", "text": "secret", "model_text": None}
    record = shorten_record(document)
    assert "secret" not in str(record) and record["title"] == "T" and record["model_text"] is None


@pytest.mark.parametrize("text", ["```\n<script>", "a\u202eb\u2066c\u200d\ufeff\x7f\x9b", "<!-- & -->", "naïve 中"])
def test_json_has_no_markup_and_no_invisible_characters(text: str) -> None:
    shown = format_record({"text": text})
    assert json.loads(shown) == {"text": text}
    assert not set(shown) & set("<>&`\u202e\u2066\u200d\ufeff\x7f\x9b")
    assert all(line[0] in "{} " for line in shown.split("\n")), "no line can end the code block"


# -- Sentences

BASE = {
    "export.files": 30, "clean.profile": "card-wordfreq", "clean.text_from": ["pdf", "latex", "jats", "elsevier"],
    "clean.citations": "keep",
    "clean.extractor_metadata": "keep", "clean.min_log_prob": None, "clean.editorial": "flag", "clean.layout": "sections",
    "clean.pii": "keep",
    "clean.unknown_year": "drop", "vote.support": "similar", "vote.records": "weighed", "vote.pdf_fields": "all", "vote.openness": "file",
    "filter.language": "cld3", "link.evidence": "all", "split.near_duplicates": "publish",
    "split.imprecise_dates": "hold_back", "export.gorc": False, "export.benchmarks": [],
    "export.text": {"formulas": "none"},
}  # fmt: skip
COUNTED = {split: {"documents": 1, "words": 2} for split in ("train", "valid")}
ASKED = {"filter": {"language.asked_both": 1_234.0, "language.disputed": 7.0}}


def write_card(
    rules: dict[str, Any] | None = None,
    *,
    sets: tuple[str, ...] = ("s2ag", "s2orc"),
    parent: str | None = None,
    **stats: Any,
) -> str:
    """Return the card of a release with these rules and statistics."""
    parses = {
        "name": "parses", "title": "P", "source": "S", "columns": [{"name": "PDF", "unit": "count"}], "rows": [["Full texts", 3]],
    }  # fmt: skip
    given = {"sets": dict.fromkeys(sets, COUNTED), "funnel": [], "languages": {}, "years": {}, "licenses": {}, "oa_evidence": {},
             "editorial": {},
             "fields_of_study": {"Biology": 2}, "sources": {}, "metrics": {}, "tables": [parses], "samples": {}, **stats}  # fmt: skip
    manifest: dict[str, Any] = {
                "snapshot": "x-20230201-00000000", "as_of": "2023-02-01T00:00:00Z", "versions": {"code": "1"}, "parent": parent,
                "files": [],
                "rules": BASE | (rules or {})}  # fmt: skip
    return " ".join(data_card(manifest, given, "D").split())


@pytest.mark.parametrize(
    ("change", "lost", "gained"),
    [
        ({"rules": {"clean.extractor_metadata": "drop"}},
         "one that is in no record comes from the PDF's front matter", "never from a PDF's front"),
        ({"rules": {"vote.pdf_fields": "title_authors"}},
         "one that is in no record comes", "a title that is in no record comes from the PDF's"),
        ({"rules": {"clean.text_from": ["jats", "pdf"]}}, "in the order pdf, latex", "in the order jats, pdf"),
        ({"rules": {"clean.citations": "drop"}}, "Inline citations are left as printed", "Inline citations are removed"),
        ({"sets": ("s2ag",)}, "- **s2orc**", "all papers that passed the filter"),
        ({"sets": ("s2ag",)}, "`sha1` (`s2orc` only)", "- `text`: title and abstract with an empty line between them."),
        ({"sets": ("s2ag",)}, "v2/s2orc/train/00.jsonl.gz", "v2/s2ag/train/00.jsonl.gz"),
        ({"sets": ("s2ag",)}, "Formulas are left out", "the language of abstracts"),
        ({"sets": ("s2orc",)}, "- **s2ag**", ""),
        ({"rules": {"clean.profile": "card"}}, "wordfreq's", "the S2 V2 card's rules with the word list of the spec"),
        ({"rules": {"clean.profile": "recipe-2024"}}, "A block is a section's header line", "as the published recipe joins them"),
        ({"rules": {"clean.min_log_prob": -18.5}}, "calibrated to remove the same share", "with the threshold -18.5"),
        ({"rules": {"clean.editorial": "exclude"}}, "", "Retracted and withdrawn papers have no document."),
        ({"rules": {"clean.layout": "template"}}, "its paragraphs, one per line.", "right above its first paragraph"),
        ({"rules": {"clean.layout": "template_blank"}},
         "its paragraphs, one per line.", "with an empty line between (the S2 V2 card's template)"),
        ({"rules": {"export.files": 4}}, "has 30 gzip files", "has 4 gzip files"),
        ({"rules": {"export.gorc": True}}, "", "GORC's Appendix E"),
        ({"rules": {"export.benchmarks": [{"name": "b"}]}}, "", "`overlaps.parquet`"),
        ({"rules": {"export.text": {"formulas": "latex"}}}, "", "`model_text` has their LaTeX"),
        ({"rules": {"clean.formulas": "placeholder"}}, "Formulas are left out", "the token EQUATION replaces a display formula in"),
        ({"parent": "x-20230101-00000000"}, "", "`diff.json` and `changes.parquet`"),
        ({"parent": "x-20230101-00000000"}, "", "its parent is `x-20230101-00000000`"),
        ({"rules": {"filter.language": "cld2"}},
         "CLD3 decides which papers are English", "CLD2 decides which papers are English, as in S2ORC. "),
        ({"rules": {"filter.language": "cld2"}, "metrics": ASKED}, "", "disagrees on 7 of 1,234 papers"),
        ({"rules": {"vote.support": "equal"}}, "by the similarity of all votes", ""),
        ({"rules": {"vote.records": "equal"}}, "Records of preprints do not vote", ""),
        ({"rules": {"link.evidence": "title"}}, "link by identifiers, titles and places", "link by the similarity of titles alone"),
        ({"rules": {"link.count_warnings": ["tie"]}}, "have a warning and are no citations", "doubtful links have a warning."),
        ({"fields_of_study": {"unknown": 2}}, "The primary field of study", ""),
        ({"tables": []}, "Text from PDFs", ""),
        ({"rules": {"vote.openness": "paper"}}, "Only files with evidence of open access", "All files of a paper that is open access"),
        ({"rules": {"split.near_duplicates": "hold_back"}}, "published in one split, never in both", "held back, except one"),
        ({"rules": {"split.near_duplicates": "ignore"}}, "One of several equal texts is published", "Texts were not compared"),
        ({"rules": {"split.near_duplicates": "ignore"}}, "`duplicates.parquet`", ""),
        ({"rules": {"split.min_jaccard": 0.9}}, "their 5-grams of words from 0.8", "their 5-grams of words from 0.9"),
        ({"rules": {"split.imprecise_dates": "first_day"}}, "Otherwise it is held back", "a month or a year counts as its first day"),
        ({"rules": {"clean.unknown_year": "keep"}}, "", "Documents of unknown year are in train."),
        ({"rules": {"clean.pii": "mask"}}, "Texts may contain personal data", "are masked"),
    ],
)  # fmt: skip
def test_sentence_follows_from_the_spec_or_the_data(change: dict[str, Any], lost: str, gained: str) -> None:
    before, after = write_card(), write_card(**change)
    assert lost in before and gained in after
    assert not lost or lost not in after
    assert not gained or gained not in before


def test_no_count_of_nothing_is_printed() -> None:
    assert "0 of 0" not in write_card({"filter.language": "cld2"})


CONSTANT = {
    "`id`: the paper's id, stable over releases (`aliases.parquet` has former ids).",
    "Not evaluated when this snapshot was made. Later evaluations are in `evaluated/` of its spec's folder.",
}
"""sentences that hold for every snapshot: how ids are made and when evaluation happens"""


def test_bullets_that_never_change_are_true_of_every_snapshot() -> None:
    """Each bullet of a card changes with a rule or a figure, or is one of CONSTANT."""
    changes = [case[0] for mark in test_sentence_follows_from_the_spec_or_the_data.pytestmark for case in mark.args[1]]
    cards = [write_card(), *(write_card(**change) for change in changes)]
    bullets = {
        bullet.split(" ## ")[0].strip()
        for bullet in cards[0].partition("## Documents")[2].partition("## Rules")[0].split(" - ")[1:]
    }
    bullets |= {bullet.strip() for bullet in cards[0].partition("## Known limits")[2].split(" - ")[1:]}
    unchanged = {bullet for bullet in bullets if all(bullet in card for card in cards)}
    assert unchanged <= CONSTANT, unchanged - CONSTANT
    assert all(sentence in card for sentence in CONSTANT for card in cards)
