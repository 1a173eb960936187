"""A paper without a declared field takes the field of at least 80 % of at least five other papers of its journal (SPEC §5.14)."""

from collections import Counter
from itertools import chain
from typing import Any

import pytest

from devtools.real_data import REAL_DATA
from s2corpus.papers.ballots import DeliveredRecord
from s2corpus.papers.journals import ANY, FieldInference, list_declared_fields, list_journals
from s2corpus.papers.vote import FieldDecision, VotedPaper, VoteRule, elect_metadata
from s2corpus.rules import VoteRules
from s2corpus.sources import Record, read
from tests.unit.s2corpus.papers.samples import header, record

MEDICINE, BIOLOGY, NONE = ("Medicine",), ("Biology",), ()
PLOS_ONE, NATURE = "1932-6203", "0028-0836"


def journal(*subjects: tuple[str, ...], **values: Any) -> list[list[Record]]:
    """Return a paper of a journal for each list of subjects."""
    return [[record("crossref", str(n), subjects=given, **values)] for n, given in enumerate(subjects)]


def vote(papers: list[list[Record]], number: int = 0) -> tuple[VotedPaper, Counter[str]]:
    """Return the voted paper with a number, and the tally of all papers."""
    counts: dict[str, Counter[str]] = {}
    for records in papers:
        fields = list_declared_fields(records)
        for name in chain(*list_journals(records)):
            counts.setdefault(name, Counter()).update([ANY, *fields] if fields else ())
    inference = FieldInference(counts)
    voted = [
        inference.complete(elect_metadata("p", [DeliveredRecord(one) for one in records], VoteRules()), records)
        for records in papers
    ]
    return voted[number], inference.tally


@pytest.mark.parametrize(
    ("others", "field", "votes"),
    [
        ([MEDICINE] * 5, "Medicine", (5, 0)), ([MEDICINE] * 4 + [BIOLOGY], "Medicine", (4, 1)),
        ([MEDICINE] * 4 + [BIOLOGY] + [NONE] * 9, "Medicine", (4, 1)), ([MEDICINE] * 4, None, None),
        ([MEDICINE] * 7 + [BIOLOGY] * 2, None, None),
        ([("Medicine", "Biology")] * 2 + [("Biology", "Medicine")] * 2 + [BIOLOGY], "Biology", (5, 0)),
    ],
)  # fmt: skip
def test_field_of_the_journals_other_papers_is_inferred(
    others: list[tuple[str, ...]], field: str | None, votes: tuple[int, int] | None
) -> None:
    paper, _ = vote(journal(NONE, *others, issns=(PLOS_ONE,)))
    assert paper.values.get("fields_of_study") == (field and (field,))
    why = votes and FieldDecision("journal", f"issn:{PLOS_ONE}", VoteRule.INFERRED, *votes)
    assert paper.provenance.get("fields_of_study") == why


def test_issn_precedes_the_name_of_the_journal() -> None:
    same_name = journal(*[BIOLOGY] * 9, issns=(NATURE,), journal="Nature")
    by_issn = journal(NONE, *[MEDICINE] * 5, issns=(PLOS_ONE,), journal="Nature")
    assert vote(by_issn + same_name)[0].values["fields_of_study"] == MEDICINE
    too_few = journal(NONE, *[MEDICINE], issns=(PLOS_ONE,), journal="NATURE.")
    paper, _ = vote(too_few + same_name)
    assert (paper.values["fields_of_study"], paper.provenance["fields_of_study"].record_id) == (BIOLOGY, "name:nature")


def test_only_declared_fields_count() -> None:
    """OpenAlex's model assigns fields, and headers of PDFs may name another journal."""
    assigned = [[record("openalex", str(n), issns=(PLOS_ONE,), subjects=MEDICINE)] for n in range(9)]
    paper = [record("crossref", issns=(PLOS_ONE,))]
    assert "fields_of_study" not in vote([paper, *assigned])[0].values
    with_header = [header(journal="Nature"), record("crossref")]
    assert "fields_of_study" not in vote([with_header, *journal(*[BIOLOGY] * 9, journal="Nature")])[0].values


def test_declared_fields_are_unchanged_and_measured_without_themselves() -> None:
    papers = journal(MEDICINE, *[MEDICINE] * 4, BIOLOGY, NONE, issns=(PLOS_ONE,))
    paper, tally = vote(papers)
    assert (paper.values["fields_of_study"], paper.provenance["fields_of_study"].rule) == (MEDICINE, "majority")
    # 4 of 5 others declare Medicine for each of its papers; for the biologist 5 of 5 do; the last paper has 5 of 6.
    assert tally == {"hidden": 6, "hidden.inferred": 6, "hidden.correct": 5, "missing": 1, "inferred": 1}


@pytest.mark.usefixtures("shared_data")
def test_hidden_fields_of_real_papers_are_mostly_inferred_right() -> None:
    """The figures of docs/quality.md."""
    paths = [path for name in ("jats", "pmc-pdf", "pmc-with-tei") for path in sorted((REAL_DATA / name).rglob("*ml"))]
    paths += [
        path for name in ("jats", "pmc-pdf", "pmc-with-tei") for path in sorted((REAL_DATA / name).rglob("*.nxml"))
    ]
    found = (entry for path in paths if not path.name.endswith(".tei.xml") for entry in read("jats", path))
    records = {entry.record_id: entry for entry in found if isinstance(entry, Record)}
    _, tally = vote([[one] for one in records.values()])
    print(dict(tally))
    assert tally["hidden"] > 100 and tally["hidden.inferred"] > 0.8 * tally["hidden"]
    assert tally["hidden.correct"] > 0.9 * tally["hidden.inferred"] and tally["inferred"] > 0.4 * tally["missing"]
