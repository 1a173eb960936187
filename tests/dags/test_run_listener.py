"""A run whose tasks need more slots than their pool has fails at its first task, instead of waiting forever."""

from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from s2corpus.errors import UserError

pytestmark = pytest.mark.airflow


@pytest.mark.parametrize(
    ("slots", "says"),
    [
        ({"grobid": 2}, r"extract\.work needs 5 slots, but the pool grobid has 2, .*at most 2.*airflow pools set grobid 5"),
        ({"grobid": 5}, None),
        ({"grobid": -1}, None),
        ({}, r"extract\.work needs the pool grobid, which does not exist"),
    ],
)  # fmt: skip
def test_run_fails_if_its_pool_is_too_small(airflow_home: None, slots: dict[str, int], says: str | None) -> None:
    """Check that a run that is cleared after the pool was enlarged starts."""
    from airflow.models.dagrun import DagRun
    from airflow.models.pool import Pool
    from s2corpus_airflow import run_listener, task_defaults

    engine = create_engine("sqlite://")
    Pool.__table__.create(engine)
    with Session(engine) as session:
        session.add_all(
            Pool(pool=name, slots=count, include_deferred=False)
            for name, count in {"default_pool": 128, **slots}.items()
        )
        session.flush()
        run = DagRun(dag_id="corpus_release__other", run_id="one", conf={"accept": {}, run_listener.PROBLEM: "earlier"})
        session.add(run)
        run.dag = SimpleNamespace(  # type: ignore[assignment]  # only these fields of a DAG are read
            tasks=[
                SimpleNamespace(task_id="publish", pool="default_pool", pool_slots=1),
                SimpleNamespace(task_id="extract.work", pool="grobid", pool_slots=5),
            ]
        )
        with session.no_autoflush:
            run_listener.on_dag_run_running(run, "started")
        assert run.conf is not None and run.conf["accept"] == {}
        if says is None:
            task_defaults.check_pools(run)
            assert run.conf == {"accept": {}}
        else:
            with pytest.raises(UserError, match=says):
                task_defaults.check_pools(run)
        session.expunge_all()
