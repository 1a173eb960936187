# ruff: noqa: E501 - pages as they are set
"""Title and names are read from the cover that a repository adds to a paper."""

from pathlib import Path

import pytest

from tests.unit.pdf2tei.samples import BODY, PROSE, TITLE, list_texts, mark, read


def test_cover_completes_the_title(tmp_path: Path) -> None:
    title = "False Consciousness and Ideology in Marxist Theory"
    cover = f"{title} \\ Author(s): Ron Eyerman \\ Stable URL: https://www.jstor.org/stable/4194332"
    front = f"#text(size: 16pt)[False Consciousness and Ideology in] \\ #text(size: 15pt)[Marxist Theory{mark('1')}] \\ \\ Ron Eyerman"
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{front}\n\n{PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Eyerman"]
    assert list_texts(tei, ".//t:titleStmt/t:title")[0].rstrip(" 1") == title


def test_label_on_a_cover_names_the_author(tmp_path: Path) -> None:
    cover = f"{TITLE} \\ Author(s): Richard C. Thurlow \\ Source: Journal of Contemporary History, Vol. 33, No. 2 (Apr., 1998), pp. 241-254 \\ Published by: Sage Publications, Ltd. \\ Stable URL: https://www.jstor.org/stable/260975"
    tei = read(
        f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n#text(size: 15pt)[{TITLE}]\n\n{PROSE}\n\n{BODY}", tmp_path
    )
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Thurlow"]


def test_support_is_no_address_of_an_author(tmp_path: Path) -> None:
    cover = f"{TITLE} \\ Author(s): Nikolay Karkov \\ Stable URL: https://www.jstor.org/stable/26 \\ For more information about JSTOR, please contact support\\@jstor.org."
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Karkov"]
    assert list_texts(tei, ".//t:analytic//t:email") == []


def test_cover_names_title_and_authors_of_a_magazine(tmp_path: Path) -> None:
    cover = (
        "Modeling Pattern Importance in Chopin's Mazurkas \\ Author(s): Tom Collins, Robin Laney, Alistair Willis and \\ Paul H. Garthwaite \\ "
        "Source: Music Perception, Vol. 28, No. 4 (April 2011), pp. 387-414 \\ Stable URL: http://www.jstor.org/stable/10.1525/mp.2011.28.4.387"
    )
    front = "#text(size: 18pt)[tom collins, robin laney, alistair willis] \\ The Open University, Milton Keynes, United Kingdom"
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{front}\n\n{PROSE}\n\n{BODY}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == ["Modeling Pattern Importance in Chopin’s Mazurkas"]
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Collins", "Laney", "Willis", "Garthwaite"]


def test_cover_tells_the_author_from_a_head(tmp_path: Path) -> None:
    title = "On Coherence and Sameness, and the Evaluation of Scale Candidacy Claims"
    cover = f"{title} \\ Author(s): Norman Carey \\ Source: Journal of Music Theory, Vol. 46, No. 1/2, pp. 1-56 \\ Stable URL: http://www.jstor.org/stable/4147677"
    front = f"#align(center)[#text(size: 15pt)[*{title}*] \\ \\ #text(size: 13pt)[*Norman Carey*] \\ \\ \\ *I. Pitch-Class Sets and Musical Scales*]"
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{front}\n\n{PROSE}\n\n{PROSE}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Carey"]


def test_cover_names_the_author_of_a_review(tmp_path: Path) -> None:
    cover = "Schoenberg Fundamentals \\ Fundamentals of Musical Composition by Arnold Schoenberg \\ Review by: Alexander Goehr \\ The Musical Times, Vol. 109, No. 1499 (Jan., 1968), pp. 35-36 \\ Stable URL: http://www.jstor.org/stable/951415"
    front = "#align(center)[#text(size: 16pt)[Schoenberg fundamentals]] \\ #text(size: 8pt)[Fundamentals of Musical Composition by Arnold \\ Schoenberg. Faber, 7 gns]"
    tei = read(f"#set text(size: 10pt)\n{cover}\n#pagebreak()\n{front}\n\n{PROSE}\n\n{PROSE}", tmp_path)
    assert list_texts(tei, ".//t:analytic//t:surname") == ["Goehr"]


def test_cover_names_the_title_of_a_scan_without_title(tmp_path: Path) -> None:
    title = "Maximally Smooth Cycles, Hexatonic Systems, and the Analysis of Late-Romantic Triadic Progressions"
    cover = f"{title} \\ Author(s): Richard Cohn \\ Reviewed work(s): \\ Source: Music Analysis, Vol. 15, No. 1 (Mar., 1996), pp. 9-40 \\ Stable URL: http://www.jstor.org/stable/854168"
    tei = read(f"#set text(size: 11pt)\n#text(size: 10pt)[{cover}]\n#pagebreak()\n{PROSE}\n\n{PROSE} {PROSE}", tmp_path)
    assert list_texts(tei, ".//t:titleStmt/t:title") == [title]


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
