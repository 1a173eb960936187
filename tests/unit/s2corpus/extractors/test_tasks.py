"""An asynchronous extractor works through the same pool: a real HTTP server implements docling-serve's API."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import orjson
import pytest

from s2corpus.errors import UserError
from s2corpus.extractors import ExtractOutcome, Pool
from s2corpus.spec import ExtractRules
from s2corpus.stages.extract import ExtractStage as Stage
from s2corpus.storage.lake import Lake
from s2corpus.tables.parses import EXTRACTIONS
from tests.extractors import docling
from tests.extractors.plugin import installed
from tests.standin_docling import SMALL, StandIn
from tests.unit.s2corpus.extractors.test_extract_stage import Intake, papers, selected, work
from tests.unit.s2corpus.extractors.test_pool import QUICK, pdfs, run

TASKS = replace(QUICK, request=2.0, status=0.5)


@pytest.fixture(autouse=True)
def adapter(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(docling, "WAIT", 0.02)
    with installed(tmp_path_factory.mktemp("plugin"), "docling", "tests.extractors.docling"):
        yield


CASES = [
    (None, ExtractOutcome.OK, 1),
    ("polls 500", ExtractOutcome.OK, 1),
    ("failure", ExtractOutcome.NOT_CONVERTED, 1),
    ("garbage", ExtractOutcome.BAD_ANSWER, 1),
    ("no_document", ExtractOutcome.BAD_ANSWER, 1),
    ("huge", ExtractOutcome.BAD_ANSWER, 1),
    ("500", ExtractOutcome.CONNECTION, 3),
    ("lost", ExtractOutcome.CONNECTION, 3),
    ("redirect", ExtractOutcome.CONNECTION, 3),
    ("never", ExtractOutcome.TIMEOUT, 3),
    ("hang", ExtractOutcome.TIMEOUT, 3),
]


def test_fault_of_a_task_gives_its_outcome() -> None:
    items = pdfs(len(CASES))
    fault_of = {sha1: fault for (sha1, _), (fault, _, _) in zip(items, CASES, strict=True)}
    with StandIn(faults=lambda sha1, times: fault_of[sha1]) as server:
        results = run(Pool([server.url], limits=replace(TASKS, in_flight=len(CASES))), items)
    found = {fault_of[sha1]: (r.outcome, server.submitted[sha1]) for sha1, r in results.items()}
    assert found == {fault: (outcome, tries) for fault, outcome, tries in CASES}
    assert server.elsewhere == 0  # The redirect is not followed.
    (good,) = [r.tei for sha1, r in results.items() if fault_of[sha1] is None]
    assert orjson.loads(good or b"") == SMALL


def test_restarted_server_gets_its_lost_tasks_again() -> None:
    lost: set[str] = set()

    def faults(sha1: str, times: int) -> str | None:
        if server.submitted.total() <= 4:
            lost.add(sha1)
            return "never"
        if server.submitted.total() == 8:  # Meanwhile, four items have waited.
            server.tasks.clear()
        return None

    with StandIn(faults=faults) as server:
        results = run(Pool([server.url], limits=replace(TASKS, in_flight=5, request=60.0, deadline=60.0)), pdfs(20))
        assert Counter(r.outcome for r in results.values()) == {ExtractOutcome.OK: 20}
        assert server.submitted == {sha1: 2 if sha1 in lost else 1 for sha1 in results}


def test_full_queue_is_waited_for() -> None:
    with StandIn(seconds=0.05, room=2) as server:
        results = run(Pool([server.url], limits=TASKS), pdfs(20))
    assert {r.outcome for r in results.values()} == {ExtractOutcome.OK}
    assert server.most_open == 2


def test_unknown_adapters_mixed_adapters_and_options_are_errors() -> None:
    with pytest.raises(UserError, match=r"'speed' given; docling has do_ocr, pdf_backend, table_mode"):
        Pool(["docling+http://localhost:5001"], ExtractRules(options={"speed": "fast"}))
    with pytest.raises(UserError, match=r"no extractor is called 'mineru': expected one of docling, grobid"):
        Pool(["mineru+http://localhost:8000"])
    with pytest.raises(UserError, match="the same extractor: found docling, grobid"):
        Pool(["docling+http://localhost:5001", "http://localhost:8070"])


def test_model_revision_is_part_of_the_key(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    found = papers(4)
    with StandIn() as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        for month in (1, 2):
            run_ = selected(Intake(lake, found, month=month).run())
            work(Stage(TASKS), run_)
        assert server.submitted == Counter(dict.fromkeys(found, 1))
        facts = run_.table(EXTRACTIONS).committed().facts
        assert facts["adapter"] == "docling" and facts["extractor"].startswith("docling 1.18.0+docling-2.60.0 ")
        server.docling = "2.61.0"
        work(Stage(TASKS), selected(Intake(lake, found, month=3).run()))
        assert server.submitted == Counter(dict.fromkeys(found, 2))
