"""Each GROBID response has its outcome, and only TEI counts as TEI."""

from __future__ import annotations

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
from s2corpus.extractors.protocol import ExtractorIdentity, options_hash
from s2corpus.spec import ExtractRules
from tests.standin_grobid import TEI

GOOD = TEI.format("A title").encode()
LIMIT = 12_000_000
NS = "http://www.tei-c.org/ns/1.0"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("body", "good"),
    [
        (GOOD, True),
        (b"\xef\xbb\xbf" + GOOD, True),
        ("<TEI xmlns='http://www.tei-c.org/ns/1.0'>ü</TEI>".encode("utf-16"), True),
        (b"", False),
        (b"<TEI/>", False),
        (b"<html><body>Service unavailable</body></html>", False),
        (GOOD[:-7], False),
        (b"\0" + GOOD, False),
        (b"<TEI xmlns='http://www.tei-c.org/ns/1.0'>\xff</TEI>", False),
        (b'<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + GOOD, False),
        (b"<T xmlns='http://www.tei-c.org/ns/1.0'/>", False),
        (b"<TEI xmlns='http://www.tei-c.org/ns/1.0'>" + b"<p>" * 5000 + b"</p>" * 5000 + b"</TEI>", False),
        (f'<!DOCTYPE TEI [<!ENTITY l0 "ha">{LAUGHS}]><TEI xmlns="{NS}">&l9;</TEI>'.encode(), False),
    ],
)
def test_only_well_formed_tei_is_tei(body: bytes, good: bool) -> None:
    assert is_tei(body) is good
    assert classify_response(200, body, LIMIT).outcome is (ExtractOutcome.OK if good else ExtractOutcome.BAD_TEI)


def test_tei_is_limited_in_bytes() -> None:
    assert classify_response(200, GOOD, len(GOOD)).outcome is ExtractOutcome.OK
    assert classify_response(200, GOOD, len(GOOD) - 1).outcome is ExtractOutcome.BAD_TEI


@pytest.mark.parametrize(
    ("status", "body", "outcome", "broken"),
    [
        (199, GOOD, "gave_up:connection", False),
        (201, GOOD, "gave_up:connection", False),
        (203, b"", "gave_up:connection", False),
        (204, b"", "no_content", False),
        (205, b"", "gave_up:connection", False),
        (399, b"[NO_BLOCKS]", "gave_up:connection", False),
        (404, b"", "gave_up:connection", False),
        (408, b"", "gave_up:timeout", False),
        (429, b"", "gave_up:busy", False),
        (500, b"", "gave_up:connection", False),
        (502, b"", "gave_up:connection", True),
        (503, b"[NO_BLOCKS]", "gave_up:busy", False),
        (504, b"", "gave_up:timeout", True),
        # The error code decides if the status does not report a busy server.
        (400, b"[NO_BLOCKS]", "failed:NO_BLOCKS", False),
        (500, b'{"type":"NO_BLOCKS","description":"no text"}', "failed:NO_BLOCKS", False),
        (409, b"org.grobid.core.exceptions.GrobidException: [BAD_INPUT_DATA] exit 1", "failed:BAD_INPUT_DATA", False),
        (500, b"[TOO_MANY_BLOCKS]", "failed:TOO_MANY_BLOCKS", False),
        (500, b"[TOO_MANY_TOKENS]", "failed:TOO_MANY_TOKENS", False),
        (500, b"[PDFALTO_CONVERSION_FAILURE]", "failed:PDFALTO_CONVERSION_FAILURE", False),
        (502, b"[TIMEOUT] PDF to XML conversion timed out", "gave_up:timeout", True),
        (500, b"[GENERAL] An exception occurred", "gave_up:connection", False),
        (500, b"NO_BLOCKSMITH", "gave_up:connection", False),
        (500, b" " * (4096 - 10) + b"[NO_BLOCKS]", "failed:NO_BLOCKS", False),
        (500, b" " * (4096 - 9) + b"[NO_BLOCKS]", "gave_up:connection", False),
    ],
)
def test_status_and_code_give_an_outcome(status: int, body: bytes, outcome: str, broken: bool) -> None:
    found = classify_response(status, body, LIMIT)
    assert (found.outcome, found.broken, found.unreachable, found.lost) == (outcome, broken, False, False)
    assert found.outcome.final or found.detail == f"HTTP {status}: {body[:200].decode()}"


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "requires a token (HTTP 401)"), (402, None), (403, "requires a token (HTTP 403)"), (499, None),
     (500, "answers HTTP 500 to /api/version")],
)  # fmt: skip
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
    changes: list[dict[str, object]] = [
        {}, {"consolidate_header": 1}, {"consolidate_header": 2}, {"consolidate_citations": 1}, {"include_raw_citations": False},
        {"segment_sentences": True},
    ]  # fmt: skip
    assert len({options_hash(form(ExtractRules.model_validate(one))) for one in changes}) == len(changes)
    assert options_hash({"a": "1", "b": "2"}) == options_hash({"b": "2", "a": "1"}) == "0e09eeab5bdeab40"
    with pytest.raises(ValidationError, match="consolidate_header"):
        ExtractRules.model_validate({"consolidate_header": 3})
    with pytest.raises(UserError, match=r"extract\.options: expected no options"):
        form(ExtractRules(options={"do_ocr": "true"}))


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
