"""The fields of reference strings in real papers are the fields that a human reader finds."""

from __future__ import annotations

import pytest

from pdf2tei.fields import parse_reference


@pytest.mark.parametrize(
    ("raw", "title", "journal", "year"),
    [
        # A conference follows, with a year in front.
        (
            "Huynh, D. C., & Nair, N. (2015). Economic dispatch integrating wind power generation farms using cuckoo search "
            "algorithm. 2015 IEEE Innovative Smart Grid Technologies - Asia (ISGT ASIA).",
            "Economic dispatch integrating wind power generation farms using cuckoo search algorithm",
            None,
            "2015",
        ),
        (
            "[1]J. D. Achelis, “Untersuchungen über die Hautsensibilität,” Pflügers Archiv für die Gesamte Physiologie des Menschen "
            "und der Tiere, vol. 242, no. 5, pp. 644–664, Nov. 1939.",
            "Untersuchungen über die Hautsensibilität",
            "Pflügers Archiv für die Gesamte Physiologie des Menschen und der Tiere",
            "1939",
        ),
        (
            "Richter, Friedrich. 1936. “Rückblick.” Kurze Anleitung zur Orientierung in Beilsteins Handbuch der Organischen Chemie: 21–23.",
            "Rückblick",
            None,
            "1936",
        ),
        # The entry has no author.
        (
            "Rate Your Plate. (1988). Journal of Nutrition Education, 20(5), 267.",
            "Rate Your Plate",
            "Journal of Nutrition Education",
            "1988",
        ),
        # The title is the complete quotation, with its dates and periods.
        (
            "[1]“CBS News Callback Poll for CBS News/New York Times June 2004 Monthly Poll, July 2004,” ICPSR Data Holdings, Feb. 2005.",
            "CBS News Callback Poll for CBS News/New York Times June 2004 Monthly Poll, July 2004",
            None,
            None,
        ),
        # Capitals are not names.
        (
            "Price, I. N. O., & King, A. J. (1934). TREATMENT OF ACUTE GONORRHOEA BY MEANS OF A NEW GONOCOCCAL VACCINE OF LOW TOXICITY. "
            "BMJ, 1(3825), 748–752.",
            "TREATMENT OF ACUTE GONORRHOEA BY MEANS OF A NEW GONOCOCCAL VACCINE OF LOW TOXICITY",
            "BMJ",
            "1934",
        ),
        # Physics journals omit the title.
        ("A. M. Polyakov, Phys. Lett. B 103, 207 (1981).", "", "Phys. Lett. B", "1981"),
        ("P. Bedaque, U. van Kolck, Phys. Lett. B 428 (1998) 221.", "", "Phys. Lett. B", "1998"),
        (
            "Skegg K (2005) Self-harm. Lancet 366(9495):1471-1483",
            "Self-harm",
            "Lancet",
            "2005",
        ),
    ],
)
def test_reference_has_its_fields(raw: str, title: str, journal: str | None, year: str | None) -> None:
    found = parse_reference(raw)
    assert found.title == title
    assert journal is None or found.journal == journal
    assert year is None or found.year == year
