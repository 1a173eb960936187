"""SPEC §5.25, §5.26: an operator's correction replaces one field; a license becomes more open only with the URL of its statement."""

import json
from typing import Any

import pytest

from s2corpus.errors import UserError
from s2corpus.papers.ballots import DeliveredRecord
from s2corpus.papers.corrections import CORRECTABLE, Corrections, parse_value, read_corrections
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.licenses import to_spdx
from s2corpus.papers.rows import Article, ArxivParse
from s2corpus.papers.vote import Pdf, elect_metadata
from s2corpus.rules import VoteRules
from tests.unit.s2corpus.papers.samples import A, B, C, declare, header, is_preprint, publisher, record

PAPER = "0123456789abcde"
URL = "https://www.aclweb.org/anthology/faq/copyright/"
"""the page on which the ACL Anthology states CC BY-NC-SA 3.0 before 2016, and CC BY 4.0 since"""


def line(field: str, value: str, ready_at: str = "2026-05-01", **others: Any) -> str:
    given = {
        "paper_id": PAPER, "field": field, "value": value, "reason": "the publisher wrote to us", "evidence": "a letter",
        "ready_at": f"{ready_at}T00:00:00.000000Z", "by": "ann",
    }  # fmt: skip
    return json.dumps({**given, **others})


def correct(*lines: str, **present: str) -> Corrections:
    return Corrections.of(read_corrections("\n".join(lines).encode()), present)


def vote(corrections: Corrections, license: str | None = "CC-BY-4.0", is_open: bool | None = True) -> Any:
    """Vote on a paper that two sources describe, with the PDF A that its drop declares."""
    records = [
        publisher(title="A fomal model", date="2017", doi="10.1/a"), record("dblp", title="A fomal model", date="2017"),
        header(title="A Formal Model", doi="10.1/a"), declare(title="A fomal model"),
    ]  # fmt: skip
    pdfs = {A: Pdf("2026-01-01", (Declaration("d", "a.pdf", is_open, license),))}
    delivered = [DeliveredRecord(one) for one in records]
    return elect_metadata(PAPER, delivered, VoteRules(), pdfs=pdfs, is_preprint=is_preprint, corrections=corrections)


def list_outcomes(corrections: Corrections) -> list[tuple[str, str, str]]:
    return [(row["field"], row["value"], str(row["outcome"])) for row in corrections.rows()]


def test_corrected_field_wins_and_others_are_voted() -> None:
    corrections = correct(line("title", "A Formal Model"), line("date", "2018-03"))
    paper = vote(corrections)
    assert (paper.values["title"], paper.values["date"], paper.values["doi"]) == (
        "A Formal Model", ("2018-03", "month"), "10.1/a",
    )  # fmt: skip
    title = paper.provenance["title"]
    assert (title.source, str(title.rule), title.votes_for, title.votes_against) == ("correction", "correction", 0, 3)
    assert title.record_id == f"correction:{PAPER}/title@2026-05-01T00:00:00.000000Z"
    assert paper.provenance["doi"].source == "crossref" and vote(Corrections()).values["title"] == "A fomal model"
    assert {outcome for *_, outcome in list_outcomes(corrections)} == {"applied"}


def test_later_correction_of_a_field_replaces_an_earlier_one() -> None:
    corrections = correct(line("title", "Second", "2026-06-01"), line("title", "First", "2026-05-01"))
    assert vote(corrections).values["title"] == "Second"
    assert list_outcomes(corrections) == [("title", "First", "superseded"), ("title", "Second", "applied")]


@pytest.mark.parametrize(
    ("stated", "corrected", "others", "license", "outcome"),
    [
        ("CC-BY-4.0", "CC BY-NC 4.0", {}, "CC-BY-NC-4.0", "applied"),  # less open: a letter is enough
        ("CC-BY-4.0", "All rights reserved", {}, "All rights reserved", "applied"),
        ("CC-BY-NC-4.0", "CC-BY-4.0", {}, "CC-BY-NC-4.0", "refused"),
        ("CC-BY-NC-4.0", "CC-BY-4.0", {"evidence": URL}, "CC-BY-NC-4.0", "refused"),  # names no text
        ("CC-BY-NC-4.0", "CC-BY-4.0", {"files": [A]}, "CC-BY-NC-4.0", "refused"),  # a letter is no URL
        ("CC-BY-NC-4.0", "CC-BY-4.0", {"evidence": URL, "files": [B]}, "CC-BY-NC-4.0", "refused"),
        ("CC-BY-NC-4.0", "CC-BY-4.0", {"evidence": URL, "files": [A]}, "CC-BY-4.0", "applied"),
        (None, "CC-BY-4.0", {"evidence": URL, "files": [A]}, "CC-BY-4.0", "applied"),
        (None, "CC-BY-4.0", {}, None, "refused"),
    ],
)  # fmt: skip
def test_license_becomes_less_open_always_and_more_open_with_evidence(
    stated: str | None, corrected: str, others: dict[str, Any], license: str | None, outcome: str
) -> None:
    corrections = correct(line("license", corrected, **others))
    openness = vote(corrections, stated).access[A]
    assert openness.license == license and openness.open and openness.evidence == "declared"
    assert [word for *_, word in list_outcomes(corrections)] == [outcome]
    is_explained = (openness.license_detail or "").startswith(
        f"{license}, was {stated or 'not stated'}: corrected by correction:"
    )
    assert is_explained is (outcome == "applied")
    assert any("does not apply to this text" in look.detail for look in openness.searches) is (outcome == "refused")


@pytest.mark.parametrize(
    ("declared", "value", "others", "evidence"),
    [
        (True, "false", {}, None), (None, "true", {"evidence": URL, "files": [A]}, "correction"), (None, "true", {"files": [A]}, None),
        (False, "true", {"evidence": URL, "files": [B]}, None), (True, "true", {}, "declared"),
    ],
)  # fmt: skip
def test_openness_follows_the_same_rule(
    declared: bool | None, value: str, others: dict[str, Any], evidence: str | None
) -> None:
    openness = vote(correct(line("open_access", value, **others)), is_open=declared).access[A]
    assert (openness.open, openness.evidence) == (evidence is not None, evidence)


def test_stricter_license_applies_to_all_full_texts_of_the_paper() -> None:
    from tests.unit.s2corpus.papers.test_rows import member, rows

    corrections = Corrections.of(read_corrections(line("license", "CC-BY-NC-4.0").encode()), {PAPER: "p"})
    (row,) = rows(
        member(f"grobid:{A}", file_sha1=A), member("arxiv:1911.02782", arxiv_id="1911.02782", license="CC-BY-4.0"), member("jats:1"),
        pdfs={A: Pdf("2023", (Declaration("d", "a.pdf", True, "CC-BY-4.0"),))}, corrections=corrections,
        latex_parses={"1911.02782": ArxivParse(B, "parse", "1911.02782")},
        articles={"jats:1": Article(C, "jats", "2023", open_access=True, license="CC-BY-4.0")},
    )  # fmt: skip
    assert [(text["kind"], text["license"]) for text in row["access"]] == [
        (kind, "CC-BY-NC-4.0") for kind in ("pdf", "latex", "jats")
    ]
    assert row["license"] == "CC-BY-NC-4.0"


def test_correction_follows_a_merged_paper_and_reports_an_absent_one() -> None:
    merged = correct(line("title", "A Formal Model", paper_id="f" * 15), **{"f" * 15: PAPER})
    assert vote(merged).values["title"] == "A Formal Model" and list_outcomes(merged)[0][2] == "applied"
    absent = correct(line("title", "A Formal Model", paper_id="f" * 15))
    assert vote(absent).values["title"] == "A fomal model" and list_outcomes(absent)[0][2] == "no_paper"


def test_release_takes_corrections_that_were_ready_before_it() -> None:
    content = "\n".join([line("title", "May"), line("title", "June", "2026-06-01")]).encode()
    before = [one.value for one in read_corrections(content, "2026-06-01T00:00:00.000000Z")]
    assert before == ["May"] and len(read_corrections(content)) == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("not JSON", "Invalid JSON"),
        (line("abstract", "x"), "'abstract' given: expected a field, one of title, authors"),
        (line("licenses", "CC-BY-4.0"), "'licenses' given (did you mean license?): expected a field"),
        (line("date", "in spring"), "date: 'in spring' given: expected a value of date"),
        (line("open_access", "yes"), "open_access: 'yes' given: expected true or false"),
        (line("doi", "none"), "doi: 'none' given: expected a value of doi"),
        (line("title", "x", reason="no"), "reason: String should have at least 10 characters"),
        (line("title", "x", ready_at="May"), "ready_at: String should match pattern"),
        (line("title", "x", paper_id="10.1/a"), "paper_id: String should match pattern"),
        (line("title", "x", comment="?"), "comment: Extra inputs are not permitted"),
        (line("title", "x")[:-1] + ', "field": "doi"}', "the key 'field' is given twice"),
        (line("title", "Another"), "another line corrects the same field at the same instant"),
    ],
)
def test_wrong_line_stops_the_release_with_its_number(wrong: str, message: str) -> None:
    with pytest.raises(UserError) as refused:
        read_corrections(f"{line('title', 'Right')}\n\n{wrong}\n".encode())
    assert str(refused.value).startswith("corrections.jsonl, line 3: ") and message in str(refused.value)


def test_values_are_read_like_those_of_records() -> None:
    read = {
        "authors": "Ada B. Lovelace; Alan Turing",
        "date": "2018-03-05", "doi": "https://doi.org/10.1000/ABC", "arxiv_id": "arXiv:1911.02782v2",
        "license": "http://creativecommons.org/licenses/by-nc-sa/3.0/", "pages": "10--20", "pmc_id": "pmc5334499",
    }  # fmt: skip
    values = {name: parse_value(name, text) for name, text in read.items()}
    assert [(a.first, a.last) for a in values.pop("authors")] == [("Ada", "Lovelace"), ("Alan", "Turing")]
    assert to_spdx(values.pop("license")) == "CC-BY-NC-SA-3.0"
    assert values == {
        "date": ("2018-03-05", "day"), "doi": "10.1000/abc", "arxiv_id": "1911.02782", "pages": "10-20", "pmc_id": "PMC5334499",
    }  # fmt: skip
    assert set(values) < set(CORRECTABLE)


@pytest.mark.parametrize(
    ("name", "text"), [("date", "2019-13"), ("date", "2019-02-30"), ("doi", "none"), ("open_access", "maybe")]
)
def test_text_that_is_no_value_is_refused(name: str, text: str) -> None:
    with pytest.raises(UserError, match=f"{name}: '{text}' given: expected "):
        parse_value(name, text)
