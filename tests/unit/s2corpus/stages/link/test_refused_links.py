"""SPEC §7.13: `corpus explain` shows links with a warning, and the papers that linking refused for an entry, with the evidence."""

from pathlib import Path

import orjson
import pytest

from s2corpus.evaluation import refused_links
from s2corpus.evaluation.refused_links import find_refused_links, find_warned_links
from s2corpus.pipeline.run import Run
from s2corpus.storage.lake import Lake
from tests.commands import invoke
from tests.unit.s2corpus.stages.link.test_stage import author, entry, paper, release, run_link

PLACE = {"journal": "Journal of Wood", "volume": "7", "pages": "11-19"}
PAPERS = [
    paper("citing", "A paper that cites others", date="2005"),
    paper(
        "bees",
        "Foraging of honey bees in alpine meadows",
        date="1999",
        authors=author("Bauer"),
        **PLACE | {"pages": "1-9"},
    ),
    paper("news", "Book reviews", date="1999", authors=author("Bauer"), **PLACE),
    paper(
        "cut",
        "Pollen: a long history of its study in Europe and the Baltic lands",
        date="1999",
        authors=author("Maier"),
        volume="3",
    ),
]
ENTRIES = [
    entry("citing", 1, "Foraging of bumble bees in alpine meadows", year=1999, authors=author("Bauer")),
    entry("citing", 2, "Reply to: Foraging of honey bees in alpine meadows", year=1999, authors=author("Bauer")),
    entry("citing", 3, "Book reviews", year=2001),
    entry("citing", 4, "Pollen: a long history of its study", year=1980, authors=author("Maier")),
    entry("citing", 5, None, year=2002, venue="Annals of Stone", volume="7", pages="11"),
    entry("citing", 6, "Quantum error correction of surface codes", year=1999),
    entry("citing", 7, "Foraging of honey bees in alpine meadows", year=1999),
    entry("citing", 8, "A paper that cites others"),
]  # fmt: skip


MEMBER = {
    "paper_id": "citing", "record_id": "crossref:10.1/citing", "source": "crossref", "kind": "publisher", "delivery": "d",
    "ready_at": "2023-01-01T00:00:00Z", "authors": [], "subjects": [],
}  # fmt: skip


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    made = release(lake, tmp_path, PAPERS, ENTRIES, members=(MEMBER,))
    links = run_link(made)
    assert [ref for (_, ref), row in links.items() if row["cited_paper_id"]] == ["BIBREF7"]
    return made


def unlinked() -> set[tuple[str, str]]:
    return {("pdf", f"BIBREF{number}") for number in (1, 2, 3, 4, 5, 6, 8)}


def test_nearest_refused_paper_has_the_deciding_fact(run: Run) -> None:
    found = {row.ref_id: row for row in find_refused_links(run, "citing", unlinked()) or ()}
    assert {ref: row.paper_id for ref, row in found.items()} == {
        "BIBREF1": "bees", "BIBREF2": "bees", "BIBREF3": "news", "BIBREF4": "cut", "BIBREF5": "news",
    }  # fmt: skip
    for ref, words in {
        "BIBREF1": "is not above 0.8 (§7.4)",
        "BIBREF2": "a notice, a reply or a review (§7.19)",
        "BIBREF3": "a short or generic title needs equal year and surname, or volume and page (§7.6)",
        "BIBREF4": "the shorter title needs equal year and surname; year differs (§7.7)",
        "BIBREF5": "an entry without a title needs equal journal, volume, page and year (§7.16)",
    }.items():
        assert words in found[ref].reason, ref
    assert "document differ −20" in found["BIBREF2"].evidence.replace("-", "−")
    assert "year apart" in found["BIBREF4"].evidence
    assert "of 7" in found["BIBREF4"].evidence


def test_large_release_is_not_searched(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_links, "MAX_SEARCHED_PAPERS", 3)
    assert find_refused_links(run, "citing", unlinked()) is None
    assert find_refused_links(run, "citing", set()) == []


def test_command_prints_refused_links(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_LAKE", run.lake.root)
    explain = ("explain", "citing", "--release", run.release_id)
    lines = invoke(*explain, catch=False).output.splitlines()
    [line] = [line for line in lines if "BIBREF2" in line]
    assert "does not link to bees “Foraging of honey bees in alpine meadows”: one is a notice, a reply" in line
    trace = orjson.loads(invoke(*explain, "--json", catch=False).stdout)
    assert [row["ref_id"] for row in trace["refused_links"]] == [f"BIBREF{number}" for number in range(1, 6)]


HASTIE = "Hastie T, Tibshirani R, Friedman J."
STATISTICS = "The Elements of Statistical Learning: Data Mining, Inference, and Prediction"
LIONS = "The concentration-compactness principle in the calculus of variations. The locally compact case, part"
POINCARE = {"authors": author("Lions"), "volume": "1"}
REAL_PAPERS = [
    paper("citing", "A review of statistical methods", date="2020"),
    paper("book", STATISTICS, date="2009", authors=author("Hastie")),
    paper("lions", f"{LIONS} 1", date="1984", pages="109-145", **POINCARE),
    paper("pan", "A Survey on Transfer Learning", date="2010", authors=author("Pan"), volume="22", pages="1345-1359"),
    paper("osc", "Estimating the reproducibility of psychological science", date="2015", volume="349", pages="aac4716"),
]
PAN = "Pan SJ, Yang Q. A survey on transfer learning. IEEE Trans Knowl Data Eng 2010;22:1345-59."
CHAPTER = f"{HASTIE} Unsupervised learning. In: {STATISTICS}. New York: Springer; 2009. p. 485-585."
COMMENT = (
    "Gilbert DT, King G, Pettigrew S, Wilson TD. Comment on “Estimating the reproducibility of psychological science”. "
    "Science 2016;351:1037."
)
REAL_ENTRIES = [
    entry("citing", 1, STATISTICS, year=2001, authors=author("Hastie"), raw_text=f"{HASTIE} {STATISTICS}. New York: Springer; 2001."),
    entry("citing", 2, f"{LIONS} 2", year=1984, pages="223-283", **POINCARE),
    entry("citing", 3, None, raw_text=CHAPTER),
    entry("citing", 4, None, raw_text=PAN),
    entry("citing", 5, None, raw_text=COMMENT),
]  # fmt: skip


def test_real_references_show_warnings_and_titles(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = release(lake, tmp_path, REAL_PAPERS, REAL_ENTRIES, members=(MEMBER,))
    links = run_link(run)
    assert {ref: (row["cited_paper_id"], row["warning"]) for (_, ref), row in links.items()} == {
        "BIBREF1": ("book", "contradiction"), "BIBREF2": ("lions", "numeral"), "BIBREF3": (None, None),
        "BIBREF4": ("pan", None), "BIBREF5": (None, None),
    }  # fmt: skip
    edition, part = find_warned_links(run, "citing", list(links.values()))
    assert (edition.paper_id, edition.similarity, edition.warning) == ("book", 1.0, "contradiction")
    assert edition.evidence == "title equal +10, authors agree +4, year apart -9: 5 of 7"
    assert "number differ -9" in part.evidence
    refused = find_refused_links(run, "citing", {("pdf", "BIBREF3"), ("pdf", "BIBREF5")})
    assert refused is not None
    chapter, comment = refused
    assert (chapter.paper_id, chapter.cited) == ("book", CHAPTER)
    assert "that of a book" in chapter.reason
    assert "title equal +10, authors agree +4, year equal +1" in chapter.evidence
    assert comment.paper_id == "osc"
    assert "the text contains the title, but not its year or surname, or volume and page" in comment.reason
    monkeypatch.setenv("S2CORPUS_LAKE", run.lake.root)
    printed = invoke("explain", "citing", "--release", run.release_id, catch=False).output
    assert f"pdf BIBREF1 “{STATISTICS}” links with the warning contradiction to book" in printed
    assert f"pdf BIBREF3 “{CHAPTER}” does not link to book" in printed
