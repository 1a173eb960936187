"""Parse author lists in eleven forms, compared with nameparser.

The questions: are all authors found, are their surnames right, is no given name lost?

The lists are real, from sources that separate surname and given names: `er/dedupe`, and the lists of `titles_dev`
printed "Last, First". From the rest of `titles_dev` come lists in which each name has two words, apart from initials
between them. Each list is written in each form and parsed. nameparser parses single names, so it gets each list already
split.

    python -m devtools.bench.names [--lists 3000] [--seed 1] [--show FORM]
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import re
from collections.abc import Callable, Iterator

from nameparser import HumanName

from devtools.bench.link_table import row
from devtools.real_data import REAL_DATA
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.names import parse_authors

Name = tuple[str, str]
"""(surname, given names)"""

_GROUP = re.compile(
    r"(?i)group|study|investig|consort|committee|trial|society|agency|network|team|panel|program|regimen|medicine|federation|association|inc$|unit"
)
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PLAIN = re.compile(r"[^\W\d_][^\s.]+(?: [^\W\d_]\.)* [^\W\d_][^\s.]+")
_PARTICLE = re.compile(r"(?i).*\s(?:van|von|de|den|der|del|della|di|da|dos|du|la|le|i|v)$")


def dedupe_lists() -> Iterator[list[Name]]:
    """Yield the author lists of the review sets, which are BibTeX."""
    for path in sorted((REAL_DATA / "er" / "dedupe").glob("*/records_pre_merged.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                names = [tuple(part.strip() for part in name.split(",")) for name in row["author"].split(" and ")]
                if all(len(name) == 2 and all(name) for name in names):
                    yield [(name[0], name[1]) for name in names]


def title_lists() -> Iterator[list[Name]]:
    """Yield the author lists of `titles_dev`."""
    with gzip.open(REAL_DATA / "titles" / "titles_dev.tsv.gz", "rt", encoding="utf-8") as file:
        for line in file:
            names = [name.strip() for name in line.rstrip("\n").split("\t")[5].split(";")]
            if len(names) > 1 and all(name.count(",") == 1 for name in names):
                pairs = [tuple(part.strip() for part in name.split(",")) for name in names]
                yield [(pair[0], pair[1]) for pair in pairs]
            elif all(_PLAIN.fullmatch(name) for name in names):
                yield [(name.rsplit(" ", 1)[1], name.rsplit(" ", 1)[0]) for name in names]


_WHOLE = re.compile(r"[^\W\d_][^\d_{}\\$()@\"…]*")
_SURNAME = re.compile(r"(?:[^\W\d_][^\s.]+\s?)+")
_GENERATION = re.compile(r"(?i)\b(?:jr|sr|i{2,3}|iv)\b")


def usable(names: list[Name]) -> bool:
    """Return whether the list is usable: people with letters only, a surname of two letters or more and a given name.

    Groups have a separate test.
    """
    return 0 < len(names) <= 40 and all(
        _SURNAME.fullmatch(surname)
        and given
        and not _GROUP.search(f"{surname} {given}")
        and not _GENERATION.search(f"{surname} {given}")
        and all(_WHOLE.fullmatch(part) and not _PARTICLE.match(part) for part in (surname, given))
        for surname, given in names
    )


def initials(given: str, hyphens: bool) -> list[str]:
    """Return the initials of given names; with `hyphens`, J.-P. remains joined."""
    found: list[str] = []
    for word in re.split(r"[\s.]+(?![-‐])", given):
        if word.isupper() and len(word) <= 3 and word.isalpha():
            found.extend(word)
            continue
        parts = [part.strip(".")[0].upper() for part in re.split(r"[-‐.]+", word) if part.strip(".")]
        found.extend([".-".join(parts)] if hyphens and "-" in word else parts)
    return [initial for initial in found if initial]


def dotted(given: str, space: str) -> str:
    return space.join(f"{initial}." for initial in initials(given, True))


def _listed(names: list[str], last: str) -> str:
    if len(names) < 3:
        return last.lstrip(",").join(names) if len(names) == 2 else names[0]
    return ", ".join(names[:-1]) + last + names[-1]


def bibtex(names: list[Name]) -> str:
    return " and ".join(f"{s}, {g}" for s, g in names)


def bibtex_bare(names: list[Name]) -> str:
    return " and ".join(f"{s}, {' '.join(initials(g, False))}" for s, g in names)


def semicolons(names: list[Name]) -> str:
    return "; ".join(f"{s}, {g}" for s, g in names)


def natural_and(names: list[Name]) -> str:
    return " and ".join(f"{g} {s}" for s, g in names)


def natural(names: list[Name]) -> str:
    return _listed([f"{g} {s}" for s, g in names], ", and ")


def ieee(names: list[Name]) -> str:
    return _listed([f"{dotted(g, ' ')} {s}" for s, g in names], " and ")


def apa(names: list[Name]) -> str:
    return _listed([f"{s}, {dotted(g, ' ')}" for s, g in names], ", & ").replace(". & ", "., & ")


def vancouver(names: list[Name]) -> str:
    return ", ".join(f"{s} {''.join(initials(g, False))[:3]}" for s, g in names)


def last_dotted(names: list[Name]) -> str:
    return ", ".join(f"{s} {dotted(g, '')}" for s, g in names)


def last_comma_dotted(names: list[Name]) -> str:
    return ", ".join(f"{s}, {dotted(g, '')}" for s, g in names)


def chicago(names: list[Name]) -> str:
    return _listed([f"{names[0][0]}, {names[0][1]}", *(f"{g} {s}" for s, g in names[1:])], ", and ").replace("  ", " ")


FORMS: tuple[Callable[[list[Name]], str], ...] = (
    bibtex, bibtex_bare, semicolons, natural_and, natural, ieee, apa, vancouver, last_dotted, last_comma_dotted, chicago,
)  # fmt: skip
FULL = {bibtex, semicolons, natural_and, natural, chicago}
CUT = {vancouver}
"""At most three initials are written."""


def letters(text: str) -> str:
    return "".join(_LETTERS.findall(text)).casefold()


def given_kept(form: Callable[[list[Name]], str], given: str, found: tuple[str, ...]) -> bool:
    """Return whether all given names (or all initials that the form has) were found."""
    if form in FULL:
        return letters("".join(found)).startswith(letters(given))
    expected = "".join(initials(given, False))[: 3 if form in CUT else None]
    return letters("".join(initials(" ".join(found), False))) == letters(expected)


def named(author: Author) -> tuple[str, tuple[str, ...]]:
    return " ".join(filter(None, (author.last, author.suffix))), tuple(filter(None, (author.first, *author.middle)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", default="")
    options = parser.parse_args()
    rows(options.lists, options.seed, options.show)


def rows(count: int = 3000, seed: int = 1, show: str = "") -> None:
    """Print every form as a line, and add rows to the table."""
    chosen = random.Random(seed)
    sources = [[names for names in source() if usable(names)] for source in (dedupe_lists, title_lists)]
    lists = [names for source in sources for names in chosen.sample(source, min(len(source), count // 2))]
    print(f"{len(lists)} lists, {sum(map(len, lists))} names; share of lists right; nameparser: names cut apart for it")
    print(f"{'form':<18} {'number':>7} {'surnames':>9} {'given':>7}   nameparser: {'surnames':>8} {'given':>7}")
    for form in FORMS:
        number = surnames = kept = their_surnames = their_given = 0
        for names in lists:
            text = form(names)
            found = [named(author) for author in parse_authors(text)]
            same = len(found) == len(names)
            right = same and all(letters(s) == letters(f) for (s, _), (f, _) in zip(names, found, strict=True))
            given = same and all(given_kept(form, g, f) for (_, g), (_, f) in zip(names, found, strict=True))
            number, surnames, kept = number + same, surnames + right, kept + given
            if show == form.__name__ and not (right and given):
                print("   ", "NUMBER" if not same else "surname" if not right else "given", text, "\n       ", found)
            theirs = [HumanName(form([name])) for name in names]
            their_surnames += all(letters(s) == letters(t.last) for (s, _), t in zip(names, theirs, strict=True))
            their_given += all(
                given_kept(form, g, (t.first, t.middle)) for (_, g), t in zip(names, theirs, strict=True)
            )
        n = len(lists) / 100
        print(
            f"{form.__name__:<18} {number / n:7.2f} {surnames / n:9.2f} {kept / n:7.2f}"
            f"   {'':11} {their_surnames / n:8.2f} {their_given / n:7.2f}"
        )
        for what, share, asked in (("number", number, 99.5), ("surnames", surnames, 99.0), ("given names", kept, 99.5)):
            row(f"names, {form.__name__}: {what} right", f"{share / n:.2f} %", f"≥ {asked}", "", share / n >= asked)


if __name__ == "__main__":
    main()
