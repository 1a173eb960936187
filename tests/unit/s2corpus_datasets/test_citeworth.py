"""CiteWorth §3: rules agree with the table of citeworth_sentences.txt and a reader; fields are balanced, and people can judge a sheet."""

import csv
import re
from collections import Counter
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from devtools.bench.datasets import REAL, extracted_papers
from s2corpus_datasets.citations import cited_sentences
from s2corpus_datasets.citeworth import rules
from s2corpus_datasets.citeworth.dataset import SPLITS
from s2corpus_datasets.citeworth.rules import CiteWorthParams, classify_paragraph, classify_sentence
from s2corpus_datasets.job import Job
from tests.snapshots import real_articles
from tests.unit.house.test_imports import ROOT
from tests.unit.s2corpus_datasets.conftest import FIELDS, content, lines, make, papers

SENTENCES = Path(__file__).with_name("citeworth_sentences.txt")
PARAMS = CiteWorthParams()
FROGS = "We looked at frogs in ponds. They are green and loud. They breed in spring"
SENTENCE = "Frogs are common in the north [1]."
PARSE: dict[str, Any] = {
    "body_text": [{"section": "Introduction", "text": SENTENCE, "ref_spans": [], "section_path": "Introduction",
                   "cite_spans": [{"start": 30, "end": 33, "text": "[1]", "ref_id": "BIBREF0"}]}],
    "bib_entries": {"BIBREF0": {}}, "ref_entries": {"FIGREF0": {}},
}  # fmt: skip


def table(first_column: str) -> list[list[str]]:
    text = SENTENCES.read_text("utf-8").split(f"| {first_column} | outcome |")[1].partition("\n#")[0]
    lines = [line for line in text.splitlines()[2:] if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def paragraph(marked: str, section: str = "Introduction") -> dict[str, object]:
    """Return a paragraph from text that has citation marks in braces."""
    text, spans = "", list[dict[str, object]]()
    for piece in re.split(r"(\{[^}]*\})", marked):
        inner = piece.strip("{}") if piece.startswith("{") else piece
        if piece.startswith("{"):
            place = {"start": len(text), "end": len(text) + len(inner)}
            spans.append({**place, "text": inner, "ref_id": f"BIBREF{len(spans)}"})
        text += inner
    return {"section": section, "text": text, "cite_spans": spans}


@pytest.mark.parametrize("row", table("sentence"), ids=lambda row: row[0])
def test_sentence_has_its_outcome_and_label(row: list[str]) -> None:
    marked, outcome, label, text = row
    given = paragraph(marked)
    (sentence,) = cited_sentences(given)
    what, cleaned = classify_sentence(str(given["text"]), sentence, PARAMS.min_chars)
    assert what == outcome
    if label:
        assert (cleaned, "check-worthy" if sentence.marks else "non-check-worthy") == (text, label)


@pytest.mark.parametrize(
    ("text", "section", "outcome"),
    [
        (f"Study area: {FROGS} {{[1]}}.", "RESULTS AND DISCUSSION", "kept"),  # without the run-in heading
        (f"{FROGS}.", "Introduction", "no_citation"),
        ("We looked at frogs in ponds. They breed in spring {[1]}.", "Introduction", "few_sentences"),
        (f"We looked {{[2]}} at ponds. {FROGS} {{[1]}}.", "Methods", "citation_not_at_end"),
    ],
)
def test_failed_sentence_drops_its_paragraph(text: str, section: str, outcome: str) -> None:
    what, samples = classify_paragraph(PARAMS, paragraph(text, section))
    assert what == outcome
    assert [sample["text"] for sample in samples[:1]] == ["We looked at frogs in ponds."] * (outcome == "kept")


def test_long_list_of_numbers_takes_linear_time() -> None:
    """Check an input on which the published regular expression does not terminate."""
    given = paragraph("This is a list of numbers [" + "1, " * 5_000 + "x].")
    (sentence,) = cited_sentences(given)
    assert classify_sentence(str(given["text"]), sentence, 21)[0] is rules.CiteworthParagraphOutcome.KEPT


@pytest.mark.usefixtures("shared_data")
def test_sentences_of_real_papers_match_a_readers_judgment() -> None:
    truth = {start: list(rows) for start, rows in groupby(table("paragraph begins"), key=itemgetter(0))}
    assert sum(map(len, truth.values())) >= 30
    paragraphs = [one for paper in real_articles() for one in paper["parses"]["jats"]["body_text"]]
    found = {start: one for one in paragraphs for start in truth if one["text"].startswith(start)}
    assert found.keys() == truth.keys()
    for start, one in found.items():
        for sentence, (_, expected, cites, end) in zip(cited_sentences(one), truth[start], strict=True):
            outcome, text = classify_sentence(one["text"], sentence, PARAMS.min_chars)
            # A reader sees a citation that was not extracted.
            assert (outcome, bool(sentence.marks) or outcome == "citation_missed") == (expected, cites == "yes"), start
            assert outcome != "kept" or (text.endswith(end) and not re.search(r"\[\d|\d\]", text))


def test_citeworth_is_balanced_and_split_by_papers(made: dict[str, Job]) -> None:
    splits = {split: lines(made["citeworth"], f"/{split}/") for split in SPLITS}
    found = [line for split in splits.values() for line in split]
    for line in found:
        assert [s["label"] for s in line["samples"]] == ["check-worthy"] * 3 + ["non-check-worthy"]
        assert all("[" not in s["text"] for s in line["samples"])
    assert Counter(line["mag_field_of_study"][0] for line in found) == dict.fromkeys(FIELDS, 20 * 3)
    train, dev, test = ({line["paper_id"] for line in split} for split in splits.values())
    assert not train & dev and not train & test and not dev & test
    assert sum(len(line["samples"]) for line in found) == 60 * 3 * 4
    assert abs(len(train) - 48) <= 1


@pytest.mark.slow
@pytest.mark.usefixtures("shared_data")
def test_baseline_of_the_paper_learns_from_real_sentences(tmp_path: Path) -> None:
    """Run the recipe of docs/datasets.md on the papers of docs/quality.md (CiteWorth §4, Table 4)."""
    (recipe,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "docs/datasets.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    job = make(tmp_path, "citeworth", [*real_articles(), *extracted_papers()], **REAL["citeworth"])
    names: dict[str, Any] = {}
    exec(re.sub(r'"datasets/.*?"', repr(str(tmp_path / job.prefix)), recipe), names)
    labels, predicted = names["labels"], names["model"].predict(names["texts"])
    cites = [guess == "check-worthy" for guess, label in zip(predicted, labels, strict=True) if label == "check-worthy"]
    others = [
        guess == "check-worthy" for guess, label in zip(predicted, labels, strict=True) if label != "check-worthy"
    ]
    assert len(cites) + len(others) > 150
    assert sum(cites) / len(cites) > sum(others) / len(others) + 0.1, "no better than chance"


def test_sheet_has_sentences_of_both_labels_without_their_labels(tmp_path: Path) -> None:
    """Check the sheet of §3.3: 500 citing and 500 other sentences (here 7) in random order."""
    job = make(tmp_path, "citeworth", papers(), sheet_sentences=7)
    files = [*content(job, "sheet.csv").values(), *content(job, "sheet_key.csv").values()]
    rows, keys = (list(csv.DictReader(data.decode().splitlines())) for data in files)
    assert [list(row) for row in rows] == [["item", "sentence", "extracted_correct", "markers_removed"]] * 14
    assert [row["item"] for row in rows] == [row["item"] for row in keys] == sorted({row["item"] for row in rows})
    assert not any(row["extracted_correct"] + row["markers_removed"] for row in rows)
    labels = [row["label"] for row in keys]
    assert Counter(labels) == {"check-worthy": 7, "non-check-worthy": 7} and labels != sorted(labels)
    of = {(line["paper_id"], str(line["section_index"])): line for line in lines(job)}
    for row, origin in zip(rows, keys, strict=True):
        samples = of[origin["paper_id"], origin["section_index"]]["samples"]
        assert (row["sentence"], origin["label"]) in {(" ".join(s["text"].split()), s["label"]) for s in samples}
