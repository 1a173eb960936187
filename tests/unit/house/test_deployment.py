"""The production files: compose, Kubernetes and the chart are valid, confined and equal in settings; every secret comes from outside.

No cluster is started. `tests/containers` runs the services of compose.

Every installed package is locked by hash and listed with its license, and NOTICE names each package with a non-permissive license.
"""

import importlib.util
import json
import re
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from s2corpus.deployment.slots import OVERHEAD_MB
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import read_specs

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docker-compose.yaml").read_text("utf-8")
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").rglob("*.yaml"))
PODS = sorted((DEPLOY / "kubernetes" / "pods").glob("*.yaml"))
SCHEMA = json.loads((ROOT / "tests" / "data" / "airflow-chart-values.schema.json").read_text("utf-8"))
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


def test_each_component_has_only_its_own_s3_key(services: dict[str, Any]) -> None:
    keys = {name: service.get("environment", {}).get("AWS_SECRET_ACCESS_KEY", "") for name, service in services.items()}
    assert {name: re.findall("S3_([A-Z]+)_SECRET_KEY", key)[0].lower() for name, key in keys.items() if key} == {
        "s3": "admin",
        **dict.fromkeys(("airflow-worker", "airflow-triggerer", "spark-worker"), "worker"),
        **dict.fromkeys(("airflow-init", "airflow-api-server", "airflow-scheduler", "airflow-dag-processor"), "page"),
    }


def test_every_service_is_confined(services: dict[str, Any]) -> None:
    for name, service in services.items():
        confined = (service["cap_drop"], service["security_opt"], service["read_only"])
        assert confined == (["ALL"], ["no-new-privileges:true"], True), name
        assert service["mem_limit"] and service["pids_limit"], name
        assert not {"privileged", "cap_add"} & set(service), name
        sources = [v["source"] if isinstance(v, dict) else v.partition(":")[0] for v in service.get("volumes", [])]
        assert set(sources) <= set(yaml.safe_load(TEXT)["volumes"]), f"{name} mounts a folder of the host"


def test_pdf_readers_are_reached_only_by_workers(services: dict[str, Any]) -> None:
    for name in ("grobid", "extractor"):
        assert list(services[name]["networks"]) == ["grobid"]
        assert set(services[name].get("environment", {})) <= {"S2CORPUS_EXTRACTOR_TOKEN", "S2CORPUS_ALTO"}
    assert "volumes" not in services["grobid"]
    assert services["extractor"]["volumes"] == ["alto:/alto"] and "alto:/alto" in services["airflow-worker"]["volumes"]
    assert yaml.safe_load(TEXT)["networks"]["grobid"] == {"internal": True}
    networks = {name: service.get("networks", []) for name, service in services.items()}
    assert {name for name in services if "grobid" in networks[name]} == {"grobid", "extractor", "airflow-worker"}
    assert all(name.startswith("airflow-") for name in services if "outside" in networks[name])
    assert all(service.get("networks") or service.get("network_mode") == "none" for service in services.values())
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"airflow-api-server": ["${AIRFLOW_BIND:-127.0.0.1}:8080:8080"]}


def test_every_foreign_image_is_pinned_by_digest(services: dict[str, Any]) -> None:
    images = {service["image"] for service in services.values() if "s2corpus" not in service["image"]}
    base = re.findall(r"(?m)^ARG BASE=(.*)$", (ROOT / "Dockerfile").read_text("utf-8"))
    assert len(images) == 4
    assert all(re.search(r":[\d.]+[\w.-]*@sha256:[0-9a-f]{64}\b", image) for image in (*images, *base))


@pytest.mark.parametrize("name", ["docker-compose.yaml", "deploy/compose.fab.yaml"])
def test_compose_files_match_the_compose_schema(name: str) -> None:
    schema = json.loads((ROOT / "tests" / "data" / "compose-spec.json").read_text("utf-8"))
    jsonschema.Draft201909Validator(schema).validate(yaml.safe_load((ROOT / name).read_text("utf-8")))


def test_clone_is_an_astro_project() -> None:
    names = ".astro/config.yaml airflow_settings.yaml packages.txt requirements.txt dags include plugins"
    files = names.split()
    assert [path for path in files if not (ROOT / path).exists()] == []
    assert subprocess.run(["git", "check-ignore", *files], cwd=ROOT).returncode == 1, "git ignores a file"
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.findall(r"(?m)^FROM \S+(?: AS (\S+))?$", dockerfile)[-1] == "airflow"
    assert re.findall(r"(?m)^WORKDIR (.*)$", dockerfile) == ["/usr/local/airflow"]


def documents(path: Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(path.read_text("utf-8")) if each]


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
    specs = [each.get("spec", {}) for path in MANIFESTS for each in documents(path)]
    pods = [pod for spec in specs for pod in (spec, spec.get("template", {}).get("spec", {})) if "containers" in pod]
    for spec in pods:
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in spec["containers"]:
            own, (image, _, tag) = container["securityContext"], container["image"].rpartition(":")
            assert own["allowPrivilegeEscalation"] is False and own["readOnlyRootFilesystem"] is True, image
            assert own["capabilities"] == {"drop": ["ALL"]}, image
            assert "memory" in container["resources"]["limits"], image
            assert image in ("s2corpus-airflow", "s2corpus-spark") or f"{image}:{tag}}}" in TEXT


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


def test_chart_creates_no_user() -> None:
    """Charts before 1.19 ignore `createUserJob.enabled` and read `webserver.defaultUser.enabled`."""
    values = yaml.safe_load((DEPLOY / "helm" / "values.yaml").read_text("utf-8"))
    assert values["createUserJob"]["enabled"] is values["webserver"]["defaultUser"]["enabled"] is False


@pytest.fixture(scope="module")
def third_party() -> ModuleType:
    spec = importlib.util.spec_from_file_location("third_party", ROOT / "deploy" / "third_party.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_third_party_list_equals_the_lock(third_party: ModuleType) -> None:
    """Check the list against the lock files. If this fails, run `make lock` or `python deploy/third_party.py`."""
    wanted: dict[str, str] = {}
    for lock in third_party.LOCKS:
        wanted = third_party.locked(ROOT / lock) | wanted
    assert {name: version for name, (version, _) in third_party.listed().items()} == wanted


@pytest.mark.parametrize("image", ["requirements-image.txt", "requirements-spark.txt"])
def test_images_have_the_tested_versions(third_party: ModuleType, image: str) -> None:
    in_image, tested = third_party.locked(ROOT / image), third_party.locked(ROOT / "requirements-fab.txt")
    assert in_image.items() <= tested.items()
    assert third_party.locked(ROOT / "requirements.txt").items() <= tested.items()


def test_notice_names_every_package_with_copyleft_license(third_party: ModuleType) -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8").lower()
    runtime = third_party.locked(ROOT / "requirements-fab.txt")
    for name, (_, licence) in third_party.listed().items():
        assert not re.search("AGPL|Affero", licence), f"{name} is under the AGPL"
        if name in runtime and re.search(r"GPL|Lesser General|General Public", licence) and "Artistic" not in licence:
            assert name.removesuffix("-binary") in notice, f"{name} ({licence}) is not in NOTICE"
    for data in ("wordfreq", "noto cjk", "pandoc"):
        assert data in notice


def test_everything_is_installed_with_a_hash() -> None:
    for path in (ROOT / "Dockerfile", ROOT / "Makefile", ROOT / "deploy" / "install-packages"):
        for line in path.read_text("utf-8").splitlines():
            if re.search(r"pip install", line) and "--no-deps" not in line and "pip compile" not in line:
                assert "--require-hashes" in line, f"{path.name}: {line.strip()}"
    for lock in (ROOT / "deploy" / "uv.txt", *ROOT.glob("requirements*.txt")):
        text = lock.read_text("utf-8")
        pinned = re.findall(r"^\S+==.*(?:\n +--hash=sha256:[0-9a-f]{64}.*)?", text, re.MULTILINE)
        assert pinned and all("--hash" in one for one in pinned), lock.name
