"""docs/security.md: pandoc and the PDFium processes cannot read or write our files, and cannot use the network."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pdf2tei.errors import ExtractionError
from pdf2tei.pages import alto
from s2orc_parse import sandbox
from s2orc_parse.latex import BadSource, convert
from s2orc_parse.sandbox import Policy
from s2orc_parse.tei import to_s2orc
from tests.unit.s2corpus.pdf.bad_pdfs import assemble, paper, stream
from tests.unit.s2orc_parse.latex.archives import article, gz

SECRET = "wJalrXUtnFEMI-K7MDENG"
INCLUDE = Path(sandbox.__file__).parents[2]

pytestmark = pytest.mark.skipif(
    sandbox.find_missing_feature() is not None, reason=f"no sandbox here: {sandbox.find_missing_feature()}"
)

PROBE = r"""
import json, os, socket, sys
secret, outside, port, parent = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
def attempt(action):
    try:
        return f"did it: {action()!r}"
    except BaseException as error:
        return type(error).__name__
def connect():
    with socket.create_connection(("127.0.0.1", port), 2) as out: out.sendall(b"x")
def datagram():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port))
said = {name: attempt(action) for name, action in {
    "read a file": lambda: open(secret).read(),
    "list a folder": lambda: os.listdir(os.path.dirname(secret)),
    "read the accounts": lambda: open("/etc/passwd").read(),
    "read its parent's environment": lambda: open(f"/proc/{parent}/environ").read(),
    "write a file": lambda: open(outside, "w").write("x"),
    "change a file": lambda: open(secret, "a").write("x"),
    "cut a file": lambda: os.truncate(secret, 0),
    "make a file public": lambda: os.chmod(secret, 0o777),
    "change a file owner": lambda: os.chown(secret, 12345, 12345),
    "touch a file": lambda: os.utime(secret, (0, 0)),
    "remove a file": lambda: os.unlink(secret),
    "link a file": lambda: os.symlink(secret, "link"),
    "connect": connect,
    "send a datagram": datagram,
    "listen on a Unix socket": lambda: socket.socket(socket.AF_UNIX).bind("s"),
    "signal its parent": lambda: os.kill(parent, 0),
    "limit its parent": lambda: __import__("resource").prlimit(parent, 4, (0, 0)),
    "start a shell": lambda: os.execv("/bin/sh", ["sh", "-c", "true"]),
    "become root": lambda: os.setuid(0) if os.getuid() else 1 / 0,
    "make a namespace": lambda: os.unshare(0x10000000) if hasattr(os, "unshare") else 1 / 0,
}.items()}
said["environment"] = sorted(os.environ)
open("own", "w").write("x")
print(json.dumps(said))
"""
FOR_OUR_OWN_MODULES = {"LANG", "PATH", "PYTHONPATH", "LC_CTYPE", "HOME", "TMPDIR", *sandbox.ONE_THREAD}


@pytest.fixture
def outer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder with a secret file, and set a secret key in the environment.

    Check later that nothing leaked or changed.
    """
    outer = tmp_path / "outer"
    outer.mkdir()
    (outer / "secret.tex").write_text(SECRET)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    before = (outer / "secret.tex").stat()
    yield outer
    after = (outer / "secret.tex").stat()
    assert [path.name for path in outer.iterdir()] == ["secret.tex"]
    assert (outer / "secret.tex").read_text() == SECRET
    assert (before.st_mode, before.st_uid, before.st_mtime_ns) == (after.st_mode, after.st_uid, after.st_mtime_ns)
    assert list(scratch.iterdir()) == []


def arguments(outer: Path, listener: socket.socket) -> list[str]:
    return [str(outer / "secret.tex"), str(outer / "made"), str(listener.getsockname()[1]), str(os.getpid())]


def check_refused(said: dict[str, object]) -> None:
    environment = said.pop("environment")
    assert isinstance(environment, list)
    assert set(environment) <= FOR_OUR_OWN_MODULES
    assert {name: what for name, what in said.items() if str(what).startswith("did it")} == {}


def test_program_cannot_access_files_outside_its_folder(outer: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "probe.py").write_text(PROBE)
    policy = Policy(str(own), read=sandbox.interpreter_folders())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [os.path.realpath(sys.executable), "-I", "-S", "probe.py", *arguments(outer, listener)]
        done = sandbox.start(command, policy, seconds=30, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, said = done.communicate()
        assert done.returncode == 0, said
        check_refused(json.loads(out))
        listener.settimeout(0.1)
        with pytest.raises(TimeoutError):
            listener.accept()
    assert (own / "own").read_text() == "x"


@pytest.mark.parametrize(
    "enter",
    [
        "from s2corpus.pdf.child import enter_sandbox; enter_sandbox(1 << 30, Path(sys.argv[5]))",
        "from pdf2tei.service.server import enter_worker_sandbox; enter_worker_sandbox(sys.argv[5])",
    ],
    ids=["the process that inspects PDFs", "the extractor's worker"],
)
def test_processes_around_pdfium_are_confined(outer: Path, tmp_path: Path, enter: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    code = f"import os, sys\nfrom pathlib import Path\nos.chdir(sys.argv[5])\n{enter}\nimport tempfile; os.chdir(tempfile.tempdir or '.')\n"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = subprocess.run(
            [sys.executable, "-P", "-c", code + PROBE, *arguments(outer, listener), str(own)],
            env={**sandbox.ONE_THREAD, "PYTHONPATH": str(INCLUDE), "PATH": os.environ["PATH"]},
            stdout=subprocess.PIPE,
            check=True,
        )
        check_refused(json.loads(done.stdout))


def test_process_with_threads_is_refused() -> None:
    code = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    code += "from s2orc_parse import sandbox\nsandbox.enter(sandbox.Policy())"
    environ = {**os.environ, "PYTHONPATH": str(INCLUDE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environ)
    assert "a process with several threads cannot be confined" in done.stderr


def test_missing_feature_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(sandbox, "find_missing_feature", lambda: "no Landlock")
    sandbox.wait(sandbox.start(["true"], Policy(), seconds=20), 20)
    assert "no Landlock: sandbox incomplete" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave root")
def test_root_becomes_a_separate_user() -> None:
    programs = [sandbox.start(["id", "-u"], Policy(), seconds=30, stdout=subprocess.PIPE) for _ in range(2)]
    users = {int(program.communicate()[0]) for program in programs}
    assert len(users - {0}) == 2


@pytest.mark.parametrize(
    ("script", "limits", "status"),
    [
        ("while :; do :; done", {"CPU": 1}, -24),
        ("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done > own", {"FSIZE": 1 << 20}, -25),
        ("a=xxxxxxxxxxxxxxxx; while :; do a=$a$a; done", {"AS": 64 << 20}, None),
        ("f() { f | f & }; f; wait", {}, None),
    ],
)
def test_limits_end_a_program(tmp_path: Path, script: str, limits: dict[str, int], status: int | None) -> None:
    policy = Policy(str(tmp_path), limits=limits)
    ended = sandbox.wait(sandbox.start(["sh", "-c", script], policy, seconds=20), 20)
    assert ended not in (None, 0) and status in (None, ended), "None: the time limit ended the program"
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1 << 20


FROM_INSIDE = r"""
import sys
from s2orc_parse import sandbox
from s2orc_parse.sandbox import Policy
sandbox.enter(Policy(sys.argv[1], read=sandbox.interpreter_folders(), execute=("/bin", "/usr/bin"), processes=8))
for script, seconds in (("exit 0", 20), ("exit 3", 20), ("exec 4>&- 5>&- 6>&- 7>&-; exit 4", 20), ("exec sleep 60", 0.2)):
    print(sandbox.wait(sandbox.start(["sh", "-c", script], Policy(sys.argv[1]), seconds=20), seconds))
"""


def test_sandboxed_process_waits_for_its_programs(tmp_path: Path) -> None:
    """It waits by a pipe, because the sandbox refuses the system calls for other ways."""
    command = [sys.executable, "-c", FROM_INSIDE, str(tmp_path)]
    environ = {"PYTHONPATH": str(INCLUDE), "PATH": os.environ["PATH"], **sandbox.ONE_THREAD}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0\n3\n4\nNone\n"), done.stderr


BODIES = {
    "a file by openin": r"\newread\f\openin\f={secret}\read\f to\x \x\closein\f",
    "the environment of its parents": r"\newread\f\openin\f=/proc/{pid}/environ \read\f to\x \x\closein\f",
    "a file by inclusion": r"\input{{secret}}\include{{secret}}\verbatiminput{{secret}}\lstinputlisting{{secret}}",
    "a file of the system": r"\input{/etc/passwd}\input{../../../../etc/passwd}\include{/proc/self/environ}\usepackage{/etc/passwd}",
    "a file by packages": r"\usepackage{{outer}/secret}\RequirePackage{{outer}/secret}\bibliography{{outer}/secret}",
    "a shell": r"\immediate\write18{cat {secret} > {outer}/made} \input|'cat {secret}' \input{|cat {secret}}"
    r"\immediate\openout18=|sh",
    "a file to write": r"\newwrite\w\immediate\openout\w={outer}/made \immediate\write\w{x}\immediate\closeout\w"
    r"\immediate\openout\w=made.tex \immediate\write\w{x}",
}  # fmt: skip


@pytest.mark.parametrize("kind", BODIES)
def test_hostile_tex_cannot_read_files(outer: Path, kind: str) -> None:
    body = BODIES[kind]
    for name, value in (("secret", outer / "secret.tex"), ("outer", outer), ("pid", os.getpid())):
        body = body.replace(f"{{{name}}}", str(value))
    try:
        found = json.dumps(to_s2orc(convert(gz(article(f"{body}\n\nThe end of the text.")), sha1="", seconds=120)))
    except BadSource as bad:
        found = f"{bad}, the end of the text"
    assert SECRET not in found and "root:" not in found and f"={os.environ['PATH']}" not in found
    assert "end of the text" in found


def test_pdf_with_external_stream_cannot_read_the_file(outer: Path, tmp_path: Path) -> None:
    pdf = tmp_path / "outside.pdf"
    content = stream(b"BT (not this) Tj ET", b"/F (%s) /FDecodeParms null" % str(outer / "secret.tex").encode())
    pdf.write_bytes(assemble(paper(content=content)))
    try:
        lines = [line for page in alto.read_document(pdf, 20).pages for line in page.lines]
    except ExtractionError:
        lines = []
    assert not any(SECRET in token.text for line in lines for token in line.tokens)
