"""Check licenses and known vulnerabilities of all locked packages; `deploy/audit.toml` has the reason of each exception.

    python deploy/audit.py        # or make audit

docs/third-party.md lists the licenses. pip-audit reports the vulnerabilities, and needs PyPI's advisories. Exit status: 0
without findings, 1 with findings, 3 if a package could not be checked, for example without a network.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import third_party

EXCEPTIONS = third_party.ROOT / "deploy" / "audit.toml"
PIP_AUDIT = "pip-audit==2.10.1"
_PERMISSIVE = re.compile(
    r"0BSD|Apache(-2\.0( WITH LLVM-exception)?|( Software)? License|)|(3-Clause )?BSD(-[23]-Clause(-Views)?| License|)|CC0-1\.0|"
    r"CNRI-Python|ISC( License \(ISCL\))?|MIT(-0|-CMU| License|)|MPL-2\.0|Mozilla Public License 2\.0 \(MPL 2\.0\)|PSF-2\.0|"
    r"Python Software Foundation License|The Unlicense \(Unlicense\)|Zlib"
)
"""permissive licenses, and MPL 2.0 for packages that are used unchanged"""


def is_permissive(license: str) -> bool:
    """Return whether a license is permissive. `OR` offers a choice; all parts that `AND` or a comma joins apply."""
    parts = (
        part.removeprefix("(").removesuffix(")") if part.startswith("(") else part
        for part in re.split(r" AND |, ", license)
    )
    return all(any(_PERMISSIVE.fullmatch(choice) for choice in part.split(" OR ")) for part in parts)


def find_licenses(listed: Mapping[str, tuple[str, str]], accepted: Mapping[str, str]) -> Iterator[str]:
    """Yield packages with a license that is neither permissive nor accepted, and exceptions without a package."""
    findings = {name: license for name, (_, license) in listed.items() if not is_permissive(license)}
    for name, license in sorted(findings.items()):
        if not accepted.get(name, "").strip():
            yield f"{name}: license {license!r}: replace the package, or give a reason under [licenses] in {EXCEPTIONS.name}"
    for name in sorted(accepted.keys() - findings.keys()):
        yield f"{name}: no longer a finding: delete it from [licenses] in {EXCEPTIONS.name}"


def find_vulnerabilities(
    dependencies: Sequence[Mapping[str, Any]], accepted: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Return the findings of pip-audit's answer, and the packages that it did not check.

    An exception is `"<id>" = "<reason>"`. One that matches no advisory is a finding if all packages were checked.
    """
    findings, unchecked, used = [], [], set()
    for package in dependencies:
        if "skip_reason" in package:
            unchecked.append(str(package["name"]))
        for advisory in package.get("vulns", ()):
            ids = {advisory["id"], *advisory.get("aliases", ())}
            if reasons := [id_ for id_ in ids if accepted.get(id_, "").strip()]:
                used.update(reasons)
                continue
            fixed = ", ".join(advisory.get("fix_versions", ())) or "no version"
            findings.append(
                f"{package['name']} {package['version']}: {advisory['id']}, fixed in {fixed}: upgrade, or give a reason under "
                f"[vulnerabilities] in {EXCEPTIONS.name}"
            )
    if not unchecked:
        findings += [
            f"{id_}: no longer a finding: delete it from [vulnerabilities]" for id_ in sorted(accepted.keys() - used)
        ]
    return findings, unchecked


def ask_pip_audit(lock: Path) -> list[dict[str, Any]]:
    """Return pip-audit's answer for a lock; without an answer, every package is unchecked."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        uv = Path(sys.executable).with_name("uv")
        command = [
            uv,
            "tool",
            "run",
            "--quiet",
            PIP_AUDIT,
            "-r",
            lock,
            "--no-deps",
            "--disable-pip",
            "-f",
            "json",
            "-o",
            answer,
        ]
        done = subprocess.run([*command, "--progress-spinner", "off"], capture_output=True, text=True)
        if answer.exists() and answer.stat().st_size:
            dependencies: list[dict[str, Any]] = json.loads(answer.read_bytes())["dependencies"]
            return dependencies
    reason = (done.stderr.strip() or "no answer").splitlines()[-1]
    return [{"name": name, "skip_reason": reason} for name in third_party.read_lock(lock)]


def main() -> int:
    """Print findings and unchecked packages; return the exit status."""
    exceptions = tomllib.loads(EXCEPTIONS.read_text("utf-8"))
    findings = list(find_licenses(third_party.read_list(), exceptions["licenses"]))
    packages = {}
    for lock in third_party.LOCKS:
        for package in ask_pip_audit(third_party.ROOT / lock):
            packages[package["name"], package.get("version")] = package
    vulnerabilities, unchecked = find_vulnerabilities(list(packages.values()), exceptions["vulnerabilities"])
    findings += vulnerabilities
    for line in findings:
        print(line)
    print(
        f"{len(third_party.read_list())} licenses and {len(packages) - len(unchecked)} packages checked: {len(findings)} findings"
    )
    if unchecked:
        print(
            f"NOT CHECKED for vulnerabilities: {len(unchecked)} packages, for example {unchecked[0]}: no advisories were reached"
        )
    return 1 if findings else 3 if unchecked else 0


if __name__ == "__main__":
    sys.exit(main())
