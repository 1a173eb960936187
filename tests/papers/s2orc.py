"""The literal profile of S2ORC, and a TEI document with all that the paper names."""

from s2corpus.spec_files import load_spec, releases_folder
from tests.unit.s2orc_parse.tei import teis

LITERAL = load_spec(releases_folder() / "s2orc_2020.yaml")
TEI = teis.parse(
    '<div><head n="1">Introduction</head><p>As <ref type="bibr" target="#b0">[1]</ref> shows in '
    '<ref type="figure" target="#fig_0">Figure 1</ref>.</p><formula xml:id="formula_0">E = mc</formula><p>It ends.</p></div>'
    '<note place="headnote">Running head</note><figure xml:id="fig_0"><head>Figure 1</head><figDesc>A plot.</figDesc></figure>'
    '<figure type="table" xml:id="tab_0"><head>Table 1</head><figDesc>Counts.</figDesc><table><row><cell>7</cell></row></table></figure>',
    (
        teis.make_entry("Lee", 2001).replace(
            "</analytic><monogr>", '</analytic><monogr><title level="j">J. Tests</title>'
        ),
    ),
    abstract='<p>We follow <ref type="bibr" target="#b0">[1]</ref>.</p>',
)
