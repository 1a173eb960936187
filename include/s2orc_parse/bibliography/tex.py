"""Read TeX commands in titles, abstracts and names as plain text. Formulas keep their TeX."""

from __future__ import annotations

import re
import unicodedata

from s2orc_parse.words import read_table

_WORDS = read_table("bibliography/words")
_COMBINING: dict[str, str] = _WORDS["tex_accents"]
_LETTERS, _SYMBOLS = _WORDS["tex_letters"], _WORDS["tex_symbols"]
_SIGNS: dict[str, str] = {**_LETTERS, **_SYMBOLS}
_TRANSPARENT_COMMANDS, _SWITCHES = ("|".join(words.split()) for words in _WORDS["tex_commands"].values())
_MATH = re.compile(r"(?<!\\)(\$\$?)(?=[^\s$]|\s\S).{0,2000}?(?<!\\)\1|\\\(.{0,2000}?\\\)|\\\[.{0,2000}?\\\]", re.DOTALL)
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
_FORMULA = "\ue000"


def decode_accents(text: str) -> str:
    """Replace TeX accents and letters by Unicode, as in names: `Erd\\H{o}s`, `{\\L}ukasz`, `P{\\'e}rez`."""
    if "\\" not in text:
        return text
    text = _BRACED_ACCENT.sub(r"\1", text)
    text = _LETTER.sub(_replace_name, _ACCENT.sub(_replace_accent, text))
    return unicodedata.normalize("NFC", text)


def decode_text(text: str) -> str:
    """Replace TeX accents, letters, symbols and commands for type by plain text, except in formulas."""
    if "\\" not in text and "{" not in text and "~" not in text:
        return text
    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        formulas.append(match.group())
        return _FORMULA

    text = decode_accents(_MATH.sub(keep, text.replace(_FORMULA, "")))
    text = _SPACE.sub(" ", _ESCAPED.sub(_hide_brace, _COMMANDS_WITHOUT_TEXT.sub("", text)))
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
    base = next(
        found for name in ("dotless", "inner", "bare_dotless", "braced", "bare") if (found := match[name]) is not None
    )
    return base[0] + _COMBINING[match["sign"] or match["name"]] + base[1:]


def _replace_name(match: re.Match[str]) -> str:
    return _SIGNS[match["braced"] or match["name"]]


def _first_group(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group is not None), "")


def _hide_brace(match: re.Match[str]) -> str:
    """Replace an escaped brace temporarily, so that the removal of grouping braces ignores it."""
    return {"{": "\ue001", "}": "\ue002"}.get(match.group(1), match.group(1))
