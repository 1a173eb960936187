"""Helpers for tests of the page: its text and links, and lakes in a state that a person must decide on, or full of markup."""

import html
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import orjson

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseState
from s2corpus.deliveries import status
from s2corpus.outcomes import Refusal
from s2corpus.snapshot.pointer import yank
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.parses import SELECTIONS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, ENTRIES
from tests.releases import PUBLISHED, SECOND, UNFINISHED, Built

AT = {release: release.replace("sample-", "corpus_release__sample/") for release in (PUBLISHED, SECOND, UNFINISHED)}
NOON = "papers_of_all_departments_and_institutes-20230301T120000"
"""an unfinished release of a corpus with a long name, as of noon"""
DRIFT = "drift_of_kept_papers_block"
INJECTED = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}"


def read(page: Any, path: str, status: int = 200) -> str:
    """Return the text of a page; fail if its status is another."""
    answer = page.get(path)
    assert answer.status_code == status, (path, answer.status_code, answer.text[-500:])
    return str(answer.text)


def words(text: str) -> str:
    """Return the visible text of HTML: no tags, one space between words."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", text)).split())


def pages(page: Any, *starts: str, most: int = 1000) -> Iterator[tuple[str, Any]]:
    """Yield the address and the response of every linked page, at most some of a kind; assert that no link leads outside."""
    todo = [str(page.base_url.join(start)) for start in starts or ("",)]
    seen, kinds = {*todo}, Counter[tuple[str, ...]]()
    while todo:
        at = todo.pop()
        kind = tuple(part if len(part) < 15 else "…" for part in urlsplit(at).path.split("/"))
        kinds[kind] += 1
        if kinds[kind] > (min(most, 10) if "/documents/" in at or "/page/" in at else most):
            continue  # Each filter of the explorer leads to others.
        answer = page.get(at)
        while answer.status_code == 303:
            answer = page.get(urljoin(at, answer.headers["location"]))
        assert answer.status_code == 200, (at, answer.status_code)
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        yield at, answer
        for link in re.findall(r'(?:href|src|action)="([^"#]+)', answer.text):
            to = urljoin(at, html.unescape(link))
            assert to.startswith((str(page.base_url), "data:,")), f"{at} links outside: {to}"
            if "/file/" in to and "/" in to.partition("/file/")[2]:
                continue  # Skip the hundreds of files in folders: another test downloads some.
            if to not in seen and not to.startswith("data:") and not to.endswith(("/find", "/compare")):
                seen.add(to)
                todo.append(to)


def copied(built: Built, to: Path) -> Path:
    """Copy the lake and its catalog to a folder, where a test may change them; return the lake."""
    shutil.copy(built.folder / "catalog.db", to)
    shutil.copytree(built.lake, to / "lake")
    return to / "lake"


def change_verdict(lake: Path, release: str, check: str, **changes: object) -> None:
    """Change the result of a check of the filter."""
    path = lake / "releases" / release / "_quality" / "filter.json"
    verdicts = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps([v | changes if v["check"] == check else v for v in verdicts]))


def rewrite(lake: Path, table: Table[Any], change: Any) -> None:
    """Change a table of the first release and commit it."""
    ref = TableRef(open_lake(str(lake)), f"releases/{PUBLISHED}/{table.name}", table)
    commit = ref.committed()
    for shard in range(len(commit.parts)):
        ref.write(shard, change(ref.read(shard=shard).to_pylist()))
    ref.commit(range(len(commit.parts)), commit.facts)


def refuse_drop(lake: Lake, folder: str, detail: str, **more: Any) -> None:
    """Record that a drop with a `_READY` is refused."""
    mark = status.hash_ready_file(lake, folder)
    assert mark
    refused = status.ArrivalState.REFUSED
    status.put_row(lake, status.ArrivalStatus(folder, mark, refused, refusal=Refusal.CHANGED, detail=detail, **more))


def stalled(built: Built, to: Path) -> Path:
    """Return a lake with a release that waits for approval, one that a check stopped, and drops in different states."""
    lake = copied(built, to)
    opened, second = open_lake(str(lake)), built.runs[SECOND].snapshot_id
    yank(opened, second, "so that the pointer returns to the first")
    for mark in ("published", "yanked"):
        (lake / "snapshots" / "sample" / mark / second).unlink()
    rows = [{"now": 0.25, "parent": 0.75}]
    change_verdict(lake, UNFINISHED, DRIFT, verdict="block", offending=1, threshold=0.5, rows=rows)
    catalog = Catalog(f"sqlite:///{to / 'catalog.db'}")
    catalog.set_release_state(SECOND, ReleaseState.FAILED, None)  # only a published snapshot remains published
    catalog.set_release_state(SECOND, ReleaseState.AWAITING, second)
    catalog.set_release_state(UNFINISHED, ReleaseState.STOPPED, None)
    for name in ("10-refused", "11-writing", "12-ready"):
        opened.put(f"drops/2023-03-{name}/a.pdf", b"x")
        if not name.endswith("writing"):
            opened.put(f"drops/2023-03-{name}/_READY", b"{}")
    refuse_drop(opened, "drops/2023-03-10-refused/", "a.pdf: 1 byte found, 2 listed")
    shutil.copytree(lake / "releases" / UNFINISHED, lake / "releases" / NOON)
    return lake


def hostile_lake(lake: Path) -> Path:
    """Replace all delivered text of papers, entries, records and files in a lake by markup."""
    markup = INJECTED
    of_papers, of_members = "title venue journal abstract license acl_id", "title venue abstract delivery"
    changed: dict[Table[Any], str] = {PAPERS: of_papers, MEMBERS: of_members, ENTRIES: "title raw_text"}
    changed |= {DOCUMENTS: "text top_word", SELECTIONS: "detail"}
    for table, names in changed.items():
        columns = names.split()
        rewrite(lake, table, lambda rows, columns=columns: [r | {c: markup for c in columns if r[c]} for r in rows])
    person = {"first": markup, "middle": [], "last": markup, "suffix": ""}
    rewrite(lake, MEMBERS, lambda rows: [r | {"authors": [person]} for r in rows])
    rewrite(lake, PDFS, lambda rows: [r | {"places": [*r["places"], {"drop": "d", "name": markup}]} for r in rows])
    return lake
