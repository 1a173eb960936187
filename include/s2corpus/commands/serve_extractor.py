"""`corpus serve-extractor`: the embedded extractor behind GROBID's REST API."""

from __future__ import annotations

import os
from pathlib import Path

import click

from s2corpus.commands._help import PATH, Command


@click.command(
    cls=Command,
    epilog=(
        "corpus serve-extractor --port 8070 --workers 2\n"
        "curl -F input=@paper.pdf http://127.0.0.1:8070/api/processFulltextDocument"
    ),
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; any other address needs a token."
)
@click.option("--port", default=8070, show_default=True, help="Port to listen on.")
@click.option(
    "--workers",
    default=os.cpu_count() or 1,
    type=click.IntRange(1, 256),
    help="Number of PDFs read in parallel.  [default: the number of cores]",
)
@click.option("--token-file", type=PATH, help="File with the token that each request must send.")
def command(host: str, port: int, workers: int, token_file: Path | None) -> None:
    """Serve the embedded extractor by GROBID's REST API.

    The server runs until it is interrupted.
    """
    from pdf2tei.server import read_token, serve

    serve(port, workers, read_token(token_file), host=host)
