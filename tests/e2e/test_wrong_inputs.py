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


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("release /no/such/folder", ("/no/such/folder", "no such folder")),
        ("release {folder}", ("{folder}", "no PDF found", ".pdf")),
        ("build {folder}/mine.yaml --as-of 2023-02-01", ("mine.yaml", "select.max_page", "unknown field", "max_pages")),
        ("build include/releases/nope.yaml --as-of 2023-02-01", ("nope.yaml", "no such release spec", "own, s2_v2, s2_v2_reproduction")),
        (f"build {SAMPLE} --as-of 2023-02-01", ("no lake given", "S2CORPUS_LAKE")),
    ],
)  # fmt: skip
def test_wrong_input_gives_one_sentence(
    command: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\nselect: {max_page: 3}\n")
    given = command.format(folder=tmp_path).split()
    lake = {} if SAMPLE in command else {"S2CORPUS_LAKE": str(tmp_path / "lake")}
    monkeypatch.delenv("S2CORPUS_LAKE", raising=False)
    module = "devtools" if given[0] == "release" else "s2corpus"
    done = corpus(*given, module=module, environ={"S2CORPUS_STATE": str(tmp_path), **lake})
    assert_said(done, *(word.format(folder=tmp_path) for word in words))


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


def test_port_in_use_gives_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        state = {"S2CORPUS_STATE": str(tmp_path / "state")}
        done = corpus("up", "--only", "postgres", "--port-postgres", port, module="devtools", environ=state)
    assert_said(done, port, "in use")
