"""Read TeX as readable text: commands in titles, abstracts and names, whose formulas remain TeX, and formulas."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html.entities import html5

from s2orc_parse.mathml import THIN, normalize_math
from s2orc_parse.words import read_table

_WORDS = read_table("bibliography/words")
_COMBINING: dict[str, str] = _WORDS["tex_accents"]
_LETTERS, _SYMBOLS = _WORDS["tex_letters"], _WORDS["tex_symbols"]
_SIGNS: dict[str, str] = {**_LETTERS, **_SYMBOLS}
_TRANSPARENT_COMMANDS, _SWITCHES = ("|".join(words.split()) for words in _WORDS["tex_commands"].values())
_MATH = re.compile(
    r"(?<!\\)(\$\$?)(?=[^\s$]|\s\S).{0,2000}?(?<!\\)\1|\\\((?:(?!\\\().){0,2000}?\\\)|\\\[(?:(?!\\\[).){0,2000}?\\\]",
    re.DOTALL,
)
_ACCENT = re.compile(
    r"""\\(?:(?P<sign>[`'^"~=.])\s*|(?P<name>[uvHcdbkrt])(?=\s*\{|\s+\\?[A-Za-z]|\\[ij](?![A-Za-z])|\s*[^\W\d_a-zA-Z])\s*)"""
    r"(?:\{\s*(?:\\(?P<dotless>[ij])|(?P<inner>[^\W\d_]{1,2}))\s*\}|\\(?P<bare_dotless>[ij])(?![A-Za-z])\s*|\{\\(?P<braced>[ij])\}"
    r"|(?P<bare>[^\W\d_]))"
)
_BRACED_ACCENT = re.compile(
    r"""\{(\\(?:[`'^"~=.]\s*|[uvHcdbkrt](?![A-Za-z])\s*)(?:\{[^{}]{1,6}\}|\\[ij]|[^\W\d_]))\s*\}"""
)
_LETTER = re.compile(
    rf"\{{\\(?P<braced>{'|'.join(_LETTERS)})\s*\}}|\\(?P<name>{'|'.join(_LETTERS)})(?![A-Za-z])(?:\{{\}}|\s+|)"
)
_SYMBOL = re.compile(
    rf"\{{\\(?P<braced>{'|'.join(_SYMBOLS)})\s*\}}|\\(?P<name>{'|'.join(_SYMBOLS)})(?![A-Za-z])(?:\{{\}}|\s*(?=\\)|)"
)
_STYLED = re.compile(
    rf"\\(?:{_TRANSPARENT_COMMANDS})\s*\{{([^{{}}]*)\}}|\{{\\(?:{_SWITCHES})(?![A-Za-z])\s*([^{{}}]*)\}}"
)
_LINK = re.compile(r"\\href\s*\{[^{}]*\}\s*\{([^{}]*)\}|\\textcolor\s*\{[^{}]*\}\s*\{([^{}]*)\}")
_COMMANDS_WITHOUT_TEXT = re.compile(
    r"[\s~]{0,3}\\(?:cite|citep|citet|citealp|citealt|parencite|footnotemark|label)\*?\s*(?:\[[^\[\]{}]*\]\s*){0,2}\{[^{}]*\}"
    r"|\\(?:footnote|thanks|vspace|hspace)\*?\s*\{[^{}]*\}"
)
_ESCAPED = re.compile(r"\\([&%#_{}])")
_SPACE = re.compile(r"\\(?:[ ,;:!/@\n]|\\(?:\[[^\[\]]*\])?)|(?<=\w)~(?=\w)|(?<=[.,)])~(?=\w)")
_GROUP = re.compile(r"(\\[A-Za-z]+\s{0,3})?\{([\w .:&+/'’-]*)\}")
_MAX_ROUNDS = 8  # of removing braces inside braces
_MAX_TEXT = 400_000  # characters of a text that are decoded; the rest is ignored
_FORMULA = "\ue000"
_HIDDEN_BRACES = {"{": "\ue001", "}": "\ue002"}  # escaped braces do not group


def decode_accents(text: str) -> str:
    """Replace TeX accents and letters by Unicode, as in names: `Erd\\H{o}s`, `{\\L}ukasz`, `P{\\'e}rez`."""
    if "\\" not in text:
        return text
    text = _BRACED_ACCENT.sub(r"\1", text)
    text = _LETTER.sub(_replace_name, _ACCENT.sub(_replace_accent, text))
    return unicodedata.normalize("NFC", text)


def decode_text(text: str) -> str:
    """Replace TeX accents, letters, symbols and commands for type by plain text, except in formulas."""
    text = text[:_MAX_TEXT]
    if "\\" not in text and "{" not in text and "~" not in text:
        return text
    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        formulas.append(match.group())
        return _FORMULA

    text = decode_accents(_MATH.sub(keep, text.replace(_FORMULA, "")))
    text = _SPACE.sub(
        " ", _ESCAPED.sub(lambda match: _HIDDEN_BRACES.get(match[1], match[1]), _COMMANDS_WITHOUT_TEXT.sub("", text))
    )
    for _ in range(_MAX_ROUNDS):
        before = text
        text = _STYLED.sub(_first_group, _LINK.sub(_first_group, _SYMBOL.sub(_replace_name, text)))
        # braces that protect words, but not those of an unknown command's argument
        text = _GROUP.sub(lambda match: match[0] if match[1] else match[2], text)
        if text == before:
            break
    text = text.replace("\ue001", "{").replace("\ue002", "}")
    kept = iter(formulas)
    return re.sub(_FORMULA, lambda _: next(kept), text)


def _replace_accent(match: re.Match[str]) -> str:
    base = next(found for found in match.groups()[2:] if found is not None)
    return base[0] + _COMBINING[match["sign"] or match["name"]] + base[1:]


def _replace_name(match: re.Match[str]) -> str:
    return _SIGNS[match["braced"] or match["name"]]


def _first_group(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group is not None), "")


_DOCUMENT = re.compile(r"\\begin\s*\{document\}(.*?)\\end\s*\{document\}", re.DOTALL)
_DELIMITED = re.compile(r"\A\s*(?:\${1,2}|\\\[|\\\()\s*(.*?)\s*(?:\${1,2}|\\\]|\\\))\s*\Z", re.DOTALL)
_TOKEN = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\{[lcr|@!.\s]*\})?|\\[A-Za-z]+\*?\s*|\\.|[^\\]", re.DOTALL)
_FORMULA_SYMBOLS, _FORMULA_ACCENTS = _WORDS["formula_symbols"], _WORDS["formula_accents"]
_FUNCTIONS, _FORMULA_WORDS, _FRACTIONS, _WITHOUT_TEXT = (
    frozenset(words.split()) for words in _WORDS["formula"].values()
)
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
    return unicodedata.normalize("NFC", normalize_math(text))


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
    elif name in _FORMULA_ACCENTS:
        inner = _read_argument(tokens, depth).strip()
        yield inner + _FORMULA_ACCENTS[name] if len(inner) == 1 else inner
    elif name in _FORMULA_WORDS:
        yield _read_argument(tokens, depth).replace(" ", _KEPT_SPACE)
    elif name in ("mathbb", "Bbb"):
        yield "".join(html5.get(f"{letter}opf;", letter) for letter in _read_argument(tokens, depth))
    elif name in _WITHOUT_TEXT:
        _read_argument(tokens, depth)
    elif name in _FUNCTIONS:
        yield f"{_KEPT_SPACE}{name}{_KEPT_SPACE}"
    elif name in (",", ":", ";", ">"):
        yield THIN
    elif before == "^" and name == "circ":
        yield "°"
    else:
        sign = _FORMULA_SYMBOLS.get(name)
        sign = html5.get(f"{name};", "") if sign is None and len(name) > 1 else sign or ""
        yield sign.replace(" ", _KEPT_SPACE)


def _read_argument(tokens: Iterator[str], depth: int) -> str:
    """Return the text of the next token or group."""
    for token in tokens:
        if not token.isspace():
            return "".join(_read_token(token, tokens, depth))
    return ""
