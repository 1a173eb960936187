"""Each package that can be installed alone lists its folders and imports only its declared dependencies."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

INCLUDE = Path(__file__).resolve().parents[3] / "include"
PACKAGES = ("s2orc_parse", "pdf2tei", "s2corpus_reader")
MODULES = {
    "lxml": "lxml", "orjson": "orjson", "deflate": "deflate", "pypandoc-binary": "pypandoc", "obstore": "obstore", "pyarrow": "pyarrow",
    "cld3-py": "gcld3", "numpy": "numpy", "pdfalto": "pdfalto", "pebble": "pebble", "pypdf": "pypdf", "pypdfium2": "pypdfium2",
    "starlette": "starlette", "uvicorn": "uvicorn", "wordfreq": "wordfreq", "s2orc-parse": "s2orc_parse", "rapidocr": "rapidocr",
    "onnxruntime": "onnxruntime", "python-multipart": "multipart",
}  # fmt: skip
OPTIONAL = {"boto3"}
"""Optional packages: used if installed."""


def project(package: str) -> dict[str, Any]:
    return tomllib.loads((INCLUDE / package / "pyproject.toml").read_text("utf-8"))


@pytest.mark.parametrize("package", PACKAGES)
def test_pyproject_lists_every_folder(package: str) -> None:
    top = INCLUDE / package
    there = {package} | {
        ".".join(path.parent.relative_to(INCLUDE).parts)
        for path in top.rglob("__init__.py")
        if path.parent != top and "build" not in path.parts
    }
    assert set(project(package)["tool"]["setuptools"]["packages"]) == there


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_what_it_declares(package: str) -> None:
    declared = project(package)["project"]
    names = [*declared["dependencies"], *(d for extra in declared["optional-dependencies"].values() for d in extra)]
    allowed = {MODULES[re.split(r"[\[<>=]", name)[0]] for name in names}
    found = {
        name.split(".")[0]
        for path in (INCLUDE / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    }
    assert found - set(sys.stdlib_module_names) - {package} <= allowed | OPTIONAL


@pytest.mark.parametrize("package", PACKAGES)
def test_versions_of_the_packages_are_equal(package: str) -> None:
    own = tomllib.loads((INCLUDE.parent / "pyproject.toml").read_text("utf-8"))["project"]
    version = project(package)["project"]["version"]
    assert version == own["version"]
    name = package.replace("_", "-")
    assert any(re.fullmatch(rf"{name}(?:\[\w+\])?=={version}", d) for d in own["dependencies"])
