"""Typeset real articles with the LaTeX classes of publishers, each with its truth as TEI.

The source is JATS; the classes are acmart, IEEEtran, REVTeX, elsarticle and others.

    python -m devtools.bench.typeset_latex OUT [FOLDER of JATS] [ARTICLES]      then: python -m devtools.bench.extract
    OUT

Needs pdflatex with the classes of TeX Live (Debian: texlive-publishers, texlive-latex-extra,
texlive-fonts-recommended). Characters that these fonts lack are left out of both the text and its truth.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path

from devtools.bench.typeset import DEFAULT, Layout, TypesetArticle, paragraph, references, truth

_ESCAPED = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
_KEPT = str.maketrans(
    {
        "–": "–",
        "—": "—",
        "‘": "‘",
        "’": "’",
        "“": "“",
        "”": "”",
        "‐": "-",
        "‑": "-",
        "−": "-",
        "\u00a0": " ",
        "\u2009": " ",
    }
)


def plain(text: str) -> str:
    """Return a text of characters that every Latin font of TeX has."""
    kept = unicodedata.normalize("NFC", text).translate(_KEPT)
    return "".join(c for c in kept if (c < "\u017f" and c not in "\u00ad") or c in "–—‘’“”")


def tex(text: str) -> str:
    """Return a text as LaTeX source."""
    return re.sub(r"\s+", " ", plain(text)).translate(_ESCAPED)


def names(a: TypesetArticle) -> list[str]:
    return [tex(f"{given} {family}") for given, family in a.authors]


def place(a: TypesetArticle, i: int) -> str:
    return tex(a.affiliations[i % len(a.affiliations)])


def title(a: TypesetArticle) -> str:
    return rf"\title{{{tex(a.title)}}}"


def abstract(a: TypesetArticle) -> str:
    return rf"\begin{{abstract}}{tex(a.abstract)}\end{{abstract}}"


def addressed(a: TypesetArticle, command: str = "affiliation") -> str:
    """Return each author, followed by their affiliation."""
    return "".join(rf"\author{{{name}}}\{command}{{{place(a, i)}}}" for i, name in enumerate(names(a)))


def acm(a: TypesetArticle) -> str:
    people = "".join(
        rf"\author{{{name}}}\affiliation{{\institution{{{place(a, i)}}}\city{{Springfield}}\country{{USA}}}}"
        for i, name in enumerate(names(a))
    )
    return (
        rf"{title(a)}{people}{abstract(a)}"
        r"\ccsdesc[500]{Applied computing~Life and medical sciences}\keywords{health, measurement}\maketitle"
    )


def ieee_journal(a: TypesetArticle) -> str:
    return (
        rf"{title(a)}\author{{{', '.join(names(a))}\thanks{{The authors are with {place(a, 0)}.}}}}"
        rf"\markboth{{Journal of Measured Things, Vol. 3, No. 1, May 2020}}{{{tex(a.title[:40])}}}\maketitle"
        rf"{abstract(a)}\begin{{IEEEkeywords}}health, measurement\end{{IEEEkeywords}}"
    )


def ieee_conference(a: TypesetArticle) -> str:
    people = r"\and ".join(
        rf"\IEEEauthorblockN{{{name}}}\IEEEauthorblockA{{{place(a, i)[:60]}}}" for i, name in enumerate(names(a))
    )
    return (
        rf"{title(a)}\author{{{people}}}\maketitle"
        rf"{abstract(a)}\begin{{IEEEkeywords}}health, measurement\end{{IEEEkeywords}}"
    )


def revtex(a: TypesetArticle) -> str:
    return (
        rf"{title(a)}{addressed(a)}\date{{\today}}"
        rf"{abstract(a)}\maketitle"
    )


def elsevier(a: TypesetArticle) -> str:
    people = "".join(rf"\author[{1 + i % 2}]{{{name}}}" for i, name in enumerate(names(a)))
    places = "".join(rf"\affiliation[{i + 1}]{{organization={{{place(a, i)}}}}}" for i in range(2))
    return (
        rf"\begin{{frontmatter}}{title(a)}{people}{places}"
        rf"{abstract(a)}\begin{{keyword}}health \sep measurement\end{{keyword}}\end{{frontmatter}}"
    )


def astronomy(a: TypesetArticle) -> str:
    return (
        rf"{title(a)}{addressed(a)}{abstract(a)}"
        r"\keywords{Health (1) --- Measurement (2)}"
    )


def mnras(a: TypesetArticle) -> str:
    people = ", ".join(rf"{name}$^{{{1 + i % 2}}}$" for i, name in enumerate(names(a)))
    places = r"\\ ".join(rf"$^{{{i + 1}}}${place(a, i)}" for i in range(2))
    return (
        rf"\title[{tex(a.title[:40])}]{{{tex(a.title)}}}\author[{names(a)[0]} et al.]{{{people}\\ {places}}}\maketitle"
        rf"{abstract(a)}\begin{{keywords}}health -- measurement\end{{keywords}}"
    )


def preprint(a: TypesetArticle) -> str:
    people = r" \and ".join(rf"{name}\\ \small {place(a, i)[:50]}" for i, name in enumerate(names(a)))
    return rf"{title(a)}\author{{{people}}}\maketitle{abstract(a)}"


def ams(a: TypesetArticle) -> str:
    return (
        rf"{title(a)}{addressed(a, 'address')}\subjclass{{Primary 62P10}}\keywords{{health, measurement}}"
        rf"{abstract(a)}\maketitle"
    )


def apa(a: TypesetArticle) -> str:
    people = ", ".join(f"{{{name}}}" for name in names(a)[:5])
    groups = ", ".join(f"{{{place(a, i)}}}" for i in range(len(names(a)[:5])))
    return (
        rf"{title(a)}\shorttitle{{{tex(a.title[:40])}}}\authorsnames{{{people}}}\authorsaffiliations{{{groups}}}"
        rf"\abstract{{{tex(a.abstract)}}}\keywords{{health, measurement}}\maketitle"
    )


def optics(a: TypesetArticle) -> str:
    people = ", ".join(rf"{name}\supit{{{'ab'[i % 2]}}}" for i, name in enumerate(names(a)))
    places = r"\\ ".join(rf"\supit{{{'ab'[i]}}}{place(a, i)}" for i in range(2))
    return (
        rf"{title(a)}\author{{{people}\skiplinehalf {places}}}\maketitle"
        rf"{abstract(a)}\keywords{{health, measurement}}"
    )


LOOKS: dict[str, tuple[str, Callable[[TypesetArticle], str], Layout]] = {}


def _look(
    name: str, class_: str, front: Callable[[TypesetArticle], str], heads: str = "numbered", cites: str = "bracket"
) -> None:
    csl = "apa" if cites == "name-year" else "ieee"
    LOOKS[name] = (class_, front, Layout(name, 1, cites, csl, heads, "head"))


_look("acmsmall", r"\documentclass[acmsmall]{acmart}", acm)
_look("sigconf", r"\documentclass[sigconf]{acmart}", acm)
_look("acmmanuscript", r"\documentclass[manuscript]{acmart}", acm)
_look("ieeejournal", r"\documentclass[journal]{IEEEtran}", ieee_journal, "roman")
_look("ieeeconf", r"\documentclass[conference]{IEEEtran}", ieee_conference, "roman")
_look("prl", r"\documentclass[aps,prl,twocolumn,superscriptaddress]{revtex4-2}", revtex, "plain")
_look("prd", r"\documentclass[aps,prd,reprint]{revtex4-2}", revtex, "roman")
_look("aip", r"\documentclass[aip,reprint]{revtex4-2}", revtex, "roman")
_look("els5p", r"\documentclass[5p,twocolumn]{elsarticle}", elsevier)
_look("elsreview", r"\documentclass[review,12pt]{elsarticle}", elsevier)
_look("aastex", r"\documentclass[twocolumn]{aastex631}", astronomy, cites="name-year")
_look("mnras", r"\documentclass[fleqn,usenatbib]{mnras}", mnras, cites="name-year")
_look("preprint", r"\documentclass[11pt]{article}\usepackage[margin=1in]{geometry}", preprint)
_look("preprint2", r"\documentclass[10pt,twocolumn]{article}\usepackage{times,natbib}", preprint, cites="name-year")
_look("amsart", r"\documentclass{amsart}", ams)
_look("apa7", r"\documentclass[jou]{apa7}\usepackage{natbib}", apa, "plain", "name-year")
_look("spie", r"\documentclass{spie}", optics)


def source(a: TypesetArticle, name: str, strings: list[str]) -> str:
    """Return an article as LaTeX source in one of the looks."""
    class_, front, layout = LOOKS[name]
    parts = []
    for level, title, paragraphs in a.sections:
        if title:
            parts.append(rf"\{'sub' * (min(level, 3) - 1)}section{{{tex(title)}}}")
        for runs in paragraphs:
            parts.append("".join(tex(text) for text, _ in paragraph(a, runs, layout)))
    entries = "\n".join(
        (
            rf"\bibitem[{tex(item['author'][0]['family'])}({item['issued']['date-parts'][0][0]})]{{r{i}}} "
            if layout.cites == "name-year"
            else rf"\bibitem{{r{i}}} "
        )
        + tex(string)
        for i, (item, string) in enumerate(zip(a.csl, strings, strict=True))
    )
    body = "\n\n".join(parts)
    return (
        rf"{class_}\usepackage[utf8]{{inputenc}}\usepackage[T1]{{fontenc}}\begin{{document}}"
        f"\n{front(a)}\n{body}\n\n\\begin{{thebibliography}}{{99}}\n{entries}\n\\end{{thebibliography}}\n\\end{{document}}\n"
    )


def simplify(a: TypesetArticle) -> None:
    """Remove from an article the characters that the fonts lack, and authors after the sixth."""
    a.title, a.abstract = plain(a.title), plain(a.abstract)
    a.authors = [(plain(given), plain(family)) for given, family in a.authors[:6]]
    a.sections = [
        (level, plain(title), [[(plain(text), ref) for text, ref in runs] for runs in paragraphs])
        for level, title, paragraphs in a.sections
    ]


def make(path: Path, name: str, out: Path) -> str:
    """Typeset an article and write its truth; return the problem, or an empty string."""
    a = TypesetArticle(path)
    if not a.usable():
        return "passed over"
    simplify(a)
    layout = LOOKS[name][2]
    strings = [plain(string) for string in references(a, layout.csl)]
    if len(strings) != len(a.csl):
        return "the style left references out"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.tex").write_text(source(a, name, strings), "utf-8")
        for _ in range(2):
            ran = subprocess.run(
                ["pdflatex", "-interaction=batchmode", "-no-shell-escape", "a.tex"],
                cwd=folder,
                capture_output=True,
                timeout=120,
            )
        pdf = Path(folder) / "a.pdf"
        if not pdf.exists():
            log = (Path(folder) / "a.log").read_text("latin-1")
            return f"pdflatex ended with {ran.returncode}: " + " ".join(re.findall(r"^! .*", log, re.M)[:2])
        shutil.copy(pdf, out / f"{name}-{path.stem}.pdf")
    (out / f"{name}-{path.stem}.tei.xml").write_bytes(truth(a, layout, strings))
    return ""


def main() -> None:
    out = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    out.mkdir(parents=True, exist_ok=True)
    paths = sorted([*folder.rglob("*.xml"), *folder.rglob("*.nxml")])
    paths = paths[:: max(1, len(paths) // (len(LOOKS) * count * 3))]
    looks = [name for _ in range(count) for name in LOOKS]
    for path in paths:
        if not looks:
            break
        problem = make(path, looks[0], out)
        if not problem or problem.startswith("pdflatex"):
            print(looks.pop(0), path.name, problem or "set", flush=True)


if __name__ == "__main__":
    main()
