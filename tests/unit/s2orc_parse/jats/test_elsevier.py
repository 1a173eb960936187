"""Elsevier's OA JSON gives parses under the same laws (SPEC §3.23; schema: Kershaw and Koeling 2020, §3.2)."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2orc_parse import jats, tei
from s2orc_parse.jats import elsevier
from s2orc_parse.parse_model import CitationStyle, Parse
from tests.unit.parse_laws import check_laws

Json = dict[str, Any]


def sentence(text: str, at: int, section: str = "s1", title: str = "Introduction", **more: Any) -> Json:
    """Return a sentence. `refs` contains (surface, name of the entry); each reference has its surface's offsets."""
    refs = {
        name: {"startOffset": text.index(s), "endOffset": text.index(s) + len(s)} for s, name in more.pop("refs", ())
    }
    return {
        "sentence": text, "secId": section, "startOffset": at, "endOffset": at + len(text), "title": title,
        "refoffsets": refs, "parents": [], **more,
    }  # fmt: skip


def article(body: list[Json], **more: object) -> Json:
    """Return a complete article with these sentences as its body."""
    return {
        "docId": "S0021999115004441",
        "metadata": {
            "title": "On tests", "authors": [{"first": "Ann", "initial": "A.", "last": "Lee", "email": "a@b.c"}], "issn": "00219991",
            "volume": "300", "firstpage": "1", "lastpage": "19", "pub_year": 2015, "doi": "10.1016/J.JCP.2015.07.001", "pmid": "1234",
            "openaccess": "Full", "subjareas": ["PHYS"], "keywords": ["tests"], "asjc": [3100],
        },
        "abstract": [
            {"sentence": "Second.", "startOffset": 10, "endOffset": 17}, {"sentence": "First.", "startOffset": 0, "endOffset": 6},
        ],
        "bib_entries": {
            "bib1": {
                "title": "Deep work", "authors": [{"last": "Roe", "initial": "B.", "first": "Bo"}], "issn": "1", "volume": "2",
                "firstpage": "3", "lastpage": "9", "pub_year": 1999, "doi": "10.1016/ABC", "pmid": "77",
            },
            "bib2": {"title": "Wide work", "pub_year": 2001},
            "bib3": {},
        },
        "body_text": body,
        **more,
    }  # fmt: skip


def parse(body: list[Json], **more: object) -> Parse:
    return check_laws(elsevier.convert(json.dumps(article(body, **more)).encode(), sha1="0" * 40))


def test_elsevier_sentences_of_a_section_form_one_sorted_paragraph() -> None:
    found = parse(
        [
            sentence("Third.", 30, "s2", "2.1 Data", parents=[{"id": "s9", "title": "Methods"}]), sentence("Second  of\nthe first.", 10),
            sentence("First.", 0), sentence("Fourth.", 40, "s1"),
        ]
    )  # fmt: skip
    assert [(p.section, p.sec_num, p.text) for p in found.body_text] == [
        ("Introduction", None, "First. Second of the first. Fourth."),
        ("Methods::Data", "2.1", "Third."),
    ]
    assert [(p.section, p.text) for p in found.abstract] == [("Abstract", "First. Second.")]
    assert (found.ref_entries, found.back_matter) == ((), ())


def test_callouts_are_at_their_offsets() -> None:
    first = sentence(
        "As  Roe [1] and [2,3] say.", 100, refs=[("[1]", "bib1"), ("2", "bib2"), ("3]", "bib3"), ("say", "bib9")]
    )
    second = sentence("And Roe [1].", 200)
    second["refoffsets"] = {"bib1": {"startOffset": 208, "endOffset": 211}}  # relative to the article
    found = parse([first, second, sentence("By [3].", 300, refs=[("[3]", "bib3")])])
    assert found.citation_style is CitationStyle.BRACKET
    assert [(s.text, s.ref_id) for s in found.body_text[0].cite_spans] == [
        ("[1]", "BIBREF0"), ("2", "BIBREF1"), ("3]", "BIBREF2"), ("say", None), ("[1]", "BIBREF0"), ("[3]", "BIBREF2"),
    ]  # fmt: skip
    assert [e.ref_id for e in found.bib_entries] == ["bib1", "bib2", "bib3"]


def test_elsevier_file_gives_entries_and_header() -> None:
    found = parse([sentence("Text.", 0)])
    entry = found.bib_entries[0]
    assert (entry.title, entry.year, entry.volume, entry.pages, entry.doi, entry.pubmed_id) == (
        "Deep work", 1999, "2", "3--9", "10.1016/abc", "77",
    )  # fmt: skip
    assert [(a.first, a.last) for a in entry.authors] == [("Bo", "Roe")]
    header = (found.header.title, found.header.doi, found.header.pubmed_id, found.header.date)
    assert header == ("On tests", "10.1016/j.jcp.2015.07.001", "1234", "2015")


WRONG: list[tuple[Json, str]] = [
    ({"body_text": [{"sentence": 7}]}, "body_text[0].sentence"),
    ({"body_text": [{"sentence": "x", "refoffsets": {"bib1": 3}}]}, "body_text[0].refoffsets.bib1"),
]


@pytest.mark.parametrize(("wrong", "where"), WRONG, ids=[where for _, where in WRONG])
def test_value_of_wrong_type_is_named_in_the_error(wrong: Json, where: str) -> None:
    with pytest.raises(jats.BadArticle) as bad:
        elsevier.convert(json.dumps({**article([sentence("Text.", 0)]), **wrong}).encode(), sha1="")
    assert bad.value.outcome == "wrong_type"
    assert bad.value.detail.startswith(f"{where}:")


offsets = st.integers(-5, 40)
places = st.fixed_dictionaries({"startOffset": offsets, "endOffset": offsets})
signs = st.characters(exclude_categories=("Cs", "Co"))  # The laws take private characters for marks of a converter.
sentences = st.fixed_dictionaries(
    {"sentence": st.text(signs, max_size=30), "startOffset": offsets},
    optional={
        "secId": st.sampled_from(["s1", "s2", ""]),
        "title": st.text(signs, max_size=10),
        "refoffsets": st.dictionaries(st.sampled_from(["bib1", "bib2", "bib9"]), places, max_size=3),
        "parents": st.lists(st.fixed_dictionaries({"title": st.text(signs, max_size=8)}), max_size=3),
    },
)


@settings(max_examples=150)
@given(body=st.lists(sentences, max_size=6))
def test_generated_sentences_obey_the_laws(body: list[Json]) -> None:
    try:
        found = elsevier.convert(json.dumps(article(body)).encode(), sha1="")
    except jats.BadArticle as bad:
        assert bad.outcome == "no_body"
    else:
        check_laws(found)
        tei.to_json_bytes(tei.to_s2orc(found))
