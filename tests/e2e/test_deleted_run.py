"""Two specs build at the same time, and a deleted run is built again (docs/what-happens-if.md)."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from devtools.local.airflow_runs import AirflowRuns
from devtools.sample.truth import Truth
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot import pointer
from s2corpus.snapshot.verify import verify
from s2corpus.spec_files import load_spec
from s2corpus.storage.lake import Lake, open_lake
from tests.e2e.operating import Operator, month
from tests.local_airflow import local_airflow
from tests.waiting import until

pytestmark = [
    pytest.mark.services, pytest.mark.airflow, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(3600),
]  # fmt: skip
START = month(1)
SPEC = f"""
name: NAME
schedule: {{cron: "0 0 1 * *", start_date: {START:%Y-%m-%d}}}
resources: {{pdfs_per_shard: 40, papers_per_shard: 400, memory_mb: 512}}
"""


@pytest.fixture(scope="module")
def services(
    tiny: tuple[Path, Truth], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[AirflowRuns, Lake, Path]]:
    """Start all services with two specs, and deliver the tiny sample; yield the client, the lake and the folder of the specs."""
    work = tmp_path_factory.mktemp("two")
    (specs := work / "specs").mkdir()
    for name in ("one", "other"):
        (specs / f"{name}.yaml").write_text(SPEC.replace("NAME", name))
    with local_airflow(work, specs, S2CORPUS_DATASETS=str(work)) as (_, client):
        deliver_tree(lake := open_lake("s3://corpus"), tiny[0])
        yield client, lake, specs


def test_deleted_run_of_two_specs_is_built_again(services: tuple[AirflowRuns, Lake, Path], tmp_path: Path) -> None:
    """Airflow deletes no running run: it must be marked as failed first."""
    client, lake, specs = services
    one, other = (Operator(client, f"corpus_release__{name}") for name in ("one", "other"))
    for operator in (one, other):
        client.wait_for_dag(operator.dag, 300)
        client.unpause(operator.dag)
    kept, deleted = one.run_of(START, 300), other.run_of(START, 300)
    both = [(one, kept), (other, deleted)]
    until(
        lambda: all(each.state(run, "intake.plan") == "success" for each, run in both), "they do not run at once", 600
    )
    path = f"dags/{other.dag}/dagRuns/{quote(deleted)}"
    with pytest.raises(UserError, match="cannot be deleted in running state"):
        client.call("DELETE", path)
    other.cancel(deleted)
    client.call("DELETE", path)
    again = client.trigger(other.dag, START, month(0), {})
    for operator, run in ((one, kept), (other, again)):
        assert operator.end(run) == "success", operator.why(run)
    for name in ("one", "other"):
        release = Run(load_spec(specs / f"{name}.yaml"), month(0), lake, tmp_path)
        assert pointer.read_latest(lake, name).snapshot == release.snapshot_id
        assert list(verify(open_lake(f"s3://corpus/snapshots/{release.snapshot_id}"))) == []
