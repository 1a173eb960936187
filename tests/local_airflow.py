"""The local services with Airflow, in a folder of a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from devtools.local import Services
from devtools.local.airflow_runs import AirflowRuns


@contextmanager
def local_airflow(folder: Path, specs: Path, **variables: str) -> Iterator[tuple[Services, AirflowRuns]]:
    """Start all services with the release specs of a folder; yield them with a client of Airflow.

    This process has their addresses and keys in its environment, too.
    """
    local = Services(folder / "state")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"S2CORPUS_RELEASES": str(specs), **variables}.items():
            patch.setenv(name, value)
        try:
            endpoints = local.up()
            for name, value in endpoints.environ().items():
                patch.setenv(name, value)
            yield local, AirflowRuns(endpoints.airflow_url, endpoints.airflow_user, endpoints.airflow_password)
        finally:
            local.down()
