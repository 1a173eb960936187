"""Every program and file that the Airflow chart and deploy/kubernetes use exists in the built images, and the chart's probes succeed."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.containers.conftest import TARGETS, Stack
from tests.containers.engine import Engine
from tests.releases import ROOT

pytestmark = [pytest.mark.containers, pytest.mark.timeout(3600)]
CHART: dict[str, Any] = yaml.safe_load((ROOT / "tests" / "data" / "airflow-chart-commands.yaml").read_text("utf-8"))
VALUES = [ROOT / "deploy" / "helm" / name for name in ("values.yaml", "values-celery.yaml")]
MANIFESTS = sorted((ROOT / "deploy" / "kubernetes").rglob("*.yaml"))


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a tree of lists and mappings."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(item)


def absolute_paths(value: Any) -> set[str]:
    """Return the absolute paths in the strings of a tree; paths inside URLs are excluded."""
    return {
        path.rstrip("/.")
        for text in strings(value)
        for path in re.findall(r"(?:^|(?<=[\s=\"']))/[\w][\w./-]*", re.sub(r"\w+://\S+", "", text))
    }


def containers(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the containers of every pod in a manifest."""
    for each in yaml.safe_load_all(path.read_text("utf-8")):
        spec = each["spec"] if each["kind"] == "Pod" else each["spec"].get("template", {}).get("spec", {})
        yield from spec.get("containers", [])


def test_images_have_every_path_of_chart_values_and_manifests(engine: Engine) -> None:
    used = [CHART["probes"], CHART["arguments"], *(yaml.safe_load(path.read_text("utf-8")) for path in VALUES)]
    paths = {TARGETS["airflow"]: absolute_paths(used)}
    assert {"/entrypoint", "/clean-logs", "/usr/local/airflow/dags"} <= paths[TARGETS["airflow"]]
    for container in itertools.chain.from_iterable(map(containers, MANIFESTS)):
        used = [container.get(name) for name in ("command", "args", "env", "volumeMounts")]
        paths.setdefault(container["image"], set()).update(absolute_paths(used))
    assert set(TARGETS.values()) <= set(paths)
    script = 'for path; do [ -e "$path" ] || echo "$path"; done'
    for image in TARGETS.values():
        # Programs create the paths below /scratch on a volume.
        given = sorted(path for path in paths[image] if not path.startswith("/scratch/"))
        missing = engine.docker("run", "--rm", "--network", "none", image, "bash", "-c", script, "bash", *given)
        assert missing.split() == [], f"not in {image}"


def test_images_have_every_program_of_manifests(engine: Engine) -> None:
    """Check that the first word of each command is a program. Pods of the chart without a command use the image's entrypoint."""
    for container in itertools.chain.from_iterable(map(containers, MANIFESTS)):
        if container["image"] in TARGETS.values() and "command" in container:
            script = f"command -v {container['command'][0]}"
            engine.docker("run", "--rm", "--network", "none", container["image"], "sh", "-c", script)


@pytest.mark.parametrize("service", CHART["probes"])
def test_probe_of_the_chart_succeeds(stack: Stack, service: str) -> None:
    stack.execute(service, *CHART["probes"][service])


def test_scheduler_answers_the_probe_of_the_values(stack: Stack) -> None:
    probe = yaml.safe_load(VALUES[0].read_text("utf-8"))["scheduler"]["livenessProbe"]["command"]
    stack.execute("airflow-scheduler", *probe)


def test_waiting_for_migrations_ends(stack: Stack) -> None:
    stack.execute("airflow-scheduler", "/entrypoint", *CHART["arguments"]["wait-for-airflow-migrations"])


def test_chart_user_reads_the_code_and_writes_logs(engine: Engine) -> None:
    script = "python -c 'import s2corpus' && touch $AIRFLOW_HOME/logs/x && stat -c %a $AIRFLOW_HOME/logs/x && bash /clean-logs --once"
    for user in ("50000:0", "12345:0"):
        done = engine.docker(
            "run", "--rm", "--network=none", f"--user={user}", TARGETS["airflow"], "bash", "-c", script
        )
        assert done.split() == ["664"]
