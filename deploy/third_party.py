"""Write docs/third-party.md: each locked package with the license in its installed metadata.

    python deploy/third_party.py        # after `make lock` and the installation of the locked packages

A package that is locked for another system is not installed. It retains its license in the existing list.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "third-party.md"
LOCKS = {
    "requirements.txt": "Installed by `make setup`; in the images, apart from the sample's typesetter and the local services",
    "requirements-datasets.txt": "For the datasets `pretraining` and `vectors`, and in the image of Airflow",
    "requirements-fab.txt": "In the images: FAB's auth manager and Kubernetes in Airflow's, Spark in Spark's",
    "requirements-dev.txt": "For tests, documentation and benchmarks only",
}
HEAD = """# Third-party packages

`deploy/third_party.py` writes this list from the lock files and the packages' metadata. The project is under the Apache License 2.0.
NOTICE at the root of the repository names the packages whose licenses demand more than a permissive one.
"""
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def read_lock(lock: Path) -> dict[str, str]:
    """Return the versions of the packages in a lock file by name. Versions for several systems are joined: "1.0, 1.1"."""
    found: dict[str, list[str]] = {}
    for name, version in _LOCKED.findall(lock.read_text("utf-8")):
        found.setdefault(name, []).append(version)
    return {name: ", ".join(sorted(set(versions))) for name, versions in sorted(found.items())}


def read_list() -> dict[str, tuple[str, str]]:
    """Return version and license of the packages in the existing list by name."""
    text = LIST.read_text("utf-8") if LIST.exists() else ""
    return {name: (version, license) for name, version, license in _ROW.findall(text) if version != "version"}


def find_license(given: PackageMetadata) -> str:
    """Return the SPDX expression of a license, or its classifiers, or the first line of its text."""
    if expression := given.get("License-Expression"):
        return str(expression)
    classifiers = [
        name.rpartition(" :: ")[2] for name in given.get_all("Classifier") or [] if name.startswith("License :: ")
    ]
    text = (given.get("License") or "").strip().split("\n")[0][:60]
    chosen = ", ".join(one for one in classifiers if one != "OSI Approved") or text or "not stated"
    return chosen.replace("|", "/")


def main() -> None:
    """Write the list."""
    before = read_list()
    sections = [HEAD]
    seen: set[str] = set()
    for lock, what in LOCKS.items():
        rows = []
        for name, version in read_lock(ROOT / lock).items():
            if name in seen:
                continue
            seen.add(name)
            try:
                license = find_license(metadata(name))
            except PackageNotFoundError:
                license = before.get(name, ("", "not installed here"))[1]
            rows.append(f"| {name} | {version} | {license} |")
        sections.append("\n".join([f"## {what}", "", "| package | version | license |", "|---|---|---|", *rows]) + "\n")
    LIST.write_text("\n".join(sections), "utf-8")


if __name__ == "__main__":
    main()
