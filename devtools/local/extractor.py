"""Run the embedded extractor as a local service, for users without a GROBID server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from devtools.local.service import LocalService
from devtools.local.state import State
from s2corpus.deployment.http import ask


class Extractor(LocalService):
    """`pdf2tei.service.server`: GROBID's REST API, for clients with the token."""

    name = "extractor"

    def command(self) -> list[str]:
        """Return the server's command line."""
        return [sys.executable, "-m", "pdf2tei.cli", "--port", str(self.port), "--workers", "2"]

    def environ(self) -> Mapping[str, str]:
        """Return the token that clients must send."""
        return {"S2CORPUS_EXTRACTOR_TOKEN": self.state.secrets()["extractor"]}

    def problem(self) -> str | None:
        """Return why the extractor is unhealthy, or None. The health request contains the token."""
        token = self.state.secrets()["extractor"]
        try:
            answer = ask(f"{self.url}/api/isalive", headers={"Authorization": f"Bearer {token}"})
        except OSError as error:
            return f"does not answer ({error})"
        return None if answer.status == 200 else f"answers {answer.status} to the health request"


def external_grobid(state: State) -> str | None:
    """Return the user's own `GROBID_URL`, or None.

    The exported URL from `python -m devtools env` is ours and does not count.
    """
    url = os.environ.get("GROBID_URL", "").rstrip("/")
    return url if url and url != Extractor(state).url else None
