"""Count faults that a reader of the full texts sees, by kind of source: `python -m devtools.bench.reading`.

The files of REAL_DATA are divided by publisher or repository: half of the sources were read when the rules were written,
the other half is held out. The columns:

  cut          paragraphs that begin in the middle of a sentence after a display formula, or with a formula that a sentence needs
  formulas     paragraphs without a letter or digit outside formulas
  short        paragraphs with fewer than five words
  exponents    spaces before an exponent: `mL −1`, `10 −3`
  marks        spaces before a comma, a full stop or a closing bracket
  signs        signs and spaces that the paper prints otherwise: `60 ◦C`, `× 10 8`, `mg/ day`, `2018;Smith`, `over-or under-`
  feet         running heads and feet in paragraphs: `Page 3 of 11`, `FOR PEER REVIEW`
  joined       words that the publisher's XML writes with a hyphen only
  divided      words with a hyphen that the publisher's XML writes without it only; `word- word` that the text also has joined
  glued        headings of the publisher's XML that begin a paragraph
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
from collections import Counter
from pathlib import Path

from devtools.bench.extraction import TIMEOUT
from devtools.measure import letters, read_xml
from devtools.real_data import REAL_DATA, require
from pdf2tei.paper import extract
from s2orc_parse import jats, latex, tei
from s2orc_parse.outcomes import BadArticle
from s2orc_parse.parse_model import EQUATION, Paragraph, Parse

COLUMNS = ("cut", "formulas", "short", "exponents", "marks", "signs", "feet", "joined", "divided", "glued")
_PATTERNS = {
    "exponents": re.compile(r"(?<!\w)(?:[kmcdµμn]?[gLlm]|[μµ]?mol|min|h|s|ha|Pa|K|10)\s[−–-]\s?[1-9](?![\d.]*\w)"),
    "marks": re.compile(r"\w (?:[,.](?=\s|$)|[)\]])"),
    "signs": re.compile(
        r"\d\s?[∘◦](?:\s?[CF]\b|(?!\s?\w))|[×·]\s?10 [1-9]\d?(?![\d.]*\d)|[\w/]/ (?=\w)|\d;(?=[A-Z][a-z])"
        r"|[a-z]-(?:and|or) [a-z]+-[a-z]"
    ),
    "feet": re.compile(
        r"\b[Pp]age \d+ of \d+|FOR PEER REVIEW|\b\d+ of \d+\Z|Downloaded (?:from|by) http|[Cc]ontinued on next"
    ),
}
_ENDED = re.compile(r"[.!?:;][)\]\"'”’]*$")
_SPLIT = re.compile(r"(?<![\w-])([^\W\d_]{2,})- ([a-z]{2,})(?![\w-])")
_WORD, _COMPOUND = re.compile(r"[^\W\d_]+"), re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:-[^\W\d_]+)+")


def is_held_out(source: str) -> bool:
    """Return whether a source is held out, by a hash of its first word."""
    return hashlib.sha1(source.casefold().split()[0].encode()).digest()[0] % 2 == 1


def find_source(path: Path) -> str:
    """Return the publisher of a paper, or the repository of a TEI file."""
    article = path.with_name(path.name.partition(".")[0] + ".nxml")
    if path.parent.name == "latex":
        return "arxiv.org"
    if path.parent.name == "pairs":
        with (path.parent / "MANIFEST.csv").open(newline="", encoding="utf-8") as file:
            return next(row["source_repo"] for row in csv.DictReader(file) if path.name.startswith(row["sha1"]))
    text = (path if path.suffix != ".pdf" and not article.exists() else article).read_text("utf-8", "replace")
    found = re.search("<publisher-name>([^<]*)", text)
    return found[1] if found else "unknown"


def count_faults(parse: Parse, gold: Path | None) -> Counter[str]:
    """Count the faults of one text; a publisher's XML, if it exists, has the right words and headings."""
    counts = Counter(papers=1, paragraphs=len(parse.body_text))
    before: Paragraph | None = None
    for paragraph in parse.body_text:
        text = paragraph.text
        words = text.replace(EQUATION, " ").split()
        counts["formulas"] += not any(map(str.isalnum, "".join(words)))
        counts["short"] += 0 < len(words) < 5
        is_cut = before is not None and before.section == paragraph.section and EQUATION in (before.text[-8:], text[:8])
        is_inside = before is not None and not _ENDED.search(before.text) and text.startswith(EQUATION)
        counts["cut"] += bool(is_cut and (text[:1].islower() or is_inside))
        counts.update({name: len(pattern.findall(text)) for name, pattern in _PATTERNS.items()})
        before = paragraph
    body = " ".join(paragraph.text for paragraph in parse.body_text).casefold()
    known = set(_WORD.findall(body))
    counts["divided"] = sum(left + right in known for left, right in _SPLIT.findall(body))
    if gold and gold.exists():
        root = read_xml(gold.read_bytes())
        printed = " ".join(root.itertext()).casefold().replace("\u2010", "-")
        plain, compounds = set(_WORD.findall(printed)), set(_COMPOUND.findall(printed))
        bare = {compound.replace("-", "") for compound in compounds} - plain
        counts["joined"] = sum(word in bare for word in set(_WORD.findall(body)))
        counts["divided"] += sum(c.replace("-", "") in plain for c in set(_COMPOUND.findall(body)) - compounds)
        heads = {letters(head).lstrip("0123456789") for p in parse.body_text for head in p.section.split("::")}
        found = ("".join(title.itertext()) for title in root.findall(".//body//sec/title"))
        titles = {letters(title).lstrip("0123456789") for title in found} - heads
        starts = [letters(paragraph.text[:300]).lstrip("0123456789") for paragraph in parse.body_text]
        counts["glued"] = sum(len(title) > 5 and any(start.startswith(title) for start in starts) for title in titles)
    return counts


def read_parse(kind: str, path: Path) -> Parse | None:
    """Return the parse of one file; None if it has no full text."""
    content = (extract(path, timeout=TIMEOUT) or b"<TEI/>") if kind == "PDF" else path.read_bytes()
    try:
        if kind in ("PDF", "TEI"):
            return tei.convert(content, file_sha1="")
        return jats.convert(content, sha1="") if kind == "JATS" else latex.convert(content, sha1="")
    except BadArticle:
        return None


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    require()
    globs = {
        "PDF": ("pmc-pdf/*.pdf", "pairs/*.pdf", "cases/layout/*.pdf"), "TEI": ("pairs/*.tei.xml", "pmc-with-tei/*.tei.xml"),
        "JATS": ("jats/**/*.xml", "jats/*.nxml", "pmc-pdf/*.nxml", "pmc-with-tei/*.nxml", "cases/layout/*.nxml"),
        "LaTeX": ("latex/*.gz",),
    }  # fmt: skip
    print("| source | papers | paragraphs | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 3) + "|")
    for kind, patterns in globs.items():
        total = {False: Counter[str](), True: Counter[str]()}
        for path in sorted(path for pattern in patterns for path in REAL_DATA.glob(pattern)):
            if parse := read_parse(kind, path):
                gold = path.with_name(f"{path.name.partition('.')[0]}.nxml") if kind in ("PDF", "TEI") else None
                total[is_held_out(find_source(path))] += count_faults(parse, gold)
        for held_out, counts in total.items():
            cells = [counts[name] for name in ("papers", "paragraphs", *COLUMNS)]
            print(f"| {kind}, {'held out' if held_out else 'read'} | " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
