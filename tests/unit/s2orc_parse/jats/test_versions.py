"""A converter's version identifies its output (SPEC §0.18).

A different parse of the same file requires a new version.
"""

from __future__ import annotations

import hashlib
import json

from s2orc_parse import jats, tei
from tests.unit.s2orc_parse.jats import articles, test_elsevier
from tests.unit.s2orc_parse.jats.articles import cite

JATS = articles.article(
    f"<sec id='s'><label>1</label><title>Aims</title><p>As [{cite(1)}–{cite(3)}] and <xref ref-type='fig' rid='f'>Fig. 1</xref> show, "
    "<inline-formula><mml:math><mml:mi>x</mml:mi></mml:math></inline-formula> is <disp-formula id='e'><label>(1)</label>"
    "<tex-math>x=1</tex-math></disp-formula>.<fn id='n'><p>A note.</p></fn></p><fig id='f'><label>Fig. 1</label><caption><p>All.</p>"
    "</caption></fig><table-wrap><label>Table 1</label><table><tr><td>1</td></tr></table></table-wrap></sec>",
    3,
    back="<ack><p>Thanks.</p></ack>",
)
ELSEVIER = json.dumps(
    test_elsevier.article([test_elsevier.sentence("As [1] says.", 0, refs=[("[1]", "bib1")])]), sort_keys=True
).encode()
PINNED = {
    ("jats", "6"): "909304ed2adf1cbc",  # Keywords, ISSN and email addresses.
    ("elsevier", "5"): "db6351a945c0c302",
}


def test_version_is_pinned_to_the_output() -> None:
    made = {}
    for kind, data in (("jats", JATS), ("elsevier", ELSEVIER)):
        parse = tei.to_json_bytes(tei.to_s2orc(jats.CONVERTERS[kind](data, sha1="0" * 40)))
        made[kind, jats.VERSIONS[kind]] = hashlib.sha256(parse).hexdigest()[:16]
    assert made == PINNED, "raise the converter's version, and pin it to what it makes now"
