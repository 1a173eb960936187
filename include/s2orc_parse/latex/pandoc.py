"""Read LaTeX with pandoc: remove constructs that it cannot read, and define macros that it does not know.

Floats, table cells and bibliography entries are appended to the text, each after a mark (private-use characters, which
`source` removes from sources). One run of pandoc therefore reads everything with the document's own macros.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import orjson

from s2orc_parse.bibliography.tex import read_formula_text
from s2orc_parse.errors import UserError
from s2orc_parse.latex.bbl import RawItem, is_amsrefs, read_items, rewrite_citations, take_bibliography
from s2orc_parse.latex.bibtex import BibtexEntry, list_links, mark_groups, unmark_groups
from s2orc_parse.latex.citations import find_aliases, mark_citations
from s2orc_parse.latex.classes import find_forms
from s2orc_parse.latex.counting import read_counting
from s2orc_parse.latex.document import LatexDocument, ListItemStart
from s2orc_parse.latex.floats import FloatSource, take_floats
from s2orc_parse.latex.front import FrontMatter
from s2orc_parse.latex.glossary import expand_glossary, expand_in_macros
from s2orc_parse.latex.inlines import plain
from s2orc_parse.latex.macros import (
    IN_ENTRIES,
    IN_TEXT,
    Definition,
    find_definitions,
    find_environments_only,
    find_names,
    remove_stars,
    select_definitions,
    simplify_definitions,
)
from s2orc_parse.latex.marks import CELL, CLOSE, OPEN
from s2orc_parse.latex.pandoc_ast import Reader
from s2orc_parse.latex.process import run
from s2orc_parse.latex.rewriting import mark_items, print_chemistry, remove_theorem_setup, rewrite
from s2orc_parse.latex.source import LatexSource
from s2orc_parse.latex.tex import balance
from s2orc_parse.outcomes import BadSource, LatexOutcome
from s2orc_parse.sandbox import Policy
from s2orc_parse.words import read_table

_MAX_REPAIRS = 6
"""maximum number of unreadable paragraphs that are removed before the source is rejected"""

_ENVIRONMENT_SHORTHAND = re.compile(
    r"\\(?:newcommand|renewcommand|providecommand)\*?\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*\{(\s*\\(?:begin|end)\s*\{[A-Za-z*]+\}[^{}]{0,200}?)\}"
    r"|\\(?:g|e)?def\s*\\([A-Za-z]+)\s*\{(\s*\\(?:begin|end)\s*\{[A-Za-z*]+\}[^{}]{0,200}?)\}"
)
_SKIPPED = re.compile(r"\[INFO\] Skipped '\\([A-Za-z]+)((?:\[.*?\])?)((?:\{.*\})+)'", re.DOTALL)


@functools.cache
def find_binary() -> str:
    """Return the path of pandoc from pypandoc-binary. Raises UserError if it is not installed."""
    try:
        import pypandoc
    except ModuleNotFoundError:
        raise UserError("LaTeX needs pandoc: pip install 's2orc-parse[pandoc]'") from None

    return str(pypandoc.get_pandoc_path())


def build_command(memory_mb: int, *options: str) -> list[str]:
    """Return pandoc's command line with a limited heap.

    -H4m: a heap of 4 MB fits into the cache; pandoc's default of 64 MB does not. -O64m: there is no full collection
    below 64 MB, because each one visits 14 MB of constants.
    """
    return [find_binary(), "+RTS", f"-M{memory_mb}m", "-H4m", "-O64m", "-RTS", "--sandbox", *options]


def limit_policy(memory_mb: int) -> Policy:
    """Return the sandbox policy: pandoc reads only its standard input, and gets memory for its heap and its own data."""
    return Policy(limits={"DATA": (memory_mb + 512) << 20})


@functools.cache
def get_pandoc_version() -> str:
    """Return the version of pandoc."""
    _, out, _ = run([find_binary(), "--version"], b"", seconds=60)
    return out.decode().split()[1]


def read_latex(source: LatexSource, *, seconds: float, memory_mb: int) -> LatexDocument:
    """Convert a source. Raises `BadSource`."""
    counting = read_counting(source)
    body, own = take_bibliography(_expand_shorthands(source.preamble, source.body))
    if "amsrefs" in source.packages or is_amsrefs(own):
        body = rewrite_citations(body)
    of_paper = {one.name for one in find_definitions(f"{source.preamble}\n{source.body}")}
    front_matter = FrontMatter(find_forms(source.packages), of_paper)
    body = front_matter.rewrite(source.preamble, body)
    body = remove_stars(body, f"{source.styles}\n{source.preamble}\n{body}", source.packages)
    items = read_items(own or source.bbl)
    body, short_forms = expand_glossary(source.preamble, simplify_definitions(remove_theorem_setup(body)))
    macros = _collect_macros(source, own or source.bbl)
    names = {one.name for one in macros} | {one.name for one in find_definitions(source.body)}
    aliases = find_aliases(f"{source.preamble}\n{source.body}")
    list_items: list[ListItemStart] = []
    settings = f"{source.styles}\n{source.preamble}"
    body = mark_items(body, settings, counting, list_items, has_enumitem="enumitem" in source.packages)

    def prepare(text: str) -> str:
        return mark_citations(rewrite(text, counting, names), names, aliases)

    body, pieces = take_floats(prepare(body))
    body = re.sub(
        r"\\(?:appendix|appendices)(?![A-Za-z])|\\begin\{(?:appendix|appendices)\}", f"\n\n{OPEN}A{CLOSE}\n\n", body
    )
    body = re.sub(
        r"\\end\{(?:appendix|appendices)\}|\\(?:bibliography|bibliographystyle|printbibliography)(?![A-Za-z])(?:\[[^\]]*\])?(?:\{[^{}]*\})?",
        "\n\n",
        body,
    )
    body = re.sub(r"(?<!\\)\\S\s*(?=\\ref)", "§", body)
    body = _BREAKS.sub(lambda match: "\n\n" if match[1] else match[0], body)
    flat = list(_flatten_pieces(pieces))
    body, front = front_matter.take_title_and_authors(source.preamble, body)
    body = balance(body)
    tail = "\n\n".join((f"{OPEN}Z{CLOSE}", _format_floats(flat), front, IN_ENTRIES, _format_entries(items)))
    definitions = prepare(expand_in_macros(define_macros(macros, names, body + tail), short_forms))
    text = "\n".join(
        (definitions, "\\begin{document}", print_chemistry(f"{body}\n\n{tail}", names), "\\end{document}\n")
    )
    text = re.sub(r"\\href\s*(?:%\n\s*)?\{", r"\\href{", text)  # pandoc allows no line end between them
    ast = _convert(text, seconds, memory_mb)
    return Reader(flat, pieces, items, counting.kinds, list_items).document(ast)


_BREAK = r"(?:\\\\\*?(?:[ \t]*\[[^\]\n]{0,100}\])?|\\newline(?![A-Za-z]))[ \t]*"
_BREAKS = re.compile(rf"(?:{_BREAK}(?:\n(?![ \t]*\n)[ \t]*)?)++(\n[ \t]*\n)?")
"""line breaks; at the end of a paragraph, pandoc would read the next paragraph as its next line"""
_UNCONVERTED, _NO_TEXT = (
    frozenset(read_table("latex/words")[name].split()) for name in ("unconverted_fields", "commands_without_text")
)


def convert_records(
    records: list[BibtexEntry], source: LatexSource, *, seconds: float, memory_mb: int
) -> list[BibtexEntry]:
    """Return records with their TeX fields converted to text."""
    if not records:
        return []
    lines: list[str] = []
    places: list[tuple[int, str]] = []
    for number, record in enumerate(records):
        for name, value in record.fields.items():
            if name in _UNCONVERTED or not re.search(r"[\\{}$~]|--", value):
                continue
            if name in ("author", "editor"):
                value = mark_groups(value)
            lines.append(f"{OPEN}B{len(places)}{CLOSE} " + re.sub(r"\n\s*\n", "\n", balance(value)))
            places.append((number, name))
    fields = [{**record.fields, "links": "\n".join(list_links(record))} for record in records]
    if places:
        macros = _collect_macros(source, "")
        definitions = define_macros(macros, {one.name for one in macros}, "\n".join(lines))
        text = "\n\n".join((definitions, "\\begin{document}", IN_ENTRIES, *lines, "\\end{document}\n"))
        reader = Reader([], [], [RawItem(str(i), None, records[n].fields[name]) for i, (n, name) in enumerate(places)])
        for item in reader.document(_convert(text, seconds, memory_mb)).bibliography:
            number, name = places[int(item.key)]
            fields[number][name] = unmark_groups(plain(item.content, read_formula_text))
    return [BibtexEntry(record.key, found) for record, found in zip(records, fields, strict=True)]


def _collect_macros(source: LatexSource, bbl: str) -> list[Definition]:
    r"""Return the source's definitions. A bibliography's \providecommand is ignored if `provided` defines the name."""
    provided = find_names(IN_ENTRIES)
    of_bbl = find_definitions(re.split(r"\\(?:bibitem|harvarditem|entry)(?![A-Za-z])", bbl, maxsplit=1)[0])
    macros = [
        *find_definitions(f"{source.styles}\n{source.preamble}"),
        *(one for one in of_bbl if one.name not in provided),
    ]
    return [one for one in macros if one.kind != "theorem"]


def define_macros(macros: list[Definition], names: Collection[str], text: str) -> str:
    """Return TeX for the macros that a text uses: the paper's own definitions, and those of common packages for other names."""
    environments = find_environments_only(text)
    macros = [one for one in macros if one.kind == "environment" or one.name not in environments]
    wanted = find_names(text)
    own = select_definitions(macros, wanted)
    wanted |= find_names(own)
    return "\n".join((own, select_definitions((one for one in IN_TEXT if one.name not in names), wanted)))


def _expand_shorthands(preamble: str, body: str) -> str:
    """Return the body with expanded macros that only open or close an environment (`\\be`, `\\ee`)."""
    aliases = {m.group(1) or m.group(3): m.group(2) or m.group(4) for m in _ENVIRONMENT_SHORTHAND.finditer(preamble)}
    if not aliases:
        return body
    names = "|".join(sorted(map(re.escape, aliases), key=len, reverse=True))
    return re.sub(rf"\\({names})(?![A-Za-z])", lambda m: aliases[m.group(1)], body)


def _flatten_pieces(pieces: Iterable[FloatSource]) -> Iterator[FloatSource]:
    for piece in pieces:
        yield piece
        yield from _flatten_pieces(piece.parts)


def _format_floats(pieces: list[FloatSource]) -> str:
    lines: list[str] = []
    for number, piece in enumerate(pieces):
        if piece.caption is not None:
            lines.append(f"{OPEN}C{number}{CLOSE}")
            lines.append(balance(piece.caption))
        for row in piece.cells:
            cells = f" {CELL} ".join(re.sub(r"\n\s*\n", "\n", balance(cell)).strip() for cell in row)
            lines.append(f"{OPEN}R{number}{CLOSE} {cells}")
    return "\n\n".join(lines)


def _format_entries(items: list[RawItem]) -> str:
    lines: list[str] = []
    for number, item in enumerate(items):
        if item.label is not None:
            lines.append(f"{OPEN}L{number}{CLOSE} {balance(item.label)}")
        lines.append(f"{OPEN}B{number}{CLOSE} " + re.sub(r"\n\s*\n", "\n", item.content))
    return "\n\n".join(lines)


def _convert(text: str, seconds: float, memory_mb: int) -> dict[str, Any]:
    """Return pandoc's AST. Skipped commands with text are defined to show it; paragraphs that pandoc cannot read are removed."""
    deadline = time.monotonic() + seconds
    defined, removed = False, 0
    while removed <= _MAX_REPAIRS:
        status, out, messages = run(
            build_command(memory_mb, "--verbose", "--from", "latex", "--to", "json"),
            text.encode(),
            seconds=max(deadline - time.monotonic(), 0.1),
            policy=limit_policy(memory_mb),
        )
        if status == 0:
            unknown = "" if defined else _define_skipped(messages)
            if not unknown:
                try:
                    ast: dict[str, Any] = orjson.loads(out)
                except orjson.JSONDecodeError:  # nested deeper than any reader supports
                    raise BadSource(LatexOutcome.CONVERTER_FAILED, "nested too deep") from None
                return ast
            defined, text = True, unknown + text
            continue
        where = re.search(r"line (\d+)", messages)
        if where is None:
            break
        text = _remove_paragraph(text, int(where.group(1)))
        removed += 1
    raise BadSource(LatexOutcome.CONVERTER_FAILED, " ".join(messages.split())[-300:])


def _define_skipped(messages: str) -> str:
    """Return definitions of skipped commands whose arguments look like text."""
    found: dict[str, str] = {}
    for line in messages.splitlines():
        # The message ends with "' at <position>", or with " at <position>".
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


def _remove_paragraph(text: str, line: int) -> str:
    """Return the text without the paragraph that contains a line, or that ends before it."""
    lines = text.split("\n")
    line = min(line - 1, len(lines) - 1)
    while line > 0 and not lines[line].strip():  # pandoc notices at the following empty line
        line -= 1
    first = last = line
    while first > 0 and lines[first - 1].strip():
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].strip():
        last += 1
    keep = [x for x in lines[first : last + 1] if x.strip() in ("\\begin{document}", "\\end{document}")]
    return "\n".join(lines[:first] + keep + lines[last + 1 :])
