"""What an answer of GROBID means, and what counts as TEI."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from s2corpus.errors import UserError
from s2corpus.extractors import Outcome
from s2corpus.extractors.grobid import form, is_tei, judge
from s2corpus.extractors.protocol import options_hash
from s2corpus.spec import Extract
from tests.standin_grobid import TEI

GOOD = TEI.format("A title").encode()
LIMIT = 12_000_000
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("body", "good"),
    [
        (GOOD, True),
        (b"\xef\xbb\xbf" + GOOD, True),
        ("<TEI xmlns='http://www.tei-c.org/ns/1.0'>ü</TEI>".encode("utf-16"), True),
        (b"<TEI xmlns='http://www.tei-c.org/ns/1.0'/>", True),
        (b"", False),
        (b"   ", False),
        (b"<TEI/>", False),
        (b"<html><body>Service unavailable</body></html>", False),
        (GOOD[:-7], False),
        (GOOD + GOOD, False),
        (b"\0" + GOOD, False),
        (b"<TEI xmlns='http://www.tei-c.org/ns/1.0'>\xff</TEI>", False),
        (b"<TEI xmlns='http://www.tei-c.org/ns/1.0'>&nbsp;</TEI>", False),
        (b"<TEI xmlns='http://www.tei-c.org/ns/1.0'>" + b"<p>" * 5000 + b"</p>" * 5000 + b"</TEI>", False),
        (
            f'<!DOCTYPE TEI [<!ENTITY l0 "ha">{LAUGHS}]><TEI xmlns="http://www.tei-c.org/ns/1.0">&l9;</TEI>'.encode(),
            False,
        ),
        (
            b'<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            b'<TEI xmlns="http://www.tei-c.org/ns/1.0">&x;</TEI>',
            False,
        ),
    ],
)
def test_only_well_formed_tei_is_tei(body: bytes, good: bool) -> None:
    assert is_tei(body) is good
    assert judge(200, body, LIMIT).outcome is (Outcome.OK if good else Outcome.BAD_TEI)


def test_a_tei_may_have_its_limit_and_no_byte_more() -> None:
    assert judge(200, GOOD, len(GOOD)).outcome is Outcome.OK
    assert judge(200, GOOD, len(GOOD) - 1).outcome is Outcome.BAD_TEI


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (204, b"", Outcome.NO_CONTENT),
        (503, b"", Outcome.BUSY),
        (503, b"[NO_BLOCKS]", Outcome.BUSY),
        (429, b"", Outcome.BUSY),
        (500, b"[NO_BLOCKS] PDF parsing resulted in empty content", Outcome.NO_BLOCKS),
        (500, b'{"type":"NO_BLOCKS","description":"no text"}', Outcome.NO_BLOCKS),
        (500, b"org.grobid.core.exceptions.GrobidException: [BAD_INPUT_DATA] exit 1", Outcome.BAD_INPUT_DATA),
        (500, b"[TIMEOUT] PDF to XML conversion timed out", Outcome.TIMEOUT),
        (500, b"[GENERAL] An exception occurred", Outcome.CONNECTION),
        (500, b"NO_BLOCKSMITH", Outcome.CONNECTION),
        (500, b" " * 100_000 + b"[NO_BLOCKS]", Outcome.CONNECTION),
        (500, b"", Outcome.CONNECTION),
        (301, b"[NO_BLOCKS]", Outcome.CONNECTION),
        (401, b"", Outcome.CONNECTION),
        (404, b"", Outcome.CONNECTION),
        (413, b"", Outcome.CONNECTION),
    ],
)
def test_statuses_and_codes(status: int, body: bytes, outcome: Outcome) -> None:
    assert judge(status, body, LIMIT).outcome is outcome


@given(st.integers(100, 599), st.binary(max_size=200))
def test_every_answer_has_an_outcome(status: int, body: bytes) -> None:
    outcome = judge(status, body, LIMIT).outcome
    assert outcome is not Outcome.OK or status == 200
    assert outcome.final == (not outcome.value.startswith("gave_up:"))


def test_options_are_part_of_the_key() -> None:
    hashes = {
        options_hash(
            form(
                Extract.model_validate(
                    {
                        "consolidate_header": header,
                        "consolidate_citations": citations,
                        "include_raw_citations": raw,
                        "segment_sentences": sentences,
                    }
                )
            )
        )
        for header in (0, 1, 2)
        for citations in (0, 1, 2)
        for raw in (False, True)
        for sentences in (False, True)
    }
    assert len(hashes) == 36
    with pytest.raises(ValidationError, match="consolidate_header"):
        Extract.model_validate({"consolidate_header": 3})
    with pytest.raises(UserError, match=r"extract\.options: .*has fields of its own"):
        form(Extract(options={"do_ocr": "true"}))
