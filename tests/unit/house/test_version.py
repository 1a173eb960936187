"""The code version covers exactly the files that affect the content of a release."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from s2corpus import version
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.snapshot.manifest import hash_inputs
from s2corpus.version import EXCLUDED_MODULES, HASHED_PACKAGES, sources_hash
from tests.unit.house.test_imports import INCLUDE, LAYERS, ROOT

DECIDES_NOTHING = {".ini", ".mako", ".typed", ".pyc", ".md", ".toml", ""}
"""the catalog's migrations, marker files for tools, and prose"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("include", "sql", "devtools"):
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.crfsuite")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore, symlinks=True)
    return folder


def snapshot_id(checkout: Path) -> str:
    """Return the id that the code of a checkout gives to one snapshot."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(version, "_INCLUDE", checkout / "include")
        versions = {"code": version.code_version.__wrapped__(), "extractor": "e", "converter": "c"}
    digest = hash_inputs(spec="0", as_of="a", parent=None, versions=versions, inputs=[], overrides={})
    return str(SnapshotId.from_digest(ReleaseId("s-20230101"), digest))


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("include/s2corpus/commands/releases.py", False),
        ("include/s2corpus/deployment/slots.py", False),
        ("include/s2corpus_reader/README.md", False),
        ("include/s2corpus/rules.py", True),
        ("include/s2corpus/stages/select.py", True),
        ("include/s2orc_parse/tei/converter.py", True),
        ("include/s2corpus_reader/files.py", True),
        ("sql/quality/filter.sql", True),
    ],
)
def test_snapshot_id_changes_only_if_the_file_decides(checkout: Path, file: str, decides: bool) -> None:
    first_id = snapshot_id(checkout)
    before = (checkout / file).read_text("utf-8")
    (checkout / file).write_text(f"{before}\n", "utf-8")
    try:
        assert (snapshot_id(checkout) != first_id) is decides
    finally:
        (checkout / file).write_text(before, "utf-8")


def test_code_version_covers_everything_that_stages_import() -> None:
    after = LAYERS[LAYERS.index("stages") + 1 :]
    assert {name.removesuffix(".py") for name in EXCLUDED_MODULES} == set(after)


def test_code_version_covers_every_kind_of_file(tmp_path: Path) -> None:
    files = (path for package in HASHED_PACKAGES for path in (INCLUDE / package).rglob("*") if path.is_file())
    kinds = {path.suffix for path in files if not re.search(r"__pycache__|\.egg-info", str(path))}
    for kind in sorted(kinds - DECIDES_NOTHING):
        file, hashes = tmp_path / f"file{kind}", {sources_hash(tmp_path)}
        for content in ("1", "2"):
            file.write_text(content)
            hashes.add(sources_hash(tmp_path))
        file.unlink()
        assert len(hashes) == 3, f"a {kind} file may be added or edited and keep the version"
