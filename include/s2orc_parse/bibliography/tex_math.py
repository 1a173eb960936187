"""Read formulas in TeX as readable text: `\\gamma_2 \\leq \\frac{a}{b}` becomes γ2 ≤ a/b."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html.entities import html5

from s2orc_parse.words import read_table

_DOCUMENT = re.compile(r"\\begin\s*\{document\}(.*?)\\end\s*\{document\}", re.DOTALL)
_DELIMITED = re.compile(r"\A\s*(?:\${1,2}|\\\[|\\\()\s*(.*?)\s*(?:\${1,2}|\\\]|\\\))\s*\Z", re.DOTALL)
_TOKEN = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\{[lcr|@!.\s]*\})?|\\[A-Za-z]+\*?\s*|\\.|[^\\]", re.DOTALL)
_TABLE = read_table("bibliography/words")
_SYMBOLS, _ACCENTS = _TABLE["formula_symbols"], _TABLE["formula_accents"]
_FUNCTIONS, _WORDS, _FRACTIONS, _WITHOUT_TEXT = (frozenset(words.split()) for words in _TABLE["formula"].values())
_RELATIONS = re.compile(r"(?<=\S)\s*(:=|[=<>≤≥≪≫≠≡≈∼≃≅∝∈∉⊂⊆⊃⊇→←⇒⇔↔↦⟹⩽⩾≲≳])(?!\ue021)\s*(?=\S)")
_KEPT_SPACE, _IN_SCRIPT = "\ue020", "\ue021"  # a visible space; after a relation in a script, which has no spaces
_MAX_DEPTH = 40


def extract_tex(text: str) -> str:
    """Return the TeX of a formula without dollars and without the document that PMC and Springer add."""
    if match := _DOCUMENT.search(text):
        text = match.group(1)
    match = _DELIMITED.match(text)
    return " ".join((match.group(1) if match else text).split())


def read_formula_text(tex: str) -> str:
    """Return the visible characters of a formula: signs for commands, a slash for fractions, no marks of scripts.

    Relations have spaces. Unknown commands are omitted, and their arguments are retained.
    """
    tokens = (match.group() for match in _TOKEN.finditer(extract_tex(tex)))
    text = "".join(_read_tokens(tokens, 0))
    text = re.sub(r",\s+", f",{_KEPT_SPACE}", text).replace(" ", "")
    text = _RELATIONS.sub(r" \1 ", text).replace(_IN_SCRIPT, "").replace(_KEPT_SPACE, " ")
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _read_tokens(tokens: Iterator[str], depth: int) -> Iterator[str]:
    """Yield the text of the tokens up to the end of the group."""
    before = ""
    for token in tokens:
        if token == "}":
            return
        yield from _read_token(token, tokens, depth, before)
        before = token


def _read_token(token: str, tokens: Iterator[str], depth: int, before: str = "") -> Iterator[str]:
    if token == "{":
        if depth < _MAX_DEPTH:
            inner = "".join(_read_tokens(tokens, depth + 1))
            if before in ("^", "_"):
                inner = re.sub(r"([=<>≤≥≠→∈])", rf"\1{_IN_SCRIPT}", inner)
            yield "°" if before == "^" and inner.strip() == "∘" else inner
    elif token[0] != "\\":
        if token not in "^_$&":
            yield _KEPT_SPACE if token == "~" else token
        elif token == "&":
            yield _KEPT_SPACE
    elif token.startswith(("\\begin", "\\end")):
        yield _KEPT_SPACE
    else:
        yield from _read_command(token[1:].strip().rstrip("*") or token[1:], tokens, depth, before)


def _read_command(name: str, tokens: Iterator[str], depth: int, before: str) -> Iterator[str]:
    if name in _FRACTIONS:
        parts = [_read_argument(tokens, depth).strip() for _ in range(2)]
        yield "/".join(part if len(part) < 2 or part.isalnum() else f"({part})" for part in parts)
    elif name == "sqrt":
        inner = _read_argument(tokens, depth).strip()
        yield f"√{inner}" if len(inner) == 1 else f"√({inner})"
    elif name in _ACCENTS:
        inner = _read_argument(tokens, depth).strip()
        yield inner + _ACCENTS[name] if len(inner) == 1 else inner
    elif name in _WORDS:
        yield _read_argument(tokens, depth).replace(" ", _KEPT_SPACE)
    elif name in ("mathbb", "Bbb"):
        yield "".join(html5.get(f"{letter}opf;", letter) for letter in _read_argument(tokens, depth))
    elif name in _WITHOUT_TEXT:
        _read_argument(tokens, depth)
    elif name in _FUNCTIONS:
        yield f"{_KEPT_SPACE}{name}{_KEPT_SPACE}"
    elif before == "^" and name == "circ":
        yield "°"
    else:
        sign = _SYMBOLS.get(name)
        sign = html5.get(f"{name};", "") if sign is None and len(name) > 1 else sign or ""
        yield sign.replace(" ", _KEPT_SPACE)


def _read_argument(tokens: Iterator[str], depth: int) -> str:
    """Return the text of the next token or group."""
    for token in tokens:
        if not token.isspace():
            return "".join(_read_token(token, tokens, depth))
    return ""
