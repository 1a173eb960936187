"""Write docs/third-party.md: every locked package with its license, as its installed metadata says it.

    python deploy/third_party.py        # after `make lock` and an installation of what it locked

A package that is not installed here (it is locked for another system) keeps the license that the list had for its name.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "third-party.md"
LOCKS = {
    "requirements.txt": "Installed by `make setup`; in the images, apart from the sample's typesetter and the local services",
    "requirements-datasets.txt": "For the datasets made of a snapshot (`make demo DATASETS=1`), and in the image of Airflow",
    "requirements-fab.txt": "In the images: FAB's auth manager and Kubernetes in Airflow's, Spark in Spark's",
    "requirements-dev.txt": "For tests, documentation and benchmarks only",
}
HEAD = """# Third-party packages

Made from the lock by `deploy/third_party.py`; licenses as the packages' own metadata gives them. The project itself is under the
Apache License 2.0, and NOTICE at the root of the repository names what asks for more than a permissive license does.
"""
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def locked(lock: Path) -> dict[str, str]:
    """Name → version of what a lock file has; `name==other` twice (for other systems) as "one, other"."""
    found: dict[str, list[str]] = {}
    for name, version in _LOCKED.findall(lock.read_text("utf-8")):
        found.setdefault(name, []).append(version)
    return {name: ", ".join(sorted(set(versions))) for name, versions in sorted(found.items())}


def listed() -> dict[str, tuple[str, str]]:
    """Name → version and license of what the list has."""
    text = LIST.read_text("utf-8") if LIST.exists() else ""
    return {name: (version, license) for name, version, license in _ROW.findall(text) if version != "version"}


def license_of(given: PackageMetadata) -> str:
    """A license by its SPDX expression, else its classifiers, else the first line of what stands in its place."""
    if expression := given.get("License-Expression"):
        return str(expression)
    classifiers = [
        text.rpartition(" :: ")[2] for text in given.get_all("Classifier") or [] if text.startswith("License :: ")
    ]
    said = (given.get("License") or "").strip().split("\n")[0][:60]
    chosen = ", ".join(one for one in classifiers if one != "OSI Approved") or said or "not stated"
    return chosen.replace("|", "/")


def main() -> None:
    """Write the list."""
    before = listed()
    sections = [HEAD]
    seen: set[str] = set()
    for lock, what in LOCKS.items():
        rows = []
        for name, version in locked(ROOT / lock).items():
            if name in seen:
                continue
            seen.add(name)
            try:
                license = license_of(metadata(name))
            except PackageNotFoundError:
                license = before.get(name, ("", "not installed here"))[1]
            rows.append(f"| {name} | {version} | {license} |")
        sections.append("\n".join([f"## {what}", "", "| package | version | license |", "|---|---|---|", *rows]) + "\n")
    LIST.write_text("\n".join(sections), "utf-8")


if __name__ == "__main__":
    main()
