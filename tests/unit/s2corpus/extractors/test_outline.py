"""Labeled texts become a parse. The texts are from PMC5307246 (CC BY), with the labels of a converter."""

from s2corpus.extractors import ExtractorIdentity
from s2corpus.extractors.outline import build_parse

ITEMS = [
    ("text", "Hindawi Publishing Corporation"),
    ("title", "Chemical Composition, Physicochemical Characteristics, and Nutritional Value of Lannea kerstingii"),
    ("heading", "Judicaël Thomas Ouilly,1 Patrice Bazongo,1 Adjima Bougma,1"),
    ("text", "1Life and Earth Sciences Training and Research Unit, University Ouaga I"),
    ("heading", "1. Introduction"),
    ("text", "Oil crops grow in Africa,\nMalaysia, and Indonesia [3]. See also [3, 9]."),
    ("heading", "References"),
    ("text", "[3] M. Sharma, S. K. Gupta, and A. K. Mondal, “Production and trade of major world oil crops,” 2012."),
    (
        "text",
        "[4] M. Aslan, I. Orhan, and B. Sener, “Comparison of the seed oils of Pistacia vera L. of different origins,”",
    ),
    ("text", "International Journal of Food Science and Technology, vol. 37, no. 3, pp. 333–335, 2002."),
]


def test_title_authors_sections_and_cited_entries_are_found() -> None:
    made_by = ExtractorIdentity("docling", "1")
    parse = build_parse(ITEMS, b"{}", file_sha1="0" * 40, made_by=made_by, converter_version="1")
    assert parse.header.title.startswith("Chemical Composition")
    assert [author.last for author in parse.header.authors] == ["Ouilly", "Bazongo", "Bougma"]
    (paragraph,) = parse.body_text
    assert (paragraph.section, paragraph.text[:25]) == ("Introduction", "Oil crops grow in Africa,")
    keys = {entry.label: entry.key for entry in parse.bib_entries}
    assert [(span.text, span.ref_id) for span in paragraph.cite_spans] == [
        ("3", keys["3"]), ("3", keys["3"]), ("9", None),
    ]  # fmt: skip
    assert [entry.year for entry in parse.bib_entries] == [2012, 2002]
    assert parse.bib_entries[1].venue == "International Journal of Food Science and Technology"


def test_heading_after_title_is_a_section_if_it_opens_a_paper() -> None:
    made_by = ExtractorIdentity("docling", "1")
    items = [("heading", "Seeds"), ("heading", "Abstract"), ("text", "We study seeds.")]
    parse = build_parse(items, b"{}", file_sha1="0" * 40, made_by=made_by, converter_version="1")
    assert parse.header.authors == () and [part.text for part in parse.abstract] == ["We study seeds."]
