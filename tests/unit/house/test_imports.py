"""Arrows point one way: commands → local → stages, drops, datasets → deliveries, pipeline → kernels, snapshot → storage, tables, spec."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from s2corpus.pipeline.registry import STAGES

INCLUDE = Path(__file__).resolve().parents[3] / "include"
PACKAGE = INCLUDE / "s2corpus"
KERNELS = (
    "pdf",
    "extractors",
    "layout",
    "tei",
    "latex",
    "jats",
    "sources",
    "titles",
    "text",
    "clustering",
    "papers",
    "parse_model",
)
BASE = {"cores", "errors", "escaping", "scratch", "web", "ids", "row_types", "tables", "version", "compiled", ""}
LOW = BASE | {"spec", "storage", "catalog"}
MIDDLE = LOW | {"sandbox", *KERNELS, "snapshot"}
ALLOWED = {
    "errors": set(),
    "escaping": set(),
    "ids": {"errors"},
    "version": {""},
    "compiled": set(),
    "cores": {"errors"},
    "sandbox": set(),
    "row_types": set(),
    "tables": {"row_types", ""},
    "scratch": {"errors"},
    "web": set(),
    "spec": BASE,
    "storage": BASE,
    "catalog": BASE,
    # kernels may read the spec's sections as values, and each other where one says what another needs
    **{name: BASE | {"spec", "storage", "sandbox", *KERNELS} for name in KERNELS},
    # what is published is written, verified and pointed at in the lake
    "snapshot": BASE | {"spec", "storage", *KERNELS},
    "sample": BASE | {*KERNELS},
    "deliveries": MIDDLE | {"pipeline"},
    "pipeline": MIDDLE | {"deliveries"},
    "stages": MIDDLE | {"pipeline", "deliveries"},
    "drops": MIDDLE | {"pipeline", "deliveries", "stages"},
    # made of what is published, not of a release's tables
    "datasets": MIDDLE | {"pipeline"},
    # judges a release by its tables and what people say of it
    "evaluation": MIDDLE | {"pipeline"},
    "local": MIDDLE | {"pipeline", "deliveries", "stages", "drops", "sample", "datasets"},
    "commands": MIDDLE | {"pipeline", "deliveries", "stages", "drops", "sample", "datasets", "local", "evaluation"},
    "cli": {"commands", "errors", "scratch", "storage", ""},
    "__main__": {"cli"},
}


def modules() -> Iterator[Path]:
    yield from sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py") if relative.name != "__init__.py" or len(relative.parts) > 1 else ""


def imported(path: Path, *, type_checking: bool = False) -> set[str]:
    """Full names of the modules that a file imports, anywhere in it; those for type checking only where asked for."""
    found = set()
    tree = ast.parse(path.read_text("utf-8"))
    skipped = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not type_checking
        for child in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                package = ("s2corpus", *path.relative_to(PACKAGE).parts[:-1])[
                    : len(path.relative_to(PACKAGE).parts) - node.level + 1
                ]
                base = ".".join([*package, *([node.module] if node.module else [])])
            else:
                base = node.module or ""
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def parts_imported(path: Path) -> set[str]:
    """Which parts of the package a file imports."""
    found = set()
    for name in imported(path):
        steps = name.split(".")
        if steps[0] == "s2corpus" and len(steps) > 1:
            found.add(steps[1] if (PACKAGE / steps[1]).exists() or (PACKAGE / f"{steps[1]}.py").exists() else "")
    return found


def test_only_dags_and_plugins_import_airflow() -> None:
    offenders = {
        str(path.relative_to(INCLUDE))
        for path in modules()
        for name in imported(path, type_checking=True)
        if name.split(".")[0] == "airflow"
    }
    assert not offenders


def test_every_part_has_its_row() -> None:
    assert {part_of(path) for path in modules()} - {""} == set(ALLOWED)


def test_kernels_know_of_storage_only_which_errors_pass_and_how_files_are_written() -> None:
    """Kernels read no lake: a full disk under a child process, and files at the command line, are what they meet of storage."""
    offenders = {
        f"{path.relative_to(INCLUDE)} imports {name}"
        for path in modules()
        if part_of(path) in KERNELS
        for name in imported(path)
        if name.startswith("s2corpus.storage.")
        and not name.startswith(("s2corpus.storage.transient", "s2corpus.storage.outputs"))
    }
    assert not offenders


@pytest.mark.parametrize("part", sorted(ALLOWED))
def test_a_part_imports_only_what_lies_below_it(part: str) -> None:
    offenders = {
        f"{path.relative_to(INCLUDE)} imports {sorted(wrong)}"
        for path in modules()
        if part_of(path) == part and (wrong := parts_imported(path) - ALLOWED[part] - {part})
    }
    assert not offenders


def test_stages_do_not_import_each_other() -> None:
    """What passes between stages is a table."""
    offenders = {
        f"{stage} imports {name}"
        for stage in STAGES
        for path in [PACKAGE / "stages" / f"{stage}.py", *(PACKAGE / "stages" / stage).glob("*.py")]
        if path.exists()
        for name in imported(path)
        if name.split(".")[:2] == ["s2corpus", "stages"] and {*name.split(".")[2:3]} & {*STAGES} - {stage}
    }
    assert not offenders


def test_the_rooms_of_the_stages_are_the_stages() -> None:
    rooms = {path.stem for path in (PACKAGE / "stages").iterdir() if path.stem not in {"__init__", "__pycache__"}}
    assert rooms == set(STAGES)


@pytest.mark.parametrize("kernel", [name for name in (*KERNELS, "snapshot") if (PACKAGE / name).is_dir()])
def test_importing_a_kernel_imports_neither_airflow_nor_boto3(kernel: str) -> None:
    code = f"import sys, s2corpus.{kernel}; print(*sorted({{'airflow', 'boto3', 'sqlalchemy', 'duckdb'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=INCLUDE)
    assert done.stdout.split() == []
