"""The law of faults: when any request fails, a release has the same bytes, or stops with the true cause and the next step.

The n-th request to the lake, the extractor or the catalog fails, once or from then on, for every n of two tiny releases. A step repeats
as Airflow repeats a task: three retries after `TransientError`, none after other errors. A client that repeats a request ends its fault,
so one run of a step contains a fault of every request. A refusal stops the step; its owner grants access, and the step continues. A
request that always fails stops its step in the lines that send it, so each kind of these lines and of objects has its own run.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from s2corpus.catalog import Catalog
from s2corpus.errors import TransientError, UserError
from s2corpus.pipeline.run import Run
from s2corpus.stages.extract import ExtractStage
from s2corpus.storage.lake import open_lake
from s2corpus.tables.parses import EXTRACTIONS
from tests.faults.law import SPEC, Release, Step, built_release
from tests.releases import AS_OF
from tests.s3_store import PAGE, Answer, Fault, Request, cut, lose, stall
from tests.standin_grobid import StandIn, Upload
from tests.unit.s2corpus.extractors.test_pool import QUICK

pytestmark = pytest.mark.slow
FAULTS: dict[str, tuple[Fault, str]] = {
    "cut": (cut, "cut|closed|broken|Internal Server Error"),  # boto3 takes a listing that is cut for an error 500
    "refused": (Answer.error(403, "AccessDenied"), "access refused"),
    "busy": (Answer.error(503, "SlowDown"), "SlowDown|Service Unavailable|503"),
    "late": (stall, "[Tt]imeout|timed out|closed"),
    "lost": (lose, "closed|Could not connect|aborted"),
    "replaced": (PAGE, "not from S3"),
}
"""fault → the change of an answer, and the text of the sentence"""
RETRIES = 3


def repeat(step: Callable[[], object]) -> UserError | TransientError | None:
    """Run a step as Airflow runs a task; return its last error. Stop early when an error repeats: another try has the same state."""
    last: UserError | TransientError | None = None
    for _ in range(RETRIES + 1):
        try:
            step()
        except (UserError, TransientError) as error:
            if isinstance(error, UserError) or str(error) == str(last):
                return error
            last = error
        else:
            return None
    return last


def check_sentence(error: UserError | TransientError, cause: str) -> None:
    """Check that an error is one sentence with the true cause, and does not advise to delete."""
    text = str(error)
    assert re.search(cause, text), text
    assert "\n" not in text and len(text) < 1000, text
    assert not re.search(r"\bdelete\b", text), text
    if isinstance(error, UserError):
        assert "try again" not in text and "next try" not in text, text


def check_bytes(release: Release, step: Step, fault: str) -> None:
    """Check that a step that ended has the same bytes, or rows that name the objects that were refused."""
    release.store.fault = None
    different = release.find_differences(step)
    assert not different or (fault == "refused" and release.is_named(step)), different


def fail_each(release: Release, step: Step, fault: str) -> None:
    """Run a step in which each request fails once, and its repetition does not.

    A step may stop after a fault, as it would without the others, and is repeated. A refusal ends its process, and leaves only the
    objects. So of requests with equal lines, equal objects in the lake and keys in one folder, one is refused.
    """
    stopped: set[tuple[str, str, str, int]] = set()
    failed: set[tuple[str, str, int]] = set()
    seen: Counter[tuple[str, str]] = Counter()
    repeated: set[tuple[str, str]] = set()

    def meets(request: Request) -> bool:
        name = (request.method, request.key)
        if name in repeated:
            repeated.remove(name)
            return False
        seen[name] += 1
        if (*name, seen[name]) in failed:
            return False
        if fault == "refused":
            state = hash(frozenset(release.store.objects.items()))
            if (place := (*request.kind, state)) in stopped:
                return False
            stopped.add(place)
        repeated.add(name)
        failed.add((*name, seen[name]))
        return True

    known = -1
    # A fault without effect is not repeated: the next request to its key fails in another run.
    while known < len(failed) < len(step.requests):
        known = len(failed)
        release.start(step.before, FAULTS[fault][0], meets)
        error: UserError | TransientError | None = TransientError("")
        while error:
            before = len(failed)
            seen.clear()
            repeated.clear()
            try:
                step.do()
                error = None
            except (TransientError, UserError) as found:
                check_sentence(error := found, FAULTS[fault][1])
                assert fault == "refused" or isinstance(error, TransientError), error
                assert len(failed) > before, f"no fault stops {step.name}: {error}"
        check_bytes(release, step, fault)


def fail_always(release: Release, step: Step, number: int, fault: str) -> None:
    """Run a step in which the request `number` fails, and each that follows with its method and key."""
    count, met = 0, ("", "")

    def meets(request: Request) -> bool:
        nonlocal count, met
        count += 1
        if count == number + 1:
            met = (request.method, request.key)
        return (request.method, request.key) == met

    release.start(step.before, FAULTS[fault][0], meets)
    if error := repeat(step.do):
        release.store.fault = None
        check_sentence(error, FAULTS[fault][1])
    else:
        check_bytes(release, step, fault)


def check_all(release: Release, fault: str, places: Iterable[tuple[Step, int | None]]) -> None:
    """Let each request of some steps fail once, or a request of a step always; print the number of requests that failed."""
    before, broken, lasts = release.store.spoiled, list[str](), False
    for step, number in places:
        lasts = number is not None
        try:
            fail_each(release, step, fault) if number is None else fail_always(release, step, number, fault)
        except Exception as error:
            broken.append(f"{step.name} {number}: {type(error).__name__}: {error}")
    met = release.store.spoiled - before
    print(f"pairs of request and fault {fault}{lasts * ' always'}: {met}, {len(broken)} steps break the law")
    assert met and not broken, "\n".join(broken[:40])


def find_kinds(release: Release) -> list[tuple[Step, int | None]]:
    """Return the earliest request of each kind: its method, the folder of its key, and the innermost lines of the project that send it.

    A fault that stops a step is handled by these lines and by their callers, which pass it on: `runner` alone catches errors.
    """
    kinds: dict[tuple[str, str, str], tuple[Step, int | None]] = {}
    requests = ((step, number) for step in release.steps for number in range(len(step.requests)))
    for step, number in sorted(requests, key=lambda place: place[1]):
        kinds.setdefault(step.requests[number].kind, (step, number))
    return list(kinds.values())


@pytest.fixture(scope="module")
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    """Return both releases, or the first one."""
    sample, released, extractor = map(request.getfixturevalue, ("tiny", "released", "extractor"))
    scratch = tmp_path_factory.mktemp("scratch")
    with built_release(sample[0], scratch, released[0].lake, extractor, both=request.param) as made:
        yield made


FIRST = pytest.mark.parametrize("release", [False], indirect=True, ids=["first"])
BOTH = pytest.mark.parametrize("release", [True], indirect=True, ids=["both"])
PARTS = (
    "deliver|delta|intake", "seal|select|extract|postprocess|filter|split", "cluster|vote|assemble|link|clean",
    "export|publish|yank|restore",
)  # fmt: skip
"""names of steps, which divide the tests into minutes"""


@FIRST
def test_some_faults_of_the_lake(release: Release) -> None:
    """In every twelfth step, each request fails once; each 29th kind of request fails always."""
    kinds = find_kinds(release)
    for number, fault in enumerate(FAULTS):
        check_all(release, fault, [(step, None) for step in release.steps[number :: 60 if fault == "refused" else 12]])
        check_all(release, fault, kinds[number * 29 :: 6 * 29])


@BOTH
@pytest.mark.long
@pytest.mark.timeout(3600)  # The limit is long because the machine may be busy.
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("lasts", [False, True], ids=["once", "always"])
def test_each_request_to_the_lake_fails(release: Release, lasts: bool, fault: str, part: str) -> None:
    """Each request fails once; each kind of request fails always."""
    places = find_kinds(release) if lasts else [(step, None) for step in release.steps]
    check_all(release, fault, [(step, number) for step, number in places if re.match(part, step.name)])


@contextmanager
def failing_database(number: int, lose_answer: bool) -> Iterator[list[int]]:
    """Let one statement fail before it runs, or one transaction after its commit; yield the number that were met."""
    met: list[int] = []

    def fail_nth(*_: object) -> None:
        met.append(len(met))
        if len(met) == number + 1:
            raise OperationalError("statement", None, Exception("connection reset by peer"))

    target, name = (Session, "after_commit") if lose_answer else (Engine, "before_cursor_execute")
    event.listen(target, name, fail_nth)
    try:
        yield met
    finally:
        event.remove(target, name, fail_nth)


@BOTH
@pytest.mark.long
@pytest.mark.parametrize("lose_answer", [False, True])
def test_each_request_to_the_catalog_fails(
    release: Release, lose_answer: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A lost connection is repeated with equal objects; a database that is gone is named."""
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    Catalog(url).migrate()
    monkeypatch.setenv("S2CORPUS_CATALOG", url)
    ran = 0
    for step in release.steps:
        if not step.name.endswith((".plan.0", ".check", "publish")):
            continue
        number, met = 0, [0]
        while number < len(met):
            release.store.objects = dict(step.before)
            with failing_database(number, lose_answer) as met:
                assert repeat(step.do) is None, step.name
            assert not release.find_differences(step), step.name
            number, ran = number + 1, ran + 1
    print(f"{ran} requests to the catalog")
    monkeypatch.setenv("S2CORPUS_CATALOG", "postgresql+psycopg2://u:p@127.0.0.1:1/none")
    error = repeat(next(step.do for step in release.steps if step.name == "intake.plan.0"))
    assert error is not None
    check_sentence(error, r"the catalog \(S2CORPUS_CATALOG\) does not respond: .*Connection refused")


UPLOAD_FAULTS = ("busy", "drop", "truncate", "half", "403", "502", "504")
"""faults of the stand-in for GROBID"""


@FIRST
@pytest.mark.parametrize("fault", UPLOAD_FAULTS)
def test_each_request_to_extractor_fails_once(release: Release, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each PDF is sent again, and has the answer of an undisturbed extractor."""
    before = next(step.before for step in release.steps if step.name == "extract.plan.0")
    uploads: list[str] = []

    def faults(upload: Upload) -> str | None:
        uploads.append(upload.sha1)
        return fault if len(uploads) == number + 1 else None

    number, expected = -1, None
    while number < len(uploads):
        uploads.clear()
        release.store.objects = {key: data for key, data in before.items() if not key.startswith("stored_tei/")}
        with StandIn(faults=faults) as server:
            monkeypatch.setenv("GROBID_URL", server.url)
            run, stage = Run(SPEC, AS_OF, open_lake("s3://corpus"), release.scratch), ExtractStage(QUICK)
            for shard in stage.plan(run):
                stage.work(run, shard)
        rows = run.table(EXTRACTIONS).read_shard(0).select(["file_sha1", "outcome", "tei_sha1"]).to_pylist()
        expected = expected or rows
        assert rows == expected and {row["outcome"] for row in rows} == {"ok"}, number
        number += 1
