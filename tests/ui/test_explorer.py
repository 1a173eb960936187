"""docs/explorer.md: the explorer's counts are those of the tables, and each filter, bar and page shows the documents that it names."""

import html
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.outcomes import CleanOutcome
from s2corpus.pipeline.run import Run
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS
from tests.ui.conftest import page_over
from tests.ui.pages import INJECTED, read, words
from tests.unit.s2corpus.snapshot.test_removed import make

AT = "corpus_release__small/20230101"
OF = f"{AT}/documents"
IDS = re.compile(r'<li><a dir="auto" href="[^"]*/text/([0-9a-f]{15})">')


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a release of 80 papers with every outcome of clean and split."""
    return make(tmp_path_factory.mktemp("explorer") / "plain")


@pytest.fixture(scope="module")
def page(run: Run) -> Any:
    return page_over(run.scratch / "lake")


def decisions(run: Run, set_: str) -> list[dict[str, Any]]:
    """Return the decisions of clean and split about the papers that passed the filter, with their outcome as the page names it."""
    passed = {r["paper_id"] for r in run.table(FILTERED).read().to_pylist() if r["outcome"] == "kept"}
    papers = {r["paper_id"]: r for r in run.table(PAPERS).read().to_pylist()}
    splits = {(r["set"], r["paper_id"]): r["split"] for r in run.table(SPLITS).read().to_pylist()}
    found = []
    for row in run.table(DOCUMENTS).read().to_pylist():
        if row["set"] == set_ and row["paper_id"] in passed:
            split = splits.get((set_, row["paper_id"]), "")
            held_back = f"split.{split}" if split.startswith("held_back") else split
            outcome = held_back if row["outcome"] == CleanOutcome.KEPT else f"clean.{row['outcome']}"
            found.append(papers[row["paper_id"]] | row | {"outcome": outcome})
    return found


def list_ids(page: Any, address: str) -> list[str]:
    """Return the ids of the listed documents on all pages."""
    ids: list[str] = []
    for number in range(1, 100):
        text = read(page, f"{address}&page={number}")
        ids += IDS.findall(text)
        if 'rel="next"' not in text:
            return ids
    raise AssertionError("more than 100 pages")


@pytest.mark.parametrize("set_", ["s2orc", "s2ag"])
def test_explorer_counts_and_lists_each_decision(set_: str, page: Any, run: Run) -> None:
    rows = decisions(run, set_)
    counts = Counter(row["outcome"] for row in rows)
    text = read(page, f"{OF}/{set_}")
    options = re.search(r'<select name="outcome">(.*?)</select>', text)
    assert options and dict(re.findall(r"<option value=\"([^\"]+)\">[^<]* \((\d+)\)", options[1])) == {
        outcome: str(n) for outcome, n in counts.items()
    }
    assert f"{len(rows)} of {len(rows)} documents" in words(text) and len(counts) > 4
    for outcome, n in counts.items():
        ids = list_ids(page, f"{OF}/{set_}?outcome={outcome}")
        assert Counter(ids) == Counter(row["paper_id"] for row in rows if row["outcome"] == outcome) and len(ids) == n


def test_each_filter_limits_the_documents(page: Any, run: Run) -> None:
    rows = decisions(run, "s2orc")
    years = sorted(int(row["date"][:4]) for row in rows if row["date"])
    middle = str(years[len(years) // 2])
    field = next(row["fields_of_study"][0] for row in rows if row["fields_of_study"])
    filters: list[tuple[dict[str, object], Callable[[dict[str, Any]], object]]] = [
        ({"first": middle}, lambda row: (row["date"] or "0000")[:4] >= middle),
        ({"last": middle}, lambda row: row["date"] and row["date"][:4] <= middle),
        ({"field": field}, lambda row: field in (row["fields_of_study"] or ())),
        ({"rule": "clean.min_log_prob"}, lambda row: row["removed_sections"]),
        ({"source": "pdf", "outcome": "train"}, lambda row: row["outcome"] == "train" and row["sha1"] == row["canonical_pdf"]),
        ({"by": "words", "low": 567}, lambda row: row["words"] is not None and row["words"] >= 567),
        ({"by": "words", "high": 567}, lambda row: row["words"] is not None and row["words"] < 567),
    ]  # fmt: skip
    for query, is_chosen in filters:
        expected = {row["paper_id"] for row in rows if is_chosen(row)}
        assert set(list_ids(page, f"{OF}/s2orc?{urlencode(query)}")) == expected, query
    licences = re.findall(r'<option value="([^"]+)">', read(page, f"{OF}/s2orc").partition('name="licence"')[2])
    found = [list_ids(page, f"{OF}/s2orc?{urlencode({'licence': licence})}") for licence in licences[:2]]
    assert found[0] and not set(found[0]) & set(found[-1] if len(found) > 1 else ())


def test_histogram_counts_documents_and_its_bars_lead_to_them(page: Any, run: Run) -> None:
    text = read(page, f"{OF}/s2orc?by=words&order=descending")
    table = text.partition("<tbody>")[2].partition("</tbody>")[0]
    bins = re.findall(r'<a href="\?([^"]+)">[^<]*</a></th><td>([^<]*)</td>', table)
    counted = [sum(map(int, re.findall(r"(\d+)(?:,|$)", counts))) for _, counts in bins]
    with_words = [row for row in decisions(run, "s2orc") if row["words"] is not None]
    assert sum(counted) == len(with_words) > 40
    shown = [len(list_ids(page, f"{OF}/s2orc?{html.unescape(query)}")) for query, _ in bins]
    assert shown == counted
    assert f"<title>clean.min_words: {run.spec.clean.min_words}</title>" in text
    threshold = run.spec.clean.text_rules.threshold
    sections = text.partition("<figcaption>section_log_probs</figcaption>")[2].partition("</figure>")[0]
    assert f"<title>clean.min_log_prob: {threshold:g}</title>" in sections
    n = sum(len(row["section_log_probs"] or ()) for row in with_words)
    assert f'aria-label="section_log_probs: {n:,} values"' in sections


def test_list_is_sorted_by_the_chosen_value(page: Any, run: Run) -> None:
    values = {row["paper_id"]: row["words"] for row in decisions(run, "s2orc")}
    ids = [id_ for id_ in list_ids(page, f"{OF}/s2orc?by=words&order=descending") if values[id_] is not None]
    assert [values[id_] for id_ in ids] == sorted((values[id_] for id_ in ids), reverse=True) and len(ids) > 2


def test_release_without_snapshot_or_scores_states_the_reason(run: Run, tmp_path: Path) -> None:
    lake = copied(run, tmp_path)
    manifest = lake / "snapshots" / str(run.snapshot_id) / "manifest.json"
    manifest.write_text(manifest.read_text().replace("tables/scores/", "tables/others/"))
    assert "without tables/scores" in words(read(page_over(lake), f"{OF}/s2orc"))
    manifest.unlink()
    assert "This release has no complete snapshot." in words(read(page_over(lake), f"{OF}/s2orc"))


def copied(run: Run, to: Path) -> Path:
    """Copy the lake to a folder where a test may change it."""
    return Path(shutil.copytree(run.scratch / "lake", to / "lake"))


def test_markup_in_scores_and_parameters_is_escaped(run: Run, tmp_path: Path) -> None:
    lake = copied(run, tmp_path)
    for path in (lake / "snapshots" / str(run.snapshot_id) / "tables" / "scores").glob("*.parquet"):
        table = pq.read_table(path)
        for name in ("outcome", "source", "title", "licence", "rules", "fields_of_study"):
            at = table.schema.get_field_index(name)
            value = [INJECTED] if pa.types.is_list(table.schema.types[at]) else INJECTED
            table = table.set_column(at, table.field(name), pa.array([value] * len(table)))
        pq.write_table(table, path)
    page = page_over(lake)
    for query in (
        {},
        {"outcome": INJECTED},
        {"field": INJECTED, "rule": INJECTED, "licence": INJECTED},
        {"source": "'; DROP TABLE x --"},
    ):
        text = read(page, f"{OF}/s2orc?{urlencode(query)}")
        bare = re.sub(r'<script src="[^"]*" defer></script>', "", text)
        assert "<script" not in bare and "<img" not in bare and "&lt;script&gt;alert(1)" in bare
