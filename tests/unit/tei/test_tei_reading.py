"""Elements give the expected text, names and labels.

The tests cover white space, callouts and formulas inside words, and floats and notes with every part.
"""

from __future__ import annotations

import pytest
from lxml import etree

from s2orc_parse.tei.text import read_flat
from tests.unit.tei import teis


def texts(body: str) -> list[str]:
    return [paragraph.text for paragraph in teis.parse(body).body_text]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>a<hi>b</hi>c</p>", ["abc"]),
        ("<p> a  b\n\tc </p>", ["a b c"]),
        ("<p>a<hi> </hi>b</p>", ["a b"]),
        ("<p>a<hi> b</hi>c<hi>d </hi>e</p>", ["a bcd e"]),
        ("<p>a\u00a0b\u2003c</p>", ["a b c"]),
        ("<p>a<lb/>b</p>", ["a b"]),
        ("<p><s>a.</s><s>b.</s></p>", ["a. b."]),
        ("<p>a <note>n</note> b</p>", ["a b"]),
        ("<p>a<graphic>n</graphic>b</p>", ["ab"]),
        ("<p>a<figure><figDesc>n</figDesc></figure>b</p>", ["ab"]),
        ("<p>a<p>b</p>c</p>", ["a", "b", "c"]),
        ("<list><item>a</item><item>b</item></list>", ["a", "b"]),
        ("a<div>b</div>c", ["a", "b", "c"]),
        ("<p>a<formula>x</formula>, b</p>", ["a EQUATION , b"]),
        ("<p></p><p> </p><p>a</p>", ["a"]),
        # A callout that prints its target's id is removed; no space remains before a punctuation mark.
        ('<p>a <ref target="#foot_0">foot_0</ref>, b</p>', ["a, b"]),
        ('<p>a <ref target="#foot_0">foot_0</ref>) b</p>', ["a) b"]),
        ('<p>a <ref target="#foot_0">foot_0</ref>] b</p>', ["a] b"]),
        ('<p>a <ref target="#foot_0">foot_0</ref> b</p>', ["a b"]),
        ('<p>a <ref target="#foot_0">foot_0</ref></p>', ["a"]),
        ('<p>a <ref target="#foot_0">foot_0</ref>b</p>', ["a b"]),
        ('<p>a <ref target="#foot_0"> foot_0 </ref>; b</p>', ["a; b"]),
        ('<p>a <ref>foot_0</ref></p>', ["a foot_0"]),
        ("<p>At <ref type='uri' target='x.org'>x.org</ref>, b</p>", ["At x.org, b"]),
        ("<p>a <ref type='bibr' target='#b0'>b0</ref>, b</p>", ["a, b"]),
    ],
)  # fmt: skip
def test_each_character_appears_once_with_single_spaces(body: str, expected: list[str]) -> None:
    assert texts(body) == expected


def marks(body: str) -> list[tuple[str, str, tuple[str, ...]]]:
    draft = read_flat([etree.fromstring(f"<p>{body}</p>")])
    return [(draft.text[mark.start : mark.end], mark.kind, mark.targets) for mark in draft.marks]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('a<ref type="bibr" target="#b0">[1]</ref>', [("[1]", "cite", ("b0",))]),
        ('a <ref type="bibr" target="#b0"> [1] </ref>', [("[1]", "cite", ("b0",))]),
        ('a<ref type="bibr"> [1]</ref><ref type=" fig ">2</ref>', [("[1]", "cite", ()), ("2", "figure", ())]),
        ('<ref type="bibr" target="#b0 b1 #b2">[1]</ref>', [("[1]", "cite", ("b0", "b2"))]),
        ('<ref type="bibr"><hi>Lee</hi> <p>2001</p></ref> c', [("Lee 2001", "cite", ())]),
        ('<ref type="bibr"/><ref type="bibr"> </ref>', []),
        ('<ref type="weird">x</ref><ref>y</ref>', []),
        ('<ref type="eq">1</ref> <ref type="tab">2</ref> <ref type="sec">3</ref> <ref type="fn">4</ref>',
         [("1", "formula", ()), ("2", "table", ()), ("3", "section", ()), ("4", "footnote", ())]),
    ],
)  # fmt: skip
def test_marks_cover_the_words_of_their_callouts(body: str, expected: list[tuple[str, str, tuple[str, ...]]]) -> None:
    assert marks(body) == expected


def floats(*xml: str) -> list[tuple[str, str, str | None, str]]:
    return [(one.key, one.type, one.num, one.text) for one in teis.parse("<p>x</p>" + "".join(xml)).ref_entries]


def test_float_text_joins_heading_label_and_caption() -> None:
    assert floats(
        "<figure><head>Fig. 1. A cat</head><figDesc>Fig. 1. A cat on a mat.</figDesc></figure>",
        "<figure><head>Fig. 2 - Dogs</head><figDesc>in <ref>a</ref> row</figDesc></figure>",
        "<figure><head>Cows</head><head>and oxen</head><figDesc>Black.</figDesc></figure>",
        "<figure><head>Fig. 3 Table 4</head><figDesc>Hens.</figDesc></figure>",
        "<figure><head>7 .</head><label>7</label><figDesc>Ducks.</figDesc></figure>",
        "<figure><head>Geese 7</head><label>7</label><figDesc>Grey.</figDesc></figure>",
        "<figure><label>7x</label><figDesc>Owls.</figDesc></figure>",
        "<figure><figDesc>Supplementary Figure S 5. Bees.</figDesc></figure>",
        "<figure><figDesc>See Figure 5.</figDesc></figure>",
        "<figure><figDesc>Bats.</figDesc><note>At night.</note></figure>",
    ) == [
        ("FIGREF0", "figure", "1", "Fig. 1. A cat on a mat."),
        ("FIGREF1", "figure", "2", "Dogs in a row"),
        ("FIGREF2", "figure", None, "Cows and oxen Black."),
        ("FIGREF3", "figure", "3", "Hens."),
        ("FIGREF4", "figure", "7", "7 . Ducks."),
        ("FIGREF5", "figure", None, "Geese 7 Grey."),
        ("FIGREF6", "figure", None, "Owls."),
        ("FIGREF7", "figure", "S5", "Supplementary Figure S 5. Bees."),
        ("FIGREF8", "figure", None, "See Figure 5."),
        ("FIGREF9", "figure", None, "Bats. At night."),
    ]  # fmt: skip


def test_ref_entries_are_figures_tables_formulas_notes_in_order() -> None:
    assert floats(
        '<note place="foot" n="2" xml:id="foot_4"><p>Note.</p></note>',
        '<formula xml:id="formula_3">x</formula>',
        '<figure type="table" xml:id="tab_2"><head>Table 1</head></figure>',
        '<figure xml:id="fig_9"><head>TABLE 5</head><figDesc>Rows.</figDesc></figure>',
        '<figure xml:id="fig_8"><figDesc>Cat.</figDesc></figure>',
        '<table><head>Table 7</head><row><cell>a</cell></row></table>',
    ) == [
        ("FIGREF8", "figure", None, "Cat."),
        ("TABREF0", "table", "1", ""),
        ("TABREF1", "table", "5", "Rows."),
        ("TABREF2", "table", "7", ""),
        ("EQREF3", "formula", None, "x"),
        ("FOOTREF4", "footnote", "2", "Note."),
    ]  # fmt: skip
