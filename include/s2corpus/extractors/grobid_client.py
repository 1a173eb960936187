"""Make GROBID's requests by grobid-client-python, and send them with limits on time and size.

`call_api` of the library's client is replaced, because the library's buffers uploads in memory, reads responses of any size, limits
only the time between two bytes, and opens a connection for every call. The pool decides about retries.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from typing import Any

import requests

# The library configures the root logger unless this logger has a handler.
logging.getLogger("grobid_client.format.TEI2LossyJSON").addHandler(logging.NullHandler())
from grobid_client.grobid_client import GrobidClient  # noqa: E402

from s2corpus.extractors.http import HttpServer  # noqa: E402
from s2corpus.extractors.protocol import ExtractorAnswer  # noqa: E402
from s2corpus.outcomes import ExtractOutcome  # noqa: E402

_ARGUMENTS = {
    "consolidate_header": "consolidateHeader", "consolidate_citations": "consolidateCitations",
    "include_raw_citations": "includeRawCitations", "segment_sentences": "segmentSentences",
}  # fmt: skip
"""argument of the library → form field with the value 1; other values, such as 2, are added to its request"""


class Client(GrobidClient):
    """The library's client of one server. It builds requests; `HttpServer` sends them with limits on time and size."""

    file_sha1 = ""
    reply: tuple[int, bytes] | ExtractorAnswer | None = None
    """the reply to the request"""

    def __init__(self, server: HttpServer, form: Mapping[str, str]) -> None:
        self.form = dict(form)
        coordinates = self.form.pop("teiCoordinates", "").split(",")
        super().__init__(server.url, coordinates=coordinates, check_server=False)
        self.server = server
        self.options = {name: self.form.get(field) == "1" for name, field in _ARGUMENTS.items()}
        self.options["tei_coordinates"] = coordinates != [""]

    def request(self, file_sha1: str, path: str, timeout: float) -> tuple[int, bytes] | ExtractorAnswer:
        """Send a PDF to `processFulltextDocument`; return status and body, or an answer that describes the failure."""
        client = copy.copy(self)  # Threads share the server's client; timeout and reply belong to a request.
        client.config, client.file_sha1 = {**self.config, "timeout": timeout}, file_sha1
        _, _, error = client.process_pdf("processFulltextDocument", path, **self.options)  # type: ignore[arg-type]  # all are bool
        return client.reply or ExtractorAnswer(ExtractOutcome.CONNECTION, detail=f"grobid-client-python: {error}")

    # `options` covers the keyword arguments that the library passes on.
    def call_api(self, method: str, url: str, **options: Any) -> tuple[requests.Response, int]:  # type: ignore[override]
        """Send the library's request of a PDF. Add the fields that it omits, so that the server's defaults have no effect."""
        fields = {**self.form, **options["data"]}
        ((field, (_, pdf, *_)),) = options["files"].items()
        path, timeout = url.removeprefix(self.server.url), options["timeout"]
        self.reply = self.server.upload(path, self.file_sha1, lambda: pdf, field=field, form=fields, timeout=timeout)
        # The library would wait after a 503 and send the PDF again; it returns any other status.
        return requests.Response(), 500
