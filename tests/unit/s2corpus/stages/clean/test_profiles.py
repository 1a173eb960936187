"""Every document has one outcome in every profile and set, and text only if it is kept (SPEC §8).

Each threshold of the card is checked from both sides, each tie, and each empty input. A spec sets only thresholds that
its profile applies.
"""

from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from s2corpus.spec import CleanRules
from s2corpus.text.clean import PROFILES
from s2corpus.text.documents import CleanOutcome, Set
from s2corpus.text.unigrams import Unigrams, log_probability
from tests.unit.s2corpus.stages.clean import samples
from tests.unit.s2corpus.stages.clean.samples import GERMAN, NOISE, TITLE, Body, decide, english, make_rules, paper

ABSTRACT = f"{english(60, 1)} mitosis mitosis mitosis"
NAMES = ["card", "recipe-2024"]
SENTENCES = samples.split_evenly(600, 5, ".")


@pytest.mark.parametrize("profile", NAMES)
def test_measured_values_of_title_and_abstract_equal_definitions(profile: str) -> None:
    found = decide(paper(abstract=ABSTRACT), "s2ag", make_rules(profile))
    assert (found.outcome, found.language, found.words) == ("kept", "en", 63)
    assert (found.top_word, found.top_share) == ("mitosis", 3 / (63 + 4))
    assert found.log_prob == log_probability(ABSTRACT, samples.unigrams()) < 0


@pytest.mark.parametrize(("profile", "top_of"), [("card", 5 * 152), ("recipe-2024", 784)])
def test_measured_values_of_full_text_equal_definitions(profile: str, top_of: int) -> None:
    """Improbable paragraphs count as words, with their headers. The card counts the top word after their removal."""
    body = [*((None, f"{english(150, n)} mitosis mitosis.") for n in range(5)), ("Residue", NOISE), ("Anhang", GERMAN)]
    found = decide(paper(body), rules=make_rules(profile, evaluate_all=True))
    assert (found.outcome, found.words, found.paragraphs, found.removed_sections) == ("kept", 784, 5, 2)
    assert (found.top_word, found.top_share) == ("mitosis", 5 / top_of)
    assert (found.language, found.language_votes) == ("en", {"en": 5, "de": 1, "uz": 1})
    assert found.log_prob == log_probability(f"Residue\n{NOISE}", samples.unigrams())


UNITS = st.tuples(
    st.sampled_from([None, "A", "A::B", "C"]),
    st.sampled_from(
        ["", "EQUATION", english(120, 1), english(130, 2), english(110, 3), GERMAN, "xqz vvkt wqx", "l1 " * 60]
    ),
)
DOCUMENTS = st.builds(
    paper,
    title=st.sampled_from([None, "", "A significant title"]),
    abstract=st.sampled_from([None, "", english(60, 4), GERMAN]),
    date=st.sampled_from([None, "1969", "1970", "2022-12"]),
    body=st.none() | st.lists(UNITS, max_size=9),
    open_access=st.booleans(),
)


@given(DOCUMENTS, st.sampled_from(NAMES), st.sampled_from(["s2orc", "s2ag"]))
@settings(max_examples=80)
def test_only_kept_documents_have_text(document: Any, profile: str, set_: Set) -> None:
    decision = decide(document, set_, make_rules(profile))
    assert isinstance(decision.outcome, CleanOutcome)
    assert (decision.text is not None) == (decision.outcome is CleanOutcome.KEPT)
    tuned = decide(document, set_, make_rules(profile, evaluate_all=True))
    assert (tuned.outcome, tuned.text) == (decision.outcome, decision.text)
    assert tuned.words is not None and (set_ == "s2ag" or tuned.removed_sections is not None)


def test_every_outcome_belongs_to_a_rule() -> None:
    given = {rule.outcome for sets in PROFILES.values() for rules in sets.values() for rule in rules.rules}
    assert given | {CleanOutcome.KEPT} == set(CleanOutcome)


@pytest.mark.parametrize("given", [{"min_words": 300}, {"max_top_share": 0.1}, {"layout": "template"}])
def test_profile_refuses_thresholds_that_it_ignores(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=f"{next(iter(given))}: .* given; profile recipe-2024 ignores this field"):
        make_rules("recipe-2024", **given)
    assert make_rules("card", **given)


def test_profile_needs_its_word_list() -> None:
    with pytest.raises(ValidationError, match="profile card needs unigrams"):
        CleanRules(profile="card")


def test_order_of_full_texts_is_completed() -> None:
    found = CleanRules()  # The S2ORC corpus is PDFs.
    assert (found.text_from, found.language_characters) == (("pdf", "latex", "jats", "elsevier"), 2000)
    assert make_rules(text_from="latex").text_from == ("latex", "pdf", "jats", "elsevier")
    assert make_rules(text_from=["jats", "latex"]).text_from == ("jats", "latex", "pdf", "elsevier")
    with pytest.raises(ValidationError, match="text_from"):
        make_rules(text_from=7)


LONG = f"{english(1000, 7)} {english(1, 8)}"
"""1,001 words"""


def repeat(word: str, times: int) -> Body:
    """Return a body of 1,000 words with `word` as the most frequent word."""
    return [*((None, english(200, i)) for i in range(4)), (None, english(200 - times, 4)), (None, f"{word} " * times)]


@pytest.mark.parametrize(
    ("set_", "fields", "expected"),
    [
        ("s2orc", {}, "kept"),
        ("s2orc", {"title": " \n", "abstract": None}, "no_title"),
        ("s2orc", {"abstract": ""}, "no_abstract"),
        ("s2orc", {"body": None, "open_access": False}, "no_parse"),
        ("s2orc", {"open_access": False, "title": None}, "closed"),
        ("s2orc", {"date": None}, "no_year"),
        ("s2orc", {"date": "1970"}, "kept"),
        ("s2orc", {"date": "1969-12-31", "paragraphs": 4}, "before_min_year"),
        ("s2orc", {"words": 499, "date": None}, "short"),
        ("s2orc", {"paragraphs": 4}, "few_paragraphs"),
        ("s2orc", {"body": []}, "not_english"),
        ("s2ag", {}, "kept"),
        ("s2ag", {"abstract": "  "}, "no_abstract"),
        ("s2ag", {"abstract": GERMAN * 4}, "abstract_not_english"),
        ("s2ag", {"title": None}, "title_not_english"),
        ("s2ag", {"title": NOISE}, "title_not_english"),
        ("s2ag", {"abstract": english(50)}, "kept"),
        ("s2ag", {"abstract": english(49), "date": None}, "abstract_short"),
        ("s2ag", {"abstract": english(1000, 7)}, "kept"),
        ("s2ag", {"abstract": LONG}, "abstract_long"),
        ("s2ag", {"date": None}, "no_year"),
        ("s2ag", {"date": "1970"}, "kept"),
        ("s2ag", {"date": "1969-12-31"}, "before_min_year"),
    ],
)
def test_document_has_the_outcome_of_its_first_failed_rule(set_: Set, fields: dict[str, Any], expected: str) -> None:
    assert decide(paper(**fields), set_).outcome == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ([("A", "EQUATION"), ("B", "EQUATION .")], "not_english"),
        # Most paragraphs decide the language; a tie is not English.
        ([(None, english(110, i)) for i in range(5)] + [(None, GERMAN)] * 4, "kept"),
        ([(None, english(110, i)) for i in range(5)] + [(None, GERMAN)] * 5, "not_english"),
        # A paragraph with fewer than ten letters has no vote.
        ([*samples.split_evenly(600, 5), *((None, f"{n}.5") for n in range(9))], "kept"),
        # Words are counted with headers and before formulas are removed: here 499, and 500 with one formula.
        ([("Head", text) for _, text in samples.split_evenly(498, 5)], "short"),
        ([("Head", text) for _, text in samples.split_evenly(498, 5)] + [("Head", "EQUATION")], "kept"),
        # Paragraphs of removed sections do not count.
        ([("Results", english(150, i)) for i in range(4)] + [("Residue", NOISE)], "few_paragraphs"),
        # The top word: at most 7.5 % of the words, letters only, the first in a tie, case-sensitive.
        (repeat("naïve", 74), "kept"),
        (repeat("naïve", 75), "bad_top_word"),
        (repeat("l1", 74), "bad_top_word"),
        (repeat("a", 74), "kept"),
        ([*samples.split_evenly(1000, 5), (None, "l1 mitosis " * 30)], "bad_top_word"),
        ([*samples.split_evenly(1000, 5), (None, "Mitosis mitosis " * 45)], "kept"),
        # It is counted after removal.
        ([("Results", english(110, i)) for i in range(5)] + [("Residue", "xqz1 " * 200)], "kept"),
    ],
)
def test_full_text_has_the_outcome_of_its_body(body: Body, expected: str) -> None:
    assert decide(paper(body)).outcome == expected


def test_improbable_section_is_removed_with_its_paragraphs() -> None:
    """A section is judged as a unit, and a section without paragraphs is not removed."""
    body = [("Xqzvvk::Results", english(120, i)) for i in range(4)] + [("Residue", NOISE), ("Methods", english(60, 9))]
    decision = decide(paper([*body, ("Methods", NOISE)]))
    assert (decision.outcome, decision.paragraphs, decision.removed_sections) == ("kept", 6, 1)
    assert decision.text is not None and "Residue" not in decision.text and decision.text.count(NOISE) == 1
    assert decision.text.split("\n\n")[2] == "Xqzvvk"


@pytest.mark.parametrize(
    ("set_", "mean", "fields", "expected"),
    [
        ("s2orc", -20.0, {"body": SENTENCES}, "kept"),  # A section is removed below the threshold.
        ("s2orc", -20.01, {"body": SENTENCES}, "few_paragraphs"),
        ("s2ag", -19.99, {}, "kept"),
        ("s2ag", -20.0, {}, "abstract_improbable"),  # An abstract and a title are dropped at the threshold.
        ("s2ag", -20.0, {"title": NOISE}, "title_not_english"),
        ("s2ag", -19.99, {"title": NOISE}, "kept"),  # A title may be in another language if its words are probable.
    ],
)
def test_log_probability_is_compared_with_the_threshold(
    set_: Set, mean: float, fields: dict[str, Any], expected: str
) -> None:
    """The threshold is from the spec or from the word list."""
    flat = Unigrams("every word has this share", {}, mean, threshold=-20.0)
    assert decide(paper(**fields), set_, samples.CARD, flat).outcome == expected
    assert decide(paper(**fields), set_, samples.RECIPE, flat).outcome == expected
    other = Unigrams("another threshold", {}, mean, threshold=0.0)
    assert decide(paper(**fields), set_, make_rules(min_log_prob=-20.0), other).outcome == expected


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        ("a " * 5, "bad_top_word"),  # The second most frequent word is a title word; see below.
        ("a " * 5 + "mitosis " * 4, "kept"),
        ("a " * 5 + "l1 " * 4, "bad_top_word"),
        ("A " * 5 + "mitosis " * 4, "bad_top_word"),
        ("mitosis, " * 5, "bad_top_word"),
        ("of " * 5 + "l1 " * 5, "kept"),
    ],
)
def test_top_word_of_an_abstract_is_a_word(most: str, expected: str) -> None:
    # The title's first word, which has a hyphen, is the second most frequent word unless a case changes that.
    document = paper(title="Two-fold significant results", abstract=f"{most} {english(70, 5)}")
    assert decide(document, "s2ag").outcome == expected


@pytest.mark.parametrize(
    ("layout", "after_header", "between"), [("sections", "\n", "\n"), ("template", "\n", "\n\n"), ("template_blank", "\n\n", "\n\n")]
)  # fmt: skip
def test_text_of_full_text_has_title_abstract_and_blocks(
    layout: Literal["sections", "template", "template_blank"], after_header: str, between: str
) -> None:
    one, two, three, four, five = paragraphs = [english(100, i) for i in range(5)]
    sections = ["Introduction", "Introduction", "Methods::Data", None, None]
    decision = decide(paper(list(zip(sections, paragraphs, strict=True))), rules=make_rules(layout=layout))
    body = f"Introduction{after_header}{one}{between}{two}\n\nMethods\n\nData{after_header}{three}\n\n{four}{between}{five}"
    assert decision.text == f"{TITLE}\n\n{english(60, 99)}\n\n{body}"
    assert (decision.words, decision.paragraphs) == (503, 5)


@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
def test_spec_can_keep_unknown_years(set_: Set) -> None:
    assert decide(paper(date=None), set_, make_rules(unknown_year="keep")).outcome == "kept"


@pytest.mark.parametrize(
    ("status", "outcome"), [("retracted", "retracted"), ("withdrawn", "withdrawn"), ("corrected", "kept")]
)
@pytest.mark.parametrize("profile", ["card", "recipe-2024"])
@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
def test_spec_can_exclude_retracted_papers(set_: Set, profile: str, status: str, outcome: str) -> None:
    document = paper(SENTENCES, abstract=f"{english(60, 1)} x y", editorial=status)
    assert decide(document, set_, make_rules(profile, editorial="exclude")).outcome == outcome
    assert decide(document, set_, make_rules(profile)).outcome == "kept"
