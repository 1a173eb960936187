"""Imports have one direction: one list defines the order of the packages, another the order of the layers of `s2corpus`."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from s2corpus.pipeline.stages import STAGE_NAMES

ROOT = Path(__file__).resolve().parents[3]
INCLUDE = ROOT / "include"
READER = "s2corpus_reader"
PACKAGES = (READER, "s2orc_parse", "pdf2tei", "s2corpus", "devtools")
"""Each package imports only packages before it; only `s2corpus` and `devtools` import the reader."""
LAYERS = (
    "version", "errors", "escaping", "ids", "cores", "web", "compiled", "rules", "tables",
    "storage", "catalog",
    "sources", "titles", "text", "clustering", "pdf", "extractors",
    "papers",
    "spec",
    "snapshot",
    "pipeline",
    "deliveries",
    "stages",
    "drops",
    "datasets", "evaluation", "deployment",
    "commands", "cli", "__main__",
)  # fmt: skip
"""The modules and folders of `s2corpus`: each imports only those before it, and the package itself."""
KERNELS = ("sources", "titles", "text", "clustering", "pdf", "extractors", "papers")
FILES_ONLY = ("s2corpus.storage.transient", "s2corpus.storage.outputs", "s2corpus.storage.parquet")
"""The parts of storage that kernels may import: transient errors, and reading and writing files."""


@cache
def files_of(package: str) -> tuple[Path, ...]:
    return tuple(sorted((ROOT / "devtools" if package == "devtools" else INCLUDE / package).rglob("*.py")))


@cache
def module_name(path: Path) -> str:
    top = ROOT if path.is_relative_to(ROOT / "devtools") else INCLUDE
    parts = path.relative_to(top).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the full names that a file imports, at any level of indentation."""
    found: set[str] = set()
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return frozenset(found)


def layer_of(name: str) -> str:
    """Return the layer of a module of `s2corpus`, or "" for the package itself."""
    step = [*name.split("."), ""][1]
    return step if step in LAYERS else ""


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_earlier_packages(package: str) -> None:
    later = set(PACKAGES[PACKAGES.index(package) + 1 :]) | (
        {READER} if package in ("s2orc_parse", "pdf2tei") else set()
    )
    offenders = {
        f"{module_name(path)} imports {name}"
        for path in files_of(package)
        for name in imported(path)
        if name.split(".")[0] in later
    }
    assert not offenders


def test_every_module_has_a_layer() -> None:
    top = INCLUDE / "s2corpus"
    there = {path.stem for path in top.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert there - {"__init__"} == set(LAYERS)


def test_layer_imports_only_earlier_layers() -> None:
    offenders = {
        f"{module_name(path)} imports {name}"
        for path in files_of("s2corpus")
        for name in imported(path)
        if name.split(".")[0] == "s2corpus"
        and (layer := layer_of(module_name(path)))
        and (other := layer_of(name))
        and LAYERS.index(other) > LAYERS.index(layer)
    }
    assert not offenders


@pytest.mark.parametrize("package", PACKAGES)
def test_only_dags_and_plugins_import_airflow(package: str) -> None:
    offenders = {module_name(p) for p in files_of(package) for name in imported(p) if name.split(".")[0] == "airflow"}
    assert not offenders


def test_kernels_read_no_lake() -> None:
    offenders = {
        f"{module_name(path)} imports {name}"
        for path in files_of("s2corpus")
        if layer_of(module_name(path)) in KERNELS
        for name in imported(path)
        if name.startswith("s2corpus.storage.") and not name.startswith(FILES_ONLY)
    }
    assert not offenders


def test_stages_do_not_import_each_other() -> None:
    """Check that stages exchange data only through tables."""
    offenders = {
        f"{module_name(path)} imports {name}"
        for path in files_of("s2corpus")
        for name in imported(path)
        if (steps := module_name(path).split("."))[1:2] == ["stages"] and len(steps) > 2
        if name.split(".")[:2] == ["s2corpus", "stages"] and {*name.split(".")[2:3]} & {*STAGE_NAMES} - {steps[2]}
    }
    assert not offenders


def test_folder_of_stages_has_the_stages_only() -> None:
    there = {p.stem for p in (INCLUDE / "s2corpus" / "stages").iterdir() if p.stem not in {"__init__", "__pycache__"}}
    assert there == set(STAGE_NAMES)


@pytest.mark.parametrize(
    "module", ["s2orc_parse.tei", "s2orc_parse.latex", "pdf2tei", *(f"s2corpus.{k}" for k in (*KERNELS, "snapshot"))]
)
def test_importing_a_kernel_imports_no_services(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{'airflow', 'boto3', 'sqlalchemy', 'duckdb'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=INCLUDE)
    assert done.stdout.split() == []
