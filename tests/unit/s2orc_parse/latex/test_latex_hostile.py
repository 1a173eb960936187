"""Each malicious archive has its outcome (SPEC §3). Nothing is written, and nothing exceeds its time limit."""

import gzip
import io
import random
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from s2orc_parse.latex import BadSource, convert, process, source
from s2orc_parse.latex.bbl import read_items, take_bibliography
from s2orc_parse.latex.bibtex import read_bib
from s2orc_parse.latex.floats import take_floats
from s2orc_parse.latex.tex import deadline
from s2orc_parse.outcomes import LatexOutcome
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import article, gz, tar

GOOD = article("Text of a paper.")
OUTSIDE = Path(tempfile.gettempdir(), "s2corpus-outside.tex")
OVER_LIMITS = (LatexOutcome.TIMEOUT, LatexOutcome.OUT_OF_MEMORY, LatexOutcome.CONVERTER_FAILED)


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    """Return a tar with a good paper and one additional empty member."""
    out = io.BytesIO(gzip.decompress(tar({"main.tex": GOOD})))
    with tarfile.open(fileobj=out, mode="a") as made:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        made.addfile(info)
    return gzip.compress(out.getvalue())


def bomb_of_inputs() -> bytes:
    files = {f"f{i}.tex": f"\\input{{f{i + 1}}}\\input{{f{i + 1}}}" for i in range(18)}
    return tar({"main.tex": article(r"\input{f0}"), **files, "f18.tex": "x" * 1000})


CASES: dict[str, tuple[bytes, LatexOutcome]] = {
    "path out of the folder": (member("../../evil.tex"), LatexOutcome.UNSAFE_PATH),
    "absolute path": (member(str(OUTSIDE)), LatexOutcome.UNSAFE_PATH),
    "symbolic link": (member("a.tex", tarfile.SYMTYPE, "/etc/passwd"), LatexOutcome.UNSAFE_LINK),
    "hard link": (member("a.tex", tarfile.LNKTYPE, "main.tex"), LatexOutcome.UNSAFE_LINK),
    "device": (member("a.tex", tarfile.CHRTYPE), LatexOutcome.UNSAFE_DEVICE),
    "gzip bomb": (gzip.compress(bytes((8 << 20) + 1), 9, mtime=0), LatexOutcome.TOO_LARGE),
    "a huge text file": (tar({"main.tex": GOOD, "b.txt": bytes((1 << 20) + 1)}), LatexOutcome.TOO_LARGE),
    "too many files": (tar(dict.fromkeys(map(str, range(process.MAX_FILES + 1)), "")), LatexOutcome.TOO_MANY_FILES),
    "files that input each other twice": (bomb_of_inputs(), LatexOutcome.TOO_LARGE),
    "cut off": (tar({"main.tex": GOOD})[:-30], LatexOutcome.DAMAGED), "checksum wrong": (gz(GOOD)[:-8] + b"\0" * 8, LatexOutcome.DAMAGED),
    "a macro without end": (gz(article(r"\def\a{\a\a}\a")), LatexOutcome.TIMEOUT),
    "random bytes": (random.Random(1).randbytes(4000), LatexOutcome.NOT_AN_ARCHIVE),
    "a PDF": (gzip.compress(b"%PDF-1.5 ...", mtime=0), LatexOutcome.PDF_ONLY),
    "withdrawn": (gz("%auto-ignore\nThis paper has been withdrawn by the author.\n"), LatexOutcome.WITHDRAWN),
    "no LaTeX": (gz(r"\input amstex \document \bye"), LatexOutcome.NO_LATEX), "nothing to read": (gz(article("")), LatexOutcome.NO_TEXT),
}  # fmt: skip


def test_limits_of_sources() -> None:
    """docs/fulltexts.md: the largest archives that are read."""
    limits = (process.MAX_PACKED, process.MAX_UNPACKED, process.MAX_TEXT, source.MAX_FLAT, process.MAX_FILES)
    assert limits == (128 << 20, 256 << 20, 16 << 20, 8 << 20, 5_000)


@pytest.mark.parametrize(("broken", "outcome"), [(6, None), (7, LatexOutcome.CONVERTER_FAILED)])
def test_six_unreadable_paragraphs_are_left_out(broken: int, outcome: LatexOutcome | None) -> None:
    body = "\n\n".join(["First.", *[r"Bad \textbf{\begin{center}x\end{center}}."] * broken, "Last."])
    with nullcontext() if outcome is None else pytest.raises(BadSource, match=outcome):
        assert [p.text for p in convert(gz(article(body)), sha1="").body_text] == ["First.", "Last."]


@pytest.mark.parametrize("behind", [b"junk", b"\xff\xff\xff\0", gz("another")])
def test_trailing_bytes_of_an_archive_are_ignored(behind: bytes) -> None:
    """The trailing bytes are not used as its size either."""
    assert process.unpack(gz(GOOD) + behind) == process.unpack(gz(GOOD)) == {"main.tex": GOOD.encode()}


@pytest.fixture
def unwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that the scratch folder ends empty, and that no file appears in the working folder."""
    scratch, here = tmp_path / "scratch", tmp_path / "here"
    scratch.mkdir()
    here.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(here)
    yield
    assert not list(here.iterdir()) and not list(scratch.iterdir()) and not OUTSIDE.exists()
    assert {path.name for path in tmp_path.iterdir()} == {"scratch", "here"}


@pytest.mark.usefixtures("unwritten")
@pytest.mark.parametrize("name", CASES)
def test_malicious_archive_has_its_outcome(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Lower the limits to reach them sooner.
    for module, limit, value in (
        (process, "MAX_UNPACKED", 8 << 20),
        (process, "MAX_TEXT", 1 << 20),
        (source, "MAX_FLAT", 1 << 20),
    ):
        monkeypatch.setattr(module, limit, value)
    data, outcome = CASES[name]
    with pytest.raises(BadSource) as raised:
        convert(data, sha1="", seconds=3 if name == "a macro without end" else 60, memory_mb=256)
    if name == "a macro without end":  # Any limit may be reached first.
        assert raised.value.outcome in OVER_LIMITS
    else:
        assert raised.value.outcome is outcome


@pytest.mark.parametrize(
    "body",
    [
        r"\begin{tabular}{" + "l" * 50_000 + "}" + "&" * 50_000 + r"\end{tabular} Text.",
        *(
            part * 4_000 + " Text."
            for part in ("\\caption{", "\\url{", "\\verb|", "\\begin{enumerate}\\item\\label{a}", "\\citeproc{ref-a}{")
        ),
        r"\begin{a}" * 20_000 + r"\end{b}" * 20_000 + " Text.",
        "\ue000Z\ue001\ue000B7\ue001 Text.",
        r"\input{main} Text.",
        r"Text. \begin{thebibliography}{1}\bibitem{a} A" + "\n" * 20_000 + r"b \end{thebibliography}",
        r"\author{" + r"A B\thanks{x} " * 20_000 + "} Text.",
        *(r"\author{" + word * 300_000 + "} Text." for word in ("a", "(")),
        r"\hypertarget{refs}{}\bibitem{a}" * 20_000 + " Text.",
        *(piece * 50_000 + " Text." for piece in (r"\\ ", r"\makebox[", r"\ce{", r"\begin{a}[")),
        r"\begin{flushleft}{\Large\textbf{A}}" + " " * 100_000 + r"\end{flushleft} Text.",
    ],
    ids=lambda body: body[:12],
)
def test_unusual_source_gives_a_parse_or_an_outcome(body: str) -> None:
    try:
        check_laws(convert(gz(article(body)), sha1="", seconds=20))
    except BadSource as bad:
        assert bad.outcome in (*OVER_LIMITS, LatexOutcome.NO_TEXT)


PIECES = st.sampled_from(
    [
        "\\", "{", "}", "[", "]", "$", "$$", "%", "&", "#", "~", "\n", "\n\n", " ", "a", "word ", "é", "\\begin{table}",
        "\\end{table}", "\\begin{tabular}{ll}", "\\end{tabular}", "\\caption{", "\\label{x}", "\\ref{x}", "\\cite{k}", "\\citep[",
        "\\section{", "\\item", "\\begin{align}", "\\end{align}", "\\\\", "\\def\\a#1{", "\\a", "\\if", "\\iffalse", "\\else",
        "\\fi", "\\newcommand{\\b}[1]{", "\\b", "\\bibitem[", "\\bibitem{k}", "\\begin{thebibliography}{9}",
        "\\end{thebibliography}", "\\footnote{", "\\verb|", "\\multicolumn{2}{c}{", "\\subfloat[", "\\begin{figure}",
        "\\end{figure}", "\\input{", "\\newif\\ifq", "\\qtrue", "\\appendix", "\\author{", "\\title{", "\\citeproc{ref-k}{",
        "\\hypertarget{refs}{}", "\\leavevmode\\hypertarget{ref-k}{}%", "\\begin{CSLReferences}{1}{0}", "\\end{CSLReferences}",
    ]
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(PIECES, max_size=30).map("".join))
@example("\\input{}")
def test_arbitrary_text_does_not_break_the_readers(text: str) -> None:
    read = source.read_source({"main.tex": article(text).encode()})
    body, own = take_bibliography(read.body)
    read_items(own)
    take_floats(body)
    read_bib(text)


def test_deadline_ends_with_its_source() -> None:
    """A later reader in the same process, of BibTeX records for example, has no deadline."""
    convert(gz(article("Text.")), sha1="0" * 40, seconds=30)
    assert deadline.get() == float("inf")
