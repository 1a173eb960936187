"""Assemble a LaTeX source: the main file with its inputs, its bibliography, and the macros of its own packages.

Files are searched only inside the archive. A path outside it, a pipe or a device is treated as a missing file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

from s2orc_parse.archives.reading import normalize_member_name
from s2orc_parse.latex.bbl import is_biblatex
from s2orc_parse.latex.tex import find_calls
from s2orc_parse.latex.verbatim import remove_comments, resolve_conditionals
from s2orc_parse.outcomes import BadSource, LatexOutcome
from s2orc_parse.words import read_table, unify_characters

MAX_FLAT = 8 << 20
"""maximum number of characters of an assembled source"""
MAX_DEPTH = 20
"""maximum nesting of input files"""

_DOCUMENT = re.compile(r"\\document(?:class|style)\b")
_BEGIN = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_PREFERRED = ("main", "paper", "ms", "article", "arxiv", "manuscript")
_INPUT = re.compile(
    r"\\(?:input|include|subfile|InputIfFileExists|loadglsentries|@input)(?![A-Za-z@])\s*(?:\{([^{}]*)\}|([^\s{}\\%]+))"
    r"|\\(?:sub)?(?:import|includefrom|inputfrom)\*?\s*\{([^{}]*)\}\s*\{([^{}]*)\}"
)
_ENCODING = re.compile(r"\\usepackage\s*\[([^\]]*)\]\s*\{inputenc\}")
_ENCODINGS = read_table("latex/words")["encodings"]
_TEXT_SUFFIXES = frozenset((".tex", ".ltx", ".latex", ".txt", ".sty", ".cls", ""))
_PRIVATE_OR_CONTROL = re.compile("[\ue000-\uf8ff\x00-\x08\x0b\x0e-\x1f\x7f]")
_PACKAGES = r"usepackage|RequirePackage|documentclass|documentstyle"


@dataclass(frozen=True, slots=True)
class LatexSource:
    """The assembled content of an archive, without comments."""

    preamble: str
    body: str
    """content between \\begin{document} and \\end{document}, with all inputs"""
    packages: dict[str, str]
    """packages and the class (first), with their options"""
    styles: str
    """the archive's own packages that the document loads"""
    bbl: str
    """bibliography written by BibTeX or Biber: `thebibliography` or biblatex's entries, or empty"""
    bib: str
    """databases that the document references"""


def read_source(files: dict[str, bytes]) -> LatexSource:
    """Assemble a source. Raises BadSource: `no_latex` if no file starts a document, `too_large` if the text exceeds the limit."""
    main = _find_main(files)
    files = {**_extract_embedded(files, PurePosixPath(main).stem), **files}
    encoding = _ENCODING.search(files[main].decode("latin-1"))
    decoder = _ArchiveFiles(files, _ENCODINGS.get(encoding.group(1).split(",")[-1].strip(), "") if encoding else "")
    text = _Flattener(decoder, str(PurePosixPath(main).parent)).read(main)
    text = text.replace("\\jobname", PurePosixPath(main).stem)
    begin = _BEGIN.search(text)
    if begin is None:
        raise BadSource(LatexOutcome.NO_LATEX, f"{main} has no \\begin{{document}}")
    end = _END.search(text, begin.end())
    preamble, body = text[: begin.start()], text[begin.end() : end.start() if end else len(text)]
    packages = _read_packages(preamble)
    styles = "\n".join(
        remove_comments(decoder.text(found))
        for name in packages
        for suffix in (".sty", ".cls")
        if (found := decoder.find(name + suffix)) is not None
    )
    preamble, body = (_expand_german(part, packages) for part in resolve_conditionals(preamble, body))
    bbl, databases = _find_bbl(decoder, main, body), _find_databases(decoder, preamble + body)
    return LatexSource(preamble, body, packages, styles, bbl, databases)


_FILECONTENTS = re.compile(
    r"^[^%\n]*?\\begin[ \t]*\{(filecontents\*?)\}[ \t]*(?:\[[^\]\n]*\])?[ \t]*\{([^{}\n]+)\}", re.MULTILINE
)
_MAX_EMBEDDED = 100


def _extract_embedded(files: dict[str, bytes], job: str) -> dict[str, bytes]:
    """Return the files that the source contains in `filecontents`: databases, bibliographies, packages, texts."""
    found: dict[str, bytes] = {}
    for name, data in sorted(files.items()):
        if b"filecontents" not in data or PurePosixPath(name).suffix.lower() not in _TEXT_SUFFIXES:
            continue
        text = data.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")
        for match in islice(_FILECONTENTS.finditer(text), _MAX_EMBEDDED):
            end = text.find(f"\\end{{{match[1]}}}", match.end())
            if end < 0:
                break
            written = match[2].strip().replace("\\jobname", job)
            written = written if "." in written else f"{written}.tex"
            path = normalize_member_name(str(PurePosixPath(name).parent / written))
            if path is not None:
                found.setdefault(path, text[match.end() : end].encode("latin-1"))
    return found


class _ArchiveFiles:
    """The files of an archive as text."""

    def __init__(self, files: dict[str, bytes], encoding: str) -> None:
        self._files = files
        self._by_name = {name.casefold(): name for name in sorted(files, reverse=True)}
        self._encoding = encoding

    def find(self, *names: str) -> str | None:
        """Return the first existing file of these names, ignoring case, or None if the archive contains none."""
        for name in names:
            plain = normalize_member_name(name.strip().strip('"'))
            if (
                plain is not None
                and (found := plain if plain in self._files else self._by_name.get(plain.casefold())) is not None
            ):
                return found
        return None

    def list_files(self, suffix: str) -> list[str]:
        """Return the names of the files with a suffix."""
        return sorted(name for name in self._files if name.lower().endswith(suffix))

    def text(self, name: str) -> str:
        """Return a file's text: UTF-8 if valid, else in the document's encoding, else Windows-1252."""
        data = self._files[name]
        for encoding in ("utf-8-sig", self._encoding, "cp1252"):
            try:
                text = data.decode(encoding) if encoding else None
            except UnicodeDecodeError:
                continue
            if text is not None:
                break
        else:
            text = data.decode("latin-1")
        return _PRIVATE_OR_CONTROL.sub(
            "", unify_characters(text).replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
        )


class _Flattener:
    """Inserts input files, each as often as it is input, within the limits."""

    def __init__(self, decoder: _ArchiveFiles, folder: str) -> None:
        self._decoder = decoder
        self._folder = folder
        self._room = MAX_FLAT
        self._open: list[str] = []

    def read(self, name: str) -> str:
        """Return the text of a file including its input files."""
        if name in self._open or len(self._open) >= MAX_DEPTH:
            return ""
        self._open.append(name)
        text = remove_comments(self._decoder.text(name))
        text = text.partition("\\endinput")[0] if len(self._open) > 1 else text
        if len(self._open) > 1 and (begin := _BEGIN.search(text)):  # a subfile is a separate document
            end = _END.search(text, begin.end())
            text = text[begin.end() : end.start() if end else len(text)]
        self._room -= len(text)
        if self._room < 0:
            raise BadSource(LatexOutcome.TOO_LARGE, f"more than {MAX_FLAT} characters after including all input files")
        text = _INPUT.sub(self._input, text)
        self._open.pop()
        return text

    def _input(self, match: re.Match[str]) -> str:
        folder = match.group(3) or "" if match.group(4) else ""
        name = match.group(4) or match.group(1) or match.group(2) or ""
        name = (folder.rstrip("/") + "/" + name.strip()).lstrip("/") if folder else name.strip()
        if not name or name.startswith(("|", "/")):
            return ""
        here = str(PurePosixPath(self._open[-1]).parent)
        places = [f"{place}/{name}" if place != "." else name for place in dict.fromkeys((self._folder, here))]
        found = self._decoder.find(
            *(
                f"{place}{suffix}"
                for place in places
                for suffix in ((".tex", "") if not name.endswith(".tex") else ("", ".tex"))
            )
        )
        if found is None or found.lower().endswith((".sty", ".cls", ".bib", ".bst")):
            return ""
        return self.read(found) + "%\n"


def _find_main(files: dict[str, bytes]) -> str:
    """Return the file that starts the document: named by 00README, else with \\documentclass or \\begin{document}."""
    texts = {
        name: files[name]
        for name in sorted(files)
        if name.lower().endswith((".tex", ".ltx", ".latex", ".txt")) or "." not in name
    }
    stripped = {
        name: remove_comments(data[: 1 << 20].decode("latin-1")) for name, data in texts.items() if b"document" in data
    }
    starting = [name for name, text in stripped.items() if _DOCUMENT.search(text) or _BEGIN.search(text)]
    for name, data in files.items():
        if PurePosixPath(name).name.upper().startswith("00README"):
            for line in data.decode("utf-8", "replace").splitlines():
                words = re.split(r"[\s\"',:]+", line)
                if "toplevelfile" in words or "toplevel" in words or "filename" in words:
                    named = next((n for n in starting if PurePosixPath(n).name in words or n in words), None)
                    if named and "ignore" not in words:
                        return named
    if not starting:
        raise BadSource(LatexOutcome.NO_LATEX, "no file has \\documentclass")
    included = {
        PurePosixPath(m.group(1) or m.group(2) or m.group(4) or "").stem
        for text in stripped.values()
        for m in _INPUT.finditer(text)
    }

    def rank(name: str) -> tuple[bool, bool, bool, bool, int, int, int, str]:
        path, text = PurePosixPath(name), stripped[name]
        return (
            _BEGIN.search(text) is None and "\\input" not in text,
            bool(re.search(r"standalone|beamer|subfiles", text[:4000])),
            path.stem in included,
            "\\title" not in text and "\\maketitle" not in text,
            len(path.parts),
            _PREFERRED.index(path.stem.lower()) if path.stem.lower() in _PREFERRED else len(_PREFERRED),
            -len(text),
            name,
        )

    return min(starting, key=rank)


_GERMAN = re.compile(r"""(?<![\\=])(?<!char)"([aouAOUeisSzZ~=|"-]|(?=[bcdfglmnprt]))""")
_GERMAN_LETTERS = {"s": "ß", "z": "ß", "S": "SS", "Z": "SZ", "~": "-", "=": "-"}


def _expand_german(text: str, packages: Mapping[str, str]) -> str:
    """Return a text without the shorthands of babel if German is its main language: "M"unchen" is "München"."""
    languages = [option.strip() for option in packages.get("babel", "").split(",") if option.strip()]
    main = languages[-1:] or next(iter(packages.values()), "").split(",") if "babel" in packages else packages
    if not any(re.fullmatch(r"n?(?:german|austrian|swissgerman)", name.strip()) for name in main):
        return text
    return _GERMAN.sub(
        lambda match: _GERMAN_LETTERS.get(match[1], f'\\"{match[1]}' if match[1].isalpha() else ""), text
    )


def _read_packages(preamble: str) -> dict[str, str]:
    """Return the options of the class and packages by name."""
    found: dict[str, str] = {}
    for call in find_calls(preamble, _PACKAGES, 1):
        for name in call.arguments[0].split(","):
            if name := re.sub(r"[\s%]", "", name):
                found[name] = ",".join(filter(None, (found.get(name), call.options[0])))
    return found


def _find_bbl(decoder: _ArchiveFiles, main: str, body: str) -> str:
    """Return the bibliography of the main file; empty if it is inside the document."""
    if "\\begin{thebibliography}" in body:
        return ""
    found = decoder.find(re.sub(r"\.[^.]*$", "", main) + ".bbl")
    if found is None:
        others = decoder.list_files(".bbl")
        found = max(others, key=lambda name: len(decoder.text(name)), default=None)
    text = decoder.text(found) if found is not None else ""
    return text if is_biblatex(text) else remove_comments(text)  # Biber's `\verb` lines contain %


def _find_databases(decoder: _ArchiveFiles, text: str) -> str:
    """Return the databases that the document references, or the only database."""
    names = [
        name.strip()
        for call in find_calls(text, r"bibliography|addbibresource|addglobalbib", 1)
        for name in call.arguments[0].split(",")
    ]
    found = [
        file
        for name in names
        if (file := decoder.find(name, f"{name}.bib")) is not None and file.lower().endswith(".bib")
    ]
    if not found and names and len(decoder.list_files(".bib")) == 1:
        found = decoder.list_files(".bib")
    return "\n".join(decoder.text(name) for name in dict.fromkeys(found))
