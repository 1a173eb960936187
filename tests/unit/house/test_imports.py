"""Imports have one direction: one list defines the order of the packages, another the order of the layers of `s2corpus`.

A package that can be installed alone imports only its declared dependencies.

Kinds are data: no decision depends on the name of a record, a parse or an extractor (docs/extractors.md).
"""

import ast
import re
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path
from typing import get_args

import pytest

from pdf2tei.version import NAME as EMBEDDED
from s2corpus.extractors.registry import EXTRACTORS
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.rules import FullText
from s2orc_parse import jats
from s2orc_parse.parse_model import ParseKind

ROOT = Path(__file__).resolve().parents[3]
INCLUDE = ROOT / "include"
READER = "s2corpus_reader"
PACKAGES = (READER, "s2orc_parse", "s2corpus_datasets", "pdf2tei", "s2corpus", "devtools")
"""Each package imports only packages before it; `s2orc_parse` and `pdf2tei` import neither the reader nor the datasets."""
LAYERS = (
    "version", "errors", "secret_files", "ids", "outcomes", "web", "compiled", "trust", "rules", "own_rules",
    "tables", "storage", "catalog",
    "sources", "titles", "text", "clustering", "pdf", "extractors",
    "papers",
    "spec", "spec_files",
    "snapshot",
    "pipeline",
    "deliveries",
    "stages",
    "drops",
    "corpora",
    "datasets", "evaluation", "deployment",
    "commands", "cli", "__main__",
)  # fmt: skip
"""The modules and folders of `s2corpus`: each imports only those before it, and the package itself."""
KERNELS = ("sources", "titles", "text", "clustering", "pdf", "extractors", "papers")
FILES_ONLY = ("s2corpus.storage.error_kinds", "s2corpus.storage.parquet", "s2corpus.storage.statements")
"""The parts of storage that kernels may import: transient errors, reading and writing files, and named statements."""

IGNORED = re.compile(r"#\stype:\signore(?!\[[a-z, -]+\]  # \w)")


@cache
def list_files(package: str) -> tuple[Path, ...]:
    return tuple(sorted((ROOT / "devtools" if package == "devtools" else INCLUDE / package).rglob("*.py")))


@cache
def module_name(path: Path) -> str:
    top = ROOT if path.is_relative_to(ROOT / "devtools") else INCLUDE
    parts = path.relative_to(top).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def read_imports(path: Path) -> frozenset[str]:
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


@cache
def list_edges() -> dict[str, set[str]]:
    """Return each module with the modules that it imports anywhere: in functions and for type checks too."""
    modules = {module_name(path): path for package in PACKAGES for path in list_files(package)}

    def find_module(name: str) -> str:
        while name and name not in modules:
            name = name.rpartition(".")[0]
        return name

    return {name: {find_module(other) for other in read_imports(path)} - {name, ""} for name, path in modules.items()}


def find_layer(name: str) -> str:
    """Return the layer of a module of `s2corpus`, or "" for the package itself."""
    step = [*name.split("."), ""][1]
    return step if step in LAYERS else ""


def offenders(package: str, is_wrong: Callable[[str, str], object]) -> set[str]:
    """Return the imports of a package's files for which `is_wrong(module, imported name)` is true."""
    return {
        f"{module} imports {name}"
        for path in list_files(package)
        for module in [module_name(path)]
        for name in read_imports(path)
        if is_wrong(module, name)
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_earlier_packages_and_not_airflow(package: str) -> None:
    later = {
        *PACKAGES[PACKAGES.index(package) + 1 :], "airflow",
        *([READER, "s2corpus_datasets"] if package in ("s2orc_parse", "pdf2tei") else []),
    }  # fmt: skip
    assert not offenders(package, lambda _, name: name.split(".")[0] in later)


@pytest.mark.parametrize("package", ["s2orc_parse", "pdf2tei", "s2corpus_datasets", READER])
def test_package_imports_only_what_it_declares(package: str) -> None:
    stated = tomllib.loads((INCLUDE / package / "pyproject.toml").read_text("utf-8"))["project"]
    names = [*stated["dependencies"], *chain(*stated["optional-dependencies"].values())]
    declared = {re.split(r"[\[<>=]", name)[0] for name in names}
    free = {package, "boto3", *sys.stdlib_module_names}  # boto3 is used if it is installed.
    distributions = packages_distributions()

    def is_undeclared(_: str, name: str) -> bool:
        top = name.split(".")[0]
        provided_by = {one.replace("_", "-").lower() for one in (top, *distributions.get(top, ()))}
        return top not in free and not declared & provided_by

    assert not offenders(package, is_undeclared)


def test_every_module_has_a_layer() -> None:
    top = INCLUDE / "s2corpus"
    there = {path.stem for path in top.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert there - {"__init__"} == set(LAYERS)


def test_layer_imports_only_earlier_layers() -> None:
    order = {"": -1, **{layer: number for number, layer in enumerate(LAYERS)}}

    def is_later(module: str, name: str) -> bool:
        layer = find_layer(module)
        return layer != "" and name.split(".")[0] == "s2corpus" and order[find_layer(name)] > order[layer]

    assert not offenders("s2corpus", is_later)


def test_modules_do_not_import_in_circles() -> None:
    """Check that the modules have an order: remove modules that import only removed modules until no module remains."""
    left = dict(list_edges())
    assert len(left) > 500
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    circles = {name: sorted(others & left.keys()) for name, others in left.items()}
    assert circles == {}, "these modules import each other, or modules that do: move the shared types out"


def test_kernels_read_no_lake() -> None:
    def reads_lake(module: str, name: str) -> bool:
        return name.startswith("s2corpus.storage.") and not name.startswith(FILES_ONLY)

    assert not offenders("s2corpus", lambda module, name: find_layer(module) in KERNELS and reads_lake(module, name))


def test_stages_do_not_import_each_other() -> None:
    """Check that stages exchange data only through tables."""

    def is_other_stage(module: str, name: str) -> bool:
        if not module.startswith("s2corpus.stages.") or not name.startswith("s2corpus.stages."):
            return False
        stage, other = (parts.split(".")[2] for parts in (module, name))
        return stage != other and other in STAGE_NAMES

    assert not offenders("s2corpus", is_other_stage)


def test_each_ignored_type_error_has_a_reason() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("dags", "plugins", "devtools", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if IGNORED.search(line)
    ]
    assert found == []


NAMES = (*EXTRACTORS.built_in, EMBEDDED)
SAYS_ITS_OWN_NAME = {
    "include/s2corpus/extractors/grobid.py", "include/s2corpus/extractors/registry.py", "include/pdf2tei/version.py",
}  # fmt: skip
_NAME = re.compile(rf"""(?<!pool=)(?<!"pool": )["'](?:{"|".join(map(re.escape, NAMES))})["']""")
"""Airflow's pool of slots has such a name: it limits the load of any extractor."""


def test_code_does_not_compare_extractor_names() -> None:
    """Such code would treat the next extractor differently: compare the kind of a record, or the identity that extract committed."""
    paths = {path for folder in ("include", "plugins", "dags") for path in (ROOT / folder).rglob("*.py")}
    names = {path.relative_to(ROOT).as_posix() for path in paths if _NAME.search(path.read_text("utf-8"))}
    assert names == SAYS_ITS_OWN_NAME


def test_kinds_of_full_texts_have_one_order_everywhere() -> None:
    assert get_args(FullText) == tuple(kind.value for kind in ParseKind)
    assert {*jats.CONVERTERS, ParseKind.PDF, ParseKind.LATEX} == {*ParseKind}


def test_names_of_test_modules_differ() -> None:
    """Pytest collects no list with two modules of one name."""
    names = [path.name for path in (ROOT / "tests" / "unit").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
