"""People judge all citations and bibliography entries of a parse and count the missing items, which gives F1 with its interval.

The truth is counted by hand. Impossible marks are refused with the item and line.
"""

import csv
import io
from math import isclose
from pathlib import Path

import orjson
import pytest

from s2corpus.catalog import Catalog
from s2corpus.errors import UserError
from s2corpus.evaluation.results import parse_results
from s2corpus.evaluation.sample import ParseItem, ParseLine, ParseTask, sample_parses
from s2corpus.evaluation.sheet import LineMarks, check, read_numbers, read_parses
from s2corpus.evaluation.statistics import accuracy, f1, grouped_accuracy, kappa
from s2corpus.pipeline.run import ReleaseTables, Run
from s2corpus.rules import EvaluationRules
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.texts import FILTERED, FULLTEXTS, LINKS
from tests.unit.s2corpus.evaluation.conftest import RELEASE, run_command, write

PARSE = {
    "title": "Ours", "authors": [], "back_matter": [],
    "abstract": [{"text": "See [1].", "cite_spans": [{"start": 4, "end": 7, "text": "[1]", "ref_id": "BIBREF0"}]}],
    "body_text": [{"text": "Lee and [9] agree.", "cite_spans": [{"start": 8, "end": 11, "text": "[9]", "ref_id": None}]}],
    "bib_entries": {
        "BIBREF0": {
            "title": "=Cells", "authors": [{"first": "Ann", "middle": ["B."], "last": "Lee", "suffix": ""}], "year": 2001,
            "venue": "Nature", "volume": "7", "issue": "", "pages": "", "other_ids": {"DOI": ["10.1/x"]}, "raw_text": "1. Lee. =Cells",
        },
    },
}  # fmt: skip


def item(paper: str, lines: int, task: ParseTask = ParseTask.CITATIONS) -> ParseItem:
    return ParseItem(f"{task}:{paper}", task, paper, "a" * 40, "Title", (ParseLine("⟦1⟧", "Lee"),) * lines)


@pytest.fixture
def release(run: Run, catalog: Catalog) -> Run:
    """Return a release of five papers with PDFs: p3 is closed, p4 is filtered out, p5 has a LaTeX source only."""
    papers = [f"p{n}" for n in range(1, 6)]
    write(run, MEMBERS, [])
    write(run, LINKS, [])
    write(run, PAPERS, [{"paper_id": paper, "title": f"Paper {paper}"} for paper in papers])
    write(run, FILTERED, [{"paper_id": p, "outcome": "no_title" if p == "p4" else "kept"} for p in papers])
    write(run, FULLTEXTS, [
        {"paper_id": p, "parse_kind": "latex" if p == "p5" else "pdf", "parse_id": p, "file_sha1": p.ljust(40, "0"),
         "open_access": p != "p3", "parse": orjson.dumps(PARSE)} for p in papers
    ])  # fmt: skip
    return run


def test_sample_has_all_citations_and_entries_of_open_pdfs(release: Run) -> None:
    items = sample_parses(ReleaseTables(release.lake, RELEASE), EvaluationRules())
    assert {item.item for item in items} == {f"{task}:{paper}" for task in ParseTask for paper in ("p1", "p2")}
    entries, citations = items[:2]
    assert entries.lines == (
        ParseLine("1. Lee. =Cells", "title: =Cells | authors: Ann B. Lee | year 2001 | venue Nature | volume 7 | DOI 10.1/x"),
    )  # fmt: skip
    assert citations.lines == (
        ParseLine("See ⟦[1]⟧.", "BIBREF0 | Ann B. Lee | 2001 | =Cells"),
        ParseLine("Lee and ⟦[9]⟧ agree.", ""),
    )
    one = sample_parses(ReleaseTables(release.lake, RELEASE), EvaluationRules(parses=1))
    assert one == items[:2], "a smaller sample is the beginning of a larger one"


def test_marked_sheet_gives_f1_on_the_card(release: Run, tmp_path: Path) -> None:
    """Check counts by hand: 1 right, 1 wrong, 2 missing citations: precision 1/2, recall 1/3, F1 2/5."""
    sheet = tmp_path / "parses.csv"
    assert run_command(release, "evaluate", "--parses-sheet", sheet).startswith("4 items in ")
    rows = list(csv.DictReader(io.StringIO(sheet.read_text("utf-8"))))
    first = next(row["item"] for row in rows if "citations" in row["item"])
    marks = {"1": "Right", "2": "wrong", "missing": "2"}
    with sheet.open("w", encoding="utf-8-sig", newline="") as out:  # as a spreadsheet writes it
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"mark": marks[row["line"]] if row["item"] == first else ""} for row in rows)
    answer = run_command(release, "evaluate", "--marks", sheet, "--by", "ann")
    assert "Inline citations: precision 0.500 (" in answer and "recall 0.333 (" in answer and "F1 0.400 (" in answer
    assert "1 right, 1 wrong, 2 missing in 1 of 2 papers; by ann; S2ORC 0.89" in answer
    assert "Bibliographies: not evaluated (2 papers)" in answer
    snapshot = f"{RELEASE}-00000000"
    release.lake.put(f"snapshots/{snapshot}/README.md", b"# Card\n\n## Evaluation\n\nNot evaluated\n\n## Years\n")
    release.lake.put(f"snapshots/{snapshot}/manifest.json", b"{}")
    card = run_command(release, "evaluate", "--publish", "--card")
    assert "| Inline citations | 1 of 2 | 1 | 1 | 2 | 0.500 | 0.333 | 0.400 |" in card and "## Years" in card
    stored = orjson.loads(release.lake.get(f"snapshots/tiny/evaluated/{snapshot}.json")[0])
    assert isclose(stored["parses"][0]["f1"]["share"], 0.4)


def test_counts_of_several_people_are_combined() -> None:
    """Check that a line is right by majority, an unsure mark does not count, and the larger of two missing numbers does."""
    marks = {
        "citations:p1": {"ann": LineMarks((1,), (4,), 1), "bob": LineMarks((2,), (4,), 3)},
        "citations:p2": {"ann": LineMarks((), (), 1)},
        "citations:other": {"ann": LineMarks((), (), 9)},
    }
    found = parse_results([item("p1", 4), item("p2", 0)], marks)[0]
    # line 1 and 2: a tie, so wrong; line 3: right; line 4: nobody is sure
    assert (found.papers, found.marked, found.right, found.wrong, found.missing) == (2, 2, 1, 2, 4)
    assert found.precision and found.recall and found.f1 and found.kappa
    assert [found.precision.share, found.recall.share, found.f1.share] == pytest.approx([1 / 3, 1 / 5, 2 / 8])
    # 1 of 3 lines alike; both say right of 2/3, so that chance gives 5/9: (1/3 − 5/9) / (4/9)
    assert isclose(found.kappa, -0.5)
    assert found.markers == ("ann", "bob") and found.skipped is None


@pytest.mark.parametrize(
    ("right", "of", "low", "high"), [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)]
)
def test_wilson_intervals_equal_published_values(right: int, of: int, low: float, high: float) -> None:
    """Newcombe (1998), Table I: method 3."""
    found = accuracy([True] * right + [False] * (of - right))
    assert found is not None
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)


def test_kappa_equals_cohens_kappa() -> None:
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    assert kappa(pairs) == pytest.approx(0.4)  # the example of the article on Wikipedia, after Cohen (1960)
    assert kappa([(True, True)]) == 1.0
    assert kappa([]) is None and accuracy([]) is None


def test_interval_widens_if_errors_gather_in_few_papers() -> None:
    """Check the design effect by hand.

    Four papers of 10 marks have 10, 10, 0 and 0 right. The variance is 4/3 · 100/1600 = 1/12, so the effective number is 1/4 / (1/12) = 3.
    The t-score of 3 degrees, 3.18, replaces 1.96: 3 · (1.96 / 3.18)² = 1.14.
    """
    even = grouped_accuracy([(5, 10)] * 10)
    assert even == accuracy([True] * 50 + [False] * 50), "equal papers are as many independent marks"
    apart = grouped_accuracy([(10, 10), (10, 10), (0, 10), (0, 10)])
    assert apart and apart.share == 0.5
    half = 1.96 * (0.25 / 1.14 + 1.96**2 / (4 * 1.14**2)) ** 0.5 / (1 + 1.96**2 / 1.14)
    assert isclose((apart.high - apart.low) / 2, half, rel_tol=0.02)
    assert grouped_accuracy([(0, 0)]) is None and f1([]) is None
    one, alone = accuracy([True]), grouped_accuracy([(30, 30)])
    assert one and alone and (alone.right, alone.low) == (30, one.low), "one paper shows nothing about others"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("{r},citations:p1,1,yes", "line 2: 'yes' is not a mark: write right, wrong or unsure"),
        ("{r},citations:p9,1,right", "line 2: 'citations:p9' is not an item"),
        ("{r},citations:p1,3,right", "line 2: citations:p1 has no line '3'"),
        ("{r},citations:p1,1,right {r},citations:p1,1,wrong", "line 3: citations:p1, line 1 is marked twice"),
        ("{r},citations:p1,missing,-1", "line 2: '-1' is not a number of missing items: give 0 to 9,999"),
        ("{r},citations:p1,1,right {r},citations:p1,missing,0", "citations:p1: 1 of its lines have no mark, first '2'"),
    ],
)
def test_impossible_marks_of_a_sheet_are_refused(rows: str, message: str) -> None:
    text = f"release,item,line,mark {rows.format(r=RELEASE)}".replace(" ", "\n")
    with pytest.raises(UserError, match=message):
        read_parses(text.encode(), RELEASE, [item("p1", 2)])


@pytest.mark.parametrize(
    ("wrong", "unsure", "missing", "message"),
    [
        ("3", "", 0, "citations:p1 has no line 3: its lines are numbered from 1 to 2"),
        ("1", "1-2", 0, "citations:p1, line 1: mark it either wrong or unsure"),
        ("", "", -1, "citations:p1: -1 missing: give a number from 0 to 9,999"),
    ],
)
def test_impossible_marks_of_the_page_are_refused(wrong: str, unsure: str, missing: int, message: str) -> None:
    assert read_numbers(" 3, 17-20;4 ") == (3, 4, 17, 18, 19, 20) and read_numbers("") == ()
    with pytest.raises(UserError, match=message):
        check(item("p1", 2), LineMarks(read_numbers(wrong), read_numbers(unsure), missing))
