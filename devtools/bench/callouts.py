"""Measure the share of printed bracket numbers that become citations: `python -m devtools.bench.callouts [FOLDER]`.

The script counts from the printed text, independently of the converter: it reads the TEI's paragraphs and finds the
numbers in square brackets with its own code. Number n is entry n of the bibliography, or the entry with the printed
label n if the raw references print labels. Two questions per paper:

- coverage: how many of the numbers that the body prints and the bibliography contains are inside a cite_span with the
  right ref_id?
- false: how many cite_spans mark something that is not a citation, or have the ref_id of another entry than the printed
  number?

Brackets that the scanner takes for mathematics (`[0, 1]`, after `=` or `∈`, a superscript) do not count as citations.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from devtools.real_data import REAL_DATA
from s2orc_parse import tei

T = "{http://www.tei-c.org/ns/1.0}"
DASHES = "-‐‑‒–—−"


def printed_text(element: ElementTree.Element) -> str:
    """Return the text of a paragraph without formulas, notes and floats, with normalized white space."""

    def walk(e: ElementTree.Element) -> str:
        if e.tag in (T + "formula", T + "note", T + "figure", T + "table"):
            inner = ""
        else:
            inner = (e.text or "") + "".join(walk(c) + (c.tail or "") for c in e)
        return inner

    return " ".join(walk(element).split())


def scan(text: str) -> list[tuple[int, int, int, bool]]:
    """Return (start, end of the digits, number, is mathematics) of every number in square brackets.

    A range counts as all its numbers."""
    found: list[tuple[int, int, int, bool]] = []
    last_close, last_number = -1, None
    for match in re.finditer(r"\[([^\[\]]{1,150})(?:\]|(?=\[))", text):
        inner, offset = match.group(1), match.start(1)
        words = re.sub(r"^\s*(see|e\.g\.|cf\.)[, ]*", lambda m: " " * len(m.group()), inner)
        if not re.match(r"\s*\d", words):
            last_close = -1
            continue
        if locator := re.search(
            r"[,;:]?\s*[A-Za-z§¶].*$", words
        ):  # [20, Ch. 26]: the locator after a word is not a citation
            words = words[: locator.start()]
        if not re.fullmatch(rf"[\d\s,;&{DASHES}]+", words):
            last_close = -1
            continue
        before = text[: match.start()].rstrip()
        tight = match.start() > 0 and not text[match.start() - 1].isspace()
        maths = (
            before[-1:] in tuple("=∈×+<>≤≥≈∼~^{*/|−")
            or (tight and bool(re.search(r"(?:^|[\s(])\w$", before)))
            or bool(re.search(r"(?i)(interval|range|between|values in|scale)\s*(of|from)?$", before))
            or bool(re.search(r"(?i)\b(eqs?|eqn|equations?|figs?|figures?|tables?|sec|sections?)\.?$", before))
            or any(int(n) == 0 for n in re.findall(r"\d+", words))
        )
        numbers = [(m.start() + offset, m.end() + offset, int(m.group())) for m in re.finditer(r"\d+", words)]
        if (
            last_close >= 0
            and last_number is not None
            and re.fullmatch(rf"\s*[{DASHES}]\s*", text[last_close : match.start()])
        ):
            found += [(*numbers[0][:2], n, maths) for n in range(last_number + 1, numbers[0][2])]  # [3]-[5]
        for i, (start, end, number) in enumerate(numbers):
            if i and re.fullmatch(rf"\s*[{DASHES}]\s*", text[numbers[i - 1][1] : start]):
                found += [(start, end, n, maths) for n in range(numbers[i - 1][2] + 1, number)]
            found.append((start, end, number, maths))
        last_close, last_number = match.end(), numbers[-1][2] if len(numbers) == 1 else None
    return found


def entry_of_number(entries: dict[str, dict[str, object]]) -> dict[int, str]:
    """Return number → key of its entry: by the label that begins the raw reference, otherwise by order."""
    by_order = {i + 1: key for i, key in enumerate(entries)}
    by_label = {}
    for key, entry in entries.items():
        if match := re.match(r"\s*\[(\d+)\]", str(entry["raw_text"])):
            by_label[int(match.group(1))] = key
    return by_label if len(by_label) == len(entries) else by_order


def measure(path: Path) -> dict[str, Any]:
    """Return the counts of one paper."""
    parse = tei.to_s2orc(tei.convert(path.read_bytes(), file_sha1=path.name[:40]))
    root = ElementTree.parse(path)
    body = root.find(f".//{T}body")
    assert body is not None
    noted = {p for note in body.iter(f"{T}note") for p in note.iter(f"{T}p")}
    texts = [printed_text(p) for p in body.iter(f"{T}p") if p not in noted]
    paragraphs = [p for p in parse["body_text"] if p["text"] != "EQUATION"]
    printed = [" ".join(p["text"].replace("EQUATION", "").split()) for p in paragraphs]
    assert printed == [t for t in texts if t], "the parse is not the printed text"
    number_of = entry_of_number(parse["bib_entries"])
    key_numbers = {key: number for number, key in number_of.items()}
    numbers = hit = spans = false = excluded = 0
    missed, wrong = [], []
    for paragraph in paragraphs:
        text = paragraph["text"]
        scanned = scan(text)
        for start, end, number, maths in scanned:
            if maths or number not in number_of:
                excluded += maths and number in number_of
                continue
            numbers += 1
            if any(
                s["start"] <= start and end <= s["end"] and s["ref_id"] == number_of[number]
                for s in paragraph["cite_spans"]
            ):
                hit += 1
            else:
                missed.append(f"{number} in …{text[max(0, start - 30) : end + 15]}…")
        for s in paragraph["cite_spans"]:
            spans += 1
            inside = {n for start, end, n, maths in scanned if s["start"] <= start < s["end"] and not maths}
            printed_number = key_numbers.get(s["ref_id"])
            authors = (parse["bib_entries"].get(s["ref_id"]) or {}).get("authors") or []
            by_name = any(a["last"] and a["last"].casefold() in s["text"].casefold() for a in authors)
            if printed_number not in inside and not by_name:
                false += 1
                wrong.append(f"{s['text']!r} → {s['ref_id']} in …{text[max(0, s['start'] - 30) : s['end'] + 15]}…")
    return {
        "paper": path.name[:8], "style": parse["citation_style"], "entries": len(number_of), "numbers": numbers,
        "covered": hit, "spans": spans, "false": false, "as maths": excluded, "missed": missed, "wrong": wrong,
    }  # fmt: skip


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REAL_DATA / "pairs"
    if not folder.is_dir():
        sys.exit(f"{folder} is not there: give a folder with TEIs and MANIFEST.csv")
    with (folder / "MANIFEST.csv").open(newline="") as rows:
        styles = {row["sha1"]: row["citation_style"] for row in csv.DictReader(rows)}
    rows_ = [measure(folder / f"{sha1}.tei.xml") for sha1, style in styles.items() if style == "bracket"]
    head = ("paper", "style", "entries", "numbers", "covered", "spans", "false", "as maths")
    print("".join(f"{name:>10}" for name in head), "  coverage   false")
    for row in rows_:
        shares = f"{row['covered'] / max(1, row['numbers']):9.1%} {row['false'] / max(1, row['spans']):7.1%}"
        print("".join(f"{row[name]!s:>10}" for name in head), shares)
    totals = {name: sum(row[name] for row in rows_) for name in ("numbers", "covered", "spans", "false")}
    print(
        f"total: {totals['covered']} of {totals['numbers']} numbers covered = {totals['covered'] / totals['numbers']:.2%} (asked: 97 %); "
        f"{totals['false']} of {totals['spans']} spans false = {totals['false'] / totals['spans']:.2%} (allowed: 1 %)"
    )
    for row in rows_:
        for kind in ("missed", "wrong"):
            for line in row[kind]:
                print(f"  {row['paper']} {kind}: {line}")


if __name__ == "__main__":
    main()
