"""The production files: compose, Kubernetes and the chart are valid, confined and equal in settings; every secret comes from outside.

No cluster is started. Continuous integration warns if it finds no real papers, and fails if S2CORPUS_REAL_DATA names a
missing folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from s2corpus.deployment.slots import OVERHEAD_MB
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import read_specs
from tests.standin_grobid import StandIn

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docker-compose.yaml").read_text("utf-8")
RUN_BY = {
    "tests/e2e/test_celery.py": {
        "s3-init", "s3", "redis", "airflow-init", "airflow-api-server", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer",
        "airflow-worker", "airflow-settings",
    },
    "tests/e2e/test_spark.py": {"spark-master", "spark-worker", "spark"},
    "tests/containers/conftest.py": {"extractor"},
}  # fmt: skip
"""the tests that run the commands of the services"""
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").rglob("*.yaml"))
PODS = sorted((DEPLOY / "kubernetes" / "pods").glob("*.yaml"))
SCHEMA = json.loads((ROOT / "tests" / "data" / "airflow-chart-values.schema.json").read_text("utf-8"))
WITHOUT_COMMAND = {"postgres", "grobid"}
PROFILES = "COMPOSE_PROFILES"
"""compose's own variable: selects the profiles with services to start"""
SECRET = re.compile(r"PASSWORD|SECRET|KEY|TOKEN")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(TEXT)["services"]
    return found


def test_secrets_have_no_default_and_no_example() -> None:
    for name, rest in re.findall(r"\$\{([A-Z0-9_]+)([^}]*)\}", TEXT):
        if SECRET.search(name):
            assert rest.startswith(":?"), f"{name} may be empty or has a default: {rest!r}"
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#") and not line.endswith("=")] == []
    example = {line.removesuffix("=") for line in lines if not line.startswith("#")}
    assert set(re.findall(r"\$\{([A-Z0-9_]+):\?", TEXT)) | {PROFILES} == example


def test_every_airflow_component_shares_the_settings(services: dict[str, Any]) -> None:
    components = {name: service["environment"] for name, service in services.items() if name.startswith("airflow-")}
    assert {environment["PYTHONPATH"] for environment in components.values()} == {"/usr/local/airflow/include"}
    base = components["airflow-scheduler"]
    own = {
        *("S2CORPUS_EXTRACTOR_TOKEN", "S2CORPUS_ALTO", "S2CORPUS_ALTO_GB"),
        "AIRFLOW_ADMIN_USER",
        "AIRFLOW_ADMIN_PASSWORD",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
    }
    for name in ("init", "api-server", "dag-processor", "triggerer", "worker"):
        given = components[f"airflow-{name}"]
        assert {key for key in base.keys() | given.keys() if base.get(key) != given.get(key)} <= own, name


def test_each_component_has_only_its_own_s3_key(services: dict[str, Any]) -> None:
    keys = {
        name: s["environment"]["AWS_SECRET_ACCESS_KEY"]
        for name, s in services.items()
        if "AWS_SECRET_ACCESS_KEY" in s.get("environment", {})
    }
    named = {name: re.findall("S3_([A-Z]+)_SECRET_KEY", key)[0].lower() for name, key in keys.items()}
    assert named == {
        "s3": "admin",
        **dict.fromkeys(("airflow-worker", "airflow-triggerer", "spark-worker"), "worker"),
        **dict.fromkeys(("airflow-init", "airflow-api-server", "airflow-scheduler", "airflow-dag-processor"), "page"),
    }


def test_every_service_is_confined(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert service["mem_limit"], name
        assert service["pids_limit"], name
        assert "privileged" not in service, name
        assert "cap_add" not in service, name


def test_pdf_readers_are_reached_only_by_workers(services: dict[str, Any]) -> None:
    for name in ("grobid", "extractor"):
        assert list(services[name]["networks"]) == ["grobid"]
        assert set(services[name].get("environment", {})) <= {"S2CORPUS_EXTRACTOR_TOKEN", "S2CORPUS_ALTO"}
    assert "volumes" not in services["grobid"]
    assert services["extractor"]["volumes"] == ["alto:/alto"] and "alto:/alto" in services["airflow-worker"]["volumes"]
    assert yaml.safe_load(TEXT)["networks"]["grobid"] == {"internal": True}
    members = {
        net: {name for name, s in services.items() if net in s.get("networks", [])} for net in ("grobid", "outside")
    }
    assert members["grobid"] == {"grobid", "extractor", "airflow-worker"}
    assert members["outside"] == {name for name in services if name.startswith("airflow-")}
    assert all(service.get("networks") or service.get("network_mode") == "none" for service in services.values())


def test_dependent_service_waits_for_health(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["restart"] == "no" or "healthcheck" in service, name
        for needed, how in service.get("depends_on", {}).items():
            assert how["condition"] != "service_started", name
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[needed], f"{name} waits for the health of {needed}, which has no check"


@pytest.mark.skipif(shutil.which("curl") is None, reason="the check asks by curl")
@pytest.mark.parametrize(("ready", "alive"), [(True, True), (None, True), (False, False), (None, False)], ids=str)
def test_health_check_accepts_both_grobid_endpoints(services: dict[str, Any], ready: bool | None, alive: bool) -> None:
    """Check both endpoints of the health check.

    `/api/health` reports whether the models are loaded and exists since 0.9; earlier versions have `/api/isalive`.
    """
    kind, check = services["grobid"]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    with StandIn() as server:
        server.ready, server.healthy = ready, alive
        done = subprocess.run(["sh", "-c", check.replace("http://localhost:8070", server.url)], check=False)
    assert (done.returncode == 0) is bool(ready or alive)


def test_only_web_pages_are_published_on_localhost(services: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"airflow-api-server": ["${AIRFLOW_BIND:-127.0.0.1}:8080:8080"]}


def test_every_foreign_image_is_pinned_by_digest(services: dict[str, Any]) -> None:
    images = {service["image"] for service in services.values() if "s2corpus" not in service["image"]}
    base = re.findall(r"(?m)^ARG BASE=(.*)$", (ROOT / "Dockerfile").read_text("utf-8"))
    assert len(images) == 4
    assert all(re.search(r":[\d.]+[\w.-]*@sha256:[0-9a-f]{64}\b", image) for image in (*images, *base))


def test_image_has_all_needed_folders() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    context = (ROOT / ".dockerignore").read_text("utf-8").split()
    for folder in ("include", "sql", "dags", "plugins", "deploy"):
        assert f"COPY {folder} {folder}" in dockerfile
        assert f"COPY --from=code /usr/local/airflow/{folder} {folder}" in dockerfile
        assert f"!{folder}" in context
    assert "--require-hashes" in dockerfile


def test_no_service_mounts_the_clone(services: dict[str, Any]) -> None:
    """Check that the image contains the code: under umask 077, no user in a container could read a mounted clone."""
    named = set(yaml.safe_load(TEXT)["volumes"])
    for name, service in services.items():
        for volume in service.get("volumes", []):
            source = volume["source"] if isinstance(volume, dict) else volume.partition(":")[0]
            assert source in named, f"{name}: {volume}"


def test_each_volume_is_initialized_by_one_image(services: dict[str, Any]) -> None:
    """Check each volume's image.

    Docker fills an empty volume from the image of the first container that it creates, with that image's owner.
    """
    filled_by: dict[str, set[str]] = {}
    for service in services.values():
        for volume in service.get("volumes", []):
            if not (isinstance(volume, dict) and volume["volume"]["nocopy"]):
                filled_by.setdefault(volume.partition(":")[0], set()).add(service["image"])
    ours = {image for image in set().union(*filled_by.values()) if image.startswith("s2corpus-")}
    for name, images in filled_by.items():
        assert len(images) == 1 or images <= ours, f"{name}: {images}"


def test_s3_version_equals_that_of_the_tests(services: dict[str, Any]) -> None:
    version = services["s3"]["image"].partition("@")[0].rpartition(":")[2]
    assert f"\nseaweedfs-bin=={version} " in (ROOT / "requirements.txt").read_text("utf-8")


def test_every_service_command_is_run_by_a_test(services: dict[str, Any]) -> None:
    assert set().union(*RUN_BY.values()) | WITHOUT_COMMAND == set(services)
    for path, names in RUN_BY.items():
        text = (ROOT / path).read_text("utf-8") + (ROOT / "tests" / "compose.py").read_text("utf-8")
        assert [name for name in sorted(names) if f'"{name}"' not in text] == [], f"{path} does not start them"
    for name in WITHOUT_COMMAND:
        assert not {"command", "entrypoint"} & set(services[name]), f"{name} has a command: run it in a test"


def test_no_role_can_both_operate_and_approve() -> None:
    """Check deploy/airflow-roles.json (docs/security.md). No role can delete, or has a right to administer Airflow."""
    rights: dict[str, set[tuple[str, str]]] = {}
    for row in json.loads((DEPLOY / "airflow-roles.json").read_text("utf-8")):
        rights.setdefault(row["name"], set()).update((row["resource"], action) for action in row["action"].split(","))
    operate = {("DAG Runs", "can_create"), ("DAG Runs", "can_edit"), ("Task Instances", "can_edit")}
    approve = {("HITL Detail", "can_edit")}
    found = {role: (given & operate, given & approve) for role, given in rights.items()}
    assert found == {"Reader": (set(), set()), "Operator": (operate, set()), "Approver": (set(), approve)}
    for role, given in rights.items():
        resources, actions = ({right[part] for right in given} for part in (0, 1))
        assert not resources & {"Connections", "Variables", "Users", "Roles", "Configurations"}, role
        assert "can_delete" not in actions, role


def test_roles_exist_before_the_api_server_starts() -> None:
    """Check deploy/compose.fab.yaml: each Airflow component has the same auth manager, and the additional service is hardened too."""
    fab = yaml.safe_load((DEPLOY / "compose.fab.yaml").read_text("utf-8"))["services"]
    base = yaml.safe_load(TEXT)["services"]
    assert set(fab) == {name for name in base if name.startswith("airflow-")} | {"airflow-roles"}
    managers = {service["environment"]["AIRFLOW__CORE__AUTH_MANAGER"] for service in fab.values()}
    assert managers == {"airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager"}
    roles = fab["airflow-roles"]
    for key in ("cap_drop", "security_opt", "read_only", "pids_limit"):
        assert roles[key] == base["airflow-init"][key], key
    assert fab["airflow-api-server"]["depends_on"] == {"airflow-roles": {"condition": "service_completed_successfully"}}
    assert "roles import deploy/airflow-roles.json" in roles["command"][-1]


@pytest.mark.parametrize("name", ["docker-compose.yaml", "deploy/compose.fab.yaml"])
def test_compose_files_match_the_compose_schema(name: str) -> None:
    schema = json.loads((ROOT / "tests" / "data" / "compose-spec.json").read_text("utf-8"))
    jsonschema.Draft201909Validator(schema).validate(yaml.safe_load((ROOT / name).read_text("utf-8")))


def test_clone_is_an_astro_project() -> None:
    """Check the files that `astro dev start` reads and mounts below Astro's home; it builds the last stage of the Dockerfile."""
    files = [
        ".astro/config.yaml",
        "Dockerfile",
        "airflow_settings.yaml",
        "packages.txt",
        "requirements.txt",
        "dags",
        "include",
        "plugins",
    ]
    assert [path for path in files if not (ROOT / path).exists()] == []
    assert subprocess.run(["git", "check-ignore", *files], cwd=ROOT).returncode == 1, "git ignores a file"
    config = yaml.safe_load((ROOT / ".astro" / "config.yaml").read_text("utf-8"))
    assert re.fullmatch("[a-z0-9-]+", config["project"]["name"])
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.findall(r"(?m)^FROM \S+(?: AS (\S+))?$", dockerfile)[-1] == "airflow"
    assert re.findall(r"(?m)^WORKDIR (.*)$", dockerfile) == ["/usr/local/airflow"]
    settings = yaml.safe_load((ROOT / "airflow_settings.yaml").read_text("utf-8"))["airflow"]
    assert set(settings) == {"connections", "pools", "variables"} and settings["pools"]
    assert all({"pool_name", "pool_slot"} <= set(pool) for pool in settings["pools"])


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
    for name, spec in pod_specs().items():
        for container in spec["containers"]:
            image, _, tag = container["image"].rpartition(":")
            assert image in ("s2corpus-airflow", "s2corpus-spark") or f"{image}:{tag}}}" in TEXT, name


def test_worker_pod_has_environment_of_compose_worker(services: dict[str, Any]) -> None:
    """Check the worker's environment, except Airflow's own settings, which Airflow passes to a pod, and what only a
    self-hosted S3 or an extractor on the same machine needs.
    """
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


@pytest.mark.parametrize(
    ("papers", "named", "code", "warning"),
    [
        ("../shared/data", "", 0, ""),
        ("papers", "papers", 0, ""),
        ("papers", "", 0, "!!! ../shared/data IS ABSENT"),
        ("../shared/data", "papers", 1, "!!! papers IS ABSENT"),
    ],
)
def test_missing_real_papers_cause_a_warning_or_a_failure(
    tmp_path: Path, papers: str, named: str, code: int, warning: str
) -> None:
    checkout, programs = tmp_path / "checkout", tmp_path / "bin"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci" / "run")
    programs.mkdir()
    (programs / "make").write_text('#!/bin/sh\necho "make $1"\n')
    (programs / "make").chmod(0o755)
    (checkout / papers).mkdir(parents=True)
    environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "S2CORPUS_REAL_DATA": named}
    done = subprocess.run([checkout / ".ci" / "run"], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == code and warning in done.stderr and bool(done.stderr) is bool(warning)
    expected = ["lint", "docs", "test", *["test-real"] * (not warning), "test-containers"] if code == 0 else []
    assert done.stdout.split("\n")[:-1] == [f"make {target}" for target in expected]
