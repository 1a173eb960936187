"""The S2 V2 card's rules for titles and abstracts: each threshold from both sides, each tie, each empty input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.spec import CleanRules
from s2corpus.text.clean import clean_s2ag
from s2corpus.text.documents import CleanedDocument
from s2corpus.text.tokens import ShareTable
from s2corpus.text.unigrams import Unigrams, wordfreq_unigrams
from s2orc_parse.bibliography.fields import clean_abstract
from tests.unit.clean.conftest import GERMAN, english

NO_WORDS = "Xqz vvkt wqx zzjh pqk"


def abstract(words: int) -> str:
    return " ".join(english(250, i) for i in range(words // 250)) + " " + english(words % 250, 77)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "kept"),
        ({"abstract": None}, "no_abstract"),
        ({"abstract": "  "}, "no_abstract"),
        ({"abstract": f"{GERMAN} {GERMAN} {GERMAN} {GERMAN}"}, "abstract_not_english"),
        ({"title": None}, "title_not_english"),
        ({"title": ""}, "title_not_english"),
        ({"title": NO_WORDS}, "title_not_english"),
        ({"title": "Significant biological discoveries"}, "kept"),
        ({"abstract": abstract(50)}, "kept"),
        ({"abstract": abstract(49)}, "abstract_short"),
        ({"abstract": abstract(1000)}, "kept"),
        ({"abstract": abstract(1001)}, "abstract_long"),
        ({"abstract": abstract(49), "date": None}, "abstract_short"),
        ({"date": None}, "no_year"),
        ({"date": "1970"}, "kept"),
        ({"date": "1969-12-31"}, "before_min_year"),
    ],
)
def test_document_has_the_outcome_of_its_first_failed_rule(
    unigrams: Unigrams, fields: dict[str, Any], expected: str
) -> None:
    values = {"title": "Significant results about something", "abstract": abstract(60), "date": "2011", **fields}
    assert clean_s2ag(CleanedDocument("p", body=None, **values), CleanRules(), unigrams).outcome == expected


@pytest.mark.parametrize(
    ("mean", "title", "expected"),
    [
        (-19.0, "Significant results about something", "kept"),
        (-20.0, "Significant results about something", "abstract_improbable"),  # The value must be higher than −20.
        (-20.0, NO_WORDS, "title_not_english"),
        (-19.0, NO_WORDS, "kept"),  # A title may be in another language if its words are probable.
    ],
)
def test_log_probabilities_must_be_above_the_threshold(mean: float, title: str, expected: str) -> None:
    flat = Unigrams("flat", ShareTable.from_shares({}, mean), threshold=-20.0)
    assert clean_s2ag(CleanedDocument("p", title, abstract(60), "2011", None), CleanRules(), flat).outcome == expected


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        ("mitosis " * 5, "kept"),
        ("of " * 5, "kept"),
        ("a " * 5, "bad_top_word"),  # The second most frequent word is a title word; see below.
        ("a " * 5 + "mitosis " * 4, "kept"),
        ("a " * 5 + "l1 " * 4, "bad_top_word"),
        ("I " * 5 + "mitosis " * 4, "bad_top_word"),  # Only `a` may be a single letter.
        ("A " * 5 + "mitosis " * 4, "bad_top_word"),
        ("mitosis, " * 5, "bad_top_word"),
        ("2 " * 5, "bad_top_word"),
        ("l1 " * 5 + "mitosis " * 5, "bad_top_word"),  # In a tie, the first word to appear counts.
        ("mitosis " * 5 + "l1 " * 5, "kept"),
    ],
)
def test_top_word_decides_by_form_and_share(unigrams: Unigrams, most: str, expected: str) -> None:
    # Every other word appears once. The title's first word, which has a hyphen, is therefore the second most frequent
    # word unless a case changes that.
    document = CleanedDocument("p", "Two-fold significant results", f"{most} {english(70, 5)}", "2011", None)
    assert clean_s2ag(document, CleanRules(), unigrams).outcome == expected


def test_text_is_title_and_abstract(unigrams: Unigrams) -> None:
    document = CleanedDocument("p", " Significant  results\nabout something", f" {abstract(60)}\n", "2011", None)
    assert (
        clean_s2ag(document, CleanRules(), unigrams).text
        == f"Significant results about something\n\n{abstract(60).strip()}"
    )


def test_separators_in_s2orc_abstracts_drop_no_abstract(shared_data: Path, card: CleanRules) -> None:
    """Check separators as S2ORC's metadata has them, and as the reader of that metadata returns them."""
    unigrams = wordfreq_unigrams()
    lines = (shared_data / "s2orc" / "metadata_20200705_sample.jsonl").read_bytes().splitlines()
    rows = [row for row in map(orjson.loads, lines) if ":::" in (row["abstract"] or "")]
    assert len(rows) == 41
    for row in rows:
        without = " ".join(row["abstract"].replace(":::", " ").split())
        given = [row["abstract"], clean_abstract(row["abstract"]), without]
        decisions = [
            clean_s2ag(CleanedDocument(row["paper_id"], row["title"], a, "2011", None), card, unigrams) for a in given
        ]
        assert len({d.outcome for d in decisions}) == 1, row["paper_id"]
        assert not any(":::" in f"{d.text} {d.top_word}" for d in decisions)
