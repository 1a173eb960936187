"""The page "Corpus releases": its numbers equal those of the tables, for releases, papers, PDFs, documents and snapshots."""

from __future__ import annotations

import hashlib
import html
import itertools
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import orjson
import pytest

from s2corpus.pipeline.funnel import build_funnel
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.pipeline.summary import format_approval_request, format_summary
from s2corpus.tables.papers import ALIASES, PAPERS
from s2corpus.tables.texts import DOCUMENTS, FULLTEXTS
from tests.releases import AS_OF, PUBLISHED, SECOND, UNFINISHED, Built
from tests.ui.conftest import page_over
from tests.ui.pages import AT, copied, read, rewrite, words


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


def test_every_dropped_paper_is_listed(page: Any, built: Built) -> None:
    from release_page.lists import list_rejects
    from release_page.releases import Archive

    run = built.runs[PUBLISHED]
    steps = build_funnel(Archive(run.lake).metrics(PUBLISHED))
    assert [step.label for step in steps][:5] == ["PDFs delivered", "selected", "extracted", "parsed", "Papers"]
    for before, step in itertools.pairwise(steps):
        assert step.starts or step.count + sum(n for _, n in step.left_out) == before.count, step
    left = [(step, word, n) for step in steps for word, n in step.left_out]
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
    from release_page.lists import sample_documents

    run = built.runs[PUBLISHED]
    texts = {r["paper_id"]: r["text"] for r in run.table(DOCUMENTS).read().to_pylist() if r["text"]}
    tables = run
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
    lake = copied(built, tmp_path)
    paper_id = built.runs[PUBLISHED].table(PAPERS).read(["paper_id"])[0][0].as_py()
    rewrite(lake, ALIASES, lambda rows: [*rows, {"alias": "0" * 15, "paper_id": paper_id}])
    said = words(read(page_over(lake), f"{AT[PUBLISHED]}/paper/{'0' * 15}"))
    assert f"Paper {paper_id} , formerly 000000000000000" in said


def test_trends_cover_earlier_releases(page: Any) -> None:
    checks = read(page, f"{AT[SECOND]}/quality")
    assert "in the last 2 releases" in words(checks)
    assert "<title>2023-02-01: pass, 0 offending</title>" in checks and "2023-04-01: " not in checks


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


def test_removed_ids_link_to_the_parent(built: Built, tmp_path: Path) -> None:
    lake = copied(built, tmp_path)
    snapshots = lake / "snapshots"
    path = snapshots / built.runs[SECOND].snapshot_id / "diff.json"
    gone = built.runs[PUBLISHED].table(PAPERS).read(["paper_id"])[0][0].as_py()
    diff = orjson.loads(path.read_bytes())
    diff["removed"] = {"documents": {"s2orc": 1}, "first_ids": [gone]}
    path.write_bytes(orjson.dumps(diff))
    page = page_over(lake)
    link = f"{AT[PUBLISHED]}/paper/{gone}"
    assert f'href="/corpus-releases/{link}"' in read(page, AT[SECOND])
    assert gone in read(page, link)
    shutil.rmtree(lake / "releases" / PUBLISHED)
    said = read(page, AT[SECOND])
    assert gone in said and link not in said, "the parent's tables are gone"


def test_datasets_and_similar_papers_are_listed(built: Built, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from s2corpus.commands.similar import command
    from s2corpus.datasets import runner
    from s2corpus.datasets.job import Job
    from s2corpus.datasets.shelf import find_similar_papers
    from s2corpus.datasets.source import SnapshotSource
    from s2corpus.datasets.spec import DatasetSpec
    from s2corpus.errors import UserError
    from s2corpus.storage.lake import open_lake

    page = page_over(lake := copied(built, tmp_path))
    run = Run(built.runs[PUBLISHED].spec, AS_OF, open_lake(str(lake)), tmp_path)
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
