"""The README's shell blocks run as printed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.releases import ROOT

_TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title level="a" type="main">A title</title></titleStmt>
<sourceDesc><biblStruct><analytic/></biblStruct></sourceDesc></fileDesc></teiHeader>
<text><body><div><head>One</head><p>Some words.</p></div></body></text></TEI>"""
_BLOCKS = re.findall(r"^```bash\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
_LINES = [line.partition("  #")[0].strip() for block in _BLOCKS for line in block.splitlines()]
MAKE = [line for line in _LINES if re.match(r"(\w+=\S+ )*make ", line)]
CORPUS = [line for line in _LINES if re.match(r"(\.venv/bin/)?corpus ", line)]


def shell(line: str, folder: Path = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell in the checkout; return the completed process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "include"), **environ}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def test_readme_has_commands() -> None:
    assert len(MAKE) >= 4 and len(CORPUS) >= 1


@pytest.mark.parametrize("line", MAKE)
def test_make_line_names_a_target_and_variables(line: str) -> None:
    """Check a line by a dry run; other tests run demo, test and release."""
    done = shell(re.sub(r"\bmake\b", "make --dry-run", line))
    assert done.returncode == 0 and done.stdout.strip(), done.stderr
    for variable in re.findall(r"make .*\b([A-Z]+)=", line):
        assert f"$({variable})" in (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("line", CORPUS)
def test_corpus_line_runs_as_printed(line: str, tmp_path: Path) -> None:
    """Run a line in a temporary folder, with the command on the path."""
    (tmp_path / "a.tei.xml").write_text(_TEI)
    done = shell(line, tmp_path, PATH=f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 0 and list(tmp_path.glob("*.jsonl")), done.stderr[-2000:]
