"""The page "Corpus releases": its numbers equal those of the tables, every link has a target, and text from papers is
never interpreted as markup.
"""

from __future__ import annotations

import hashlib
import html
import itertools
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import orjson
import pytest

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision, ReleaseState
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.pipeline.summary import format_approval_request, format_summary
from s2corpus.storage.parts import TableRef
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import ALIASES, MEMBERS, PAPERS
from s2corpus.tables.parses import SELECTIONS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, ENTRIES, FULLTEXTS, SPLITS
from tests.ui.conftest import PUBLISHED, SECOND, UNFINISHED, Built, page_over

AT = {release: release.replace("sample-", "corpus_release__sample/") for release in (PUBLISHED, SECOND, UNFINISHED)}


def read(page: Any, path: str, status: int = 200) -> str:
    answer = page.get(path)
    assert answer.status_code == status, (path, answer.status_code, answer.text[-500:])
    return str(answer.text)


def words(text: str) -> str:
    """Return the visible text of HTML: no tags, one space between words."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", text)).split())


def pages(page: Any, start: str = "") -> Iterator[tuple[str, str]]:
    """Yield every linked page with its address; assert that no link leads outside."""
    first = str(page.base_url.join(start))
    todo, seen = [first], {first}
    while todo:
        at = todo.pop()
        answer = page.get(at)
        while answer.status_code == 303:
            answer = page.get(urljoin(at, answer.headers["location"]))
        assert answer.status_code == 200, (at, answer.status_code)
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        yield at, answer.text
        for link in re.findall(r'(?:href|src|action)="([^"#]+)', answer.text):
            to = urljoin(at, html.unescape(link))
            assert to.startswith((str(page.base_url), "data:,")), f"{at} links outside: {to}"
            if "/file/" in to and "/" in to.partition("/file/")[2]:
                continue  # Skip the hundreds of files in folders: another test downloads some of them.
            if to not in seen and not to.startswith("data:") and not to.endswith(("/find", "/compare")):
                seen.add(to)
                todo.append(to)


# Content of the page


def test_list_shows_the_state_of_every_release(page: Any) -> None:
    said = words(read(page, ""))
    assert re.search(r"2023-04-01 unfinished after filter .* 2023-03-01 latest .* 2023-02-01 published", said)
    assert "the same documents" in said


def test_word_counts_are_equal_everywhere(page: Any, built: Built) -> None:
    """Check that word counts agree in stats.json, in the output of `demo` and `build`, in the request for approval, and on the page."""
    run = built.runs[PUBLISHED]
    sets = orjson.loads(run.lake.get(f"snapshots/{run.snapshot_id}/stats.json")[0])["sets"]
    printed, asked, shown = format_summary(run), format_approval_request(run, {}), words(read(page, AT[PUBLISHED]))
    for set_, splits in sets.items():
        assert re.search(rf"Words of {set_}\s+{sum(split['words'] for split in splits.values())}\b", printed)
        for split, counted in splits.items():
            assert f"| {set_} {split} | {counted['documents']:,} | {counted['words']:,} |" in asked
    total = sum(split["words"] for splits in sets.values() for split in splits.values())
    assert f"{total:,} words" in shown and total > 1000


def test_list_shows_only_permitted_releases(built: Built) -> None:
    page = page_over(built.lake, visible=lambda: lambda dag_id: dag_id != "corpus_release__sample")
    assert "sample" not in words(read(page, ""))


def test_funnel_loses_no_paper(built: Built) -> None:
    from release_page.releases import Archive

    from s2corpus.pipeline.funnel import build_funnel

    steps = build_funnel(Archive(built.runs[PUBLISHED].lake).metrics(PUBLISHED))
    assert [step.label for step in steps][:5] == ["PDFs delivered", "selected", "extracted", "parsed", "Papers"]
    for before, step in itertools.pairwise(steps):
        if not step.starts:
            assert step.count + sum(n for _, n in step.left_out) == before.count, step


def test_every_dropped_paper_is_listed(page: Any, built: Built) -> None:
    from release_page.lists import list_rejects
    from release_page.releases import Archive

    from s2corpus.pipeline.funnel import build_funnel

    run = built.runs[PUBLISHED]
    left = [(s, word, n) for s in build_funnel(Archive(run.lake).metrics(PUBLISHED)) for word, n in s.left_out]
    assert {word for _, word, _ in left} >= {"unreadable", "no_authors", "closed", "no_parse"}
    for step, word, n in left:
        rows, more = list_rejects(run.tables, step.stage, word, step.set)
        assert (len(rows), more) == (n, False), (step, word)
        address = f"{AT[PUBLISHED]}/rejects/{step.stage}?outcome={word}" + (f"&set={step.set}" if step.set else "")
        assert read(page, address).partition("<main")[2].count("<li><a ") == n


def test_every_paper_ends_at_the_stage_of_its_tables(built: Built) -> None:
    from s2corpus.pipeline.trace import trace_paper

    run = built.runs[PUBLISHED]
    kept = {(r["set"], r["paper_id"]): r["split"] for r in run.table(SPLITS).read().to_pylist()}
    ends: Counter[str] = Counter()
    for paper in run.table(PAPERS).read(["paper_id", "title"]).to_pylist():
        way = trace_paper(run.tables, paper["paper_id"])
        assert way is not None and way.paper is not None and way.paper["title"] == paper["title"]
        split = kept.get(("s2orc", paper["paper_id"])) or kept.get(("s2ag", paper["paper_id"]))
        assert way.published == (split in ("train", "valid"))
        assert way.end.endswith(split) if split else way.end.startswith("excluded by"), way.end
        assert {row["record_id"] for row in way.records} == set(way.paper["record_ids"])
        ends[way.end.split(":")[0]] += 1
    assert ends["document of s2orc"] and ends["excluded by filter"]


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
    from release_page.lists import sample_documents

    run = built.runs[PUBLISHED]
    texts = {r["paper_id"]: r["text"] for r in run.table(DOCUMENTS).read().to_pylist() if r["text"]}
    tables = run.tables
    buckets = sample_documents(tables, "s2orc")[1]
    shown = {
        row["paper_id"]
        for set_ in ("s2orc", "s2ag")
        for n in range(buckets)
        for row in sample_documents(tables, set_, n + 1)[0]
    }
    assert shown == set(texts)
    for paper_id, text in texts.items():
        title, _, rest = text.partition("\n\n")
        text_page = read(page, f"{AT[PUBLISHED]}/text/{paper_id}")
        assert f'<h1 dir="auto">{html.escape(title)}</h1>'.replace("&#x27;", "&#39;") in text_page
        assert f"Abstract {' '.join(rest.split())}" in words(text_page)


def test_closed_paper_has_no_readable_text(page: Any, built: Built) -> None:
    run = built.runs[PUBLISHED]
    (closed,) = [row for row in run.table(FULLTEXTS).read().to_pylist() if not row["open_access"]]
    said = words(read(page, f"{AT[PUBLISHED]}/text/{closed['paper_id']}"))
    paragraphs = [p["text"] for p in orjson.loads(closed["parse"])["body_text"]]
    assert len(paragraphs) > 5 and not [text for text in paragraphs if " ".join(text.split()) in said]


def test_page_of_a_paper_lists_searched_evidence(page: Any, built: Built) -> None:
    run = built.runs[PUBLISHED]
    papers = [row for row in run.table(PAPERS).read().to_pylist() if row["access"]]
    assert {text["open_access"] for row in papers for text in row["access"]} == {True, False}
    for row in papers[:5] + [row for row in papers if not row["open_access"]]:
        said = words(read(page, f"{AT[PUBLISHED]}/paper/{row['paper_id']}"))
        for text in row["access"]:
            assert f"{text['sha1']} : {'open by ' + text['oa_evidence'] if text['open_access'] else 'closed'}" in said
            for look in text["looks"]:
                found = "found" if look["found"] else "not found"
                assert f"{look['evidence']} {found}: {' '.join(look['detail'].split())}" in said


def test_former_id_leads_to_its_paper(built: Built, tmp_path: Path) -> None:
    lake = _copied(built, tmp_path)
    paper_id = built.runs[PUBLISHED].table(PAPERS).read(["paper_id"])[0][0].as_py()
    _rewrite(lake, ALIASES, lambda rows: [*rows, {"alias": "0" * 15, "paper_id": paper_id}])
    said = words(read(page_over(str(lake)), f"{AT[PUBLISHED]}/paper/{'0' * 15}"))
    assert f"Paper {paper_id} , formerly 000000000000000" in said


def test_files_of_the_snapshot_equal_the_manifest(page: Any, built: Built) -> None:
    run = built.runs[PUBLISHED]
    text = read(page, f"{AT[PUBLISHED]}/snapshot")
    for file in orjson.loads(run.lake.get(f"snapshots/{run.snapshot_id}/manifest.json")[0])["files"]:
        assert file["path"] in text and file["sha256"] in text


def test_snapshot_on_s3_has_lines_to_copy() -> None:
    from release_page.releases import Archive

    class Bucket:
        def uri(self, key: str) -> str:
            return f"s3://corpus/{key}"

    files = [{"path": "v2/s2orc/train/00.jsonl.gz"}, {"path": "index.parquet"}]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:8333")
        lines = dict(Archive(Bucket()).list_download_commands("x-20230201-00000000", {"files": files}))  # type: ignore[arg-type]  # only `uri` is called
    end = "--endpoint-url http://127.0.0.1:8333"
    folder = "x-20230201-00000000/v2/s2orc/train/"
    assert lines["v2/s2orc/train"] == f"aws s3 sync s3://corpus/snapshots/{folder} {folder} {end}"


def test_blocking_check_shows_the_offending_rows(built: Built, tmp_path: Path) -> None:
    lake = _copied(built, tmp_path)
    path = lake / "releases" / UNFINISHED / "_quality" / "filter.json"
    verdicts = orjson.loads(path.read_bytes())
    verdicts[0] |= {"verdict": "block", "offending": 3, "rows": [{"paper_id": "<b>offender</b>"}]}
    path.write_bytes(orjson.dumps(verdicts))
    page = page_over(str(lake))
    assert "stopped by a check" in words(read(page, ""))
    checks = read(page, f"{AT[UNFINISHED]}/quality")
    assert "&lt;b&gt;offender&lt;/b&gt;" in checks and "3 offending" in words(checks)


def test_override_is_shown_with_person_and_reason(built: Built, tmp_path: Path) -> None:
    lake = _copied(built, tmp_path)
    path = lake / "releases" / UNFINISHED / "_quality" / "filter.json"
    verdicts = orjson.loads(path.read_bytes())
    verdicts[0] |= {"verdict": "block", "offending": 1, "accepted": "<b>because</b>", "accepted_by": "<i>ann</i>"}
    path.write_bytes(orjson.dumps(verdicts))
    page = page_over(str(lake))
    assert "stopped by a check" not in words(read(page, "")), "it went on"
    for shown in (read(page, AT[UNFINISHED]), read(page, f"{AT[UNFINISHED]}/quality")):
        assert "corpus accept" not in shown, "it is accepted"
        assert "by &lt;i&gt;ann&lt;/i&gt;: &lt;b&gt;because&lt;/b&gt;" in shown


@pytest.mark.parametrize(
    ("state", "shown"), [("awaiting", "awaits approval"), ("rejected", "rejected"), ("unpublished", "not published")]
)
def test_unpublished_release_shows_the_answers_of_people(state: str, shown: str, built: Built, tmp_path: Path) -> None:
    lake = _copied(built, tmp_path)
    for mark in (f"published/{built.runs[SECOND].snapshot_id}", "latest.json"):
        (lake / "snapshots" / "sample" / mark).unlink()
    shutil.copy(built.folder / "catalog.db", tmp_path / "catalog.db")
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    catalog.set_release_state(SECOND, ReleaseState(state), built.runs[SECOND].snapshot_id)
    catalog.record_decision(
        SECOND, "publish", "ann", ReleaseDecision.REJECTED, "<b>not yet</b>", datetime(2023, 3, 2, tzinfo=UTC)
    )
    page = read(page_over(str(lake), f"sqlite:///{tmp_path / 'catalog.db'}"), AT[SECOND])
    assert f">{shown}</span></h1>" in page
    assert "ann rejected publish &lt;b&gt;not yet&lt;/b&gt;" in " ".join(re.sub("<[^>]+>", " ", page).split())


@pytest.mark.parametrize(("state", "shown"), [("failed", "failed"), ("running", "running"), ("success", "unfinished")])
def test_unfinished_release_shows_the_airflow_state(state: str, shown: str, built: Built) -> None:
    from release_page.releases import Archive
    from release_page.states import DagRun

    archive = Archive(built.runs[UNFINISHED].lake, None, lambda spec, as_of: DagRun("scheduled__x", state))
    assert archive.release(UNFINISHED).state == shown


def test_trends_cover_earlier_releases(page: Any) -> None:
    checks = read(page, f"{AT[SECOND]}/quality")
    assert "in the last 2 releases" in words(checks)
    assert "<title>2023-02-01: pass, 0 offending</title>" in checks and "2023-04-01: " not in checks


# Actions of an operator


def test_releases_that_await_a_person_are_listed_first(built: Built, tmp_path: Path) -> None:
    from release_page.states import DagRun

    lake = stalled(built, tmp_path)
    runs = {"run_of": lambda spec, as_of: DagRun("scheduled__2023-03-01T00:00:00+00:00", "running")}
    page = page_over(str(lake), f"sqlite:///{tmp_path / 'catalog.db'}", **runs)
    text = read(page, "")
    waiting = text[text.index("Decision required") : text.index("<h2>sample</h2>")]
    assert re.search(
        r"awaits approval sample-20230301 6 documents, .* stopped by a check sample-20230401", words(waiting)
    )
    run = "/dags/corpus_release__sample/runs/scheduled__2023-03-01T00%3A00%3A00%2B00%3A00"
    assert f'href="{run}/required_actions"' in waiting
    assert f'href="{run}"' in read(page, AT[SECOND]) and f'href="{run}/tasks/group/link"' in read(page, AT[SECOND])


def test_failed_run_links_to_its_logs(built: Built) -> None:
    from release_page.states import DagRun, FailedTask

    failed = DagRun("by hand/1", "failed", [FailedTask("link.work", 3), FailedTask("filter.quality")])
    shown = read(page_over(built.lake, run_of=lambda spec, as_of: failed), AT[UNFINISHED])
    run = "/dags/corpus_release__sample/runs/by%20hand%2F1"
    assert f'href="{run}/tasks/link.work/mapped/3"' in shown and f'href="{run}/tasks/filter.quality"' in shown
    assert "failed first: logs of link.work[3] , logs of filter.quality" in words(shown)


def test_blocked_check_shows_rows_values_and_accept_command(built: Built, tmp_path: Path) -> None:
    lake = stalled(built, tmp_path)
    page = page_over(str(lake))
    line = f"corpus accept {UNFINISHED} filter.drift_of_kept_papers_block --lake {lake} --reason"
    for shown in (words(read(page, AT[UNFINISHED])), words(read(page, f"{AT[UNFINISHED]}/quality"))):
        assert line in shown and "clear filter.quality" in shown and "0.25 0.75" in shown
    quality = words(read(page, f"{AT[UNFINISHED]}/quality"))
    assert "This check stops the release unless a user overrides it with a reason; threshold 0.5" in quality
    assert "This check stops the release and cannot be overridden" in quality


def test_acceptable_checks_equal_those_of_the_command(built: Built) -> None:
    from release_page.releases import Archive
    from release_page.views import format_accept_command

    from s2corpus.errors import UserError
    from s2corpus.pipeline.acceptance import accept
    from s2corpus.pipeline.quality import list_all_checks

    archive, known = Archive(built.runs[UNFINISHED].lake), list_all_checks()
    for check in known:
        found = {"check": check.name, "accepted": None, "overridable": check.overridable, "verdict": check.severity}
        line = format_accept_command(archive, UNFINISHED, {"stage": check.stage, "severity": check.severity, **found})
        try:
            accept(_Nowhere(), UNFINISHED, {f"{check.stage}.{check.name}": "a reason of length"}, "ann", known)  # type: ignore[arg-type]  # the lake must not be used
        except UserError:
            assert line is None, check
        else:
            assert line is not None, check


class _Nowhere:
    """A lake that contains nothing and stores nothing."""

    def get(self, key: str) -> tuple[bytes, str]:
        raise FileNotFoundError(key)

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        return ""


def test_removed_ids_link_to_the_parent(built: Built, tmp_path: Path) -> None:
    lake = _copied(built, tmp_path)
    snapshots = lake / "snapshots"
    path = snapshots / built.runs[SECOND].snapshot_id / "diff.json"
    gone = built.runs[PUBLISHED].table(PAPERS).read(["paper_id"])[0][0].as_py()
    diff = orjson.loads(path.read_bytes())
    diff["removed"] = {"documents": {"s2orc": 1}, "first_ids": [gone]}
    path.write_bytes(orjson.dumps(diff))
    page = page_over(str(lake))
    link = f"{AT[PUBLISHED]}/paper/{gone}"
    assert f'href="/corpus-releases/{link}"' in read(page, AT[SECOND])
    assert gone in read(page, link)
    shutil.rmtree(lake / "releases" / PUBLISHED)
    said = read(page, AT[SECOND])
    assert gone in said and link not in said, "the parent's tables are gone"


def test_drops_show_their_state_and_reason(built: Built, tmp_path: Path) -> None:
    lake = stalled(built, tmp_path)
    for paused, standing in ((False, "waiting"), (True, "paused")):
        said = words(read(page_over(str(lake), drops_paused=lambda paused=paused: paused), "drops"))
        assert "drops/2023-03-10-refused refused: changed" in said and "a.pdf: 1 byte found, 2 listed" in said
        assert "drops/2023-03-11-writing not ready yet" in said
        assert f"drops/2023-03-12-ready {standing}" in said
        assert re.search(rf"drops/2023-01-a released [^a-z]* in {built.runs[PUBLISHED].snapshot_id}", said)
    one = words(read(page_over(str(lake)), "drops?standing=refused"))
    assert "2023-03-10-refused" in one and "2023-03-12-ready" not in one


def test_drops_are_shown_only_with_permission(built: Built) -> None:
    page = page_over(built.lake, visible=lambda: lambda dag_id: dag_id != "pdf_drops")
    assert "drops/" not in words(read(page, "drops", 403))


def test_two_releases_are_compared(page: Any, built: Built) -> None:
    said = words(read(page, f"{AT[SECOND]}/compare?other={UNFINISHED.rpartition('-')[2]}"))
    assert "Step 2023-03-01 2023-04-01 Change PDFs delivered 9 9 0" in said
    assert "Candidates for s2orc 7 – –" in said, "the second has not come so far"
    assert re.search(r"Stage 2023-03-01 2023-04-01 Times intake [\d.]+ s [\d.]+ s [\d.]+", said)


def test_durations_and_throughput_cover_earlier_releases(page: Any, built: Built) -> None:
    shown = read(page, f"{AT[SECOND]}/trends")
    assert "2 releases, from 2023-02-01 to 2023-03-01" in words(shown)
    for stage in STAGE_NAMES:
        assert f'aria-label="{stage}: duration over releases"' in shown
        assert re.search(rf"<title>2023-02-01: [\d.]+ s</title>.*{stage}: throughput over releases", shown, re.DOTALL)
    first = words(read(page, f"{AT[PUBLISHED]}/trends"))
    assert "This is the first release of its spec" in first


def test_files_of_a_snapshot_can_be_downloaded(page: Any, built: Built) -> None:
    run = built.runs[PUBLISHED]
    manifest = orjson.loads(run.lake.get(f"snapshots/{run.snapshot_id}/manifest.json")[0])
    for file in (
        f for f in manifest["files"] if f["path"] in ("README.md", "index.parquet", "v2/s2orc/train/00.jsonl.gz")
    ):
        answer = page.get(f"{AT[PUBLISHED]}/file/{file['path']}")
        assert hashlib.sha256(answer.content).hexdigest() == file["sha256"]
        assert int(answer.headers["content-length"]) == file["bytes"]
        assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''sample-20230201-")
        assert answer.headers["content-type"] == "application/octet-stream"


def test_page_without_login_links_to_the_login(built: Built) -> None:
    from fastapi import HTTPException

    def nobody() -> None:
        raise HTTPException(401)

    page = page_over(built.lake, anyone=nobody, reader=nobody, login=lambda back: f"/auth/login?next={back}")
    text = read(page, AT[PUBLISHED], 401)
    assert f'<a class="button" href="/auth/login?next=/corpus-releases/{AT[PUBLISHED]}" data-airflow>Log in</a>' in text
    style = re.search(r'<link rel="stylesheet" href="([^"]+)"', text)
    assert style and page.get(urljoin(str(page.base_url), style[1])).status_code == 200


# Links stay within the page


def test_every_link_has_a_target(page: Any) -> None:
    found = dict(pages(page))
    assert len(found) > 50
    assert any("/text/" in at for at in found) and any("/pdf/" in at for at in found)
    assert not [at for at, text in found.items() if re.search(r'target=|style="|\son\w+=|<script(?! src)', text)]
    for at, text in found.items():
        landmarks = re.findall(r'<nav[^>]*aria-label="([^"]+)"|role="(search|region)"', text)
        assert len(landmarks) == len(set(landmarks)), f"{at}: a screen reader lists two landmarks of one name"


# The page leaks no information and executes no markup

INJECTED = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}"


def _rewrite(lake: Path, table: Table, change: Any) -> None:
    """Change a table of the first release and commit it."""
    from s2corpus.storage.lake import open_lake

    ref = TableRef(open_lake(str(lake)), f"releases/{PUBLISHED}/{table.name}", table)
    commit = ref.committed()
    for shard in range(len(commit.parts)):
        ref.write(shard, change(ref.read(shard=shard).to_pylist()))
    ref.commit(range(len(commit.parts)), commit.facts)


def _copied(built: Built, to: Path) -> Path:
    shutil.copytree(built.lake, to / "lake")
    return to / "lake"


def stalled(built: Built, to: Path) -> Path:
    """Return a lake with a release that waits for approval, a release that a check stopped, and drops in different
    states. Its catalog is next to it.
    """
    from s2corpus.deliveries import status
    from s2corpus.deliveries.ready import Refusal
    from s2corpus.snapshot.pointer import yank
    from s2corpus.storage.lake import open_lake

    lake = _copied(built, to)
    opened = open_lake(str(lake))
    yank(opened, built.runs[SECOND].snapshot_id, "so that the pointer goes back to the first")
    for mark in ("published", "yanked"):
        (lake / "snapshots" / "sample" / mark / built.runs[SECOND].snapshot_id).unlink()
    path = lake / "releases" / UNFINISHED / "_quality" / "filter.json"
    verdicts = orjson.loads(path.read_bytes())
    (drift,) = [v for v in verdicts if v["check"] == "drift_of_kept_papers_block"]
    drift |= {"verdict": "block", "offending": 1, "threshold": 0.5, "rows": [{"now": 0.25, "parent": 0.75}]}
    path.write_bytes(orjson.dumps(verdicts))
    shutil.copy(built.folder / "catalog.db", to / "catalog.db")
    catalog = Catalog(f"sqlite:///{to / 'catalog.db'}")
    catalog.set_release_state(SECOND, ReleaseState.AWAITING, built.runs[SECOND].snapshot_id)
    catalog.set_release_state(UNFINISHED, ReleaseState.STOPPED, None)
    for name, ready in (("10-refused", "{}"), ("11-writing", None), ("12-ready", "{}")):
        folder = f"drops/2023-03-{name}/"
        opened.put(f"{folder}a.pdf", b"x")
        if ready:
            opened.put(f"{folder}_READY", ready.encode())
        if name.endswith("refused"):
            ready_hash = status.hash_ready_file(opened, folder)
            assert ready_hash
            refused = status.ArrivalStatus(
                folder,
                ready_hash,
                status.ArrivalState.REFUSED,
                refusal=Refusal.CHANGED,
                detail="a.pdf: 1 byte found, 2 listed",
            )
            status.put_row(opened, refused)
    return lake


def hostile_lake(built: Built, to: Path, lake: Path | None = None) -> Path:
    """Return a lake in which all delivered text of papers, entries, records and files is markup.

    It is a copy of the built lake, or the given lake.
    """
    lake = lake or _copied(built, to)
    for table, columns in {
        PAPERS: ("title", "venue", "journal", "abstract", "licence", "acl_id"),
        MEMBERS: ("title", "venue", "abstract", "delivery"),
        ENTRIES: ("title", "raw_text"),
        DOCUMENTS: ("text", "top_word"),
        SELECTIONS: ("detail",),
    }.items():
        _rewrite(
            lake, table, lambda rows, columns=columns: [{**r, **{c: INJECTED for c in columns if r[c]}} for r in rows]
        )
    person = {"first": INJECTED, "middle": [], "last": INJECTED, "suffix": ""}
    _rewrite(lake, MEMBERS, lambda rows: [{**r, "authors": [person]} for r in rows])
    _rewrite(lake, PDFS, lambda rows: [{**r, "places": [{"drop": "d", "name": INJECTED}]} for r in rows])
    return lake


@pytest.fixture(scope="module")
def hostile(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the page of that lake."""
    return page_over(str(hostile_lake(built, tmp_path_factory.mktemp("hostile"))))


def test_text_from_papers_is_escaped(hostile: Any) -> None:
    shown = 0
    for at, text in pages(hostile, AT[PUBLISHED]):
        if PUBLISHED.replace("-", "/").split("/")[1] not in at:
            continue
        bare = re.sub(r'<script src="[^"]*" defer></script>', "", text)
        assert "<script" not in bare and "<img" not in bare and "49" not in re.findall(r"alert\(1\)&gt;(\S*)", bare), at
        shown += "&lt;script&gt;alert(1)" in bare
    assert shown > 10


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("corpus_release__sample/20230202", 404),
        ("corpus_release__own/20230201", 404),
        ("corpus_release__sample/99999999", 404),
        ("sample/20230201", 422),
        ("corpus_release__Sample/20230201", 422),
        ("corpus_release__../20230201", 422),
        ("corpus_release__sample/2023020", 422),
        ("corpus_release__sample/20230201%0a", (404, 422)),
        ("corpus_release__sample%2f..%2f../20230201", (404, 422)),
        ("corpus_release__sample/20230201/paper/zzz", 422),
        ("corpus_release__sample/20230201/paper/ffffffffffffffe", 404),
        ("corpus_release__sample/20230201/paper/%3Cscript%3Ealert(1)%3C/script%3E", (404, 422)),
        ("corpus_release__sample/20230201/text/ffffffffffffffe", 404),
        (f"corpus_release__sample/20230201/pdf/{'0' * 40}", 404),
        ("corpus_release__sample/20230201/pdf/..%2f..%2f..%2fetc%2fpasswd", (404, 422)),
        ("corpus_release__sample/20230201/rejects/link?outcome=none", 422),
        ("corpus_release__sample/20230201/rejects/filter", 422),
        ("corpus_release__sample/20230201/rejects/filter?outcome=kept&page=0", 422),
        ("corpus_release__sample/20230201/rejects/clean?outcome=kept&set=../x", 422),
        ("corpus_release__sample/20230201/documents/all", 422),
        ("corpus_release__sample/20230201/find", 422),
        (f"corpus_release__sample/20230201/find?q={'x' * 301}", 422),
        ("static/../app.py", (404, 422)),
        ("corpus_release__sample/20230201/file/%2e%2e/sample/latest.json", (404, 422)),
        ("corpus_release__sample/20230201/file/../../../../suppress.jsonl", (404, 422)),
        ("corpus_release__sample/20230201/file//etc/passwd", 404),
        ("corpus_release__sample/20230201/file/..%2f..%2fsample%2flatest.json", 404),
        ("corpus_release__sample/20230201/file/%2fetc%2fpasswd", 404),
        ("corpus_release__sample/20230201/file/v2%2f..%2fmanifest.json", 404),
        ("corpus_release__sample/20230201/file/%252e%252e%252fsample%252flatest.json", 404),
        ("corpus_release__sample/20230201/file/..%5c..%5csample%5clatest.json", 404),
        ("corpus_release__sample/20230201/file/manifest.json%00", 404),
        ("corpus_release__sample/20230201/file/manifest.json%0d%0aX-A:%20b", 404),
        ("corpus_release__sample/20230201/file/index.parquet%2f", 404),
        (f"corpus_release__sample/20230201/file/{'a' * 301}", 422),
        ("corpus_release__other/20230201/file/manifest.json", 404),
        ("corpus_release__sample/20230301%2f..%2f20230201/file/manifest.json", (404, 422)),
        ("corpus_release__sample/20230201/file/nothing", 404),
        ("corpus_release__sample/20230401/file/manifest.json", 404),
        ("corpus_release__sample/20230201/compare?other=20230202", 404),
        ("corpus_release__sample/20230201/compare?other=..", 422),
        ("drops?standing=lost", 422),
        ("static/app.py", 422),
        ("nothing", 404),
    ],
)
def test_wrong_address_is_refused_without_a_traceback(path: str, status: int | tuple[int, ...], page: Any) -> None:
    answer = page.get(path)
    assert answer.status_code in (status if isinstance(status, tuple) else (status,))
    assert "Traceback" not in answer.text and "<script>" not in answer.text


@pytest.mark.parametrize(
    "query", ["<script>alert(1)</script>", "%", "\0", "10.1/x'--", "a:b", "*", "\U0001f600", "(" * 300]
)
def test_hostile_queries_do_not_break_the_search(query: str, page: Any) -> None:
    answer = page.get(f"{AT[PUBLISHED]}/find", params={"q": query})
    assert answer.status_code == 200 and "<script>alert" not in answer.text


def test_every_response_has_a_content_security_policy(page: Any) -> None:
    for path in ("", "nothing", "static/page.css", AT[PUBLISHED]):
        headers = page.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "http" not in policy
        assert "frame-ancestors 'self'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"


def test_every_route_checks_permission_and_only_reads(built: Built) -> None:
    from fastapi import HTTPException
    from fastapi.routing import APIRoute

    def nobody() -> None:
        raise HTTPException(401)

    page = page_over(built.lake, anyone=nobody, reader=nobody)
    app = page.app.routes[-1].app
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    assert len(routes) == len(app.routes) > 10, "a route that is not ours"
    run: Run = built.runs[PUBLISHED]
    ids = {
        "dag_id": "corpus_release__sample",
        "as_of": "20230201",
        "paper_id": run.table(PAPERS).read(["paper_id"])[0][0].as_py(),
        "sha1": run.table(PDFS).read(["file_sha1"])[0][0].as_py(),
        "set_": "s2orc",
        "stage": "filter",
        "path": "manifest.json",
    }
    for route in routes:
        assert route.methods == {"GET"}
        if route.path == "/static/{name}":
            continue  # Static files are public, so that a user without access sees a page with its style.
        path = route.path.replace(":path", "").format(**ids).lstrip("/")
        asked = {"q": "x", "outcome": "kept", "other": "20230301"}
        assert page.get(path, params=asked).status_code == 401, path


def test_truncated_part_is_reported_on_the_page(built: Built, tmp_path: Path) -> None:
    lake = _copied(built, tmp_path)
    part = next((lake / "releases" / PUBLISHED / "papers").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-10])
    from s2corpus.tables.schema import paper_shard

    run = built.runs[PUBLISHED]
    shards = run.paper_shards
    damaged = int(part.stem.split("-")[1])
    ids = run.table(PAPERS).read(["paper_id"])[0].to_pylist()
    paper_id = next((i for i in ids if paper_shard(i, shards) == damaged), ids[0])
    said = words(read(page_over(str(lake)), f"{AT[PUBLISHED]}/paper/{paper_id}", 503))
    assert "committed with" in said and "Traceback" not in said


def test_unexpected_error_is_logged_and_not_shown(built: Built, tmp_path: Path) -> None:
    from fastapi.testclient import TestClient

    lake = _copied(built, tmp_path)
    (lake / "releases" / PUBLISHED / "_metrics" / "export.json").write_text('{"documents')
    page = page_over(str(lake))
    quiet = TestClient(page.app, base_url=str(page.base_url), raise_server_exceptions=False)
    answer = quiet.get(AT[PUBLISHED])
    assert answer.status_code == 500 and "This page failed" in answer.text and "JSON" not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_datasets_and_similar_papers_are_listed(page: Any, built: Built) -> None:
    from click.testing import CliRunner

    from s2corpus.commands.similar import command
    from s2corpus.datasets import runner
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.shelf import find_similar_papers
    from s2corpus.datasets.source import SnapshotSource
    from s2corpus.datasets.spec import DatasetSpec
    from s2corpus.errors import UserError
    from s2corpus.storage.lake import open_lake

    run = built.runs[PUBLISHED]
    spec = DatasetSpec(name="near", dataset="vectors", params={"min_count": 1, "dimensions": 8, "epochs": 1})
    job = Job(spec, SnapshotSource(open_lake(run.lake.uri(f"snapshots/{run.snapshot_id}"))), run.lake)
    runner.make(job)
    listed = read(page, f"{AT[PUBLISHED]}/snapshot")
    assert 'id="datasets"' in listed and "Funnel of near" in listed
    rows = [row for shard in range(job.source.shards) for row in job.source.read_rows(shard, ("paper_id", "doi"))]
    papers = [row["paper_id"] for row in rows]
    near = {paper: found for paper in papers if (found := find_similar_papers(run.lake, str(run.snapshot_id), paper))}
    paper, (first, *_) = next(iter(near.items()))
    assert f'/paper/{first["neighbour_id"]}">' in read(page, f"{AT[PUBLISHED]}/paper/{paper}")
    for asked in (paper, next(row["doi"] for row in rows if row["doi"] and row["paper_id"] in near)):
        words = [asked, "--snapshot", job.source.folder.root, "--count", "1"]
        said = CliRunner().invoke(command, words, catch_exceptions=False).output
        assert said.split()[1] in papers and len(said.splitlines()) == 1
    with pytest.raises(UserError, match=r"no paper with DOI 10\.1000/none"):
        CliRunner().invoke(command, ["10.1000/none", *words[1:]], catch_exceptions=False)
