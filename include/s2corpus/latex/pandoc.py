"""pandoc as the reader of LaTeX: what it must not see is taken out before, what it cannot know is defined for it.

Floats, tables' cells and bibliography entries are put after the text, each behind a mark (characters of the private use area, which no
source can hold): one run of pandoc reads them all with the document's own macros.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from s2corpus.latex.bbl import RawItem, items_of, take_bibliography
from s2corpus.latex.bibtex import Record
from s2corpus.latex.document import (
    Appendix,
    BibItem,
    Block,
    Cite,
    Document,
    Head,
    Inline,
    Inlines,
    Label,
    Mark,
    Math,
    Note,
    Para,
    Ref,
)
from s2corpus.latex.floats import Piece, take_floats
from s2corpus.latex.outcome import BadSource, Outcome
from s2corpus.latex.process import run
from s2corpus.latex.source import Source, definitions, names_in
from s2corpus.latex.tex import balanced, calls, replaced

OPEN, CLOSE = "\ue000", "\ue001"  # around a mark: F0, C0, R0, B0, L0, A, Z
CELL, BLOCK = "\ue002", "\ue003"
FIELD, VALUE, END = "\ue004", "\ue005", "\ue006"  # a field of a bibliography entry: its name, its value
XSPACE = "\ue009"  # \xspace: a space if what follows wants one
_MARK = re.compile(f"{OPEN}([A-Z])(\\d*){CLOSE}")
_XSPACE = re.compile(XSPACE + r"+(?=[^\s.,'’”/?;:!~)\]}–—-])")
_REPAIRS = 6
"""Paragraphs that pandoc cannot read and that are left out before the source is given up."""

_TEXT_BOXES = r"""
\providecommand{\scalebox}[2]{#2}\providecommand{\resizebox}[3]{#3}\providecommand{\rotatebox}[2]{#2}\providecommand{\raisebox}[2]{#2}
\providecommand{\dashuline}[1]{#1}\providecommand{\dotuline}[1]{#1}\providecommand{\uwave}[1]{#1}\providecommand{\uuline}[1]{#1}
\providecommand{\hl}[1]{#1}\providecommand{\ul}[1]{#1}\providecommand{\adjustbox}[2]{#2}\providecommand{\scalefont}[1]{}
\providecommand{\makecell}[2][]{#2}\providecommand{\thead}[2][]{#2}\providecommand{\shortstack}[2][]{#2}
\providecommand{\specialcell}[2][]{#2}
\providecommand{\rothead}[1]{#1}\providecommand{\diagbox}[3][]{#2 / #3}\providecommand{\backslashbox}[2]{#1 / #2}
\providecommand{\colorbox}[2]{#2}\providecommand{\fcolorbox}[3]{#3}\providecommand{\newcite}[1]{\citet{#1}}
\providecommand{\onlinecite}[1]{\cite{#1}}
\providecommand{\shortcite}[1]{\citeyearpar{#1}}\providecommand{\citeA}[1]{\citet{#1}}\providecommand{\citeN}[1]{\citet{#1}}
\providecommand{\shortciteA}[1]{\citet{#1}}\providecommand{\citeasnoun}[1]{\citet{#1}}\providecommand{\citename}[1]{#1}
\providecommand{\citenum}[1]{\citealp{#1}}
\providecommand{\subref}[1]{\ref{#1}}\providecommand{\Eqref}[1]{\eqref{#1}}\providecommand{\IEEEPARstart}[2]{#1#2}
\providecommand{\lettrine}[3][]{#2#3}
\providecommand{\textcolour}[2]{#2}\providecommand{\texorpdfstring}[2]{#1}\providecommand{\BibTeX}{BibTeX}\providecommand{\etal}{et al.}
\providecommand{\added}[2][]{#2}\providecommand{\replaced}[3][]{#2}\providecommand{\deleted}[2][]{}\providecommand{\rev}[1]{#1}
\providecommand{\xspace}{XSPACE}\providecommand{\IEEEmembership}[1]{}\providecommand{\texttildelow}{~}\providecommand{\name}[1]{#1}
""".replace("XSPACE", XSPACE)
_OF_ENTRIES = (
    r"""
\renewcommand{\newblock}{BLOCK}\providecommand{\newblock}{BLOCK}\providecommand{\natexlab}[1]{#1}\providecommand{\bibnamefont}[1]{#1}
\providecommand{\bibfnamefont}[1]{#1}\providecommand{\citenamefont}[1]{#1}\providecommand{\bibinfo}[2]{FIELD#1VALUE#2END}
\providecommand{\bibfield}[2]{#2}
\providecommand{\BibitemOpen}{}\providecommand{\BibitemShut}[1]{}\providecommand{\bibitemNoStop}{}\providecommand{\bibitemStop}{}
\providecommand{\EOS}{}
\providecommand{\urlprefix}{URL }\providecommand{\eprint}[2][]{FIELD eprintVALUE#2END}\providecommand{\eprintnumber}[1]{#1}
\providecommand{\doi}[1]{doi:#1}\providecommand{\DOIprefix}{doi:}
\providecommand{\showarticletitle}[1]{FIELD titleVALUE#1END}\providecommand{\showURL}[1]{#1}\providecommand{\showDOI}[1]{#1}
\providecommand{\showISBN}[1]{}\providecommand{\showISSN}[1]{}
\providecommand{\bibcomma}{,}\providecommand{\bibsemi}{;}\providecommand{\bibauthor}[1]{FIELD authorVALUE#1END}
\providecommand{\bibtitle}[1]{FIELD titleVALUE#1END}
\providecommand{\bysame}{———}\providecommand{\MR}[1]{}\providecommand{\MRhref}[2]{}\providecommand{\Capitalize}[1]{#1}
\providecommand{\capitalize}[1]{#1}
\providecommand{\enquote}[1]{“#1”}\providecommand{\bibemph}[1]{\emph{#1}}\providecommand{\APACrefYear}[1]{(#1)}
\providecommand{\APACinsertmetastar}[1]{}
\providecommand{\APACrefYearMonthDay}[3]{(#1)}\providecommand{\APACrefbtitle}[2]{\emph{#1}}
\providecommand{\APACrefatitle}[2]{FIELD titleVALUE#1END}
\providecommand{\APACjournalVolNumPages}[4]{\emph{#1}, #2, #4}\providecommand{\APACaddressPublisher}[2]{#2}\providecommand{\BBA}{and}
\providecommand{\BPBI}{. }
\providecommand{\citeauthoryear}[3]{#1(#3)#2}\providecommand{\BIBentryALTinterwordspacing}{}
\providecommand{\BIBentrySTDinterwordspacing}{}
\providecommand{\bibrangedash}{--}\providecommand{\citenamefont}[1]{#1}\providecommand{\hrefnoop}[2]{#2}\providecommand{\BIBdecl}{}
\providecommand{\translation}[1]{#1}
""".replace("FIELD ", FIELD)
    .replace("FIELD", FIELD)
    .replace("VALUE", VALUE)
    .replace("END", END)
    .replace("BLOCK", BLOCK)
)
_ALIAS = re.compile(
    r"\\(?:(?:re|provide)?newcommand|newcommand|renewcommand|providecommand)\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*\{(\s*\\(?:begin|end)\s*\{[A-Za-z*]+\}[^{}]{0,200}?)\}"
    r"|\\(?:g|e)?def\s*\\([A-Za-z]+)\s*\{(\s*\\(?:begin|end)\s*\{[A-Za-z*]+\}[^{}]{0,200}?)\}"
)
_NAME_ENDS = re.compile(
    r"\\(?:quad|qquad|[Aa]nd|AND|hfill|hspace\*?\{[^{}]*\}|vspace\*?\{[^{}]*\}|IEEEauthorblock[NA])(?![A-Za-z])|\\\\(?:\s*\[[^\]]*\])?|,|~~+|&|\n\s*\n"
)
_COMMAND = re.compile(r"\\([A-Za-z]+\*?)")
_SKIPPED = re.compile(r"\[INFO\] Skipped '\\([A-Za-z]+)((?:\[.*?\])?)((?:\{.*\})+)'", re.DOTALL)


@functools.cache
def binary() -> str:
    """Where pandoc is: the one that comes with pypandoc-binary."""
    import pypandoc

    return str(pypandoc.get_pandoc_path())


class Pandoc:
    """The default converter."""

    name = "pandoc"

    def installed(self) -> bool:
        """It comes with this package's requirements."""
        return True

    @functools.cached_property
    def version(self) -> str:
        """pandoc's version."""
        _, out, _ = run([binary(), "--version"], b"", seconds=60)
        return out.decode().split()[1]

    def read(self, source: Source, *, seconds: float, memory_mb: int) -> Document:
        """The document; raises `BadSource`."""
        body, own = take_bibliography(_without_aliases(source.preamble, source.body))
        items = items_of(own or source.bbl)
        body, pieces = take_floats(body)
        body = re.sub(
            r"\\(?:appendix|appendices)(?![A-Za-z])|\\begin\{(?:appendix|appendices)\}", f"\n\n{OPEN}A{CLOSE}\n\n", body
        )
        body = re.sub(
            r"\\end\{(?:appendix|appendices)\}|\\(?:bibliography|bibliographystyle|printbibliography)(?![A-Za-z])(?:\[[^\]]*\])?(?:\{[^{}]*\})?",
            "\n\n",
            body,
        )
        body = re.sub(r"(?<!\\)\\S\s*(?=\\ref)", "§", body)
        flat = list(_numbered(pieces))
        body, front = _front(source.preamble, body)
        body = balanced(body)
        tail = "\n\n".join((f"{OPEN}Z{CLOSE}", _floats(flat), front, _OF_ENTRIES, _entries(items)))
        own_macros = definitions(
            "\n".join((source.styles, source.preamble, source.bbl.partition("\\bibitem")[0])), names_in(body + tail)
        )
        text = "\n".join((_TEXT_BOXES, own_macros, "\\begin{document}", body, "", tail, "\\end{document}\n"))
        text = re.sub(r"\\href\s*(?:%\n\s*)?\{", r"\\href{", text)  # pandoc wants no line end between them
        ast = _convert(text, seconds, memory_mb)
        return _Reader(flat, pieces, items).document(ast)

    def texts(self, records: list[Record], *, seconds: float, memory_mb: int) -> list[Record]:
        """Records whose fields, TeX so far, are text."""
        if not records:
            return []
        lines: list[str] = []
        places: list[tuple[int, str]] = []
        for number, record in enumerate(records):
            for name, value in record.fields.items():
                if name in ("url", "doi", "eprint", "file", "abstract", "note", "keywords") or not re.search(
                    r"[\\{}$~]|--", value
                ):
                    continue
                lines.append(f"{OPEN}B{len(places)}{CLOSE} " + re.sub(r"\n\s*\n", "\n", balanced(value)))
                places.append((number, name))
        fields = [dict(record.fields) for record in records]
        if places:
            text = "\n\n".join((_TEXT_BOXES, "\\begin{document}", _OF_ENTRIES, *lines, "\\end{document}\n"))
            reader = _Reader([], [], [RawItem(str(i), None, "") for i in range(len(places))])
            for item in reader.document(_convert(text, seconds, memory_mb)).bibliography:
                number, name = places[int(item.key)]
                fields[number][name] = plain(item.content)
        return [Record(record.key, record.type, found) for record, found in zip(records, fields, strict=True)]


def _without_aliases(preamble: str, body: str) -> str:
    """The body with macros that only open or close an environment (`\\be`, `\\ee`) written out."""
    aliases = {m.group(1) or m.group(3): m.group(2) or m.group(4) for m in _ALIAS.finditer(preamble)}
    if not aliases:
        return body
    names = "|".join(sorted(map(re.escape, aliases), key=len, reverse=True))
    return re.sub(rf"\\({names})(?![A-Za-z])", lambda m: aliases[m.group(1)], body)


def _front(preamble: str, body: str) -> tuple[str, str]:
    """The body without title and authors, and these, a paragraph each: wherever a name may end, one ends."""
    found = {"title": "", "author": ""}
    for text in (preamble, body):
        for call in calls(text, "title|author", 1):
            found[call.name] += ("" if call.name == "title" else r" \and ") + call.arguments[0]
    body = replaced(body, ((call.start, call.end, "") for call in calls(body, "title|author", 1)))
    names = re.sub(r"\\(?:bf|tt|small|large|it|xspace|thanks\s*\{[^{}]*\})(?![A-Za-z])|\$[^$]*\$", " ", found["author"])
    lines = [f"{OPEN}T{CLOSE} {balanced(found['title'])}"]
    for number, name in enumerate(_NAME_ENDS.split(names)[:200]):
        lines.append(f"{OPEN}N{number}{CLOSE} " + re.sub(r"\n\s*\n", "\n", balanced(name)))
    return body, "\n\n".join(lines)


def _numbered(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        yield piece
        yield from _numbered(piece.parts)


def _floats(pieces: list[Piece]) -> str:
    lines: list[str] = []
    for number, piece in enumerate(pieces):
        if piece.caption is not None:
            lines.append(f"{OPEN}C{number}{CLOSE}")
            lines.append(balanced(piece.caption))
        for row in piece.cells:
            cells = f" {CELL} ".join(re.sub(r"\n\s*\n", "\n", balanced(cell)).strip() for cell in row)
            lines.append(f"{OPEN}R{number}{CLOSE} {cells}")
    return "\n\n".join(lines)


def _entries(items: list[RawItem]) -> str:
    lines: list[str] = []
    for number, item in enumerate(items):
        if item.label is not None:
            lines.append(f"{OPEN}L{number}{CLOSE} {balanced(item.label)}")
        lines.append(f"{OPEN}B{number}{CLOSE} " + re.sub(r"\n\s*\n", "\n", item.content))
    return "\n\n".join(lines)


def _convert(text: str, seconds: float, memory_mb: int) -> dict[str, Any]:
    """pandoc's AST; a command that it skipped with its text is defined to show it, a paragraph it cannot read is left out."""
    import time

    until = time.monotonic() + seconds
    defined = False
    for _ in range(_REPAIRS + 2):
        command = [
            binary(),
            "+RTS",
            f"-M{memory_mb}m",
            "-RTS",
            "--sandbox",
            "--verbose",
            "--from",
            "latex",
            "--to",
            "json",
        ]
        status, out, said = run(command, text.encode(), seconds=max(until - time.monotonic(), 0.1))
        if status == 0:
            unknown = "" if defined else _unknown(said)
            if not unknown:
                try:
                    ast: dict[str, Any] = orjson.loads(out)
                except orjson.JSONDecodeError:  # nested deeper than any reader goes
                    raise BadSource(Outcome.CONVERTER_FAILED, "nested too deep") from None
                return ast
            defined, text = True, unknown + text
            continue
        where = re.search(r"line (\d+)", said)
        if where is None:
            break
        text = _left_out(text, int(where.group(1)))
    raise BadSource(Outcome.CONVERTER_FAILED, " ".join(said.split())[-300:])


_NO_TEXT = frozenset((
    "DeclareCaptionFont", "DeclareMathOperator", "DeclarePairedDelimiter", "PassOptionsToPackage", "SetKwInOut", "Thanks",
    "acmConference", "addcontentsline", "address", "addtocounter", "addtolength", "affil", "affiliation", "algsetup",
    "allowdisplaybreaks", "arrayrulecolor", "begin", "bibliography", "bibliographystyle", "bibpunct", "captionsetup", "ccsdesc",
    "cellcolor", "cfoot", "citestyle", "cline", "cmidrule", "color", "colorlet", "date", "definecolor", "draw", "email", "end",
    "fancyfoot", "fancyhead", "fontsize", "footnotemark", "footnotetext", "geometry", "graphicspath", "hphantom", "href", "hskip",
    "hspace", "hypersetup", "hyphenation", "icmltitle", "include", "includegraphics", "includepdf", "index", "input", "institute",
    "keywords", "label", "lhead", "linespread", "lstdefinelanguage", "lstdefinestyle", "lstset", "makeatletter", "marginpar",
    "markboth", "markright", "newcolumntype", "newcommand", "newenvironment", "newfloat", "newlength", "newtheorem", "nocite", "node",
    "noindent", "numberwithin", "orcid", "pagestyle", "path", "pdfinfo", "pgfplotsset", "phantom", "refstepcounter", "renewcommand",
    "rhead", "rowcolor", "rule", "setcitestyle", "setcounter", "setlength", "setlist", "settowidth", "sisetup", "special",
    "stepcounter", "thanks", "thefootnote", "theoremstyle", "thispagestyle", "tikz", "tikzset", "titleformat", "titlespacing", "url",
    "usepackage", "usetikzlibrary", "vphantom", "vskip", "vspace",
))  # fmt: skip
"""Commands whose arguments are not printed where they stand."""


def _unknown(said: str) -> str:
    """Definitions of skipped commands whose arguments read like text."""
    found: dict[str, str] = {}
    for line in said.splitlines():
        match = _SKIPPED.match(line.partition(" at ")[0] if "' at " not in line else line[: line.rindex("' at ") + 1])
        if (
            match is None
            or match.group(1) in _NO_TEXT
            or match.group(1).startswith(("set", "new", "define", "Declare"))
        ):
            continue
        groups = re.findall(r"\{((?:[^{}]|\{[^{}]*\})*)\}", match.group(3))
        if (
            groups
            and len(groups) < 10
            and any(re.search(r"[A-Za-z]{2}.* |[a-z]{4}", group) and "=" not in group for group in groups)
        ):
            option = "[]" if match.group(2) else ""
            shown = " ".join(f"#{i + 1 + bool(option)}" for i in range(len(groups)))
            found[match.group(1)] = (
                f"\\newcommand{{\\{match.group(1)}}}[{len(groups) + bool(option)}]{option}{{{shown}}}\n"
            )
    return "".join(found.values())


def _left_out(text: str, line: int) -> str:
    """The text without the paragraph that holds a line."""
    lines = text.split("\n")
    line = min(line - 1, len(lines) - 1)
    first = last = line
    while first > 0 and lines[first - 1].strip():
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].strip():
        last += 1
    keep = [x for x in lines[first : last + 1] if x.strip() in ("\\begin{document}", "\\end{document}")]
    return "\n".join(lines[:first] + keep + lines[last + 1 :])


Node = dict[str, Any]
_QUOTES = {"DoubleQuote": ("“", "”"), "SingleQuote": ("‘", "’")}


class _Reader:
    """pandoc's AST → document."""

    def __init__(self, flat: list[Piece], pieces: list[Piece], items: list[RawItem]) -> None:
        self.flat = flat
        self.pieces = pieces
        self.items = items

    def document(self, ast: Node) -> Document:
        """The document of a whole AST."""
        meta = ast.get("meta", {})
        document = Document()
        abstract = meta.get("abstract")
        if abstract:
            blocks = abstract["c"] if abstract["t"] == "MetaBlocks" else [{"t": "Para", "c": abstract["c"]}]
            document.abstract = [b for b in self._blocks(blocks) if isinstance(b, Para)]
        inside: Block | None
        mark: tuple[str, int] | None = None
        pending: list[Inline] = []
        labels: dict[int, Inlines] = {}

        def close() -> None:
            if mark is None:
                return
            content = tuple(pending)
            kind, number = mark
            if kind == "C":
                self.flat[number].float.caption = content
            elif kind == "R":
                self._row(number, content)
            elif kind == "L":
                labels[number] = content
            elif kind == "T":
                document.title = content
            elif kind == "N":
                document.authors.append(content)
            elif kind == "B":
                item = self.items[number]
                document.bibliography.append(BibItem(item.key, labels.get(number), content))

        for block in self._blocks(ast.get("blocks", [])):
            inside = block
            if (
                isinstance(block, Para)
                and isinstance(block.content[0], str)
                and (found := _MARK.match(block.content[0]))
            ):
                close()
                pending = []
                mark = (found.group(1), int(found.group(2) or 0))
                first = block.content[0][found.end() :]
                if mark[0] == "A":
                    document.blocks.append(Appendix())
                    mark = None
                    inside = Para((first, *block.content[1:])) if first.strip() or len(block.content) > 1 else None
                else:
                    pending = [first, *block.content[1:]]
                    continue
            if inside is None:
                continue
            if mark is None:
                document.blocks.append(inside)
            elif isinstance(inside, Para | Head):
                pending += [" ", *inside.content]
        close()
        document.blocks += [piece.float for piece in self.pieces]
        for piece in self.flat:
            piece.float.parts = [part.float for part in piece.parts]
        return document

    def _row(self, number: int, content: Inlines) -> None:
        cells: list[list[Inline]] = [[]]
        for inline in content:
            if isinstance(inline, str) and CELL in inline:
                first, *rest = inline.split(CELL)
                cells[-1].append(first)
                cells += [[part] for part in rest]
            else:
                cells[-1].append(inline)
        target = self.flat[number].float
        target.cells = [*(target.cells or []), [tuple(cell) for cell in cells]]

    def _blocks(self, nodes: list[Node]) -> Iterator[Block]:
        for node in nodes:
            kind: str = node["t"]
            content: Any = node.get("c")
            if kind in ("Para", "Plain"):
                if inlines := self._inlines(content):
                    yield Para(inlines)
            elif kind == "Header":
                level, (identifier, classes, _), inlines = content
                found = self._inlines(inlines)
                labels = tuple(i.name for i in found if isinstance(i, Label))
                yield Head(level, found, "unnumbered" not in classes, (identifier, *labels))
            elif kind == "LineBlock":
                yield Para(tuple(x for line in content for x in (*self._inlines(line), " ")))
            elif kind in ("BlockQuote",):
                yield from self._blocks(content)
            elif kind in ("BulletList", "OrderedList"):
                for item in content if kind == "BulletList" else content[1]:
                    yield from self._blocks(item)
            elif kind == "DefinitionList":
                for term, definitions_ in content:
                    head: Inlines = (*self._inlines(term), " ")
                    for blocks in definitions_:
                        inner = list(self._blocks(blocks))
                        if inner and isinstance(inner[0], Para):
                            inner[0] = Para((*head, *inner[0].content))
                            head = ()
                        yield from inner
                    if head and any(not isinstance(x, str) or x.strip() for x in head):
                        yield Para(head)
            elif kind in ("Div", "Figure"):
                inner = list(self._blocks(content[-1]))
                identifier = content[0][0]
                if identifier and inner and isinstance(inner[0], Para):
                    inner[0] = Para((Label(identifier), *inner[0].content))
                yield from inner

    def _flat(self, nodes: list[Node]) -> Inlines:
        """Blocks as one run of inlines."""
        found: list[Inline] = []
        for block in self._blocks(nodes):
            if isinstance(block, Para | Head):
                found += [*([" "] if found else []), *block.content]
        return tuple(found)

    def _inlines(self, nodes: list[Node]) -> Inlines:
        found: list[Inline] = []
        text: list[str] = []

        def say(inlines: Iterable[Inline]) -> None:
            for inline in inlines:
                if isinstance(inline, str):
                    text.append(inline)
                else:
                    if text:
                        found.append("".join(text))
                        text.clear()
                    found.append(inline)

        for node in nodes:
            kind: str = node["t"]
            content: Any = node.get("c")
            if kind == "Str":
                text.append(content)
            elif kind in ("Space", "SoftBreak", "LineBreak"):
                text.append(" ")
            elif kind in ("Strong", "SmallCaps", "Underline", "Superscript", "Subscript", "Strikeout"):
                say(self._inlines(content))
            elif kind == "Emph":
                say((Mark("emph", self._inlines(content)),))
            elif kind == "Quoted":
                opening, closing = _QUOTES[content[0]["t"]]
                say((opening, *self._inlines(content[1]), closing))
            elif kind == "Cite":
                say((self._cite(content),))
            elif kind == "Math":
                say((Math(content[1].replace(XSPACE, ""), content[0]["t"] == "DisplayMath"),))
            elif kind == "Code":
                text.append(content[1])
            elif kind == "Link":
                say(self._link(content))
            elif kind == "Note":
                say((Note(self._flat(content)),))
            elif kind == "Span":
                (identifier, _, pairs), inner = content
                label = dict(pairs).get("label") or identifier
                say((*((Label(label),) if label else ()), *self._inlines(inner)))
        if text:
            found.append("".join(text))
        return tuple(found)

    def _cite(self, content: list[Any]) -> Cite:
        citations, inlines = content
        raw = next((i["c"][1] for i in inlines if i["t"] == "RawInline"), "")
        command = _COMMAND.match(raw)
        mode = citations[0]["citationMode"]["t"] if citations else "NormalCitation"
        assumed = {"AuthorInText": "citet", "SuppressAuthor": "citeyear"}.get(mode, "cite")
        return Cite(
            command.group(1) if command else assumed,
            tuple(c["citationId"].strip() for c in citations),
            plain(self._inlines(citations[0]["citationPrefix"])) if citations else "",
            plain(self._inlines(citations[-1]["citationSuffix"])) if citations else "",
        )

    def _link(self, content: list[Any]) -> Inlines:
        (_, _, pairs), inlines, (target, _) = content
        attributes = dict(pairs)
        if "reference" in attributes:
            printed = plain(self._inlines(inlines))
            labels = tuple(label.strip() for label in attributes["reference"].split(","))
            return (Ref(attributes.get("reference-type", "ref"), labels, "" if printed.startswith("[") else printed),)
        return (Mark("link", self._inlines(inlines), target),)


def plain(content: Inlines) -> str:
    """Inlines as text, white space runs as one space; footnotes, labels and references are not shown, formulas as TeX."""
    parts = []
    for inline in content:
        if isinstance(inline, str):
            parts.append(inline)
        elif isinstance(inline, Mark):
            parts.append(plain(inline.content))
        elif isinstance(inline, Math):
            parts.append(inline.tex)
    return " ".join(spaced("".join(parts)).split())


def spaced(text: str) -> str:
    """Text with a space for each \\xspace that something other than closing punctuation follows."""
    return _XSPACE.sub(" ", text).replace(XSPACE, "") if XSPACE in text else text
