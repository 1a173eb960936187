"""Read the numbering of a source: theorem-like environments, counters, and the words printed by \\cref and \\autoref."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from s2orc_parse.latex.source import LatexSource
from s2orc_parse.latex.tex import find_calls, read_argument, read_option, read_value
from s2orc_parse.words import read_table, write_numeral

_CLASS_THEOREMS = {name: row for row in read_table("latex/words")["theorems"] for name in row["classes"].split()}
_THEOREM = re.compile(
    r"\\(?P<command>newtheorem|spnewtheorem|newmdtheoremenv|newsiamthm|newsiamremark|newdefinition|newproof|declaretheorem|newtcbtheorem)"
    r"(?P<star>\*?)(?![A-Za-z])"
)
_WITHIN = re.compile(
    r"\\(?:numberwithin|counterwithin)\*?\s*\{(\w+)\}\s*\{(\w+)\}|\\@addtoreset\s*\{(\w+)\}\s*\{(\w+)\}"
)
_WITHOUT = re.compile(r"\\counterwithout\*?\s*\{(\w+)\}\s*\{\w+\}")
_FORMAT = re.compile(
    r"\\(?:renewcommand|newcommand)\*?\s*\{?\s*\\the(\w+)\s*\}?\s*|\\[egx]?def\s*\\the([A-Za-z]+)\s*(?=\{)"
)
_AUTOREF = re.compile(
    r"\\(?:renewcommand|newcommand|providecommand)\*?\s*\{?\s*\\(\w+)autorefname\s*\}?\s*|\\[egx]?def\s*\\(\w+?)autorefname\s*(?=\{)"
)
_NUMERAL = re.compile(r"\\@?(arabic|alph|Alph|roman|Roman)\s*(?:\{\s*(\w+)\s*\}|\\c@(\w+))|\\the([A-Za-z]+)")
_COMMAND = re.compile(r"\\[A-Za-z@]+\*?|[{}$]")
_MAX_NUMBER_LENGTH = 60


@dataclass(frozen=True, slots=True)
class TheoremKind:
    """A theorem-like environment. It is not numbered if `counter` is None."""

    title: str
    counter: str | None
    is_proof: bool = False
    label_prefix: str | None = None  # for tcolorbox theorems, whose arguments are a note and a label


@dataclass(slots=True)
class Counting:
    """The numbering rules of a source."""

    kinds: dict[str, TheoremKind] = field(default_factory=dict)  # by environment
    within: dict[str, str] = field(default_factory=dict)  # counter → the counter that resets it
    formats: dict[str, str] = field(default_factory=dict)  # counter → TeX of its \the…
    # (cref, Cref or autoref, type) → singular and plural
    words: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)


def read_counting(source: LatexSource) -> Counting:
    """Return the numbering rules of a source. Definitions of the document override those of its class."""
    found = Counting({"IEEEproof": TheoremKind("Proof", None, is_proof=True)})
    names_of_class = (*list(source.packages)[:1], *({"jmlr2e"} & source.packages.keys()))
    row = next((_CLASS_THEOREMS[name] for name in names_of_class if name in _CLASS_THEOREMS), {"names": ""})
    names = row["names"].split()
    own = source.styles if not names else ""
    for name in names:
        counter = "theorem" if row["is_shared"] else name
        found.kinds[name] = TheoremKind(name.capitalize(), counter)
        if parent := row.get("within"):
            found.within[counter] = parent
    if names:
        found.kinds.setdefault("claim", TheoremKind("Claim", None))
    text = "\n".join((own, source.preamble, source.body))
    _read_theorems(text, found)
    for match in _WITHIN.finditer(text):
        counter, parent = (match[1], match[2]) if match[1] else (match[3], match[4])
        found.within[_find_counter(counter, found)] = parent
    for match in _WITHOUT.finditer(text):
        found.within.pop(_find_counter(match[1], found), None)
    for match in _FORMAT.finditer(source.preamble):
        if got := read_argument(source.preamble, match.end()):
            found.formats[match[1] or match[2]] = got[0]
    for call in find_calls(text, "crefname|Crefname", 3, options=0):
        kind, singular, several = (strip_tex(value) for value in call.arguments)
        found.words[call.name[:4], kind] = (singular, several)
    for match in _AUTOREF.finditer(text):
        if got := read_argument(text, match.end()):
            found.words["autoref", match[1] or match[2]] = (strip_tex(got[0]),) * 2
    return found


def format_number(template: str, values: dict[str, int], printed: dict[str, str]) -> str:
    """Return the number that TeX such as `\\thesection.\\arabic{theorem}` prints."""

    def numeral(match: re.Match[str]) -> str:
        if match[4]:
            return printed.get(match[4], "")
        return write_numeral(match[1], values.get(match[2] or match[3], 0))

    return strip_tex(_NUMERAL.sub(numeral, template))[:_MAX_NUMBER_LENGTH]


def strip_tex(tex: str) -> str:
    """Return short TeX, such as a label, without its commands."""
    return " ".join(_COMMAND.sub("", tex.replace("~", " ").replace("\\ ", " ").replace("\\,", "")).split())


def pluralize(word: str) -> str:
    """Return the plural of the name of a theorem-like environment."""
    return f"{word[:-1]}ies" if re.search(r"[^aeiou]y$", word) else f"{word}es" if word.endswith("s") else f"{word}s"


def _find_counter(name: str, found: Counting) -> str:
    """Return the counter of an environment, or the name itself if it is a counter."""
    kind = found.kinds.get(name)
    return kind.counter if kind and kind.counter else name


def _read_theorems(text: str, found: Counting) -> None:
    for match in _THEOREM.finditer(text):
        command, at = match["command"], match.end()
        options, at = read_option(text, at)
        got = read_argument(text, at)
        if got is None:
            continue
        names, at = [name.strip() for name in got[0].split(",")], got[1]
        if command == "declaretheorem":
            late, _ = read_option(text, at)
            for name in names:
                _read_declaretheorem(name, ",".join(filter(None, (options, late))), found)
            continue
        name = names[0]
        sibling, at = read_option(text, at)
        if (got := read_argument(text, at)) is None:
            continue
        title, at = strip_tex(got[0]), got[1]
        parent, _ = read_option(text, at)
        if command.startswith("newsiam") and sibling is None:
            sibling = "theorem"
        if command == "newtcbtheorem":
            _read_tcolorbox(name, title, options or "", text, at, found)
            continue
        if "#" in name or not name:
            continue
        if match["star"] and command != "newmdtheoremenv":
            found.kinds[name] = TheoremKind(title, None)
        elif command == "newproof":
            found.kinds[name] = TheoremKind(title, None, is_proof=True)
        else:
            counter = _find_counter(sibling.strip(), found) if sibling else name
            found.kinds[name] = TheoremKind(title, counter)
            if parent and not sibling:
                found.within[counter] = parent.strip()


def _read_tcolorbox(name: str, title: str, options: str, text: str, at: int, found: Counting) -> None:
    """Read one \\newtcbtheorem[options]{name}{title}{style}{prefix}."""
    style = read_argument(text, at)
    prefix = read_argument(text, style[1]) if style else None
    sibling, parent = read_value(options, "use counter from|use counter"), read_value(options, "number within")
    counter = _find_counter(sibling, found) if sibling else name
    is_numbered = not re.search(r"\bno counter\b", options)
    found.kinds[name] = TheoremKind(title, counter if is_numbered else None, label_prefix=prefix[0] if prefix else "")
    if parent and not sibling:
        found.within[counter] = parent


def _read_declaretheorem(name: str, options: str, found: Counting) -> None:
    """Read one \\declaretheorem of thmtools."""
    title = strip_tex(read_value(options, "name|title|heading") or name.capitalize())
    if re.search(r"\bnumbered\s*=\s*(?:no|false)|(?<![=\w])unnumbered", options):
        found.kinds[name] = TheoremKind(title, None)
    elif sibling := read_value(options, "numberlike|sibling|sharenumber|sharecounter|numberalike"):
        found.kinds[name] = TheoremKind(title, _find_counter(sibling, found))
    else:
        found.kinds[name] = TheoremKind(title, name)
        if parent := read_value(options, "numberwithin|within|parent"):
            found.within[name] = parent
    for key, command in (("refname", "cref"), ("Refname", "Cref")):
        if words := read_value(options, key):
            singular, _, several = words.partition(",")
            found.words[command, name] = (strip_tex(singular), strip_tex(several) or pluralize(strip_tex(singular)))
