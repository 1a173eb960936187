# ruff: noqa: E501 - pages as they are set
"""Title and names are read from the cover that a repository adds to a paper."""

from pathlib import Path

import pytest

from tests.unit.pdf2tei.samples import BODY, PROSE, TITLE, list_texts, mark, read

CANDIDACY = "On Coherence and Sameness, and the Evaluation of Scale Candidacy Claims"
CYCLES = "Maximally Smooth Cycles, Hexatonic Systems, and the Analysis of Late-Romantic Triadic Progressions"
COVERS = {
    "complete title": (
        "False Consciousness and Ideology in Marxist Theory \\ Author(s): Ron Eyerman \\ Stable URL: https://www.jstor.org/stable/4194332",
        f"#text(size: 16pt)[False Consciousness and Ideology in] \\ #text(size: 15pt)[Marxist Theory{mark('1')}] \\ \\ Ron Eyerman\n\n{PROSE}\n\n{BODY}",
        "False Consciousness and Ideology in Marxist Theory", ["Eyerman"],
    ),
    "label of the author": (
        f"{TITLE} \\ Author(s): Richard C. Thurlow \\ Source: Journal of Contemporary History, Vol. 33, No. 2 (Apr., 1998), pp. 241-254 \\ Published by: Sage Publications, Ltd. \\ Stable URL: https://www.jstor.org/stable/260975",
        f"#text(size: 15pt)[{TITLE}]\n\n{PROSE}\n\n{BODY}", None, ["Thurlow"],
    ),
    "address of the support": (
        f"{TITLE} \\ Author(s): Nikolay Karkov \\ Stable URL: https://www.jstor.org/stable/26 \\ For more information about JSTOR, please contact support\\@jstor.org.",
        f"{PROSE}\n\n{BODY}", None, ["Karkov"],
    ),
    "title and authors of a magazine": (
        "Modeling Pattern Importance in Chopin's Mazurkas \\ Author(s): Tom Collins, Robin Laney, Alistair Willis and \\ Paul H. Garthwaite \\ "
        "Source: Music Perception, Vol. 28, No. 4 (April 2011), pp. 387-414 \\ Stable URL: http://www.jstor.org/stable/10.1525/mp.2011.28.4.387",
        f"#text(size: 18pt)[tom collins, robin laney, alistair willis] \\ The Open University, Milton Keynes, United Kingdom\n\n{PROSE}\n\n{BODY}",
        "Modeling Pattern Importance in Chopin’s Mazurkas", ["Collins", "Laney", "Willis", "Garthwaite"],
    ),
    "author above a head": (
        f"{CANDIDACY} \\ Author(s): Norman Carey \\ Source: Journal of Music Theory, Vol. 46, No. 1/2, pp. 1-56 \\ Stable URL: http://www.jstor.org/stable/4147677",
        f"#align(center)[#text(size: 15pt)[*{CANDIDACY}*] \\ \\ #text(size: 13pt)[*Norman Carey*] \\ \\ \\ *I. Pitch-Class Sets and Musical Scales*]\n\n{PROSE}\n\n{PROSE}",
        CANDIDACY, ["Carey"],
    ),
    "author of a review": (
        "Schoenberg Fundamentals \\ Fundamentals of Musical Composition by Arnold Schoenberg \\ Review by: Alexander Goehr \\ The Musical Times, Vol. 109, No. 1499 (Jan., 1968), pp. 35-36 \\ Stable URL: http://www.jstor.org/stable/951415",
        f"#align(center)[#text(size: 16pt)[Schoenberg fundamentals]] \\ #text(size: 8pt)[Fundamentals of Musical Composition by Arnold \\ Schoenberg. Faber, 7 gns]\n\n{PROSE}\n\n{PROSE}",
        None, ["Goehr"],
    ),
    "title of a scan": (
        f"{CYCLES} \\ Author(s): Richard Cohn \\ Reviewed work(s): \\ Source: Music Analysis, Vol. 15, No. 1 (Mar., 1996), pp. 9-40 \\ Stable URL: http://www.jstor.org/stable/854168",
        f"#set text(size: 11pt)\n{PROSE}\n\n{PROSE} {PROSE}", CYCLES, ["Cohn"],
    ),
}  # fmt: skip
"""cover, following pages, title or None, surnames"""


@pytest.mark.parametrize("form", COVERS)
def test_cover_names_title_and_authors(form: str, tmp_path: Path) -> None:
    cover, pages, title, surnames = COVERS[form]
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{pages}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == surnames
    assert title is None or list_texts(tei, ".//t:titleStmt/t:title")[0].rstrip(" 1") == title
    assert list_texts(tei, ".//t:analytic//t:email") == []


CITED_ON_COVERS = {
    "one name": ("Porschen, Stephanie", "Porschen, Stephanie: ", ["Porschen"]),
    "two names": ("Abold, Roland; Juhász, Zoltán", "Abold, Roland ; Juhász, Zoltán: ", ["Abold", "Juhász"]),
    "two surnames": (
        "Linke Sonderegger, Marion",
        "Linke Sonderegger, Marion ; Universität Bremen (Ed.): ",
        ["Linke Sonderegger"],
    ),
    "two full names": ("Alessandro Zocca, Bert Zwart", "Alessandro Zocca, Bert Zwart (2021) ", ["Zocca", "Zwart"]),
    "initials in the citation": ("Kunstreich, Timm", "Kunstreich, T. (2012). ", ["Kunstreich"]),
}


@pytest.mark.parametrize("form", CITED_ON_COVERS)
def test_name_under_the_title_of_a_cover_is_known_from_its_citation(form: str, tmp_path: Path) -> None:
    name, cited, surnames = CITED_ON_COVERS[form]
    title = "Mehr als nur staatliche Kinderbetreuung"
    cover = (
        f"#align(right)[#text(size: 18pt)[*www.ssoar.info*]] #v(60pt) #text(size: 18pt)[*{title}*] \\ #text(size: 13pt)[{name}]\n\n"
        "Veröffentlichungsversion / Published Version \\ Arbeitspapier / working paper\n\n"
        "*Zur Verfügung gestellt in Kooperation mit / provided in cooperation with:* \\ SSG Sozialwissenschaften, USB Köln\n\n"
        f"#text(size: 9pt)[*Empfohlene Zitierung / Suggested Citation:* \\ {cited}{title}. Bremen, 2004.]"
    )
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == surnames
