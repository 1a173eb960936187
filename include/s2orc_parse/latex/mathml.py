"""Convert formulas to MathML and to readable text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson
from lxml import etree

from s2orc_parse.latex.pandoc import build_command, limit_policy
from s2orc_parse.latex.process import run
from s2orc_parse.mathml import normalize_math, read_math
from s2orc_parse.outcomes import BadSource
from s2orc_parse.words import invert, read_table

MAX_FORMULA = 20_000
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
_LABELS = re.compile(r"\\(?:label|tag\*?)\s*\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])")
_TEXT = re.compile(r"\\(?:textsc|textsl|textnormal|textmd|mbox|hbox|emph|textup)\s*\{")
_COMMANDS = re.compile(r"\\(?:[A-Za-z]+\s*|.)|[{}&$]")
_ENVIRONMENT = re.compile(r"\A\s*\\begin\{(\w+)(\*?)\}(.*)\\end\{\1\2\}\s*\Z", re.DOTALL)
_INNER = invert(read_table("latex/words")["inner_environments"])


def strip_environment(tex: str) -> str:
    """Return a formula without its labels and its display environment."""
    tex = _TEXT.sub(r"\\text{", _LABELS.sub("", tex))
    while match := _ENVIRONMENT.match(tex):
        name, body = match.group(1), match.group(3)
        if name in ("equation", "displaymath", "math", "subequations", "dmath"):
            tex = body
        elif name in _INNER:
            body = re.sub(r"&\s*(=|\\[a-z]+|[<>+-])\s*&", r"&\1", body) if name == "eqnarray" else body
            body = re.sub(r"\A\s*\{\d+\}", "", body) if name == "alignat" else body
            return f"\\begin{{{_INNER[name]}}}{body}\\end{{{_INNER[name]}}}"
        else:
            break
    return tex.strip()


def to_mathml(formulas: Iterable[str], *, seconds: float, memory_mb: int) -> dict[str, str]:
    """Return the MathML of formulas; formulas that pandoc cannot read are omitted."""
    wanted = list(dict.fromkeys(formula for formula in formulas if 0 < len(formula) < MAX_FORMULA))
    if not wanted:
        return {}
    blocks = [
        {"t": "Para", "c": [{"t": "Math", "c": [{"t": "InlineMath"}, strip_environment(formula)]}]}
        for formula in wanted
    ]
    given = orjson.dumps({"pandoc-api-version": [1, 23, 1], "meta": {}, "blocks": blocks})
    line = build_command(memory_mb, "--from", "json", "--to", "html", "--mathml", "--wrap=none")
    try:
        status, out, _ = run(line, given, seconds=seconds, policy=limit_policy(memory_mb))
    except BadSource:
        return {}
    found = _PARAGRAPH.findall(out.decode()) if status == 0 else []
    if len(found) != len(wanted):
        return {}
    return {formula: text for formula, text in zip(wanted, found, strict=True) if text.startswith("<math")}


def extract_visible_text(mathml: str) -> str:
    """Return the visible text of a formula, as of a formula of JATS: `|N1∩N2|`, `n/2`."""
    return normalize_math(read_math(etree.fromstring(mathml, _PARSER)))


def remove_commands(tex: str) -> str:
    """Return a formula without its commands, for formulas without MathML."""
    return " ".join(_COMMANDS.sub("", tex).split())
