"""The dataset card of S2 V2: its demands in the card's order, those included from which the default rules deviate."""

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from s2corpus.outcomes import Split
from s2corpus.pipeline import runner
from s2corpus.snapshot.verify import verify
from s2corpus.spec import ReleaseSpec, SplitRules
from s2corpus.spec_files import load_spec, releases_folder
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.texts import SPLITS
from s2corpus.text.documents import Set
from s2corpus.text.language import vote_language
from s2corpus.text.rules import LANGUAGE_CHARACTERS
from s2corpus.text.splits import VALID_DAYS, assign_split, compute_bounds
from s2corpus.text.unigrams import Unigrams, log_probability, parse_unigrams
from s2corpus_reader.layout import IMPROBABLE, list_units
from tests.unit.s2corpus.snapshot.release import build, lay_out, papers
from tests.unit.s2corpus.stages.clean import samples
from tests.unit.s2corpus.stages.clean.samples import GERMAN, NOISE, TITLE, Body, decide, english, make_rules, paper

LITERAL = load_spec(releases_folder() / "s2_v2_reproduction.yaml")
OURS = load_spec(releases_folder() / "s2_v2.yaml")
CARD = compute_bounds(LITERAL.split, datetime(2023, 2, 1, tzinfo=UTC))
SENTENCES = samples.split_evenly(600, 5, ".")


# -- S2ORC (Full-text Papers)


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [({}, "kept"), ({"title": " \n"}, "no_title"), ({"title": None}, "no_title"), ({"abstract": ""}, "no_abstract"),
     ({"abstract": None}, "no_abstract")],
)  # fmt: skip
def test_paper_has_title_and_abstract(fields: dict[str, Any], outcome: str) -> None:
    """1. S2ORC: the paper must have a title and abstract."""
    assert decide(paper(**fields)).outcome == outcome


def test_text_is_headers_and_paragraphs() -> None:
    """2. S2ORC: section headers and paragraphs are extracted."""
    text, body = clean_text_with_other_content("remove")
    assert text.count("Methods") == 1 and body[4]["text"] in text and text.endswith("So holds.")


def test_other_content_is_removed() -> None:
    """3. S2ORC: figures, tables, references, and any other non-textual content are removed.

    Deviation: In `s2_v2`, `EQUATION` replaces a display formula in a sentence (`clean.formulas: placeholder`).
    Reason: A sentence without its formula is not well-formed. `remove` is the default and the card's rule.
    """
    text, _ = clean_text_with_other_content(LITERAL.clean.formulas)
    assert not any(other in text for other in ("Read", "Thanks", "plot", "Cited", "EQUATION"))
    assert clean_text_with_other_content(OURS.clean.formulas)[0] == text.replace("So holds.", "So EQUATION holds.")


def clean_text_with_other_content(formulas: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the published text of a full text with all kinds of content, and its paragraphs without formulas."""
    body: list[dict[str, Any]] = [
        {"section": "Methods", "section_path": "Methods", "text": english(120, n), "cite_spans": []} for n in range(5)
    ]
    parts = {"abstract": [{"text": "Read."}], "back_matter": [{"text": "Thanks."}], "ref_entries": {"FIGREF0": {"text": "A plot."}},
             "bib_entries": {"BIBREF0": {"title": "Cited"}}}  # fmt: skip
    formula = {**body[0], "text": "So EQUATION holds."}
    units = list_units({"body_text": [*body, formula], **parts})
    decision = decide(paper([(unit.section, unit.text) for unit in units]), rules=make_rules(formulas=formulas))
    return decision.text or "", body


def test_title_and_abstract_are_not_from_the_extractor_in_the_literal_profile() -> None:
    """4. S2ORC: title and abstract come from the metadata, not Grobid.

    Deviation: A title or abstract that only the PDF contains is used (`clean.extractor_metadata: keep`).
    Reason: Papers without a record would have no document. `drop` is the card's rule.
    """
    assert (LITERAL.clean.extractor_metadata, OURS.clean.extractor_metadata) == ("drop", "keep")


@pytest.mark.parametrize(
    ("body", "outcome"),
    [([(None, english(110, i)) for i in range(5)] + [(None, GERMAN)] * 4, "kept"),
     ([(None, english(110, i)) for i in range(5)] + [(None, GERMAN)] * 5, "not_english")],
)  # fmt: skip
def test_language_is_that_of_most_paragraphs(body: Body, outcome: str) -> None:
    """Demands of the card.

    5. S2ORC: the paper must be in English, by pycld3.
    6. S2ORC: its language is the most common language of the paragraphs.
    """
    assert decide(paper(body)).outcome == outcome


def test_first_2000_characters_of_a_paragraph_count() -> None:
    """7. S2ORC: pycld3 runs on the first 2000 characters of each paragraph."""
    one, two = english(400, 1)[:2001], GERMAN * 40
    assert (
        vote_language([one[:2000] + two], LANGUAGE_CHARACTERS).language
        == "en"
        != vote_language([one[:200] + two], 2000).language
    )


def test_short_paragraphs_vote_in_the_literal_profile() -> None:
    """8. S2ORC: each paragraph votes.

    Deviation: A paragraph with fewer than ten letters does not vote (`clean.language_letters: 10`).
    Reason: Table cells and formulas have no language. `0` is the card's rule.
    """
    body = [*samples.split_evenly(600, 5), *((None, f"{n}.5") for n in range(9))]
    assert decide(paper(body)).outcome == "kept"
    assert (
        decide(paper(body), rules=make_rules(language_letters=LITERAL.clean.language_letters)).outcome == "not_english"
    )


@pytest.mark.parametrize(
    ("body", "outcome"),
    [(samples.split_evenly(499, 5), "short"), (samples.split_evenly(500, 5), "kept"),
     # Headers are words, and so is a formula before it is removed.
     ([("Head", text) for _, text in samples.split_evenly(498, 5)], "short"),
     ([("Head", text) for _, text in samples.split_evenly(498, 5)] + [("Head", "EQUATION")], "kept")],
)  # fmt: skip
def test_full_text_has_500_words(body: Body, outcome: str) -> None:
    """9. S2ORC: the paper must have at least 500 words (split at white space)."""
    assert decide(paper(body)).outcome == outcome


@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
@pytest.mark.parametrize(("date", "outcome"), [("1970", "kept"), ("1969-12-31", "before_min_year"), (None, "no_year")])
def test_paper_was_published_after_1969(set_: Set, date: str | None, outcome: str) -> None:
    """10. S2ORC, S2AG: the paper was published after 1969; an undated paper was not."""
    assert decide(paper(date=date), set_).outcome == outcome


@pytest.mark.parametrize(("paragraphs", "outcome"), [(4, "few_paragraphs"), (5, "kept")])
def test_full_text_has_five_paragraphs(paragraphs: int, outcome: str) -> None:
    """11. S2ORC: the paper must have at least 5 paragraphs."""
    assert decide(paper(paragraphs=paragraphs)).outcome == outcome


def test_improbable_section_is_removed() -> None:
    """12. S2ORC: all sections that have an average log word probability of less than -20 are removed, with their paragraphs."""
    assert IMPROBABLE["card"] == -20
    few = [("Results", english(150, i)) for i in range(4)] + [("Residue", NOISE)]
    assert decide(paper(few)).outcome == "few_paragraphs", "paragraphs of removed sections do not count"
    body = [("Xqzvvk::Results", english(120, i)) for i in range(4)] + [("Residue", NOISE), ("Methods", english(60, 9))]
    decision = decide(paper([*body, ("Methods", NOISE)]))
    assert (decision.outcome, decision.paragraphs, decision.removed_sections) == ("kept", 6, 1)
    assert decision.text is not None and "Residue" not in decision.text and decision.text.count(NOISE) == 1, (
        "a section is one unit"
    )
    assert decision.text.split("\n\n")[2] == "Xqzvvk", "a section without paragraphs is not removed"


@pytest.mark.parametrize(
    ("set_", "mean", "fields", "outcome"),
    [
        ("s2orc", -20.0, {"body": SENTENCES}, "kept"),
        ("s2orc", -20.01, {"body": SENTENCES}, "few_paragraphs"),
        ("s2ag", -19.99, {}, "kept"),
        ("s2ag", -20.0, {}, "abstract_improbable"),
        ("s2ag", -20.0, {"title": NOISE}, "title_not_english"),
        ("s2ag", -19.99, {"title": NOISE}, "kept"),
    ],
)  # fmt: skip
def test_log_probability_is_compared_with_the_threshold(
    set_: Set, mean: float, fields: dict[str, Any], outcome: str
) -> None:
    """Demands of the card. The threshold is the word list's, or the spec's.

    13. S2ORC: a section is removed below the threshold.
    14. S2AG: the title must be English or have average unigram log probability greater than -20.
    15. S2AG: the abstract must have higher than -20 average unigram log probability.
    """
    flat = Unigrams("every word has this share", {}, mean)
    assert decide(paper(**fields), set_, samples.CARD, flat).outcome == outcome
    assert decide(paper(**fields), set_, samples.RECIPE, flat).outcome == outcome
    assert decide(paper(**fields), set_, make_rules(min_log_prob=-20.0), flat).outcome == outcome
    assert decide(paper(**fields), set_, make_rules(min_log_prob=0.0), flat).outcome != "kept"


def test_word_probability_is_from_the_list_of_the_card() -> None:
    """16. S2ORC: word frequencies are from the 1T Web Ngram corpus, in the list created by Rachel Tatman.

    Deviation: The default list is wordfreq's, with a threshold that drops the same number of sections (`card-wordfreq`).
    Reason: The card's list must be downloaded. Profile `card` with the list's checksum is the card's rule.
    """
    rules = LITERAL.clean
    assert (
        rules.profile == "card"
        and rules.unigrams is not None
        and rules.unigrams.uri.endswith("/google-1T-unigram/unigram_freq.csv")
    )
    words = parse_unigrams("two words", b"word,count\nthe,3\nof,1\n")
    assert (log_probability("of", words), log_probability("of of", words)) == (-2, -2)
    assert (OURS.clean.profile, OURS.clean.text_rules.threshold) == ("card-wordfreq", -19.82)


def repeat(word: str, times: int) -> Body:
    """Return a body of 1,000 words with `word` as the most frequent word."""
    return [*((None, english(200, i)) for i in range(4)), (None, english(200 - times, 4)), (None, f"{word} " * times)]


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (repeat("naïve", 74), "kept"),
        (repeat("naïve", 75), "bad_top_word"),  # 7.5 %
        (repeat("l1", 74), "bad_top_word"),
        (repeat("a", 74), "kept"),
        ([*samples.split_evenly(1000, 5), (None, "l1 mitosis " * 30)], "bad_top_word"),  # the first in a tie
        ([*samples.split_evenly(1000, 5), (None, "Mitosis mitosis " * 45)], "kept"),  # two words
        (
            [("Results", english(110, i)) for i in range(5)] + [("Residue", "xqz1 " * 200)],
            "kept",
        ),  # counted after removal
    ],
)
def test_top_word_of_a_full_text(body: Body, outcome: str) -> None:
    """Demands of the card.

    17. S2ORC: the most frequent word consists of alpha characters only.
    18. S2ORC: it appears in less than 7.5 % of the document.
    19. S2ORC: words are obtained by splitting the text on white space.
    """
    assert decide(paper(body)).outcome == outcome


@pytest.mark.parametrize(
    ("published", "split"),
    [("2022-11-30", "train"), ("2022-12-02", "valid"), ("2023-01-03", "valid"), ("2023-01-04", "held_back:late"), ("2022-11", "train"),
     ("2022-12", "valid"), ("2023-02", "held_back:late")],
)  # fmt: skip
def test_split_is_by_publication_date(published: str, split: str) -> None:
    """20. Splits: Train is anything published before 2022-12-01; validation anything after 2022-12-01 and until 2023-01-03."""
    assert assign_split(published, *CARD) == split and SplitRules() == SplitRules(kind="fixed")


def test_day_between_train_and_validation() -> None:
    """21. Splits: 2022-12-01 itself is neither before nor after 2022-12-01.

    Deviation: A paper of this day is in validation.
    Reason: The card names no split for this day, and no document may be lost.
    """
    assert assign_split("2022-12-01", *CARD) == Split.VALID


def test_monthly_release_splits_by_its_own_date() -> None:
    """22. Splits: The splits have fixed dates.

    Deviation: Validation of the monthly spec `s2_v2` is the last 33 days before the release (the card's number of days).
    Reason: With fixed dates, no later paper would be published. `s2_v2_reproduction` has the card's dates.
    """
    assert (OURS.split.kind, VALID_DAYS) == ("rolling", 33) and LITERAL.split.kind == "fixed"


def test_every_document_is_train_or_validation_in_the_literal_profile() -> None:
    """23. Splits: Every document until 2023-01-03 is in train or validation.

    Deviation: A document is in no split if its month or year overlaps both splits (`split.imprecise_dates: hold_back`).
    Reason: A text that may belong to train must not be in validation. `first_day` publishes all documents.
    """
    by_first_day = LITERAL.split.imprecise_dates == "first_day"
    for published, split in (("2022", "train"), ("2023", "valid"), ("2023-01", "valid")):
        assert assign_split(published, *CARD, by_first_day=by_first_day) == split
        assert assign_split(published, *CARD) == assign_split(None, *CARD) == Split.UNDATED


def test_repeated_texts_are_held_back(tmp_path: Path) -> None:
    """24. Splits: No constraint concerns repeated texts.

    Deviation: One of several equal texts is published. No similar texts are in train and validation (`split.near_duplicates`).
    Reason: Repetitions, and test texts in train, harm models. `ignore` is the card's rule.
    """
    assert (LITERAL.split.near_duplicates, OURS.split.near_duplicates) == ("ignore", "publish")
    first = next(one for one in papers(8) if one.kept and one.parse and not one.latex)
    row = {**first.row, "paper_id": "f" * 15, "record_ids": ["crossref:second"]}
    second = replace(first, row=row, parse={**(first.parse or {}), "paper_id": "f" * 15})
    for rule, texts in (("publish", 1), ("ignore", 2)):
        spec = ReleaseSpec.model_validate({"name": rule, "split": {"near_duplicates": rule}, "export": {"files": 1}})
        run = build(lay_out(LocalLake(tmp_path / rule), tmp_path, spec, iter([first, second]), buckets=1))
        runner.check(run, "split")
        folder = LocalLake(Path(run.lake.uri(f"snapshots/{run.snapshot_id}")))
        assert list(verify(folder)) == []
        kept = [row for row in run.table(SPLITS).read().to_pylist() if row["split"] in ("train", "valid")]
        assert len(kept) == texts, rule


# -- S2AG (Titles and Abstracts Papers)


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({}, "kept"),
        ({"abstract": GERMAN * 4}, "abstract_not_english"),
        ({"title": GERMAN}, "title_not_english"),
        ({"title": NOISE}, "title_not_english"),
        ({"abstract": english(50)}, "kept"),
        ({"abstract": english(49)}, "abstract_short"),
        ({"abstract": english(1000, 7)}, "kept"),
        ({"abstract": f"{english(1000, 7)} {english(1, 8)}"}, "abstract_long"),
    ],
)
def test_abstract_is_english_and_of_some_length(fields: dict[str, Any], outcome: str) -> None:
    """Demands of the card.

    25. S2AG: the abstract must be in English.
    26. S2AG: the title must be in English, or probable.
    27. S2AG: the abstract must have at least 50 words.
    28. S2AG: the abstract must have no more than 1000 words.
    """
    assert decide(paper(**fields), "s2ag").outcome == outcome


@pytest.mark.parametrize(
    ("most", "outcome"),
    [
        ("a " * 5, "bad_top_word"),  # The second word is "Two-fold"; see below.
        ("a " * 5 + "mitosis " * 4, "kept"),
        ("a " * 5 + "l1 " * 4, "bad_top_word"),
        ("A " * 5 + "mitosis " * 4, "bad_top_word"),
        ("mitosis, " * 5, "bad_top_word"),
        ("of " * 5 + "l1 " * 5, "kept"),
    ],
)
def test_top_word_of_title_and_abstract(most: str, outcome: str) -> None:
    """29. S2AG: the most frequent word of title and abstract is a 2+ character alpha word, or `a` before a 2+ character alpha word."""
    # The title's first word, which has a hyphen, is the second most frequent word unless a case changes that.
    document = paper(title="Two-fold significant results", abstract=f"{most} {english(70, 5)}")
    assert decide(document, "s2ag").outcome == outcome


def test_abstracts_are_of_other_papers() -> None:
    """30. S2AG: the corpus contains titles and abstracts of papers, those with full text included.

    Deviation: `s2ag` has the papers that are not in `s2orc`.
    Reason: No abstract occurs twice, and ids are unique. `clean.sets: [s2ag]` has all papers.
    """
    assert OURS.clean.sets == LITERAL.clean.sets == ("s2orc", "s2ag")


# -- Format


def test_files_have_the_layout_of_the_card(published: Path) -> None:
    """Demands of the card.

    31. Format: directories are v2/{s2ag,s2orc}/{train,valid}/.
    32. Format: each directory contains 30 gzipped files of JSON lines.
    33. Format: each line has the keys `id`, `sha1` (optional) and `text`.
    34. Format: the text of titles and abstracts is `[title]\\n\\n[abstract]`.
    """
    assert OURS.export.files == LITERAL.export.files == 30
    for set_ in ("s2ag", "s2orc"):
        for split in ("train", "valid"):
            files = sorted((published / "v2" / set_ / split).glob("*.jsonl.gz"))
            lines = [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]
            keys = {"id", "text"} | ({"sha1"} if set_ == "s2orc" else set())
            assert lines and {frozenset(line) for line in lines} == {frozenset(keys)}
            assert set_ == "s2orc" or all(line["text"].count("\n\n") == 1 for line in lines)


@pytest.mark.parametrize(
    ("layout", "after_header", "between"),
    [("sections", "\n", "\n"), ("template", "\n", "\n\n"), ("template_blank", "\n\n", "\n\n")],
)
def test_text_is_title_abstract_and_sections(
    layout: Literal["sections", "template", "template_blank"], after_header: str, between: str
) -> None:
    """Demands of the card, which contradict each other about paragraphs; `clean.layout` has each reading.

    35. Format: sections are separated by two newlines, paragraphs by a single newline (default).
    36. Format: the template has two newlines between paragraphs, and one or two after a section header.
    """
    one, two, three, four, five = paragraphs = [english(100, i) for i in range(5)]
    sections = ["Introduction", "Introduction", "Methods::Data", None, None]
    decision = decide(paper(list(zip(sections, paragraphs, strict=True))), rules=make_rules(layout=layout))
    body = f"Introduction{after_header}{one}{between}{two}\n\nMethods\n\nData{after_header}{three}\n\n{four}{between}{five}"
    assert decision.text == f"{TITLE}\n\n{english(60, 99)}\n\n{body}"
    assert (decision.words, decision.paragraphs) == (503, 5)
    assert LITERAL.clean.layout == "sections"
