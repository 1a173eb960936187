"""Each response of an extractor has its outcome, and only TEI counts as TEI (docs/extractors.md)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.errors import UserError
from s2corpus.extractors.grobid import classify_response, form
from s2corpus.extractors.http import HttpServer
from s2corpus.extractors.protocol import ExtractorAnswer, ExtractorIdentity, options_hash
from s2corpus.outcomes import ExtractOutcome
from s2corpus.spec import ExtractRules
from tests.s3_store import Fault, compress, replace_all, s3_store
from tests.standin_grobid import TEI

GOOD = TEI.format("A title").encode()
LIMIT = 12_000_000
START = "<TEI xmlns='http://www.tei-c.org/ns/1.0'>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


BODIES = {
    ExtractOutcome.OK: [
        GOOD, b"\xef\xbb\xbf" + GOOD, f"{START}ü</TEI>".encode("utf-16"), GOOD.replace(b"TEI", b"t:TEI").replace(b"xmlns", b"xmlns:t"),
    ],
    ExtractOutcome.BAD_TEI: [
        b"<TEI></TEI>", START.encode() + b"\xff</TEI>", f"{START}<p></TEI>".encode("utf-16"),
        b'<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + GOOD, f"{START}{'<p>' * 5000}{'</p>' * 5000}</TEI>".encode(),
        f'<!DOCTYPE TEI [<!ENTITY l0 "ha">{LAUGHS}]>{START}&l9;</TEI>'.encode(),
    ],
    ExtractOutcome.CONNECTION: [
        b"<html><body>Service unavailable</body></html>", b'{"error": "please wait"}', b"\x1f\x8b",
        b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>Log in</body></html>',
    ],
}  # fmt: skip
"""complete TEI that is well-formed, complete TEI that is not, which is final, and answers of other programs, which are not final"""


@pytest.mark.parametrize(
    ("outcome", "body"), [(outcome, body) for outcome, bodies in BODIES.items() for body in bodies]
)
def test_body_of_an_answer_has_its_outcome(outcome: ExtractOutcome, body: bytes) -> None:
    assert classify_response(200, body, LIMIT).outcome is outcome


@pytest.mark.parametrize("body", [GOOD[:size] for size in range(0, len(GOOD) - 1, 7)])
def test_part_of_a_tei_is_no_final_answer(body: bytes) -> None:
    """Some proxies announce the length of what they have: a cut answer then looks complete."""
    found = classify_response(200, body, LIMIT)
    assert found.outcome is ExtractOutcome.CONNECTION and "the answer is cut or not from GROBID" in found.detail


def test_tei_is_limited_in_bytes() -> None:
    assert classify_response(200, GOOD, len(GOOD)).outcome is ExtractOutcome.OK
    assert classify_response(200, GOOD, len(GOOD) - 1).outcome is ExtractOutcome.BAD_TEI


@pytest.mark.parametrize(
    ("status", "body", "outcome", "broken"),
    [
        (201, GOOD, "gave_up:connection", False),
        (204, b"", "no_content", False),
        (429, b"", "gave_up:busy", False),
        (500, b"", "gave_up:connection", False),
        (502, b"", "gave_up:connection", True),
        (503, b"[NO_BLOCKS]", "gave_up:busy", False),
        (504, b"", "gave_up:timeout", True),
        # The error code decides if the status does not report a busy server.
        (400, b"[NO_BLOCKS]", "failed:NO_BLOCKS", False),
        (500, b'{"type":"NO_BLOCKS","description":"no text"}', "failed:NO_BLOCKS", False),
        (500, b"[TOO_MANY_BLOCKS]", "failed:TOO_MANY_BLOCKS", False),
        (500, b"[TOO_MANY_TOKENS]", "failed:TOO_MANY_TOKENS", False),
        (500, b"[PDFALTO_CONVERSION_FAILURE]", "failed:PDFALTO_CONVERSION_FAILURE", False),
        (409, b"org.grobid.core.exceptions.GrobidException: [BAD_INPUT_DATA] exit 1", "failed:BAD_INPUT_DATA", False),
        (502, b"[TIMEOUT] PDF to XML conversion timed out", "gave_up:timeout", True),
        (500, b"NO_BLOCKSMITH", "gave_up:connection", False),
        (500, b" " * (4096 - 10) + b"[NO_BLOCKS]", "failed:NO_BLOCKS", False),
        (500, b" " * (4096 - 9) + b"[NO_BLOCKS]", "gave_up:connection", False),
    ],
)
def test_status_and_code_give_an_outcome(status: int, body: bytes, outcome: str, broken: bool) -> None:
    found = classify_response(status, body, LIMIT)
    assert (found.outcome, found.broken, found.unreachable, found.lost) == (outcome, broken, False, False)
    assert found.outcome.final or found.detail == f"HTTP {status}: {body[:200].decode()}"


@given(st.integers(100, 599), st.binary(max_size=200))
def test_every_response_has_an_outcome(status: int, body: bytes) -> None:
    outcome = classify_response(status, body, LIMIT).outcome
    assert outcome is not ExtractOutcome.OK or status == 200
    assert outcome.final == (not outcome.value.startswith("gave_up:"))


def test_options_change_the_key() -> None:
    changes: list[dict[str, object]] = [
        {}, {"consolidateHeader": 1}, {"consolidateHeader": "2"}, {"consolidateCitations": 1}, {"includeRawCitations": 0},
        {"segmentSentences": 1}, {"teiCoordinates": "ref,biblStruct"},
    ]  # fmt: skip
    hashes = {options_hash(form(ExtractRules.model_validate({"options": one}))) for one in changes}
    assert len(hashes) == len(changes)
    assert options_hash({"a": "1", "b": "2"}) == options_hash({"b": "2", "a": "1"})
    for name, value in (("do_ocr", "true"), ("consolidateHeader", "4"), ("teiCoordinates", "ref figure")):
        with pytest.raises(
            UserError, match=rf"extract\.options: {name}: '{value}' given; expected consolidateHeader \(\[0-3\]\)"
        ):
            form(ExtractRules(options={name: value}))
    assert options_hash(form(ExtractRules())) == "2531976d7b1d5c70"


@pytest.mark.parametrize(
    ("version", "revision", "valid"),
    [("0.8.1", "", True), ("0.8.1", "a3f", True), ("0 8", "", False), ("", "", False), ("0.8", "../x", False), ("1" * 65, "", False)],
)  # fmt: skip
def test_extractor_identity_is_a_valid_folder_name(version: str, revision: str, valid: bool) -> None:
    identity = ExtractorIdentity("grobid", version, revision, "f00")
    assert identity.valid is valid
    assert list(identity.key.values()) == ["grobid", f"{version}+{revision}".rstrip("+"), "f00"]


@pytest.mark.parametrize("page", [replace_all, compress])
def test_page_of_a_proxy_is_no_final_answer(page: Fault) -> None:
    """Otherwise the PDFs of one hour behind a login page would be `bad_tei` in every release."""
    with s3_store() as store:
        store.fault, store.meets = page, lambda request: True
        server = HttpServer(f"http://127.0.0.1:{store.port}", headers={}, connections=1, max_bytes=1000)
        answer = server.read("/api/processFulltextDocument", timeout=10.0)
    assert isinstance(answer, ExtractorAnswer)
    assert answer.outcome is ExtractOutcome.CONNECTION and "answers with a page in HTML" in answer.detail
