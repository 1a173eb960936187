"""Each GROBID response has its outcome, and only TEI counts as TEI."""

from __future__ import annotations

import io
import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from urllib3.exceptions import MaxRetryError, NewConnectionError

from s2corpus.errors import TransientError, UserError
from s2corpus.extractors import ExtractOutcome, http
from s2corpus.extractors.grobid import GrobidServer, classify_response, form, is_tei
from s2corpus.extractors.protocol import BackgroundTask, ExtractorAnswer, ExtractorIdentity, options_hash
from s2corpus.spec import ExtractRules
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
        (b"<TEI2 xmlns='http://www.tei-c.org/ns/1.0'/>", False),
        (b"<T xmlns='http://www.tei-c.org/ns/1.0'/>", False),
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
    assert classify_response(200, body, LIMIT).outcome is (ExtractOutcome.OK if good else ExtractOutcome.BAD_TEI)


def test_tei_is_limited_in_bytes() -> None:
    assert classify_response(200, GOOD, len(GOOD)).outcome is ExtractOutcome.OK
    assert classify_response(200, GOOD, len(GOOD) - 1).outcome is ExtractOutcome.BAD_TEI


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (199, GOOD, ExtractOutcome.CONNECTION),
        (200, GOOD, ExtractOutcome.OK),
        (201, GOOD, ExtractOutcome.CONNECTION),
        (203, b"", ExtractOutcome.CONNECTION),
        (204, b"", ExtractOutcome.NO_CONTENT),
        (205, b"", ExtractOutcome.CONNECTION),
        (503, b"", ExtractOutcome.BUSY),
        (503, b"[NO_BLOCKS]", ExtractOutcome.BUSY),
        (429, b"", ExtractOutcome.BUSY),
        (500, b"[NO_BLOCKS] PDF parsing resulted in empty content", ExtractOutcome.NO_BLOCKS),
        (500, b'{"type":"NO_BLOCKS","description":"no text"}', ExtractOutcome.NO_BLOCKS),
        (500, b"org.grobid.core.exceptions.GrobidException: [BAD_INPUT_DATA] exit 1", ExtractOutcome.BAD_INPUT_DATA),
        (500, b"[TIMEOUT] PDF to XML conversion timed out", ExtractOutcome.TIMEOUT),
        (500, b"[GENERAL] An exception occurred", ExtractOutcome.CONNECTION),
        (500, b"NO_BLOCKSMITH", ExtractOutcome.CONNECTION),
        (500, b" " * 100_000 + b"[NO_BLOCKS]", ExtractOutcome.CONNECTION),
        (500, b"", ExtractOutcome.CONNECTION),
        (301, b"[NO_BLOCKS]", ExtractOutcome.CONNECTION),
        (401, b"", ExtractOutcome.CONNECTION),
        (404, b"", ExtractOutcome.CONNECTION),
        (413, b"", ExtractOutcome.CONNECTION),
    ],
)
def test_status_and_code_give_an_outcome(status: int, body: bytes, outcome: ExtractOutcome) -> None:
    assert classify_response(status, body, LIMIT).outcome is outcome


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, None),
        (401, "requires a token (HTTP 401)"),
        (402, None),
        (403, "requires a token (HTTP 403)"),
        (404, None),
        (499, None),
        (500, "answers HTTP 500 to /api/version"),
        (503, "answers HTTP 503 to /api/version"),
    ],
)
def test_status_explains_the_state_of_the_server(status: int, said: str | None) -> None:
    """A 401 or 403 needs a token from a person, a server error may pass, and any other response is examined."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"so")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as listening:
        Thread(target=listening.handle_request, daemon=True).start()
        asked = GrobidServer(f"http://127.0.0.1:{listening.server_port}", {}, token=None, connections=1, max_bytes=10)
        if said is None:
            assert asked.get_version("/api/version", timeout=5) == (status, b"so")
        else:
            with pytest.raises(TransientError if status >= 500 else UserError, match=re.escape(said)):
                asked.get_version("/api/version", timeout=5)


@given(st.integers(100, 599), st.binary(max_size=200))
def test_every_response_has_an_outcome(status: int, body: bytes) -> None:
    outcome = classify_response(status, body, LIMIT).outcome
    assert outcome is not ExtractOutcome.OK or status == 200
    assert outcome.final == (not outcome.value.startswith("gave_up:"))


def test_options_change_the_key() -> None:
    hashes = {
        options_hash(
            form(
                ExtractRules.model_validate(
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
        ExtractRules.model_validate({"consolidate_header": 3})
    with pytest.raises(UserError, match=r"extract\.options: expected no options"):
        form(ExtractRules(options={"do_ocr": "true"}))


@pytest.mark.parametrize(
    ("before", "outcome"), [(4096 - 10, ExtractOutcome.NO_BLOCKS), (4096 - 9, ExtractOutcome.CONNECTION)]
)
def test_error_code_is_searched_in_first_4_kilobytes(before: int, outcome: ExtractOutcome) -> None:
    assert classify_response(500, b" " * before + b"[NO_BLOCKS]" + b" " * 100, LIMIT).outcome is outcome


@pytest.mark.parametrize(
    ("status", "body", "outcome", "broken"),
    [
        (400, b"[NO_BLOCKS]", ExtractOutcome.NO_BLOCKS, False),
        (399, b"[NO_BLOCKS]", ExtractOutcome.CONNECTION, False),
        (502, b"[TIMEOUT]", ExtractOutcome.TIMEOUT, True),
        (500, b"[GENERAL]", ExtractOutcome.CONNECTION, False),
    ],
)
def test_error_code_marks_a_broken_server_or_not(
    status: int, body: bytes, outcome: ExtractOutcome, broken: bool
) -> None:
    found = classify_response(status, body, LIMIT)
    assert (found.outcome, found.broken, found.detail) == (outcome, broken, f"HTTP {status}: {body.decode()}")


UNREACHED = requests.ConnectionError(MaxRetryError(None, "/", NewConnectionError(None, "refused")))  # type: ignore[arg-type]  # no connection is needed


@pytest.mark.parametrize(
    ("error", "late", "outcome", "unreachable"),
    [
        (UNREACHED, False, ExtractOutcome.CONNECTION, True),
        (UNREACHED, True, ExtractOutcome.CONNECTION, True),
        (requests.ConnectTimeout("slow"), True, ExtractOutcome.CONNECTION, True),
        (requests.ConnectionError("reset"), False, ExtractOutcome.CONNECTION, False),
        (requests.ConnectionError(), False, ExtractOutcome.CONNECTION, False),
        (requests.ReadTimeout("x" * 300), True, ExtractOutcome.TIMEOUT, False),
        (requests.ReadTimeout("slow"), False, ExtractOutcome.CONNECTION, False),
    ],
)
def test_missing_response_is_timeout_or_connection_error(
    error: requests.RequestException, late: bool, outcome: ExtractOutcome, unreachable: bool
) -> None:
    found = http._classify_exception(error, late)
    assert (found.outcome, found.unreachable, found.broken) == (outcome, unreachable, True)
    assert found.detail == str(error)[:200]


class Unsized(io.BytesIO):
    def seekable(self) -> bool:
        return False


@pytest.mark.parametrize("kind", [io.BytesIO, Unsized])
def test_pdf_is_posted_as_a_form_with_fields(kind: type[io.BytesIO]) -> None:
    pdf = bytes(range(256)) * 1000
    upload = http._Upload("input", "a.pdf", kind(pdf), {"consolidateHeader": "1", "segmentSentences": "0"})
    boundary = upload.content_type.removeprefix("multipart/form-data; boundary=")
    fields = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in (("consolidateHeader", "1"), ("segmentSentences", "0"))
    )
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="input"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
    blocks = list(upload)
    assert b"".join(blocks) == f"{fields}{head}".encode() + pdf + f"\r\n--{boundary}--\r\n".encode()
    assert max(map(len, blocks)) <= 1 << 16 and upload.read() == b""
    assert len(upload) == (0 if kind is Unsized else sum(map(len, blocks))) and bool(upload)
    assert len(http._Upload("input", "a.pdf", kind(pdf), {}).read(7)) == 7


@pytest.mark.parametrize(
    ("version", "revision", "valid"),
    [("0.8.1", "", True), ("0.8.1", "a3f", True), ("0 8", "", False), ("", "", False), ("0.8", "../x", False), ("1" * 64, "", True),
     ("1" * 65, "", False)],
)  # fmt: skip
def test_extractor_identity_is_a_valid_folder_name(version: str, revision: str, valid: bool) -> None:
    identity = ExtractorIdentity("grobid", version, revision, "f00")
    assert identity.valid is valid
    assert identity.full_version == f"{version}+{revision}".rstrip("+")
    assert list(identity.key.values()) == ["grobid", identity.full_version, "f00"]


def test_order_of_options_does_not_change_the_hash() -> None:
    assert options_hash({"a": "1", "b": "2"}) == options_hash({"b": "2", "a": "1"}) == "0e09eeab5bdeab40"
    assert (
        not ExtractorAnswer(ExtractOutcome.OK).unreachable
        and not ExtractorAnswer(ExtractOutcome.OK).broken
        and not ExtractorAnswer(ExtractOutcome.OK).lost
    )
    assert (BackgroundTask("t").done, BackgroundTask("t").wait) == (False, 2.0)


@pytest.mark.parametrize("given", ["localhost:8070", "ftp://host", "http://", ""])
def test_address_must_be_http(given: str) -> None:
    with pytest.raises(UserError, match="expected an address such as"):
        http.HttpServer(given, headers={}, connections=1, max_bytes=1)
    found = http.HttpServer("https://user:s3cret@host:8070/grobid/", headers={}, connections=1, max_bytes=1)
    assert (found.url, found.name) == ("https://user:s3cret@host:8070/grobid", "https://host:8070/grobid")
