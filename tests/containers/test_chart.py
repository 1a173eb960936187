"""Every program and file that the Airflow chart and deploy/kubernetes use exists in the built images, and the chart's probes succeed."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.containers.conftest import TARGETS, Stack
from tests.containers.engine import Engine
from tests.releases import ROOT

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3600)]
CHART: dict[str, Any] = yaml.safe_load((ROOT / "tests" / "data" / "airflow-chart-commands.yaml").read_text("utf-8"))
VALUES = [
    yaml.safe_load((ROOT / "deploy" / "helm" / name).read_text("utf-8"))
    for name in ("values.yaml", "values-celery.yaml")
]


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a tree of lists and mappings."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(item)


def absolute_paths(value: Any) -> set[str]:
    """Return the absolute paths in the strings of a tree, without those inside URLs.

    Paths below /scratch are excluded: programs create them on a volume.
    """
    found = {
        path.rstrip("/.")
        for text in strings(value)
        for path in re.findall(r"(?:^|(?<=[\s=\"']))/[\w][\w./-]*", re.sub(r"\w+://\S+", "", text))
    }
    return {path for path in found if not path.startswith("/scratch/")}


def containers() -> Iterator[dict[str, Any]]:
    """Yield the containers of every pod in the manifests."""
    for path in (ROOT / "deploy" / "kubernetes").rglob("*.yaml"):
        for each in yaml.safe_load_all(path.read_text("utf-8")):
            spec = each["spec"] if each["kind"] == "Pod" else each["spec"].get("template", {}).get("spec", {})
            yield from spec.get("containers", [])


def test_images_have_every_path_and_program(engine: Engine) -> None:
    """Check that the first word of each command is a program. Pods of the chart without a command use the image's entrypoint."""
    paths, programs = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    paths[TARGETS["airflow"]] = absolute_paths([CHART["probes"], CHART["arguments"], *VALUES])
    assert {"/entrypoint", "/clean-logs", "/usr/local/airflow/dags"} <= paths[TARGETS["airflow"]]
    for container in containers():
        used = {name: container.get(name) for name in ("command", "args", "env", "volumeMounts")}
        paths[container["image"]] |= absolute_paths(used)
        programs[container["image"]] |= {*container.get("command", ())[:1]}
    for image in TARGETS.values():
        assert paths[image] and programs[image]
        script = 'for name; do [ -e "$name" ] || command -v "$name" > /dev/null || echo "$name"; done'
        run = ("run", "--rm", "--network", "none", image, "bash", "-c", script, "bash")
        assert engine.docker(*run, *sorted(paths[image] | programs[image])).split() == [], f"not in {image}"


def test_probes_of_the_chart_succeed(stack: Stack) -> None:
    for service, command in CHART["probes"].items():
        stack.execute(service, *command)
    stack.execute("airflow-scheduler", *VALUES[0]["scheduler"]["livenessProbe"]["command"])
    stack.execute("airflow-scheduler", "/entrypoint", *CHART["arguments"]["wait-for-airflow-migrations"])


def test_chart_user_reads_the_code_and_writes_logs(engine: Engine) -> None:
    script = "python -c 'import s2corpus' && touch $AIRFLOW_HOME/logs/x && stat -c %a $AIRFLOW_HOME/logs/x && bash /clean-logs --once"
    for user in ("50000:0", "12345:0"):
        run = ("run", "--rm", "--network=none", f"--user={user}", TARGETS["airflow"], "bash", "-c", script)
        assert engine.docker(*run).split() == ["664"]
