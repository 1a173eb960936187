"""The page "Corpus releases" (docs/monitoring.md): its numbers equal the tables.

What people decide is on it, with the commands and logs that they need, and so are the releases that a backfill would build.
"""

import hashlib
import html
import itertools
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import orjson
import pytest

from s2corpus.deliveries.expected import write_awaited
from s2corpus.ids import ReleaseId
from s2corpus.pipeline.funnel import build_funnel
from s2corpus.pipeline.summary import format_approval_request, format_summary
from s2corpus.spec import ScheduleRules
from s2corpus.storage.lake import open_lake
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FULLTEXTS
from tests.releases import PUBLISHED, SECOND, UNFINISHED, Built
from tests.ui.conftest import page_over
from tests.ui.pages import AT, DRIFT, change_verdict, copied, read, stalled, words

# `tests.ui.conftest` puts the plugins on the path.
from s2corpus_airflow.release_page.lists import list_rejects  # isort: skip
from s2corpus_airflow.release_page.releases import Archive  # isort: skip
from s2corpus_airflow.release_page.states import DagRun, FailedTask  # isort: skip


def test_word_counts_are_equal_everywhere(page: Any, built: Built) -> None:
    run = built.runs[PUBLISHED]
    sets = orjson.loads(run.lake.get(f"snapshots/{run.snapshot_id}/stats.json")[0])["sets"]
    printed, asked, shown = format_summary(run), format_approval_request(run, {}), words(read(page, AT[PUBLISHED]))
    for set_, splits in sets.items():
        assert re.search(rf"Words of {set_}\s+{sum(split['words'] for split in splits.values())}\b", printed)
        for split, counted in splits.items():
            assert f"| {set_} {split} | {counted['documents']:,} | {counted['words']:,} |" in asked
    total = sum(split["words"] for splits in sets.values() for split in splits.values())
    assert f"{total:,} words" in shown and total > 1000


def test_every_dropped_paper_is_listed(page: Any, built: Built) -> None:
    run = built.runs[PUBLISHED]
    steps = build_funnel(Archive(run.lake).metrics(PUBLISHED))
    assert [step.label for step in steps][:5] == ["PDFs delivered", "selected", "extracted", "parsed", "Papers"]
    for before, step in itertools.pairwise(steps):
        assert step.starts or step.count + sum(n for _, n in step.left_out) == before.count, step
    left = [(step, word, n) for step in steps if step.stage for word, n in step.left_out]
    assert {word for _, word, _ in left} >= {"unreadable", "no_authors", "closed", "no_parse"}
    for step, word, n in left:
        rows, more = list_rejects(run, step.stage, word, step.set)
        assert (len(rows), more) == (n, False), (step, word)
        address = f"{AT[PUBLISHED]}/rejects/{step.stage}?outcome={word}" + (f"&set={step.set}" if step.set else "")
        assert read(page, address).partition("<main")[2].count("<li><a ") == n


def test_page_of_a_paper_shows_who_decided_each_field(page: Any, built: Built) -> None:
    row = next(r for r in built.runs[PUBLISHED].table(PAPERS).read().to_pylist() if len(r["record_ids"]) > 1)
    said = words(read(page, f"{AT[PUBLISHED]}/paper/{row['paper_id']}"))
    for field, by in dict(row["provenance"]).items():
        if row[field] and field not in ("abstract", "fields_of_study"):
            assert f"{by['record_id']} {by['rule']} {by['votes_for']} {by['votes_against']}" in said, field
    assert all(record in said for record in row["record_ids"])


@pytest.mark.parametrize("of", ["paper_id", "record_id", "doi", "canonical_pdf", "title"])
def test_paper_is_found_by_its_identifiers(of: str, page: Any, built: Built) -> None:
    row = next(r for r in built.runs[PUBLISHED].table(PAPERS).read().to_pylist() if r["canonical_pdf"] and r["doi"])
    query = {**row, "record_id": row["record_ids"][0], "title": row["title"][4:20].upper()}[of]
    answer = page.get(f"{AT[PUBLISHED]}/find", params={"q": query})
    if answer.status_code == 303:
        answer = page.get(urljoin(str(answer.url), answer.headers["location"]))
    assert answer.status_code == 200 and f"/paper/{row['paper_id']}" in answer.text + str(answer.url)


def test_documents_are_shown_as_published(page: Any, built: Built) -> None:
    run = built.runs[PUBLISHED]
    texts = {r["paper_id"]: r["text"] for r in run.table(DOCUMENTS).read().to_pylist() if r["text"]}
    for paper_id, text in texts.items():
        title, _, rest = text.partition("\n\n")
        text_page = re.sub(
            r'<del\b.*?</del>|<p class="why">.*?</p>', "", read(page, f"{AT[PUBLISHED]}/text/{paper_id}"), flags=re.DOTALL,
        )  # fmt: skip
        assert f'<h1 dir="auto">{html.escape(title)}</h1>'.replace("&#x27;", "&#39;") in text_page
        assert "".join(f"Abstract{rest}".split()) in "".join(words(text_page).split())


def test_closed_paper_has_no_readable_text(page: Any, built: Built) -> None:
    run = built.runs[PUBLISHED]
    (closed,) = [row for row in run.table(FULLTEXTS).read().to_pylist() if not row["open_access"]]
    said = words(read(page, f"{AT[PUBLISHED]}/text/{closed['paper_id']}"))
    paragraphs = [p["text"] for p in orjson.loads(closed["parse"])["body_text"]]
    assert len(paragraphs) > 5 and not [text for text in paragraphs if " ".join(text.split()) in said]


def test_files_of_a_snapshot_are_listed_and_can_be_downloaded(page: Any, built: Built) -> None:
    run, listed = built.runs[PUBLISHED], read(page, f"{AT[PUBLISHED]}/snapshot")
    manifest = orjson.loads(run.lake.get(f"snapshots/{run.snapshot_id}/manifest.json")[0])
    for file in manifest["files"]:
        assert file["path"] in listed and file["sha256"] in listed
        if file["path"] not in ("README.md", "index.parquet", "v2/s2orc/train/00.jsonl.gz"):
            continue
        answer = page.get(f"{AT[PUBLISHED]}/file/{file['path']}")
        assert hashlib.sha256(answer.content).hexdigest() == file["sha256"]
        assert int(answer.headers["content-length"]) == file["bytes"]
        assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''sample-20230201-")
        assert answer.headers["content-type"] == "application/octet-stream"


# Decisions of people


def test_releases_that_await_a_person_are_listed_first(built: Built, tmp_path: Path) -> None:
    lake = stalled(built, tmp_path)
    runs = {"run_of": lambda spec, as_of: DagRun("scheduled__2023-03-01T00:00:00+00:00", "running")}
    page = page_over(lake, f"sqlite:///{tmp_path / 'catalog.db'}", **runs)
    text = read(page, "")
    waiting = text[text.index("Decision required") : text.index("<h2>sample</h2>")]
    assert re.search(
        r"awaits approval sample-20230301 6 documents, .* stopped by a check sample-20230401", words(waiting)
    )
    run = "/dags/corpus_release__sample/runs/scheduled__2023-03-01T00%3A00%3A00%2B00%3A00"
    assert f'href="{run}/required_actions"' in waiting
    assert f'href="{run}"' in read(page, AT[SECOND]) and f'href="{run}/tasks/group/link"' in read(page, AT[SECOND])


def test_failed_run_links_to_its_logs(built: Built) -> None:
    failed = DagRun("by hand/1", "failed", [FailedTask("link.work", 3), FailedTask("filter.quality")])
    shown = read(page_over(built.lake, run_of=lambda spec, as_of: failed), AT[UNFINISHED])
    run = "/dags/corpus_release__sample/runs/by%20hand%2F1"
    assert f'href="{run}/tasks/link.work/mapped/3"' in shown and f'href="{run}/tasks/filter.quality"' in shown
    assert "failed first: logs of link.work[3] , logs of filter.quality" in words(shown)


def test_blocked_check_shows_rows_values_and_accept_command(built: Built, tmp_path: Path) -> None:
    (folder := tmp_path / "a $b").mkdir()
    lake = stalled(built, folder)
    page = page_over(lake)
    line = f"corpus accept {UNFINISHED} filter.{DRIFT} --lake '{lake}' --reason"
    assert f"cp -r &#39;{lake}/snapshots/" in read(page, f"{AT[PUBLISHED]}/snapshot")
    for shown in (words(read(page, AT[UNFINISHED])), words(read(page, f"{AT[UNFINISHED]}/quality"))):
        assert line in shown and "clear filter.quality" in shown and "0.25 0.75" in shown
    quality = words(read(page, f"{AT[UNFINISHED]}/quality"))
    assert "This check stops the release unless a user overrides it with a reason; threshold 0.5" in quality
    assert "This check stops the release and cannot be overridden" in quality


def test_override_is_shown_with_person_and_reason(built: Built, tmp_path: Path) -> None:
    lake = copied(built, tmp_path)
    accepted = {"accepted": "<b>because</b>", "accepted_by": "<i>ann</i>"}
    change_verdict(lake, UNFINISHED, DRIFT, verdict="block", offending=1, **accepted)
    page = page_over(lake)
    assert "stopped by a check" not in words(read(page, "")), "it went on"
    for shown in (read(page, AT[UNFINISHED]), read(page, f"{AT[UNFINISHED]}/quality")):
        assert "corpus accept" not in shown, "it is accepted"
        assert "by &lt;i&gt;ann&lt;/i&gt;: &lt;b&gt;because&lt;/b&gt;" in shown


def test_release_shows_the_drops_that_it_awaits(built: Built, tmp_path: Path) -> None:
    lake, release = copied(built, tmp_path), ReleaseId("sample-20230501")
    write_awaited(open_lake(str(lake)), release, ["publisher-<a>-2023-04"], datetime(2023, 5, 4, 6, tzinfo=UTC))
    page = page_over(lake)
    for path in ("", release.page_path):
        assert "awaits publisher-&lt;a&gt;-2023-04 until 2023-05-04 06:00 UTC" in read(page, path)


def test_drops_show_their_state_and_reason(built: Built, tmp_path: Path) -> None:
    lake = stalled(built, tmp_path)
    for paused, standing in ((False, "waiting"), (True, "paused")):
        said = words(read(page_over(lake, drops_paused=lambda paused=paused: paused), "drops"))
        assert "drops/2023-03-10-refused refused: changed" in said and "a.pdf: 1 byte found, 2 listed" in said
        assert "drops/2023-03-11-writing not ready yet" in said
        assert f"drops/2023-03-12-ready {standing}" in said
        assert re.search(rf"drops/2023-01-a released [^a-z]* in {built.runs[PUBLISHED].snapshot_id}", said)


# Intervals and backfills


@pytest.mark.parametrize(
    ("schedule", "first", "last", "starts"),
    [
        (ScheduleRules(end_date=date(2023, 2, 28)), date(2022, 6, 1), date(2024, 1, 1), ["2023-01-01", "2023-02-01"]),
        (ScheduleRules(start_date=date(2023, 1, 2)), date(2023, 1, 1), date(2023, 2, 1), ["2023-02-01"]),
        (ScheduleRules(cron="0 0 * * 1"), date(2023, 1, 1), date(2023, 1, 10), ["2023-01-02", "2023-01-09"]),
        (ScheduleRules(on_drop=True), date(2023, 1, 1), date(2024, 1, 1), []),
    ],
)
def test_intervals_begin_in_range_and_spec(schedule: ScheduleRules, first: date, last: date, starts: list[str]) -> None:
    assert [start.date().isoformat() for start, _ in schedule.intervals(first, last)] == starts
