"""A wrong input causes one clear error message and a non-zero exit status, never a traceback."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from devtools.local import Endpoints
from tests.children import corpus

SAMPLE = "include/releases/sample.yaml"


def assert_said(done: subprocess.CompletedProcess[str], *words: str) -> None:
    said = done.stderr.strip().splitlines()
    assert done.returncode not in (0, 1), done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert len(said) == 1, said
    assert all(word in said[0] for word in words), said[0]


def test_missing_folder_gives_one_sentence() -> None:
    assert_said(corpus("release", "/no/such/folder", module="devtools"), "/no/such/folder", "no such folder")


def test_folder_without_pdfs_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no paper")
    assert_said(corpus("release", str(tmp_path), module="devtools"), str(tmp_path), "no PDF found", ".pdf")


def test_unknown_key_in_a_spec_gives_one_sentence(tmp_path: Path) -> None:
    spec = tmp_path / "mine.yaml"
    spec.write_text("name: mine\nselect: {max_page: 3}\n")
    done = corpus("build", str(spec), "--as-of", "2023-02-01", "--lake", str(tmp_path / "lake"))
    assert_said(done, str(spec), "select.max_page", "unknown field", "max_pages")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: mine\nfilter: {min_english: 2}\n", ("filter.min_english", "2", "less than or equal to 1")),
        ("name: Mine!\n", ("name", "Mine!", "pattern")),
        ("select: {}\n", ("name", "missing")),
        ("name: mine\nclean: {profile: card}\n", ("clean", "needs unigrams")),
        ("name: mine\nsplit: {valid_until: 2020-01-01}\n", ("split", "before train_before")),
        ("name: mine\nexport: {text: markdown}\n", ("export.text", "'markdown' given", "headings")),
        ("- a\n- b\n", ("a mapping of fields", "list")),
        ("name: [\n", ("not readable as YAML",)),
    ],
)
def test_impossible_spec_gives_one_sentence(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    spec = tmp_path / "mine.yaml"
    spec.write_text(text)
    done = corpus("build", str(spec), "--as-of", "2023-02-01", "--lake", str(tmp_path / "lake"))
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "Traceback" not in said
    assert str(spec) in said
    assert all(word in said for word in words), said


def test_missing_spec_error_lists_existing_specs() -> None:
    done = corpus("build", "include/releases/nope.yaml", "--as-of", "2023-02-01", "--lake", "/tmp/unused")
    assert_said(done, "nope.yaml", "no such release spec", "own, s2_v2, s2_v2_reproduction, sample")


@pytest.mark.services
def test_wrong_bucket_keys_give_one_sentence(services: Endpoints) -> None:
    wrong = services.environ() | {"AWS_SECRET_ACCESS_KEY": "wrong"}
    assert_said(
        corpus("build", SAMPLE, "--as-of", "2023-02-01", environ=wrong), "s3://corpus", "access refused", "AWS keys"
    )


@pytest.mark.services
def test_missing_bucket_gives_one_sentence(services: Endpoints) -> None:
    done = corpus("build", SAMPLE, "--as-of", "2023-02-01", "--lake", "s3://no-such-bucket", environ=services.environ())
    assert_said(done, "s3://no-such-bucket", "no such bucket", "S2CORPUS_LAKE")


def test_missing_lake_setting_gives_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("S2CORPUS_LAKE", raising=False)
    done = corpus("build", SAMPLE, "--as-of", "2023-02-01", environ={"S2CORPUS_STATE": str(tmp_path)})
    assert_said(done, "no lake given", "S2CORPUS_LAKE")


def test_port_in_use_gives_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        state = {"S2CORPUS_STATE": str(tmp_path / "state")}
        done = corpus("up", "--only", "postgres", "--port-postgres", port, module="devtools", environ=state)
    assert_said(done, port, "in use")
