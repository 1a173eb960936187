"""Read LaTeX with LaTeXML, if it is installed. It is slower than pandoc but contains a real TeX.

LaTeXML gets one file, assembled from the archive, in a separate folder. Known problem: an undefined macro with `\\\\`
in its argument (`\\makecell`) ends the table row, and all later sections are nested into the table. Frequent macros of
this kind are defined here. If sections are still nested, the source is converted again with its undefined macros
defined, and rejected if that does not help.
"""

from __future__ import annotations

import functools
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lxml import etree

from s2orc_parse.errors import UserError
from s2orc_parse.latex.document import (
    Appendix,
    BibItem,
    Block,
    Cite,
    Head,
    Inline,
    Inlines,
    LabelName,
    LatexDocument,
    LatexFloat,
    ListItemStart,
    MarkedText,
    Math,
    Note,
    Para,
    Ref,
    Theorem,
    TheoremEnd,
)
from s2orc_parse.latex.macros import extract_definitions, find_names
from s2orc_parse.latex.outcome import BadSource, LatexOutcome
from s2orc_parse.latex.process import run
from s2orc_parse.latex.source import LatexSource
from s2orc_parse.latex.tables import TABULAR
from s2orc_parse.latex.tex import find_environments
from s2orc_parse.sandbox import Policy, data_folders, find_missing_feature

_DEFINED = r"""
\providecommand{\makecell}[2][]{\shortstack{#2}}\providecommand{\thead}[2][]{\shortstack{#2}}\providecommand{\specialcell}[2][]{\shortstack{#2}}
\providecommand{\hdashline}{}\providecommand{\cdashline}[1]{}\providecommand{\Thanks}[1]{\footnote{#1}}\providecommand{\aclfinalcopy}{}
\providecommand{\texttildelow}{\textasciitilde}\providecommand{\diagbox}[3][]{#2 / #3}\providecommand{\adjustbox}[2]{#2}
"""
_UNDEFINED = re.compile(r"Error:undefined:\\([A-Za-z]+)")
_LEVELS = {
    "part": 0,
    "chapter": 1,
    "section": 1,
    "appendix": 1,
    "subsection": 2,
    "subsubsection": 3,
    "paragraph": 4,
    "subparagraph": 5,
}
_FLOATS = {"figure": "figure", "table": "table", "float": "algorithm"}
_MEMORY = 4 << 30
_TEX = ("/usr/share", "/etc/texmf", "/var/lib/texmf", "/etc/perl", "/usr/local/share/texmf")
Element = etree._Element


class Latexml:
    """The optional converter."""

    name = "latexml"

    def installed(self) -> bool:
        """Return whether `latexml` is on the path."""
        return shutil.which("latexml") is not None

    @functools.cached_property
    def version(self) -> str:
        """LaTeXML's version."""
        _, out, messages = run(["latexml", "--VERSION"], b"", seconds=60, policy=_policy())
        found = re.search(r"\d+\.\d+[\d.]*", out.decode() + messages)
        return found.group() if found else "unknown"

    def refuse_unconfined(self, *, unsafe: bool) -> None:
        """Raise UserError if this machine has no sandbox: a complete TeX could read any file for a source."""
        if (missing_feature := find_missing_feature()) is not None and not unsafe:
            raise UserError(
                f"{missing_feature}, so LaTeXML could read other files: set `latex: {{converter: pandoc}}`, "
                "or `latex: {unsafe: true}` if all sources are trusted"
            )

    def read(self, source: LatexSource, *, seconds: float, memory_mb: int) -> LatexDocument:
        """Convert a source. Raises `BadSource`."""
        if not self.installed():
            raise BadSource(LatexOutcome.CONVERTER_FAILED, "latexml is not installed")
        root, messages = _convert(source, "", seconds)
        if _has_nested_sections(root):
            macro_definitions = "".join(
                f"\\providecommand{{\\{name}}}[1]{{#1}}\n" for name in sorted(set(_UNDEFINED.findall(messages)))
            )
            root, _ = _convert(source, macro_definitions, seconds)
            if _has_nested_sections(root):
                raise BadSource(LatexOutcome.CONVERTER_FAILED, "an undefined macro nests sections into a table")
        return _LatexmlReader(source).document(root)


def _policy(folder: str | None = None) -> Policy:
    """Return the sandbox policy: read its folder and TeX's files, write only its log, and start `kpsewhich`, which
    finds files.
    """
    helpers = (found for name in ("perl", "sh", "pwd", "kpsewhich") if (found := shutil.which(name)))
    return Policy(
        folder,
        read=(*data_folders(shutil.which("latexml") or sys.executable), *_TEX),
        write=(f"{folder}/main.log",) if folder else (),
        execute=tuple(helpers),
        processes=32,
        limits={"AS": _MEMORY},
        make=False,
    )


def _convert(source: LatexSource, defined: str, seconds: float) -> tuple[Element, str]:
    used = find_names(source.body)
    body = source.body
    if source.bbl and "\\begin{thebibliography}" in source.bbl:
        body = re.sub(r"\\(?:bibliography|printbibliography)(?![A-Za-z])(?:\[[^\]]*\])?(?:\{[^{}]*\})?", "", body)
        body += "\n" + source.bbl
    style_definitions = extract_definitions(source.styles, used)
    text = "\n".join(
        (source.preamble, style_definitions, _DEFINED, defined, "\\begin{document}", body, "\\end{document}\n")
    )
    with tempfile.TemporaryDirectory(prefix="s2corpus-latexml-") as folder:
        path = Path(folder) / "main.tex"
        path.write_text(text, "utf-8")
        for name, data in source.files.items():  # LaTeXML examines them for the packages they load
            if name.lower().endswith((".sty", ".cls")):
                path.with_name(PurePosixPath(name).name).write_bytes(data)
        log = path.with_name("main.log")
        log.touch()
        command = ["latexml", "--nocomments", "--noparse", "--inputencoding=utf8", "--log=main.log", "main.tex"]
        status, out, messages = run(command, b"", seconds=seconds, policy=_policy(folder))
        with log.open("rb") as lines:
            messages += lines.read(1 << 20).decode("utf-8", "replace")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(out, parser)
    except etree.XMLSyntaxError as error:
        raise BadSource(LatexOutcome.CONVERTER_FAILED, f"status {status}: {error}"[:300]) from None
    return root, messages


def _name(element: Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _has_nested_sections(root: Element) -> bool:
    """Return whether a section is inside a table."""
    return any(
        _name(ancestor) in ("tabular", "table", "figure", "td")
        for section in root.iter("{*}section", "{*}subsection", "{*}bibliography")
        for ancestor in section.iterancestors()
    )


def _labels(element: Element) -> tuple[str, ...]:
    return tuple(label.removeprefix("LABEL:") for label in (element.get("labels") or "").split())


class _LatexmlReader:
    """Converts LaTeXML's XML to a document."""

    def __init__(self, source: LatexSource) -> None:
        self.tabulars = [source.body[found.start : found.end] for found in find_environments(source.body, TABULAR)]

    def document(self, root: Element) -> LatexDocument:
        """Return the document of a complete file."""
        document = LatexDocument()
        for child in root:
            name = _name(child)
            if name == "title":
                document.title = self.inlines(child)
            elif name == "creator":
                for person in child.iter("{*}personname"):
                    document.authors += [
                        (line,)
                        for line in re.split(r"\s{2,}|\n", "".join(map(str, filter(_is_text, self.inlines(person)))))
                    ]
            elif name == "abstract":
                document.abstract = [block for block in self.blocks(child) if isinstance(block, Para)]
            else:
                document.blocks += self.blocks([child])
        document.bibliography = [self._item(item) for item in root.iter("{*}bibitem")]
        self._give_sources(document.blocks)
        return document

    def blocks(self, elements: Element | list[Element]) -> Iterator[Block]:
        """Yield the blocks of some elements."""
        for element in elements:
            name = _name(element)
            if name in _LEVELS:
                if name == "appendix" and _name_before(element) != "appendix":
                    yield Appendix()
                title = element.find("{*}title")
                content = self.inlines(title) if title is not None else ()
                numbered = title is not None and title.find("{*}tag") is not None
                yield Head(_LEVELS[name], content, numbered, _labels(element))
                yield from self.blocks(list(element))
            elif name == "acknowledgements":
                yield Head(1, (element.get("name") or "Acknowledgements",), numbered=False)
                yield from (
                    self.blocks(list(element)) if element.find("{*}p") is not None else [Para(self.inlines(element))]
                )
            elif name in ("para", "logical-block", "inline-block", "block", "minipage"):
                yield from self._para(element)
            elif name == "p":
                yield Para(self.inlines(element))
            elif name in _FLOATS:
                yield self._float(element)
            elif name in (
                "itemize",
                "enumerate",
                "description",
                "item",
                "theorem",
                "proof",
                "quote",
                "navigation",
                "pagination",
                "centering",
            ):
                head = element.find("{*}title")
                inner = list(
                    self.blocks([child for child in element if _name(child) not in ("title", "tags", "toctitle")])
                )
                if head is not None and inner and isinstance(inner[0], Para):
                    inner[0] = Para((*self.inlines(head), " ", *inner[0].content))
                num = element.findtext("{*}tags/{*}tag[@role='refnum']", "")
                if name in ("theorem", "proof"):
                    yield Theorem(_kind_of_theorem(element) if name == "theorem" else "proof", num=num)
                labels = _labels(element)
                if labels and inner and isinstance(inner[0], Para):
                    marks = (ListItemStart(num, labels),) if name == "item" else tuple(map(LabelName, labels))
                    inner[0] = Para((*marks, *inner[0].content))
                yield from inner
                if name in ("theorem", "proof"):
                    yield TheoremEnd()
            elif name in ("equation", "equationgroup"):
                yield Para(self._equation(element))
            elif name == "tabular":
                yield LatexFloat("table", numbered=False, cells=self._cells(element))

    def _para(self, element: Element) -> Iterator[Block]:
        """Yield a paragraph with its display formulas; lists and floats follow the text before them."""
        content: list[Inline] = []
        for child in element:
            name = _name(child)
            if name == "p":
                content += [" ", *self.inlines(child)]
            elif name in ("equation", "equationgroup"):
                content += [" ", *self._equation(child)]
            else:
                if content:
                    yield Para(tuple(content))
                    content = []
                yield from self.blocks([child])
        if content:
            yield Para(tuple(content))

    def _equation(self, element: Element) -> Inlines:
        """Return a display formula with its numbers and labels as TeX, because numbers are counted from TeX."""
        rows = [element] if _name(element) == "equation" else list(element.iter("{*}equation"))
        lines = []
        for row in rows:
            tex = " ".join(math.get("tex") or "" for math in row.iter("{*}Math"))
            tex += "".join(f"\\label{{{label}}}" for label in _labels(row))
            lines.append(tex if row.find("{*}tags") is not None else tex + r"\nonumber")
        environment = "equation" if len(rows) == 1 else "align"
        joined = r"\\".join(lines)
        return (Math(f"\\begin{{{environment}}}{joined}\\end{{{environment}}}", True),)

    def _float(self, element: Element) -> LatexFloat:
        caption = element.find("{*}caption")
        rows = [
            row
            for table in element.iter("{*}tabular")
            if _enclosing_float(table) is element
            for row in self._cells(table)
        ]
        return LatexFloat(
            _FLOATS[_name(element)],
            caption=self.inlines(caption) if caption is not None else None,
            labels=_labels(element),
            cells=rows or None,
            parts=[
                self._float(child)
                for child in element.iter("{*}figure", "{*}table")
                if child is not element and _enclosing_float(child) is element
            ],
        )

    def _cells(self, table: Element) -> list[list[Inlines]]:
        rows = []
        for row in table.iter("{*}tr"):
            cells: list[Inlines] = []
            for cell in row.iter("{*}td"):
                if next(cell.iterancestors("{*}tabular")) is table:
                    cells.append(self.inlines(cell))
                    cells += [()] * (min(int(cell.get("colspan") or 1), 100) - 1)
            if any(self._has_content(cell) for cell in cells):
                rows.append(cells)
        return rows

    @staticmethod
    def _has_content(content: Inlines) -> bool:
        return any(not isinstance(inline, str) or inline.strip() for inline in content)

    def _give_sources(self, blocks: list[Block]) -> None:
        """Set the TeX of tables in order, if their numbers are equal."""
        found: list[LatexFloat] = []

        def collect(block: LatexFloat) -> None:
            if block.cells:
                found.append(block)
            for part in block.parts:
                collect(part)

        for block in blocks:
            if isinstance(block, LatexFloat):
                collect(block)
        if len(found) == len(self.tabulars):
            for block, latex in zip(found, self.tabulars, strict=True):
                block.latex = latex

    def _item(self, item: Element) -> BibItem:
        tags = {tag.get("role"): "".join(tag.itertext()) for tag in item.iter("{*}tag")}
        label: Inlines | None = None
        if "authors" in tags and "year" in tags:
            label = (f"{tags['authors']}({tags['year']}){tags.get('fullauthors', '')}",)
        elif "number" not in tags and tags.get("refnum"):
            label = (tags["refnum"].strip("[]"),)
        blocks = tuple(MarkedText("block", self.inlines(block)) for block in item.iter("{*}bibblock"))
        return BibItem(item.get("key") or "", label, blocks)

    def inlines(self, element: Element) -> Inlines:
        """Return the content of an element."""
        found: list[Inline] = [element.text or ""]
        for child in element:
            found += self._inline(child)
            found.append(child.tail or "")
        return tuple(inline for inline in found if inline != "")

    def _inline(self, element: Element) -> Inlines:
        name = _name(element)
        if name in (
            "tags",
            "tag",
            "toctitle",
            "ERROR",
            "graphics",
            "picture",
            "rdf",
            "indexmark",
            "resource",
            "toccaption",
            "rule",
            "break",
        ):
            return (" ",) if name == "break" else ()
        if name == "Math":
            return (Math(element.get("tex") or "", element.get("mode") == "display"),)
        if name in ("equation", "equationgroup"):
            return self._equation(element)
        if name == "note":
            return (Note(self.inlines(element)),) if element.get("role") == "footnote" else ()
        if name == "emph" or (name == "text" and "italic" in (element.get("font") or "")):
            return (MarkedText("emph", self.inlines(element)),)
        if name == "cite":
            return self._cite(element)
        if name == "ref":
            if label := element.get("labelref"):
                return (Ref("ref", (label.removeprefix("LABEL:"),)),)
            return (MarkedText("link", self.inlines(element), element.get("href") or ""),)
        if name == "anchor" and _labels(element):
            return tuple(LabelName(label) for label in _labels(element))
        if name in ("p", "para", "td", "tr", "tabular", "item", "inline-block"):
            return (" ", *self.inlines(element), " ")
        return self.inlines(element)

    def _cite(self, element: Element) -> Inlines:
        """Return a citation: the command from the class, the texts before and after from the surrounding text."""
        references = list(element.iter("{*}bibref"))
        if not references:
            return self.inlines(element)
        keys = tuple(key for reference in references for key in (reference.get("bibrefs") or "").split(",") if key)
        command = re.search(r"ltx_citemacro_(\w+)", element.get("class") or "")
        before = "".join(
            filter(
                None,
                (element.text, *(x.tail for x in element if x not in references and references[0] in x.itersiblings())),
            )
        )
        after = references[-1].tail or ""
        strip = " ()[],;\n"
        return (
            Cite(
                command.group(1) if command else "cite",
                keys,
                tuple(filter(None, (" ".join(before.strip(strip).split()),))),
                tuple(filter(None, (" ".join(after.strip(strip).split()),))),
            ),
        )


def _is_text(inline: Inline) -> bool:
    return isinstance(inline, str)


def _enclosing_float(element: Element) -> Element | None:
    """Return the innermost float around an element."""
    return next(element.iterancestors("{*}figure", "{*}table", "{*}float"), None)


def _kind_of_theorem(element: Element) -> str:
    """Return the environment of a theorem."""
    found = re.search(r"ltx_theorem_(\S+)", element.get("class") or "")
    return found.group(1) if found else "theorem"


def _name_before(element: Element) -> str:
    before = element.getprevious()
    return _name(before) if before is not None else ""
