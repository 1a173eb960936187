"""The benchmark of record matching: records in the documented forms of three sources, whose DOIs decide what is one paper."""

import csv
import json
import sys
from pathlib import Path

import pytest

from devtools.bench import journals

CROSSREF = [
    {"DOI": "10.5555/Jx.1", "type": "journal-article", "title": ["On Engines"], "author": [{"given": "Ada", "family": "Byron"}],
     "container-title": ["Journal of X"], "volume": "3", "page": "1-9", "issued": {"date-parts": [[1843, 9]]}},
    {"DOI": "10.5555/jx.2", "type": "journal-article", "title": ["On Notes (doi:10.5555/jx.2)"], "issued": {"date-parts": [[1844]]}},
    {"DOI": "10.5555/jx", "type": "journal", "title": ["Journal of X"]},
]  # fmt: skip
DBLP = """<?xml version="1.0" encoding="ISO-8859-1"?><dblp>
<article key="journals/jx/Byron43" mdate="2020-01-01"><author>Ada Byron</author><title>On Engines.</title><pages>1-9</pages>
<year>1843</year><volume>3</volume><journal>J. X</journal><ee>https://doi.org/10.5555/JX.1</ee></article>
<article key="journals/jx/B44" mdate="2020-01-01"><author>Ada Byron</author><title>On Notes.</title><year>1844</year></article>
<article key="journals/other/C45" mdate="2020-01-01"><author>C. C</author><title>Other.</title><ee>https://doi.org/10.5555/jx.2</ee></article>
</dblp>"""
ARTICLE = """<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>{title}</ArticleTitle>
<ELocationID EIdType="doi" ValidYN="Y">{doi}</ELocationID></Article></MedlineCitation></PubmedArticle>"""
ABSTRACTS = [
    ("11", "Abstract S1", "10.5555/jx.s"), ("12", "Abstract S2", "10.5555/jx.s"), ("13", "Notes", "10.5555/jx.2"),
]  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Build the benchmark by its command."""
    (tmp_path / "works.json").write_text(json.dumps({"message": {"items": CROSSREF}}))
    (tmp_path / "dblp.xml").write_text(DBLP)
    articles = "".join(ARTICLE.format(pmid=pmid, title=title, doi=doi) for pmid, title, doi in ABSTRACTS)
    (tmp_path / "pubmed.xml").write_text(f"<PubmedArticleSet>{articles}</PubmedArticleSet>")
    run(
        monkeypatch, "build", f"crossref={tmp_path}/works.json", f"dblp={tmp_path}/dblp.xml", f"medline:pubmed={tmp_path}/pubmed.xml",
        "--only", "dblp:journals/jx/", "--out", str(tmp_path / "bench"),
    )  # fmt: skip
    (tmp_path / "bench" / "printed").write_text(capsys.readouterr().out)
    return tmp_path / "bench"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["journals", *arguments])
    journals.main()


def read_gold(bench: Path) -> dict[str, str]:
    with (bench / "gold.csv").open() as file:
        return {row["record"]: row["doi"] for row in csv.DictReader(file)}


def test_gold_is_doi_of_each_source(bench: Path) -> None:
    gold = read_gold(bench)
    found = sorted((record.split(":")[0], doi) for record, doi in gold.items())
    assert found == [
        ("crossref", "10.5555/jx.1"), ("crossref", "10.5555/jx.2"), ("dblp", "10.5555/jx.1"),
        ("medline", "10.5555/jx.2"),
    ]  # fmt: skip
    assert list(gold) == sorted(gold)


def test_records_have_no_identifier(bench: Path) -> None:
    text = (bench / "records.jsonl").read_text()
    assert "10.5555" not in text.lower()
    rows = {row["record_id"]: row for row in map(json.loads, text.splitlines())}
    assert set(rows) == set(read_gold(bench))
    by_source = {row["source"]: row for row in rows.values() if row.get("title") != "Notes"}
    assert by_source["dblp"]["authors"] == [{"first": "Ada", "middle": [], "last": "Byron", "suffix": ""}]
    assert by_source["dblp"]["pages"] == "1-9"


def test_build_prints_outcomes_and_pairs(bench: Path) -> None:
    assert (bench / "printed").read_text().splitlines() == [
        "crossref: not_a_paper 1, used 2", "dblp: elsewhere 1, no_doi 1, used 1", "medline: shared_doi 2, used 1",
        "DOIs in 2 sources: 2", "pairs of crossref and dblp: 1",
        "pairs of crossref and medline: 1",
    ]  # fmt: skip


def test_score_counts_pairs_by_source(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # One cluster has Crossref's two records and DBLP's: 3 pairs, one right of the gold's 2. MEDLINE's record is not listed.
    clusters = tmp_path / "clusters.csv"
    names = [record for record in read_gold(bench) if record.startswith(("crossref", "dblp"))]
    clusters.write_text("id,group\n" + "".join(f"{name},1\n" for name in names))
    run(monkeypatch, "score", str(bench), str(clusters))
    lines = {line[:28].strip(): line[28:].split() for line in capsys.readouterr().out.splitlines()}
    assert lines["crossref and crossref"][:3] == ["0", "1", "0"]
    assert lines["crossref and dblp"] == ["1", "2", "1", "0.5000", "1.0000", "0.6667"]
    assert lines["all"] == ["2", "3", "1", "0.3333", "0.5000", "0.4000"]


def test_score_refuses_unknown_record(bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clusters.csv").write_text("record,cluster\nnobody,1\n")
    with pytest.raises(SystemExit, match="nobody occurs 1 times"):
        run(monkeypatch, "score", str(bench), str(tmp_path / "clusters.csv"))


def test_missing_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="expected NAME=FILE"):
        run(monkeypatch, "build", "crossref=absent.json", "--out", str(tmp_path))
