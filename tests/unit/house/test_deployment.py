"""The production files: compose, Kubernetes and the chart are valid, confined and equal in settings; every secret is external.

No cluster is started. `tests/containers` runs the services of compose.

Every installed package is locked by hash and listed with its license, and NOTICE names each package with a non-permissive license.
"""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from s2corpus.deployment.slots import OVERHEAD_MB
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec_files import read_specs

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docker-compose.yaml").read_text("utf-8")
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").rglob("*.yaml"))
PODS = sorted((DEPLOY / "kubernetes" / "pods").glob("*.yaml"))
SCHEMA = json.loads((ROOT / "tests" / "data" / "airflow-chart-values.schema.json").read_text("utf-8"))
PROFILES = "COMPOSE_PROFILES"
"""compose's own variable: selects the profiles with services to start"""
SECRET = re.compile(r"PASSWORD|SECRET|KEY|TOKEN|WEBHOOK")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(TEXT)["services"]
    return found


def test_no_secret_is_an_environment_variable(services: dict[str, Any]) -> None:
    """Variables are inherited by all processes of a container, and `docker inspect` shows them."""
    for path in (ROOT / "docker-compose.yaml", DEPLOY / "compose.fab.yaml"):
        for name in re.findall(r"\$\{([A-Z0-9_]+)", path.read_text("utf-8")):
            assert name == "SECRETS" or not SECRET.search(name), f"{name} of {path.name} is a secret"
    for name, service in services.items():
        for variable, value in service.get("environment", {}).items():
            is_file = variable.endswith(("_FILE", "_CMD")) and "/run/secrets/" in value
            assert is_file or not SECRET.search(variable) or "PASSWORDS_FILE" in variable, f"{variable} of {name}"
            if variable.endswith("_CMD"):  # Airflow keeps the line end of the output.
                assert value.strip().startswith("bash -c 'printf %s "), f"{variable} of {name}"
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#") and not line.endswith("=")] == []
    example = {line.removesuffix("=") for line in lines if not line.startswith("#")}
    assert set(re.findall(r"\$\{([A-Z0-9_]+):\?", TEXT)) | {PROFILES} == example


def test_each_secret_of_compose_is_made_once(tmp_path: Path) -> None:
    for _ in range(2):
        subprocess.run([sys.executable, str(DEPLOY / "make_secrets.py"), str(tmp_path / "secrets")], check=True)
        made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
        assert len(set(made.values())) == len(made) and made.keys() == yaml.safe_load(TEXT)["secrets"].keys()
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_each_service_has_only_the_secrets_that_it_needs(services: dict[str, Any]) -> None:
    """Check that a hostile PDF that takes over a worker finds no access to Airflow's database and no key that signs tokens.

    A service has the secrets that it reads.
    """
    found = {name.removeprefix("airflow-"): set(service.get("secrets", [])) for name, service in services.items()}
    database = {"postgres_password", "fernet_key"}
    assert {name: secrets for name, secrets in found.items() if secrets} == {
        "postgres": {"postgres_password"}, "redis": {"redis_password"},
        "s3-init": {"s3_admin", "s3_deliver", "s3_worker", "s3_consumer", "s3_page"}, "s3": {"s3_admin"}, "extractor": {"extractor_token"},
        "init": database | {"catalog", "admin_password"}, "api-server": database | {"catalog", "jwt_secret", "secret_key", "s3_page"},
        "scheduler": database | {"jwt_secret", "redis_password"}, "dag-processor": database | {"catalog", "alerts_webhook"},
        "triggerer": database | {"s3_worker", "alerts_webhook"},
        "worker": {"catalog", "redis_password", "s3_worker", "extractor_token", "alerts_webhook"}, "settings": {"admin_password"},
        "spark-worker": {"s3_worker"},
    }  # fmt: skip
    for name, service in services.items():
        read = set(re.findall(r"/run/secrets/(\w+)", json.dumps(service)))
        assert name == "s3-init" or read == set(service.get("secrets", [])), name


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
        assert set(services[name].get("environment", {})) <= {"S2CORPUS_ALTO"}
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
    self-hosted S3 or an extractor on the same machine needs. Compose reads secrets from files.
    """
    worker = {n.removesuffix("_FILE") for n in services["airflow-worker"]["environment"] if not n.startswith("AIRFLOW")}
    optional = {"AWS_ENDPOINT_URL", "S2CORPUS_ALERTS_WEBHOOK", "S2CORPUS_EXTRACTOR_TOKEN", "S2CORPUS_KERNELS"}
    optional |= {"S2CORPUS_ALTO", "S2CORPUS_CACHE_GB", "AWS_SHARED_CREDENTIALS"}
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
        wanted = third_party.read_lock(ROOT / lock) | wanted
    assert {name: version for name, (version, _) in third_party.read_list().items()} == wanted


@pytest.fixture(scope="module")
def audit(third_party: ModuleType) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "deploy"))
        yield importlib.import_module("audit")


def test_every_license_is_permissive_or_has_a_reason(audit: ModuleType, third_party: ModuleType) -> None:
    accepted = tomllib.loads((ROOT / "deploy/audit.toml").read_text())["licenses"]
    assert list(audit.find_licenses(third_party.read_list(), accepted)) == []
    (finding,) = audit.find_licenses(third_party.read_list() | {"new": ("1", "AGPL-3.0")}, accepted)
    assert finding.startswith("new: license 'AGPL-3.0'")
    (finding,) = audit.find_licenses(third_party.read_list(), accepted | {"gone": "a reason"})
    assert finding.startswith("gone: no longer a finding")


@pytest.mark.parametrize(
    ("license", "expected"),
    [
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True), ("GPL-3.0 OR MIT", True), ("MIT AND GPL-3.0", False), ("not stated", False),
        ("MIT License, Apache Software License", True), ("MIT License, GNU General Public License (GPL)", False),
    ],
)  # fmt: skip
def test_license_expression_is_read_as_spdx_defines(audit: ModuleType, license: str, expected: bool) -> None:
    assert audit.is_permissive(license) is expected


def test_known_vulnerability_needs_a_reason(audit: ModuleType) -> None:
    """The answer has the form of pip-audit's README."""
    answer = [
        {
            "name": "flask",
            "version": "0.5",
            "vulns": [{"id": "PYSEC-2019-179", "fix_versions": ["1.0"], "aliases": ["CVE-2019-1010083"]}],
        },
        {"name": "jinja2", "version": "3.0.2", "vulns": []},
    ]
    findings, unchecked = audit.find_vulnerabilities(answer, {})
    assert len(findings) == 1 and "PYSEC-2019-179" in findings[0] and "1.0" in findings[0] and not unchecked
    assert audit.find_vulnerabilities(answer, {"CVE-2019-1010083": "not reachable"}) == ([], [])
    assert audit.find_vulnerabilities(answer, {"CVE-2019-1010083": " "})[0], "an empty reason is none"
    assert audit.find_vulnerabilities(answer[1:], {"CVE-1": "a reason"})[0], "a reason without a finding is deleted"
    skipped = [{"name": "mypkg", "skip_reason": "Dependency not found on PyPI"}]
    assert audit.find_vulnerabilities(skipped, {"CVE-1": "a reason"}) == ([], ["mypkg"])


@pytest.mark.parametrize("image", ["requirements-image.txt", "requirements-spark.txt"])
def test_images_have_the_tested_versions(third_party: ModuleType, image: str) -> None:
    in_image, tested = third_party.read_lock(ROOT / image), third_party.read_lock(ROOT / "requirements-fab.txt")
    assert in_image.items() <= tested.items()
    assert third_party.read_lock(ROOT / "requirements.txt").items() <= tested.items()


def test_notice_names_every_package_with_copyleft_license(third_party: ModuleType) -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8").lower()
    runtime = third_party.read_lock(ROOT / "requirements-fab.txt")
    for name, (_, license) in third_party.read_list().items():
        assert not re.search("AGPL|Affero", license), f"{name} is under the AGPL"
        if name in runtime and re.search(r"GPL|Lesser General|General Public", license) and "Artistic" not in license:
            assert name.removesuffix("-binary") in notice, f"{name} ({license}) is not in NOTICE"
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
