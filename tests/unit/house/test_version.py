"""The code version covers exactly the files that affect the content of a release."""

from __future__ import annotations

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


@pytest.fixture(scope="module")
def first_id(checkout: Path) -> str:
    return snapshot_id(checkout)


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("include/s2corpus/commands/releases.py", False),
        ("include/s2orc_parse/cli.py", False),
        ("include/pdf2tei/cli.py", False),
        ("include/s2corpus/deployment/slots.py", False),
        ("devtools/sample/prose.py", False),
        ("devtools/training/lines.py", False),
        ("include/s2corpus_reader/README.md", False),
        ("include/s2corpus/rules.py", True),
        ("include/s2corpus/stages/select.py", True),
        ("include/s2orc_parse/tei/converter.py", True),
        ("include/s2corpus_reader/files.py", True),
        ("sql/quality/filter.sql", True),
    ],
)
def test_snapshot_id_changes_only_if_the_file_decides(checkout: Path, first_id: str, file: str, decides: bool) -> None:
    before = (checkout / file).read_text("utf-8")
    (checkout / file).write_text(f"{before}\n", "utf-8")
    try:
        assert (snapshot_id(checkout) != first_id) is decides
    finally:
        (checkout / file).write_text(before, "utf-8")


def test_build_folders_of_pip_keep_snapshot_id(checkout: Path, first_id: str) -> None:
    built = checkout / "include/s2orc_parse/build/lib/s2orc_parse"
    built.mkdir(parents=True)
    (built / "__init__.py").write_text("")
    assert snapshot_id(checkout) == first_id


def test_code_version_covers_everything_that_stages_import() -> None:
    after = LAYERS[LAYERS.index("stages") + 1 :]
    assert {name.removesuffix(".py") for name in EXCLUDED_MODULES} == set(after)


def test_code_version_covers_every_kind_of_file(tmp_path: Path) -> None:
    kinds = {
        path.suffix
        for package in HASHED_PACKAGES
        for path in (INCLUDE / package).rglob("*")
        if path.is_file() and not any(p == "__pycache__" or p.endswith(".egg-info") for p in path.parts)
    }
    for kind in sorted(kinds - DECIDES_NOTHING):
        file, hashes = tmp_path / f"file{kind}", [sources_hash(tmp_path)]
        for content in ("1", "2"):
            file.write_text(content)
            hashes.append(sources_hash(tmp_path))
        other = file.rename(file.with_stem("other"))
        hashes.append(sources_hash(tmp_path))
        other.unlink()
        assert len({*hashes}) == 4, f"a {kind} file may be added, edited or renamed and keep the version"
