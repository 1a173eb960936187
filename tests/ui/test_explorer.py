"""docs/explorer.md: the explorer's counts equal the counts of the tables, and each filter and bar shows the documents that it names."""

import html
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.pipeline.run import Run
from s2corpus.storage.lake import open_lake
from s2corpus.tables.texts import FILTERED, LINKS
from tests.releases import PUBLISHED, Built
from tests.s3_store import s3_store
from tests.ui.conftest import page_over
from tests.ui.explorer import AT, OF, copied, decisions
from tests.ui.pages import AT as PAGES
from tests.ui.pages import INJECTED, read, words
from tests.unit.s2corpus.storage.test_lakes import use_server

IDS = re.compile(r'<li><a dir="auto" href="[^"]*/text/([0-9a-f]{15})">')


@pytest.fixture(scope="module")
def page(run: Run) -> Any:
    return page_over(run.scratch / "lake")


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
    licenses = re.findall(r'<option value="([^"]+)">', read(page, f"{OF}/s2orc").partition('name="license"')[2])
    found = [list_ids(page, f"{OF}/s2orc?{urlencode({'license': license})}") for license in licenses[:2]]
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


def test_scores_of_filter_and_link_are_counted_by_outcome(page: Any, built: Built) -> None:
    page, run = page_over(built.lake), built.runs[PUBLISHED]
    scores = (
        ("filter", "characters", "min_characters"), ("filter", "english", "min_english"), ("link", "score", "min_score"),
    )  # fmt: skip
    for stage, score, rule in scores:
        table, column = (FILTERED, "outcome") if stage == "filter" else (LINKS, "reason")
        rows = [row for row in run.table(table).read().to_pylist() if row[score] is not None]
        text = read(page, f"{PAGES[PUBLISHED]}/scores/{stage}")
        shown = text.partition(f'aria-label="{score}"')[2].partition("</table>")[0]
        counted = Counter[str]()
        for counts in re.findall(r'<th scope="row">[^<]*</th><td>([^<]*)</td>', shown):
            for word, n in re.findall(r"(\w+) ([\d,]+)(?:, |$)", counts):
                counted[word] += int(n.replace(",", ""))
        assert counted == Counter(row[column] for row in rows) and counted, (stage, score)
        threshold = getattr(getattr(run.spec, stage), rule)
        assert f"<title>{stage}.{rule}: {threshold:g}</title>" in text
        assert f'aria-label="{score}: {len(rows):,} values"' in text
    assert page.get(f"{PAGES[PUBLISHED]}/scores/clean").status_code == 422


def test_explorer_of_a_lake_on_s3(run: Run, page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_store() as store:
        use_server(monkeypatch, store.port)
        root = run.scratch / "lake"
        lake = open_lake("s3://corpus")
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            lake.put(path.relative_to(root).as_posix(), path.read_bytes())
        remote, paper = page_over("s3://corpus"), decisions(run, "s2orc")[0]["paper_id"]
        for address in (
            f"{OF}/s2orc",
            f"{OF}/s2ag?by=log_prob",
            f"{AT}/scores/filter",
            f"{AT}/scores/link",
            f"{AT}/text/{paper}",
        ):
            assert read(remote, address) == read(page, address), address


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


def test_markup_in_scores_and_parameters_is_escaped(run: Run, tmp_path: Path) -> None:
    lake = copied(run, tmp_path)
    for path in (lake / "snapshots" / str(run.snapshot_id) / "tables" / "scores").glob("*.parquet"):
        table = pq.read_table(path)
        for name in ("outcome", "source", "title", "license", "rules", "fields_of_study"):
            at = table.schema.get_field_index(name)
            value = [INJECTED] if pa.types.is_list(table.schema.types[at]) else INJECTED
            table = table.set_column(at, table.field(name), pa.array([value] * len(table)))
        pq.write_table(table, path)
    page = page_over(lake)
    for query in (
        {},
        {"outcome": INJECTED},
        {"field": INJECTED, "rule": INJECTED, "license": INJECTED},
        {"source": "'; DROP TABLE x --"},
    ):
        text = read(page, f"{OF}/s2orc?{urlencode(query)}")
        bare = re.sub(r'<script src="[^"]*" defer></script>', "", text)
        assert "<script" not in bare and "<img" not in bare and "&lt;script&gt;alert(1)" in bare
