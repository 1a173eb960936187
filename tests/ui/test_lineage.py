"""The OpenLineage events of a release contain every table of the lake, the stages that read and write it, and the results of checks."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from s2corpus.pipeline.quality import list_checks
from s2corpus.pipeline.stages import STAGE_NAMES, stage_row
from s2corpus.tables.schema import TABLES
from tests.releases import PUBLISHED, ROOT, Built

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def events(built: Built, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the events that OpenLineage writes to a file when the tasks of a release end, by `<stage>.<task>`.

    OpenLineage's own extraction and adapter are used.
    """
    folder = tmp_path_factory.mktemp("lineage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW_HOME", str(folder))
        patch.setenv("OPENLINEAGE_DISABLED", "false")
        sys.path[:0] = [str(ROOT / "dags"), str(ROOT / "plugins")]
        import corpus_lineage
        import corpus_release
        from airflow.providers.openlineage.extractors.manager import ExtractorManager
        from airflow.providers.openlineage.plugins.adapter import OpenLineageAdapter
        from airflow.utils.state import TaskInstanceState
        from openlineage.client import OpenLineageClient
        from openlineage.client.transport.file import FileConfig, FileTransport

        to = FileTransport(FileConfig(log_file_path=str(folder / "events"), append=True))
        adapter, dag = (
            OpenLineageAdapter(client=OpenLineageClient(transport=to)),
            vars(corpus_release)["corpus_release__sample"],
        )
        for name in STAGE_NAMES:
            for step, described in (
                ("finish", corpus_lineage.describe_tables),
                ("quality", corpus_lineage.describe_verdicts),
            ):
                task = dag.get_task(f"{name}.{step}")
                corpus_lineage.attach_lineage(task, described, built.runs[PUBLISHED], name)
                manager = ExtractorManager()  # type: ignore[no-untyped-call]  # no types in the provider
                found = manager.extract_metadata(SimpleNamespace(run_id="x"), task, TaskInstanceState.SUCCESS, None)
                adapter.complete_task(
                    run_id=str(uuid4()),
                    job_name=f"corpus_release__sample.{name}.{step}",
                    end_time=datetime(2023, 2, 1, tzinfo=UTC).isoformat(),
                    task=found,
                    nominal_start_time=None,
                    nominal_end_time=None,
                    owners=None,
                    tags=None,
                    job_description=None,
                )
    lines = (folder / "events").read_text().splitlines()
    read = [json.loads(line) for line in lines]
    return {event["job"]["name"].removeprefix("corpus_release__sample."): event for event in read}


def named(datasets: list[dict[str, Any]], lake: str) -> set[str]:
    """Return the names of the datasets below the lake."""
    assert {dataset["namespace"] for dataset in datasets} <= {"file"}
    return {str(Path(dataset["name"]).relative_to(lake)) for dataset in datasets}


def test_every_table_is_written_by_one_stage(events: dict[str, dict[str, Any]], built: Built) -> None:
    written: dict[str, str] = {}
    for name in STAGE_NAMES:
        event = events[f"{name}.finish"]
        for table in stage_row(name).read_tables:
            assert f"releases/{PUBLISHED}/{table.name}" in named(event["inputs"], built.lake)
        for dataset in event["outputs"]:
            key = str(Path(dataset["name"]).relative_to(built.lake))
            assert written.setdefault(key, name) == name
    lake = {
        f"releases/{PUBLISHED}/{name}"
        for name in TABLES
        if (Path(built.lake) / "releases" / PUBLISHED / name / "_COMMITTED.json").is_file()
    }
    assert len(lake) > 15 and set(written) == lake | {f"snapshots/{built.runs[PUBLISHED].snapshot_id}"}


def test_lineage_of_a_table_has_columns_and_rows(events: dict[str, dict[str, Any]], built: Built) -> None:
    papers = TABLES["papers"]
    (dataset,) = [d for d in events["vote.finish"]["outputs"] if d["name"].endswith("/papers")]
    fields = dataset["facets"]["schema"]["fields"]
    assert [(f["name"], f["description"]) for f in fields] == [(c.name, c.meaning) for c in papers.columns]
    assert (
        dataset["outputFacets"]["outputStatistics"]["rowCount"] == built.runs[PUBLISHED].table(papers).committed().rows
    )


def test_intake_lists_deliveries_as_inputs(events: dict[str, dict[str, Any]], built: Built) -> None:
    read = named(events["intake.finish"]["inputs"], built.lake)
    assert "drops/2023-01-a" in read and any(name.startswith("sources/crossref/") for name in read)


@pytest.mark.parametrize("name", STAGE_NAMES)
def test_every_verdict_is_an_assertion_on_its_table(name: str, events: dict[str, dict[str, Any]], built: Built) -> None:
    for dataset in events[f"{name}.quality"]["inputs"]:
        said = dataset["inputFacets"]["dataQualityAssertions"]["assertions"]
        expected = {f"{name}.{c.name}": "error" if c.severity == "block" else "warn" for c in list_checks(name)}
        assert {a["name"]: a["severity"] for a in said} == expected
        assert all(a["success"] for a in said if a["severity"] == "error")
    assert events[f"{name}.quality"]["inputs"]


def test_table_on_s3_is_named_by_bucket_and_key() -> None:
    sys.path.insert(0, str(ROOT / "plugins"))
    import corpus_lineage

    run = SimpleNamespace(lake=SimpleNamespace(uri=lambda key: f"s3://corpus/main/{key}"))
    assert corpus_lineage._address(run, "releases/x-20230201/papers") == (
        "s3://corpus",
        "main/releases/x-20230201/papers",
    )


def test_task_without_lineage_does_not_load_it() -> None:
    sys.path.insert(0, str(ROOT / "plugins"))
    import corpus_lineage

    task = SimpleNamespace()
    corpus_lineage.attach_lineage(task, lambda run, name: f"{run} {name}", "run", "vote")
    assert task.get_openlineage_facets_on_complete(None) == "run vote"
    source = (ROOT / "plugins" / "corpus_lineage.py").read_text("utf-8")
    assert "\nimport openlineage" not in source and "\nfrom openlineage" not in source
