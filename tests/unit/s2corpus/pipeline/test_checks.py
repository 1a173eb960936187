"""Checks, approvals and overrides of a release (SPEC §10.12, §11), its summary and id, and traces of its papers.

A user who started a release, or delivered new data in it, cannot approve it. A check can be overridden only if it allows it and a
reason is given. Losses against the parent, and two versions of the code, stop a release of any size.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from s2corpus.catalog import Catalog
from s2corpus.catalog.models import ReleaseDecision
from s2corpus.clustering.explain import Explanation
from s2corpus.errors import QualityBlocked, UserError
from s2corpus.pipeline import acceptance, checks, publication, quality, sealed
from s2corpus.pipeline.acceptance import accept, excluded_people, find_objection, read_acceptances
from s2corpus.pipeline.checks import list_all_checks
from s2corpus.pipeline.quality import CheckVerdict, stop_if_blocked
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.pipeline.summary import format_summary, list_losses
from s2corpus.pipeline.trace import PaperTrace
from s2corpus.spec import ExportRules, ReleaseSpec
from s2corpus.stages.clean import CleanStage
from s2corpus.stages.split import SplitStage
from s2corpus.storage import parts
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import DELIVERIES, PDFS
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import EXTRACTIONS, PARSES, SELECTIONS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, DUPLICATES, FILTERED, FULLTEXTS, SPLITS
from tests.unit.s2corpus.deliveries.samples import AS_OF, deliver, intake, lines
from tests.unit.s2corpus.snapshot.release import lay_out, papers, through

RELEASE = "s2_v2-20230301"
DRIFT, WARNING = "link.drift_of_linked_entries_block", "link.drift_of_linked_entries_warn"
REASON = "the source dblp ended in February"
PARENT = "t-20230101-00000000"


def put_parent(run: Run, drops: str = "*", stats: dict[str, Any] | None = None) -> None:
    """Give a release a parent, and the tables that its snapshot id needs."""
    for name, content in (("manifest", {"spec": "t", "drops": [drops]}), ("stats", stats or {})):
        run.lake.put(f"snapshots/{PARENT}/{name}.json", orjson.dumps(content))
    run.lake.put(f"snapshots/t/published/{PARENT}", b"{}")
    for table, facts in ((EXTRACTIONS, {"extractor": "e"}), (PARSES, {"converter": "c"})):
        run.table(table).write(0, [])
        run.table(table).commit([0], facts)


# -- Approvals.


@pytest.fixture
def release(lake: Lake, tmp_path: Path) -> Run:
    """Return a release after intake. ann delivered before its parent; bob and an anonymous user delivered after it."""
    for drop, by, at in (("old", "ann", "2022-12-15"), ("new", "Bob", "2023-01-15"), ("other", "", "2023-01-16")):
        deliver(lake, f"drops/{drop}", {"a.pdf": drop.encode()}, f"{at}T00:00:00Z", delivered_by=by)
    run = Run(ReleaseSpec(name="t", export=ExportRules(approval="other")), AS_OF, lake, tmp_path)
    put_parent(run)
    intake(run)
    return run


@pytest.mark.parametrize(
    ("who", "started_by", "did"),
    [
        ("bob", None, "delivered drops/new"),
        (" BOB ", "carol", "delivered drops/new"),
        ("carol", "carol", "started its run"),
        ("ann", "carol", None),  # ann's delivery was approved with the parent.
        ("admin", None, None),  # The schedule started this release.
    ],
)
def test_deliverer_and_starter_cannot_approve(release: Run, who: str, started_by: str | None, did: str | None) -> None:
    said = find_objection(release, who, started_by)
    assert said is None if did is None else said is not None and said.startswith(f"{who} {did} and may not approve")


def test_request_names_who_cannot_approve_unless_anyone_can(release: Run) -> None:
    assert excluded_people(release, "carol") == {"Bob": "delivered drops/new", "carol": "started its run"}
    spec = release.spec.model_copy(update={"export": ExportRules(approval="anyone")})
    assert find_objection(Run(spec, release.as_of, release.lake, release.scratch), "bob", "bob") is None
    assert spec.digest == release.spec.digest, "who approves decides no bytes"


def test_refused_approval_is_recorded_and_anybody_may_reject(
    release: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path / 'catalog.db'}")
    catalog.migrate()
    catalog.start_stage(release.release_id, "t", release.as_of, "intake")
    monkeypatch.setenv("S2CORPUS_CATALOG", f"sqlite:///{tmp_path / 'catalog.db'}")
    sealed.seal(release)
    for table in (EXTRACTIONS, PARSES):
        release.table(table).write(0, [])
        release.table(table).commit([0], {"extractor": "e", "converter": "c"})
    with pytest.raises(acceptance.AnotherPerson, match=r"bob delivered drops/new .*: another person must answer"):
        publication.record_answer(release, ReleaseDecision.APPROVED, "bob", "mine", AS_OF)
    publication.record_answer(release, ReleaseDecision.REJECTED, "bob", "a scanner failed", AS_OF)
    publication.record_answer(release, ReleaseDecision.APPROVED, "dora", "looks right", AS_OF, "bob")
    said = [(a.who, a.answer) for a in catalog.approvals(release.release_id)]
    assert said == [("bob", "refused"), ("bob", "rejected"), ("dora", "approved")]


# -- Overridden checks.


def test_acceptance_belongs_to_its_release_and_first_author(lake: Lake) -> None:
    assert accept(lake, RELEASE, {DRIFT: f" {REASON} "}, "ann", list_all_checks()) == [DRIFT]
    assert accept(lake, RELEASE, {DRIFT: REASON, WARNING: REASON}, "bob", list_all_checks()) == [WARNING]
    found = {name: (word.by, word.reason) for name, word in read_acceptances(lake, RELEASE).items()}
    assert found == {DRIFT: ("ann", REASON), WARNING: ("bob", REASON)}
    assert read_acceptances(lake, "s2_v2-20230401") == {}


@pytest.mark.parametrize(
    ("check", "reason", "said"),
    [
        ("link.no_such_check", REASON, "'link.no_such_check' is not a check; expected <stage>.<check>, one of link."),
        ("clean.no_closed_text", REASON, "cannot be overridden"),
        (DRIFT, "ok       ", "'ok       ' is not a reason; write at least 10 characters"),
    ],
)
def test_impossible_acceptance_is_refused_with_a_sentence(lake: Lake, check: str, reason: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        accept(lake, RELEASE, {WARNING: REASON, check: reason}, "ann", list_all_checks())
    assert said in str(refused.value)
    assert read_acceptances(lake, RELEASE) == {}, "all or nothing"


def verdict(overridable: bool, reason: str | None = None) -> CheckVerdict:
    return CheckVerdict(
        "link", "c", "block", "block", overridable, 1, [{"n": 1}], None, "why", reason, reason and "ann"
    )


def test_block_stops_the_release_unless_accepted() -> None:
    stop_if_blocked(RELEASE, [verdict(True, REASON)])
    with pytest.raises(QualityBlocked, match=f"to continue: `corpus accept {RELEASE} link.c --reason"):
        stop_if_blocked(RELEASE, [verdict(True, REASON), verdict(True)])
    with pytest.raises(QualityBlocked, match="cannot be overridden"):
        stop_if_blocked(RELEASE, [verdict(False)])


def test_checks_of_export_cannot_be_accepted() -> None:
    """The manifest lists overrides, and it is written before export is checked."""
    assert not [check for check in checks.list_checks("export") if check.overridable or check.severity == "warn"]
    assert STAGE_NAMES[-1] == "export"


def test_acceptance_written_by_hand_cannot_override_such_checks(release: Run) -> None:
    rows = release.table(PDFS).read()
    for shard in (0, 1):  # The same PDF is in two shards.
        release.table(PDFS).write(shard, rows)
    release.table(PDFS).commit([0, 1], {"pdf_shards": 2})
    by_hand = {
        "intake.pdfs_key_is_unique": asdict(acceptance.Acceptance(REASON, "mallory", "2023-02-01T00:00:00+00:00"))
    }
    release.lake.put(f"releases/{release.release_id}/_accepted.json", orjson.dumps(by_hand))
    with pytest.raises(QualityBlocked, match=r"intake.pdfs_key_is_unique.*\(cannot be overridden\)"):
        stop_if_blocked(release.release_id, quality.evaluate(release, "intake"))


def test_snapshot_id_follows_every_input(release: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC §0.15: spec, inputs, parent, and the versions of code, extractor and converter."""

    def make_id(spec: ReleaseSpec = release.spec) -> str:
        return Run(spec, AS_OF, release.lake, release.scratch).snapshot_id

    ids = [make_id(), make_id(ReleaseSpec(name="t", drops=("new",)))]
    facts = [{"inputs": "1", "parent": PARENT}, {"inputs": "2", "parent": PARENT}, {"inputs": "2", "parent": None}]
    versions: list[Any] = [(EXTRACTIONS, {"extractor": "f"}), (PARSES, {"converter": "d"})]
    for table, fact in [*versions, *((DELIVERIES, fact) for fact in facts)]:
        release.table(table).commit([0], fact)
        ids.append(make_id())
    monkeypatch.setattr("s2corpus.pipeline.run.code_version", lambda: "0")
    assert len({*ids, make_id()}) == 8 and {id_[:11] for id_ in ids} == {"t-20230201-"}


def test_extractor_with_the_name_of_a_source_is_blocked(release: Run) -> None:
    deliver(release.lake, "sources/mine/1", lines({"id": 1, "title": "T"}))
    intake(release)
    release.table(SELECTIONS).write(0, [{"file_sha1": "0" * 40, "outcome": "selected"}])
    release.table(SELECTIONS).commit([0])
    row = {
        "file_sha1": "0" * 40, "version": "1", "options_hash": "0", "outcome": "no_content", "tries": 1, "seconds": 0,
    }  # fmt: skip
    for name, blocks in (("mine", {"extractor_has_its_own_name"}), ("another", set())):
        release.table(EXTRACTIONS).write(0, [{**row, "extractor": name}])
        release.table(EXTRACTIONS).commit([0])
        assert find_blocks(release, "extract") == blocks


# -- Losses.


def after_intake(lake: Lake, scratch: Path, pdfs: int, *, profile: str = "public", parent_drops: str = "*") -> Run:
    """Return a release after intake with one drop of `pdfs` files; its parent had 4 PDFs and 4 documents from `parent_drops`."""
    run = Run(ReleaseSpec(name="t", profile=profile), AS_OF, lake, scratch)  # type: ignore[arg-type]  # pydantic checks the profile
    deliver(lake, "drops/a", {f"{n}.pdf": b"%%PDF %d" % n for n in range(pdfs)})
    metrics = {"intake": {"pdfs": 4}, "split": {"s2orc.train": 3, "s2orc.valid": 1, "s2orc.train.words": 9999}}
    put_parent(run, parent_drops, {"metrics": metrics, "sets": {"s2orc": {"train": {"documents": 3}}}})
    quality.measure(run, "intake", intake(run))
    return run


def find_blocks(run: Run, name: str) -> set[str]:
    return {v.check for v in quality.evaluate(run, name) if v.verdict == "block"}


def split_into(run: Run, splits: list[str]) -> None:
    keys = [{"set": "s2orc", "paper_id": f"{n:015x}"} for n in range(len(splits))]
    rows = [{**key, "split": split, "reason": None} for key, split in zip(keys, splits, strict=True)]
    run.table(SPLITS).write(0, rows)
    run.table(DOCUMENTS).write(0, [{**key, "outcome": "kept", "text": key["paper_id"]} for key in keys])
    empty: tuple[Table[Any], ...] = (DUPLICATES, PAPERS, FILTERED, FULLTEXTS)
    for table in empty:
        run.table(table).write(0, [])
    for table in (SPLITS, DOCUMENTS, *empty):
        run.table(table).commit([0])


def test_summary_begins_with_losses(lake: Lake, tmp_path: Path) -> None:
    run = after_intake(lake, tmp_path, 1)
    assert list_losses(run) == ["documents of s2orc train: 3 → 0 (-100.0%)", "PDFs: 4 → 1 (-75.0%)"]
    lines = [line.strip() for line in format_summary(run).splitlines()]
    assert lines[2:4] == [f"Counts below {PARENT}", "documents of s2orc train: 3 → 0 (-100.0%)"]


@pytest.mark.parametrize(("pdfs", "said"), [(1, {"half_of_the_pdfs"}), (2, set()), (5, set())])
def test_fewer_than_half_of_parents_pdfs_block_release(lake: Lake, tmp_path: Path, pdfs: int, said: set[str]) -> None:
    assert find_blocks(after_intake(lake, tmp_path, pdfs), "intake") == said


def test_fewer_than_half_of_parents_papers_block_the_release(lake: Lake, tmp_path: Path) -> None:
    run = lay_out(lake, tmp_path, ReleaseSpec(name="t"), papers(20), buckets=1, parent=PARENT)
    for before, is_lost in ((40, False), (41, True)):
        put_parent(run, stats={"metrics": {"vote": {"rows.papers": before}}})
        assert ("half_of_the_papers" in find_blocks(run, "vote")) is is_lost


def test_other_drops_are_not_compared(lake: Lake, tmp_path: Path) -> None:
    assert not find_blocks(after_intake(lake, tmp_path, 1, parent_drops="2022-*"), "intake")


def test_own_folders_are_compared_with_earlier_ones(lake: Lake, tmp_path: Path) -> None:
    run = after_intake(lake, tmp_path, 1, profile="own")
    assert run.parent == PARENT and find_blocks(run, "intake") == {"half_of_the_pdfs"}


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        (["train", "train", "train", "valid"], set()),
        (["train", "train", "valid", "held_back:undated"], {"lost_documents"}),
        (["held_back:undated"], {"some_documents", "lost_documents"}),
    ],
)
def test_too_few_documents_block_the_release(lake: Lake, tmp_path: Path, splits: list[str], said: set[str]) -> None:
    run = after_intake(lake, tmp_path, 4)
    split_into(run, splits)
    assert find_blocks(run, "split") == said


def test_release_by_two_code_versions_is_blocked(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = after_intake(lake, tmp_path, 4)
    split_into(run, ["train", "train", "train", "valid"])
    quality.measure(run, "export", {"documents.s2orc.train": 3, "documents.s2orc.valid": 1})
    assert not find_blocks(run, "export")
    monkeypatch.setattr(parts, "code_version", lambda: "0.2.0+upgraded")
    run.table(SPLITS).commit([0])
    (verdict,) = (v for v in quality.evaluate(run, "export") if v.verdict == "block")
    assert verdict.check == "one_code" and not verdict.overridable and verdict.offending == 2


# -- Checks of buckets one after the other give the same result as checks of all buckets together.


BUCKETS = 5


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    """Return a release up to its splits. One of its papers has two outcomes, and two papers have an unknown outcome."""
    found = lay_out(lake, tmp_path, ReleaseSpec(name="parts"), papers(60, words=20), buckets=BUCKETS)
    through(found, CleanStage(), SplitStage())
    table = found.table(FILTERED)
    for bucket in (1, 3):
        rows = table.read(shard=bucket).to_pylist()
        rows[0]["outcome"] = "no_idea"
        table.write(bucket, pa.Table.from_pylist(rows[:1] * (bucket == 3) + rows, FILTERED.schema))
    table.commit(range(BUCKETS))
    return found


def test_check_by_bucket_equals_check_of_all(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = ("filter", "clean", "split")
    whole = [asdict(verdict) for stage in stages for verdict in quality.evaluate(run, stage)]
    monkeypatch.setattr(quality, "ROWS_AT_ONCE", 1)
    assert [asdict(verdict) for stage in stages for verdict in quality.evaluate(run, stage)] == whole
    counts = {verdict.check: verdict.offending for verdict in quality.evaluate(run, "filter") if verdict.offending}
    assert counts == {"filtered_key_is_unique": 1, "filtered_outcome_is_known": 3}


# -- Traces.


KEPT = [{"set": "s2orc", "outcome": "kept"}]
BOTH_FAILED = [{"set": "s2orc", "outcome": "closed"}, {"set": "s2ag", "outcome": "no_abstract"}]


@pytest.mark.parametrize(
    ("filtered", "documents", "split", "sentence"),
    [
        ("no_authors", [], None, "excluded by filter: no_authors"),
        ("kept", BOTH_FAILED, None, "excluded by clean: s2orc closed; s2ag no_abstract"),
        ("kept", KEPT, "train", "document of s2orc: train"),
        ("kept", KEPT, "held_back:duplicate", "held back from s2orc: held_back:duplicate of 4ae"),
    ],
)
def test_paper_trace_states_last_result(
    filtered: str, documents: list[dict[str, Any]], split: str | None, sentence: str
) -> None:
    splits = {"s2orc": {"split": split, "reason": "4ae"}} if split else {}
    why = Explanation("1f0", [], [], [])
    trace = PaperTrace("1f0", None, [], why, {"title": "T"}, [], [], {"outcome": filtered}, [], [], documents, splits)
    assert (trace.end, trace.published) == (sentence, split == "train")
