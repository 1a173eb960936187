"""The production files: every secret comes from .env and has no default, and every Airflow component has the same settings."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

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
    for row in json.loads((ROOT / "deploy" / "airflow-roles.json").read_text("utf-8")):
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
    fab = yaml.safe_load((ROOT / "deploy" / "compose.fab.yaml").read_text("utf-8"))["services"]
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
