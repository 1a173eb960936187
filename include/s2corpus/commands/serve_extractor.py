"""`corpus serve-extractor`: the embedded extractor behind GROBID's REST API."""

from __future__ import annotations

import os
from pathlib import Path

import click


@click.command(
    epilog="Example: corpus serve-extractor --port 8070 --workers 2; then curl -F input=@paper.pdf "
    "http://127.0.0.1:8070/api/processFulltextDocument"
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; another than this needs a token."
)
@click.option("--port", default=8070, show_default=True, help="Port to listen on.")
@click.option("--workers", default=os.cpu_count() or 1, type=click.IntRange(1, 256), help="PDFs read at a time.")
@click.option("--token-file", type=click.Path(path_type=Path), help="File with the token every request must bear.")
def command(host: str, port: int, workers: int, token_file: Path | None) -> None:
    """Serve the embedded extractor over GROBID's REST API until interrupted."""
    from pdf2tei.server import serve, token_from

    serve(port, workers, token_from(token_file), host=host)
