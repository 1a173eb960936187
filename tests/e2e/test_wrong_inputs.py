"""docs/runbook.md#symptoms: a wrong input causes one clear error message and a non-zero exit status, never a traceback."""

import socket
from pathlib import Path

import pytest

from devtools.local import Endpoints
from devtools.local.state import State
from tests.children import corpus

SAMPLE = "include/releases/sample.yaml"


def check(*command: str, words: tuple[str, ...], module: str = "s2corpus", **environ: str) -> None:
    """Run a command; check that it prints one sentence with these words."""
    done = corpus(*command, module=module, environ=environ)
    assert done.returncode not in (0, 1), done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    (said,) = done.stderr.strip().splitlines()
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("release /no/such/folder", ("/no/such/folder", "no such folder")),
        ("release {folder}", ("{folder}", "contains no files")),
        ("build include/releases/nope.yaml --as-of 2023-02-01", ("nope.yaml", "no such release spec", "own, s2_v2, s2_v2_reproduction")),
        (f"build {SAMPLE} --as-of 2023-02-01", ("no lake given", "S2CORPUS_LAKE")),
    ],
)  # fmt: skip
def test_wrong_input_gives_one_sentence(
    command: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("S2CORPUS_LAKE", raising=False)
    given = command.format(folder=tmp_path).split()
    lake = {} if SAMPLE in command else {"S2CORPUS_LAKE": str(tmp_path / "lake")}
    module = "devtools" if given[0] == "release" else "s2corpus"
    expected = tuple(word.format(folder=tmp_path) for word in words)
    check(*given, words=expected, module=module, S2CORPUS_STATE=str(tmp_path), **lake)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: mine\nselect: {max_page: 3}\n", ("select.max_page", "unknown field", "max_pages")),
        ("name: mine\nfilter: {min_english: 2}\n", ("filter.min_english", "2", "less than or equal to 1")),
        (
            "name: mine\nclean: {min_paragraphs: 3}\n",
            ("clean.min_paragraphs: 3 given", "its value is fixed", "remove this field"),
        ),
        ("name: mine\ncluster: {min_title_score: 0.7}\n", ("cluster:", "its value is fixed", "remove this field")),
        ("name: mine\nclean: {profile: card}\n", ("clean", "needs unigrams")),
        ("name: mine\nexport: {text: markdown}\n", ("export.text", "'markdown' given", "headings")),
        ("name: [\n", ("not readable as YAML",)),
    ],
)
def test_impossible_spec_gives_one_sentence(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    spec = tmp_path / "mine.yaml"
    spec.write_text(text)
    done = corpus("build", str(spec), "--as-of", "2023-02-01", "--lake", str(tmp_path / "lake"))
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and "Traceback" not in said
    assert all(word in said for word in (str(spec), *words)), said


@pytest.mark.services
def test_wrong_keys_or_missing_bucket_give_one_sentence(services: Endpoints) -> None:
    build, keys = ("build", SAMPLE, "--as-of", "2023-02-01"), services.environ()
    wrong = keys | {"AWS_SECRET_ACCESS_KEY": "wrong"}
    check(*build, words=("s3://corpus", "access refused", "AWS keys"), **wrong)
    missing = "s3://no-such-bucket"
    check(*build, "--lake", missing, words=(missing, "no such bucket", "S2CORPUS_LAKE"), **keys)


def test_port_in_use_gives_one_sentence(tmp_path: Path) -> None:
    state = State(tmp_path / "state")
    state.create()
    state.choose_ports()
    port = state.ports()["postgres"]
    with socket.create_server(("127.0.0.1", port)):
        check("up", words=(str(port), "in use"), module="devtools", S2CORPUS_STATE=str(state.root))
