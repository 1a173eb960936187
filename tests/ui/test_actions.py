"""The page's actions: plan, confirm, do. Each requires the right to edit the corpora that it changes, and leaves a record."""

import re
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from s2corpus.snapshot.markers import list_published
from s2corpus.snapshot.pointer import read_latest
from s2corpus.storage.lake import open_lake
from s2corpus.tables.papers import PAPERS
from tests.commands import invoke
from tests.releases import PUBLISHED, Built
from tests.ui.conftest import page_over
from tests.ui.pages import copied, read, words

pytestmark = pytest.mark.airflow
SITE = {"Sec-Fetch-Site": "same-origin"}
REASON = "the authors withdrew their consent"


def open_page(
    lake: Path, *, may_edit: Any = lambda dag_id: True, may_approve: Any = lambda dag_id: True, **others: Any
) -> Any:
    from s2corpus_airflow.release_page.actions import Editor

    return page_over(lake, editor=lambda: Editor("ann", may_edit, may_approve), **others)


def confirm(page: Any, name: str, **values: str) -> Any:
    """Read the plan of an action, and return the response to its confirmation."""
    plan = page.get(f"actions/{name}", params=values)
    token = re.search('name="token" value="([0-9a-f]+)"', plan.text)
    assert plan.status_code == 200 and token, words(plan.text)
    return page.post(f"actions/{name}", data={**values, "token": token[1]}, headers=SITE)


def test_snapshot_is_withdrawn_and_restored(built: Built, tmp_path: Path) -> None:
    folder = copied(built, tmp_path)
    lake, page = open_lake(str(folder)), open_page(folder)
    first, latest = list_published(lake, "sample")
    values = {"snapshot": str(latest), "reason": "half of the records were missing"}
    plan = words(read(page, f"actions/yank?snapshot={latest}&reason=half of the records were missing"))
    assert f"{latest} is withdrawn" in plan and f"latest.json of sample then names {first}." in plan
    assert read_latest(lake, "sample").snapshot == latest, "a plan changes nothing"
    assert confirm(page, "yank", **values).status_code == 303
    assert read_latest(lake, "sample").snapshot == first
    assert confirm(page, "restore", **values).status_code == 303
    assert read_latest(lake, "sample").snapshot == latest
    shown = words(read(page, "actions"))
    assert shown.index("ann restore") < shown.index("ann yank") and f"snapshot: {latest}" in shown


def test_takedown_is_in_the_next_release_and_is_proved(built: Built, tmp_path: Path) -> None:
    folder = copied(built, tmp_path)
    lake, page = open_lake(str(folder)), open_page(folder)
    rows = built.runs[PUBLISHED].table(PAPERS).rows(["paper_id", "doi", "title"])
    paper_id, doi, title = next(
        (str(r["paper_id"]), str(r["doi"]), str(r["title"])) for r in rows if r["doi"] and r["title"]
    )
    by_doi, by_title = (words(read(page, f"actions/takedown?paper={name}&reason={REASON}")) for name in (doi, title))
    assert all(f"has the paper {paper_id}" in plan for plan in (by_doi, by_title))
    assert confirm(page, "takedown", paper=doi, reason=REASON).status_code == 303
    lines = [orjson.loads(line) for line in lake.get("suppress.jsonl")[0].splitlines()]
    assert {"doi": doi, "reason": REASON} in lines and {"paper_id": paper_id, "reason": REASON} in lines
    assert "still has the paper: its next release omits it" in words(read(page, "actions"))
    again = invoke("takedown", doi, "--reason", REASON, "--lake", folder, "--yes")
    assert again.exit_code == 0 and "still has the paper" in again.output
    assert [orjson.loads(line) for line in lake.get("suppress.jsonl")[0].splitlines()] == lines, "no line twice"


def test_license_is_corrected_by_those_who_may_and_is_proved(built: Built, tmp_path: Path) -> None:
    """A more open license needs the URL of its statement, and the right to approve releases (SPEC §5.26)."""
    folder = copied(built, tmp_path)
    lake, page = open_lake(str(folder)), open_page(folder)
    snapshot = str(read_latest(lake, "sample").snapshot)
    rights = pq.read_table(folder / "snapshots" / snapshot / "tables" / "rights").to_pylist()
    row = next(row for row in rights if row["sha1"] and row["license"] == "CC-BY-4.0")
    stricter = {
        "paper": row["sha1"], "field": "license", "value": "CC-BY-NC-4.0", "evidence": "a letter of May 3", "reason": REASON,
    }  # fmt: skip
    plan = words(page.get("actions/correct", params=stricter).text)
    assert f"{row['sha1']}: the next release of sample has license CC-BY-NC-4.0, now CC-BY-4.0: not more open." in plan
    assert snapshot in plan and "1 lines in corrections.jsonl" in plan and lake.size("corrections.jsonl") is None
    assert confirm(page, "correct", **stricter).status_code == 303
    line = orjson.loads(lake.get("corrections.jsonl")[0])
    assert (line["paper_id"], line["by"], line["files"]) == (row["paper_id"], "ann", [])
    assert f"{snapshot} has license CC-BY-4.0: {row['paper_id']} does not have CC-BY-NC-4.0 everywhere" in words(
        read(page, "actions")
    )

    opened = stricter | {"value": "CC0-1.0"}
    no_url = page.get("actions/correct", params=opened)
    assert (
        "expected the URL of the license statement as evidence" in words(no_url.text) and "Confirm" not in no_url.text
    )
    opened |= {"evidence": "https://creativecommons.org/publicdomain/zero/1.0/"}
    locked = open_page(folder, may_approve=lambda dag_id: False)
    assert "the right to approve releases of sample" in words(locked.get("actions/correct", params=opened).text)
    assert confirm(locked, "correct", **stricter).status_code == 303, "a stricter license does not need that right"
    assert confirm(page, "correct", **opened).status_code == 303
    assert [orjson.loads(one)["files"] for one in lake.get("corrections.jsonl")[0].splitlines()] == [
        [], [], [row["sha1"]],
    ]  # fmt: skip
    wrong = page.get("actions/correct", params=stricter | {"field": "licence"})
    assert "expected a field, one of title, authors" in words(wrong.text)


def test_paper_that_no_snapshot_has_can_be_taken_down(built: Built, tmp_path: Path) -> None:
    folder = copied(built, tmp_path)
    lake, page = open_lake(str(folder)), open_page(folder)
    assert confirm(page, "takedown", paper="a" * 40, reason=REASON).status_code == 303
    assert {"sha1": "a" * 40, "reason": REASON} in [
        orjson.loads(line) for line in lake.get("suppress.jsonl")[0].splitlines()
    ]
    assert "no latest snapshot has a paper" in words(
        read(page, f"actions/takedown?paper=An unknown title&reason={REASON}")
    )
    lake.put("suppress.jsonl", b"not JSON\n")
    plan = page.get("actions/takedown", params={"paper": "b" * 40, "reason": REASON}).text
    token = re.findall('name="token" value="([0-9a-f]+)"', plan)[0]
    failed = page.post("actions/takedown", data={"paper": "b" * 40, "reason": REASON, "token": token}, headers=SITE)
    assert failed.status_code == 409 and "suppress.jsonl, line 1: not JSON" in words(failed.text)


def test_changed_plan_foreign_form_and_missing_rights_are_refused(built: Built, tmp_path: Path) -> None:
    folder = copied(built, tmp_path)
    lake, page = open_lake(str(folder)), open_page(folder)
    latest = str(read_latest(lake, "sample").snapshot)
    values = {"snapshot": latest, "reason": "half of the records were missing"}
    stale = page.post("actions/yank", data={**values, "token": "0" * 16}, headers=SITE)
    assert stale.status_code == 409 and "the plan has changed since it was shown" in words(stale.text)
    assert page.post("actions/yank", data={**values, "token": "0" * 16}).status_code == 403, "not from the page's form"
    post = partial(open_page(folder, may_edit=lambda dag_id: False).post, "actions/yank", headers=SITE)
    locked = post(data={**values, "token": "0" * 16})
    assert locked.status_code == 403 and "the right to edit the DAG of sample" in words(locked.text)
    short = page.get("actions/yank", params={"snapshot": latest, "reason": "no"})
    assert "is not a reason" in unescape(words(short.text)) and "Confirm" not in short.text
    assert page.get("actions/absent").status_code == 404
    assert page.get("actions/yank", params={"snapshot": "a\x00b", "reason": "x" * 12}).status_code == 422
    assert page_over(folder).get("actions/yank").status_code == 422, "without an editor, there is no such address"
    assert "Actions are switched off here." in words(read(page_over(folder), "actions"))
    assert read_latest(lake, "sample").snapshot == latest


def test_records_of_hidden_corpora_are_not_shown(built: Built, tmp_path: Path) -> None:
    folder = copied(built, tmp_path)
    latest = str(read_latest(open_lake(str(folder)), "sample").snapshot)
    done = invoke("yank", latest, "--reason", "a test of records", "--yes", "--lake", folder)
    assert done.exit_code == 0
    assert latest in words(read(open_page(folder), "actions"))
    assert latest not in words(read(open_page(folder, visible=lambda: lambda dag_id: False), "actions"))


def test_cleanup_shows_what_it_frees(built: Built, tmp_path: Path) -> None:
    folder = copied(built, tmp_path)
    page = open_page(folder)
    tables = re.search(r"tables of releases ([\d,]+) ", words(read(page, "disk")))
    assert tables
    plan = words(read(page, "actions/cleanup?keep=1"))
    assert f"tables of releases {PUBLISHED}:" in plan and "Cost: frees " in plan
    assert confirm(page, "cleanup", keep="1").status_code == 303
    fewer = re.search(r"tables of releases ([\d,]+) ", words(read(page, "disk")))
    assert fewer and int(fewer[1].replace(",", "")) < int(tables[1].replace(",", ""))
    assert "Nothing is deleted." in words(read(page, "actions/cleanup?keep=1"))
    assert "expected the number of releases" in words(read(page, "actions/cleanup?keep=none"))
