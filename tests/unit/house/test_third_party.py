"""Every installed package is locked by hash and listed with its license, and NOTICE names each package with a non-permissive license."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


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
    expected = {"requirements-image.txt": "apache-airflow-providers-fab", "requirements-spark.txt": "pyspark"}
    assert expected[image] in in_image


def test_notice_names_every_package_with_copyleft_license(third_party: ModuleType) -> None:
    """A package that is also available under a permissive license needs no entry."""
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
