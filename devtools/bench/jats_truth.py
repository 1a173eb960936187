"""Compare parses with the publisher's JATS: `python -m devtools.bench.jats_truth [FOLDER]`.

The script converts every `<name>.tei.xml` of the folder and compares it with the publisher's JATS `<name>.nxml`, field
by field. It prints precision and recall of headings (titles, and complete paths), body paragraphs, reference entries
and their fields, and citations (how often each reference is cited; a range in the JATS also cites the references inside
it). Text that the extractor lost cannot be found, so the figures measure extractor and converter together.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from devtools.real_data import REAL_DATA
from s2orc_parse import tei

SKIPPED = ("xref", "fig", "table-wrap", "disp-formula", "fn", "table-wrap-group", "fig-group", "supplementary-material")
Json = dict[str, Any]


def letters(text: str) -> str:
    """Return the letters and digits without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text or "").casefold()
    return "".join(character for character in decomposed if character.isalnum())


def text_of(element: etree._Element, skipped: tuple[str, ...] = ()) -> str:
    """Return all text of an element except for the skipped elements."""

    def walk(e: etree._Element) -> Iterator[str]:
        yield e.text or ""
        for child in e:
            if isinstance(child.tag, str) and child.tag not in skipped:
                yield from walk(child)
            yield child.tail or ""

    return " ".join("".join(walk(element)).split())


def grams(text: str, n: int = 5) -> set[str]:
    plain = letters(text)
    return {plain[i : i + n] for i in range(max(1, len(plain) - n + 1))}


def found(pattern: str, text: str) -> str:
    """Return the first group of the first match, or an empty string."""
    match = re.search(pattern, text)
    return match.group(1) if match else ""


class ArticleTruth:
    """The content of a JATS article."""

    def __init__(self, path: Path) -> None:
        parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, recover=True)
        self.root = etree.parse(path, parser).getroot()
        body = self.root.find(".//body")
        self.paths: list[tuple[str, ...]] = []
        self.paragraphs: list[str] = []
        if body is not None:
            self._walk(body, ())
        self.references = [self._reference(ref) for ref in self.root.iterfind(".//ref-list/ref")]
        self.cited = self._cited(body) if body is not None else Counter()

    def _walk(self, element: etree._Element, path: tuple[str, ...]) -> None:
        for child in element:
            if child.tag == "sec":
                title = child.find("title")
                name = text_of(title) if title is not None else ""
                inner = (*path, name) if name else path
                if name:
                    self.paths.append(inner)
                self._walk(child, inner)
            elif child.tag == "p" and (text := text_of(child, SKIPPED[1:])):
                self.paragraphs.append(text)

    def _reference(self, ref: etree._Element) -> Json:
        def first(*names: str) -> str:
            return next((text_of(e) for name in names for e in ref.iter(name)), "")

        said = {
            "title": first("article-title", "chapter-title") or first("source"),
            "surname": first("surname", "collab"),
            "year": first("year")[:4],
            "venue": first("source"),
            "volume": first("volume"),
            "first page": first("fpage"),
            "authors": [text_of(e) for e in ref.iter("surname")],
        }
        if not said[
            "surname"
        ]:  # IUCr's are untagged: Haug, H. & Lin, J. (2003). <italic>J.</italic> <bold>46</bold>, 33
            whole = text_of(ref)
            names = whole.split("(")[0]
            said |= {
                "surname": names.split(",")[0],
                "year": found(r"\((\d{4})\)", whole),
                "venue": first("italic"),
                "volume": first("bold"),
                "first page": found(r"(\w+)(?:–\w+)?\.?$", whole),
                "authors": re.findall(r"(?:^|[,&]\s)([^\W\d_][^,&.]*[^\W\d_.])(?=,)", names),
            }
        return said | {
            "id": ref.get("id"),
            "ids": {ref.get("id"), *(e.get("id") for e in ref.iter() if isinstance(e.tag, str) and e.get("id"))},
        }

    def _cited(self, body: etree._Element) -> Counter[str]:
        ids = {i: at for at, ref in enumerate(self.references) for i in ref["ids"]}
        cited: Counter[str] = Counter()
        before: int | None = None
        gap = ""
        for event, element in etree.iterwalk(body, events=("start", "end")):
            if not isinstance(element.tag, str):
                continue
            if event == "start":
                if element.tag == "xref" and element.get("ref-type") == "bibr":
                    found = [ids[rid] for rid in (element.get("rid") or "").split() if rid in ids]
                    if found and before is not None and re.fullmatch(r"\s*[-‐–—]\s*", gap):
                        cited.update(str(at) for at in range(before + 1, found[0]))
                    cited.update(map(str, found))
                    before = found[-1] if found else None
                    gap = ""
                else:
                    gap += element.text or ""
            else:
                if element.tag == "xref" and element.get("ref-type") == "bibr":
                    gap = element.tail or ""
                else:
                    gap += element.tail or ""
        return cited


def pair_references(truth: list[Json], entries: dict[str, Json]) -> dict[str, int]:
    """Return key of an entry → position of its reference.

    They match by surname and year, or by similar title. Each reference matches once.
    """
    pairs: dict[str, int] = {}
    scored = []
    for key, entry in entries.items():
        mine = grams(str(entry["title"]) or str(entry["raw_text"]))
        name = letters(entry["authors"][0]["last"]) if entry["authors"] else ""
        for at, ref in enumerate(truth):
            theirs = grams(str(ref["title"]))
            score = len(mine & theirs) / max(1, min(len(mine), len(theirs)))
            score += 0.5 * (bool(name) and name == letters(str(ref["surname"]))) + 0.3 * (
                str(entry["year"]) == ref["year"]
            )
            if score > 0.75:
                scored.append((-score, key, at))
    taken: set[int] = set()
    for _, key, at in sorted(scored):
        if key not in pairs and at not in taken:
            pairs[key] = at
            taken.add(at)
    return pairs


def measure(tei_path: Path) -> dict[str, tuple[int, int, int]]:
    """Return (right, ours, theirs) for each field."""
    truth = ArticleTruth(tei_path.with_name(tei_path.name.replace(".tei.xml", ".nxml")))
    parse = tei.to_s2orc(tei.convert(tei_path.read_bytes(), file_sha1=""))
    result: dict[str, tuple[int, int, int]] = {}
    mine_paths = list(
        dict.fromkeys(tuple(p["section_path"].split("::")) for p in parse["body_text"] if p["section_path"])
    )
    mine_heads = Counter(letters(head) for head in {h for path in mine_paths for h in path})
    their_heads = Counter(letters(head) for head in {h for path in truth.paths for h in path})
    result["headings"] = ((mine_heads & their_heads).total(), mine_heads.total(), their_heads.total())
    theirs = {tuple(map(letters, path)) for path in truth.paths}
    mine = {tuple(map(letters, path)) for path in mine_paths}
    result["section paths"] = (len(mine & theirs), len(mine), len(theirs))

    own = [(grams(p["text"]), p["text"]) for p in parse["body_text"] if p["text"] != "EQUATION"]
    matched: set[int] = set()
    for paragraph in truth.paragraphs:
        wanted = grams(paragraph)
        scores = [
            (2 * len(wanted & have) / (len(wanted) + len(have)), -i)
            for i, (have, _) in enumerate(own)
            if i not in matched
        ]
        if scores and max(scores)[0] > 0.8:
            matched.add(-max(scores)[1])
    result["paragraphs"] = (len(matched), len(own), len(truth.paragraphs))
    everything = set().union(*(have for have, _ in own)) if own else set()
    wanted = set().union(*map(grams, truth.paragraphs)) if truth.paragraphs else set()
    result["body text (5-grams)"] = (len(everything & wanted), len(everything), len(wanted))

    pairs = pair_references(truth.references, parse["bib_entries"])
    result["references"] = (len(pairs), len(parse["bib_entries"]), len(truth.references))
    fields: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for key, at in pairs.items():
        entry, ref = parse["bib_entries"][key], truth.references[at]
        compared = {
            "title": (letters(entry["title"]), letters(ref["title"])),
            "surname": (letters(entry["authors"][0]["last"]) if entry["authors"] else "", letters(ref["surname"])),
            "all surnames": ([letters(a["last"]) for a in entry["authors"]], [letters(a) for a in ref["authors"]]),
            "year": (str(entry["year"] or ""), ref["year"]),
            "venue": (letters(entry["venue"]), letters(ref["venue"])),
            "volume": (letters(entry["volume"]), letters(ref["volume"])),
            "first page": (letters(entry["pages"].split("--")[0]), letters(ref["first page"])),
        }
        for name, (mine_, wanted_) in compared.items():
            counts = fields[f"  reference {name}"]
            counts[0] += bool(mine_) and mine_ == wanted_
            counts[1] += bool(mine_)
            counts[2] += bool(wanted_)
    result.update({name: (right, ours, wanted) for name, (right, ours, wanted) in fields.items()})

    cited: Counter[str] = Counter()
    unknown = 0
    for place in (*parse["body_text"], *parse["ref_entries"].values()):  # the JATS has its captions in the body
        for span in place["cite_spans"]:
            if span["ref_id"] in pairs:
                cited[str(pairs[span["ref_id"]])] += 1
            else:
                unknown += 1
    right = (cited & truth.cited).total()
    result["citations"] = (right, cited.total() + unknown, truth.cited.total())
    return result


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REAL_DATA / "pmc-with-tei"
    paths = sorted(folder.glob("*.tei.xml"))
    if not paths:
        sys.exit(f"{folder} has no pairs of .tei.xml and .nxml")
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for path in paths:
        print(path.name)
        for name, counts in measure(path).items():
            print(f"  {name:24} {line(*counts)}")
            totals[name] = [a + b for a, b in zip(totals[name], counts, strict=True)]
    print(f"all {len(paths)} papers")
    for name, (right, ours, theirs) in totals.items():
        print(f"  {name:24} {line(right, ours, theirs)}")


def line(right: int, ours: int, theirs: int) -> str:
    precision, recall = right / ours if ours else 1.0, right / theirs if theirs else 1.0
    return f"precision {precision:6.1%}  recall {recall:6.1%}   ({right} right of our {ours}, of their {theirs})"


if __name__ == "__main__":
    main()
