"""An object that the lake refuses to give costs its delivery, or its file, and nothing else (SPEC §0.19)."""

from pathlib import Path

import pytest

from s2corpus.deliveries.status import ArrivalState
from s2corpus.drops import processing
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline import quality, runner
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import pointer
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import DELIVERIES, RECORDS
from s2corpus.tables.parses import SELECTIONS
from tests.s3_store import HTML, Answer, Store, cut, replace_all
from tests.unit.s2corpus.deliveries.samples import AS_OF, PAPER, deliver, intake, lines

DENIED = Answer.error(403, "AccessDenied")
READY, PDF = "drops/refused/_READY", "drops/refused/a.pdf"


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Run:
    """Return a run over two drops and a delivery."""
    lake = open_lake("s3://corpus")
    for drop in ("good", "refused"):
        deliver(lake, f"drops/{drop}", {"a.pdf": f"%PDF {drop}".encode()})
    deliver(lake, "sources/dblp/1", lines(PAPER))
    return Run(ReleaseSpec(name="t"), AS_OF, lake, tmp_path)


def deny(store: Store, key: str, code: str = "AccessDenied") -> None:
    """Refuse all requests for the content of an object."""
    store.fault, store.meets = Answer.error(403, code), lambda request: request.key == key and request.method != "PUT"


def outcomes(run: Run) -> dict[str, tuple[str, str | None]]:
    return {row["delivery"]: (row["outcome"], row["detail"]) for row in run.table(DELIVERIES).read().to_pylist()}


@pytest.mark.parametrize("key", [READY, PDF])
def test_unreadable_object_costs_only_its_drop(store: Store, run: Run, key: str) -> None:
    deny(store, key)
    quality.measure(run, "intake", intake(run))
    found = outcomes(run)
    assert {name: outcome for name, (outcome, _) in found.items()} == {
        "1": "taken", "good": "taken", "refused": "unreadable_object",
    }  # fmt: skip
    assert f"s3://corpus/{key}: access refused (AccessDenied: words)" in str(found["refused"][1])
    assert "let its owner grant s3:GetObject" in str(found["refused"][1])
    assert run.table(RECORDS).committed().rows == 1
    verdicts = {verdict.check: verdict for verdict in quality.evaluate(run, "intake")}
    assert (verdicts["objects_are_readable"].verdict, verdicts["objects_are_readable"].offending) == ("warn", 1)
    assert verdicts["nothing_refused"].verdict == "pass"


@pytest.mark.parametrize("key", [READY, PDF])
def test_unreadable_object_costs_only_its_arrival(store: Store, run: Run, key: str, tmp_path: Path) -> None:
    """The DAG tries the drop again, so access that is granted needs no new delivery."""
    deny(store, key)
    specs = [ReleaseSpec(name="t", sources=("*",), drops=("refused",))]
    rows = {row.folder: row for row in processing.process(run.lake, specs, tmp_path)}
    refused = rows["drops/refused/"]
    assert (refused.state, refused.tries) == (ArrivalState.UNREADABLE_OBJECT, 1) and key in str(refused.detail)
    assert rows["sources/dblp/1/"].state is ArrivalState.PROCESSED
    store.fault = None
    (again,) = processing.register_all(run.lake, processing.list_pending(run.lake), specs)
    assert (again.folder, again.state) == ("drops/refused/", ArrivalState.REGISTERED)


def test_unreadable_pdf_costs_only_itself_after_registration(store: Store, run: Run) -> None:
    """The selection is not stored: the next release reads the PDF again."""
    runner.run_stage(run, "intake")
    deny(store, PDF)
    runner.run_stage(run, "select")
    rows = run.table(SELECTIONS).read().to_pylist()
    assert [row["detail"] for row in rows if "access refused" in row["detail"]] and len(rows) == 2
    assert {row["outcome"] for row in rows} == {"unreadable"}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (cut, "cut"), (replace_all, "not from S3"), (Answer(403, HTML), "not from S3"),
        pytest.param(lambda _, answer: Answer(200, HTML * 30_000, answer.headers), "proxy", id="long page"),
        (Answer.error(503, "SlowDown"), "SlowDown"), (Answer.error(400, "KMS.ThrottlingException"), "Throttling"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", [READY, PDF, "sources/dblp/1/records.jsonl"])
def test_failed_transport_refuses_nothing(store: Store, run: Run, key: str, fault: object, said: str) -> None:
    store.fault, store.meets = fault, lambda request: (request.method, request.key) == ("GET", key)  # type: ignore[assignment]  # parametrized
    with pytest.raises(TransientError, match=f"s3://corpus/{key}: .*{said}"):
        runner.run_stage(run, "intake")
    store.fault = None
    runner.run_stage(run, "intake")
    assert {outcome for outcome, _ in outcomes(run).values()} == {"taken"}


@pytest.mark.parametrize("code", ["InvalidAccessKeyId", "ExpiredToken", "RequestTimeTooSkewed"])
def test_refused_keys_refuse_nothing(store: Store, run: Run, code: str) -> None:
    deny(store, READY, code)
    with pytest.raises(TransientError, match=f"s3://corpus/{READY}: .*{code}"):
        runner.run_stage(run, "intake")


def test_refused_pointer_is_named_without_advice_for_deliveries(store: Store, run: Run) -> None:
    deny(store, key := "snapshots/t/latest.json")
    store.objects[key] = b"{}"
    with pytest.raises(
        UserError, match=f"s3://corpus/{key}: access refused .*let its owner grant s3:GetObject"
    ) as told:
        pointer.read_latest(run.lake, "t")
    assert "deliver" not in str(told.value)


def test_refused_listing_stops_the_release(store: Store, run: Run) -> None:
    """Without a listing, a release would lose all drops unseen."""
    store.fault, store.meets = DENIED, lambda request: not request.key
    with pytest.raises(UserError, match=r"access refused .*have no rights on it"):
        runner.run_stage(run, "intake")
