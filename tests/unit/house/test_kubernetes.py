"""deploy/helm and deploy/kubernetes are valid for the chart and for Kubernetes, and have enough resources for a task.

No cluster is started.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from s2corpus.deployment.slots import OVERHEAD_MB
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import read_specs

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").rglob("*.yaml"))
PODS = sorted((DEPLOY / "kubernetes" / "pods").glob("*.yaml"))
SCHEMA = json.loads((ROOT / "tests" / "data" / "airflow-chart-values.schema.json").read_text("utf-8"))


def documents(path: Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(path.read_text("utf-8")) if each]


def pod_specs() -> dict[str, dict[str, Any]]:
    """Return the spec of every pod in a manifest, by file and name."""
    found = {}
    for path in MANIFESTS:
        for each in documents(path):
            spec = each["spec"] if each["kind"] == "Pod" else each["spec"].get("template", {}).get("spec")
            if spec:
                found[f"{path.stem}:{each['metadata']['name']}"] = spec
    return found


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_every_manifest_is_valid_for_kubernetes(path: Path) -> None:
    for each in documents(path):
        kubernetes_validate.validate(each, "1.32", strict=True)


@pytest.mark.parametrize("names", [("values.yaml",), ("values.yaml", "values-celery.yaml")], ids=["pods", "celery"])
def test_every_value_is_known_to_the_chart(names: tuple[str, ...]) -> None:
    for name in names:
        jsonschema.validate(yaml.safe_load((DEPLOY / "helm" / name).read_text("utf-8")), SCHEMA)


def test_pod_has_memory_of_the_spec_and_scratch_space() -> None:
    most = max(spec.resources.memory_mb for spec in read_specs(ROOT / "include" / "releases")[0])
    for path in PODS:
        (base,) = documents(path)[0]["spec"]["containers"]
        memory = base["resources"]["limits"]["memory"]
        mib = int(memory[:-2]) * (1024 if memory.endswith("Gi") else 1)
        if path.stem != "extract":  # The extract stage joins and sorts nothing.
            assert mib * 1.048576 >= most + OVERHEAD_MB, path.stem
        scratch = next(volume for volume in documents(path)[0]["spec"]["volumes"] if volume["name"] == "scratch")
        assert scratch["emptyDir"]["sizeLimit"] == base["resources"]["limits"]["ephemeral-storage"]
    assert {path.stem for path in PODS} <= {*STAGE_NAMES, "default"}


def test_every_container_is_confined() -> None:
    for name, spec in pod_specs().items():
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in spec["containers"]:
            own = container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False and own["readOnlyRootFilesystem"] is True, name
            assert own["capabilities"] == {"drop": ["ALL"]}, name
            assert "memory" in container["resources"]["limits"], name


def test_images_equal_those_of_compose() -> None:
    compose = (ROOT / "docker-compose.yaml").read_text("utf-8")
    for name, spec in pod_specs().items():
        for container in spec["containers"]:
            image, _, tag = container["image"].rpartition(":")
            assert image in ("s2corpus-airflow", "s2corpus-spark") or f"{image}:{tag}}}" in compose, name


def test_worker_pod_has_environment_of_compose_worker() -> None:
    """Check the worker's environment, except Airflow's own settings, which Airflow passes to a pod, and what only a
    self-hosted S3 or an extractor on the same machine needs.
    """
    services = yaml.safe_load((ROOT / "docker-compose.yaml").read_text("utf-8"))["services"]
    worker = {name for name in services["airflow-worker"]["environment"] if not name.startswith("AIRFLOW")}
    optional = {"AWS_ENDPOINT_URL", "S2CORPUS_ALERTS_WEBHOOK", "S2CORPUS_EXTRACTOR_TOKEN", "S2CORPUS_KERNELS"}
    optional |= {"S2CORPUS_ALTO", "S2CORPUS_ALTO_GB"}
    for path in PODS:
        (base,) = documents(path)[0]["spec"]["containers"]
        assert worker - {each["name"] for each in base["env"]} <= optional, path.stem


def test_chart_version_is_equal_everywhere() -> None:
    commands = yaml.safe_load((ROOT / "tests" / "data" / "airflow-chart-commands.yaml").read_text("utf-8"))
    for path in (DEPLOY / "helm" / "values.yaml", ROOT / "docs" / "kubernetes.md"):
        text = path.read_text("utf-8")
        assert set(re.findall(r"apache-airflow/airflow --version (\S+)", text)) == {commands["version"]}, path.name
        assert text.count("apache-airflow/airflow ") == text.count("apache-airflow/airflow --version "), path.name


def test_chart_creates_no_user() -> None:
    """Check both settings: charts before 1.19 ignore `createUserJob.enabled` and read `webserver.defaultUser.enabled`."""
    values = yaml.safe_load((DEPLOY / "helm" / "values.yaml").read_text("utf-8"))
    assert values["createUserJob"]["enabled"] is False
    assert values["webserver"]["defaultUser"]["enabled"] is False


def test_every_secret_is_documented() -> None:
    told = (ROOT / "docs" / "kubernetes.md").read_text("utf-8")
    files = [*MANIFESTS, *(DEPLOY / "helm").glob("*.yaml")]
    names = {
        name
        for path in files
        for name in re.findall(r"(?:secretName|SecretName|secretKeyRef: \{name): (s2corpus-[a-z-]+)", path.read_text())
    }
    assert len(names) >= 5
    assert {name for name in names if f"`{name}`" not in told} == set()
