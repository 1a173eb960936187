"""Each process of Airflow imports the libraries that it or its children need, and no other: a task would spend seconds on them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.releases import ROOT

pytestmark = pytest.mark.airflow
BEGIN = (
    "import importlib, os, sys; sys.path[:0] = ['dags', 'plugins', 'include']\n"
    "import airflow.plugins_manager, airflow.sdk, airflow.triggers.base"
)
SETTINGS = "importlib.reload(importlib.import_module('airflow_local_settings'));"
LARGE = "{'pyarrow', 'duckdb', 'numba', 'pandas', 'lxml', 'boto3'}"
NEW = "before = set(sys.modules); "
CHECKS = {
    "parsing the DAG files imports no large library": (
        "dag-processor", f"{NEW} import corpus_release, pdf_drops, corpus_datasets, example_consumer, example_pubmed; "
        f"wrong = {LARGE} & (set(sys.modules) - before)",
    ),
    "a process that forks tasks has the imports of its tasks": (
        "scheduler", f"{SETTINGS}{NEW} import corpus_release; from s2corpus.pipeline import stages, runner; "
        "[stages.load_stage(name) for name in stages.STAGE_NAMES]; "
        "wrong = [n for n in set(sys.modules) - before if n.split('.')[0] in ('s2corpus', 'boto3', 'numba', 'pyarrow')]",
    ),
    "another process lacks the imports of tasks": (
        "api-server", f"{SETTINGS} wrong = {{'numba', 'boto3', 's2corpus.pipeline.runner'}} & set(sys.modules)",
    ),
    "a mistyped AWS profile does not stop the scheduler": (
        "scheduler", f"os.environ['AWS_PROFILE'] = 'mistyped'; {SETTINGS} wrong = []",
    ),
    "the plugin does not import the page": (
        "scheduler", f"{NEW} import release_page.airflow_plugin; new = {{n.split('.')[0] for n in set(sys.modules) - before}}; "
        "wrong = {'fastapi', 'pyarrow', 's2corpus', 'jinja2'} & new",
    ),
}  # fmt: skip
"""rule → (Airflow's command, the code of a process of it that lists its deviations as `wrong`)"""


@pytest.fixture(scope="module")
def deviations(airflow_home: None) -> list[list[str]]:
    """Run each check in a fork of one process that has imported only Airflow."""
    forks = "".join(
        f"\nif os.fork():\n    os.wait()\nelse:\n    sys.argv = ['airflow', {command!r}]\n    {code}\n"
        "    print('deviations:', *wrong, flush=True)\n    os._exit(0)"
        for command, code in CHECKS.values()
    )
    done = subprocess.run([sys.executable, "-c", BEGIN + forks], capture_output=True, text=True, check=True, cwd=ROOT)
    lines = [line.split() for line in done.stdout.splitlines()]  # A provider may print warnings too.
    return [words[1:] for words in lines if words[:1] == ["deviations:"]]


@pytest.mark.parametrize("number", range(len(CHECKS)), ids=list(CHECKS))
def test_process_imports_what_it_needs(number: int, deviations: list[list[str]]) -> None:
    assert len(deviations) == len(CHECKS), "a check ended with an error"
    assert deviations[number] == []
