"""What an answer of GROBID's REST API means for its PDF: the closed list of outcomes (SEMANTICS: Extract)."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from enum import StrEnum

from lxml import etree

TEI_ROOT = "{http://www.tei-c.org/ns/1.0}TEI"


class Outcome(StrEnum):
    """How a PDF's extraction ended. What is not final is tried again in the next release."""

    OK = "ok"
    NO_CONTENT = "no_content"
    BAD_TEI = "bad_tei"
    BAD_INPUT_DATA = "failed:BAD_INPUT_DATA"
    NO_BLOCKS = "failed:NO_BLOCKS"
    TOO_MANY_BLOCKS = "failed:TOO_MANY_BLOCKS"
    TOO_MANY_TOKENS = "failed:TOO_MANY_TOKENS"
    PDFALTO_CONVERSION_FAILURE = "failed:PDFALTO_CONVERSION_FAILURE"
    BUSY = "gave_up:busy"
    TIMEOUT = "gave_up:timeout"
    CONNECTION = "gave_up:connection"

    @property
    def final(self) -> bool:
        """Whether this is the extractor's last word about the PDF."""
        return not self.startswith("gave_up:")


_PERMANENT = {outcome.removeprefix("failed:"): outcome for outcome in Outcome if outcome.startswith("failed:")}
_CODE = re.compile(rb"\b(" + b"|".join(code.encode() for code in [*_PERMANENT, "TIMEOUT"]) + rb")\b")
_CODE_WITHIN = 4096


@dataclass(frozen=True)
class Options:
    """What GROBID is asked for. Every field is sent, so that a server's own defaults decide nothing."""

    consolidate_header: int = 0
    consolidate_citations: int = 0
    include_raw_citations: int = 1
    segment_sentences: int = 0

    def form(self) -> dict[str, str]:
        """The form fields of `processFulltextDocument`."""
        return {
            "consolidateHeader": str(int(self.consolidate_header)),
            "consolidateCitations": str(int(self.consolidate_citations)),
            "includeRawCitations": str(int(self.include_raw_citations)),
            "segmentSentences": str(int(self.segment_sentences)),
        }

    @property
    def hash(self) -> str:
        """16 hex digits over what is sent: part of the key under which an extraction is kept."""
        return hashlib.sha256(json.dumps(self.form(), sort_keys=True).encode()).hexdigest()[:16]

    def __post_init__(self) -> None:
        wrong = {name: value for name, value in asdict(self).items() if value not in (0, 1, 2)}
        if wrong:
            raise ValueError(f"options of GROBID are 0, 1 or 2: {wrong}")


def judge(status: int, body: bytes, max_tei_bytes: int) -> Outcome:
    """What an HTTP answer says about its PDF; a `gave_up` outcome stands for another try.

    `body` may be cut after `max_tei_bytes` + 1 bytes: longer is `bad_tei`. Only the five codes that are the PDF's own
    fault are final; GROBID's other ones (TAGGING_ERROR, PARSING_ERROR, GENERAL, TIMEOUT), and what a proxy or a dying
    server says, may be different next time.
    """
    if status == 200:
        return Outcome.OK if len(body) <= max_tei_bytes and is_tei(body) else Outcome.BAD_TEI
    if status == 204:
        return Outcome.NO_CONTENT
    if status in (429, 503):
        return Outcome.BUSY
    if status >= 400 and (found := _CODE.search(body[:_CODE_WITHIN])):
        return _PERMANENT.get(found[1].decode(), Outcome.TIMEOUT)
    return Outcome.TIMEOUT if status in (408, 504) else Outcome.CONNECTION


def is_tei(body: bytes) -> bool:
    """Whether a document is well-formed XML with the TEI root and no document type: GROBID writes none, bombs need one."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return False
    return root.tag == TEI_ROOT and root.getroottree().docinfo.internalDTD is None
