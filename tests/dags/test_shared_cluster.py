"""The project on a shared cluster: its DAGs and its plugin load next to those of another team, and change none of its settings."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.releases import ROOT

pytestmark = pytest.mark.airflow
NEIGHBOR = {
    # A neighbor's modules with ordinary names, among them the generic ones of this project's package.
    **{f"plugins/{name}.py": f"OWNER = 'neighbor'\nNAME = {name!r}\n"
       for name in ("alerts", "lineage", "drop_watch", "timetable", "task_defaults", "release_page", "alert_messages")},
    "plugins/neighbor_plugin.py": "from airflow.plugins_manager import AirflowPlugin\n\n\n"
       "class NeighborPlugin(AirflowPlugin):\n    name = 'neighbor'\n",
    "dags/neighbor_dag.py": "import alerts, task_defaults, timetable\nfrom airflow.sdk import DAG\n"
       "assert {alerts.OWNER, task_defaults.OWNER, timetable.OWNER} == {'neighbor'}\ndag = DAG('neighbor', schedule=None)\n",
    "config/airflow_local_settings.py": "OWNER = 'neighbor'\n",
}  # fmt: skip
LOAD = """
import gc, json, sys, warnings
from pathlib import Path
collected = gc.get_threshold()
from airflow import plugins_manager
from airflow.dag_processing.dagbag import DagBag
import airflow_local_settings
before = set(sys.modules)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    bag = DagBag()
print(json.dumps({
    "imported": sorted({name.partition(".")[0] for name in set(sys.modules) - before}),
    "deprecated": [str(one.message) for one in caught if Path(one.filename).resolve().is_relative_to("ROOT")
                   and "site-packages" not in one.filename and issubclass(one.category, DeprecationWarning)],
    "dags": sorted(bag.dags),
    "errors": bag.import_errors,
    "plugins": sorted(plugin.name for plugin in plugins_manager._get_plugins()[0]),
    "plugin_errors": plugins_manager.get_import_errors(),
    "local_settings": airflow_local_settings.OWNER,
    "collected": [collected, gc.get_threshold()],
    "bare": sorted(name for name, module in sys.modules.items()
                   if "." not in name and Path(getattr(module, "__file__", None) or "/").resolve().is_relative_to("PROJECT")),
}))
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Link the project's DAGs and plugin into the neighbor's folders, and load everything in a new process."""
    home = tmp_path_factory.mktemp("cluster")
    for name, content in NEIGHBOR.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(content)
    (home / "dags" / "corpus").symlink_to(ROOT / "dags")
    (home / "plugins" / "s2corpus_airflow").symlink_to(ROOT / "plugins" / "s2corpus_airflow")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "S2CORPUS"))}
    environ |= {
        "AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}", "PYTHONPATH": str(ROOT / "include"),
    }  # fmt: skip
    code = LOAD.replace("PROJECT", str(ROOT / "plugins")).replace("ROOT", str(ROOT))
    ended = subprocess.run([sys.executable, "-c", code], env=environ, cwd=home, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


def test_dags_and_plugins_load_next_to_those_of_a_neighbor(loaded: Any) -> None:
    assert loaded["errors"] == loaded["plugin_errors"] == {}
    releases = {f"corpus_release__{path.stem}" for path in (ROOT / "include" / "releases").glob("*.yaml")}
    assert {"neighbor", "pdf_drops"} | releases <= set(loaded["dags"])
    assert {"neighbor", "s2corpus"} <= set(loaded["plugins"])


def test_dags_are_parsed_without_slow_modules_and_deprecated_names(loaded: Any) -> None:
    """Each of these modules takes a tenth of a second or more in each parse; all DAGs take less than one (docs/deployment.md)."""
    slow = {"boto3", "duckdb", "lxml", "numba", "numpy", "pandas", "pyarrow", "pypdf", "scipy", "sklearn"}
    assert "s2corpus" in loaded["imported"] and slow.isdisjoint(loaded["imported"])
    assert loaded["deprecated"] == []


def test_plugin_takes_no_general_module_name(loaded: Any) -> None:
    assert set(loaded["bare"]) == {"s2corpus_airflow", "s2corpus_plugin"}


def test_cluster_settings_remain_those_of_the_neighbor(loaded: Any) -> None:
    before, after = loaded["collected"]
    assert (loaded["local_settings"], before) == ("neighbor", after)
    assert not list(Path(ROOT / "include").glob("airflow_local_settings*"))
