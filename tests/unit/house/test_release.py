"""The checklist of CONTRIBUTING.md, "Releases", as far as a machine can execute it; `tests/e2e/test_wheel.py` installs the wheels."""

import re
import tomllib
from pathlib import Path

import yaml

import s2corpus

ROOT = Path(__file__).resolve().parents[3]
PROJECTS = [ROOT / "pyproject.toml", *sorted(ROOT.glob("include/*/pyproject.toml"))]
CHECKLIST = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Releases")[2]


def test_all_packages_have_one_version_and_require_it_of_each_other() -> None:
    projects = [tomllib.loads(path.read_text("utf-8"))["project"] for path in PROJECTS]
    assert len(projects) == 5
    assert {project["version"] for project in projects} == {s2corpus.__version__}
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == s2corpus.__version__
    names = {project["name"].replace("_", "-") for project in projects}
    required = [
        match
        for project in projects
        for line in project.get("dependencies", [])
        if (match := re.fullmatch(r"([\w-]+)(?:\[[^]]*\])?==(\S+)", line)) and match[1].replace("_", "-") in names
    ]
    assert len(required) >= 3
    assert {match[2] for match in required} == {s2corpus.__version__}


def test_changelog_has_a_dated_entry_of_the_version() -> None:
    entries = re.findall(
        r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert entries and entries[0] == s2corpus.__version__


def test_version_has_a_fixture() -> None:
    assert (ROOT / "tests/data/releases" / f"{s2corpus.__version__}.tar.gz").is_file()


def test_checklist_names_existing_tests_and_targets() -> None:
    paths = re.findall(r"`(tests/[\w/.]+)`", CHECKLIST)
    targets = re.findall(r"`make ([\w-]+)`", CHECKLIST)
    assert "tests/unit/house/test_release.py" in paths and "audit" in targets
    assert all((ROOT / path).exists() for path in paths)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
