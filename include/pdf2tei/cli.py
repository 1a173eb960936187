"""`pdf2tei`: serve the extractor."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from pdf2tei.errors import ExtractionError
from pdf2tei.pages.model import Line
from pdf2tei.service import server
from s2orc_parse.children import end_with_parent
from s2orc_parse.errors import UserError
from s2orc_parse.scratch import check_socket_path


def main() -> None:
    """Run the command line of `pdf2tei`."""
    parser = argparse.ArgumentParser(prog="pdf2tei", description="Serve the extractor behind GROBID's REST API.")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: %(default)s); an address that other machines can reach needs --token-file",
    )
    parser.add_argument("--port", type=int, default=8070, help="port to listen on (default: %(default)s)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="number of worker processes (default: %(default)s)"
    )
    parser.add_argument(
        "--timeout", type=float, default=server.TIMEOUT, help="time limit per PDF, in seconds (default: %(default)s)"
    )
    parser.add_argument(
        "--token-file", type=Path, help="file with the bearer token of requests (default: $S2CORPUS_EXTRACTOR_TOKEN)"
    )
    parser.add_argument("--parent", type=int, help="id of the process that started the server; the server ends with it")
    parser.add_argument(
        "--explain",
        type=Path,
        metavar="PDF",
        help="print page, place and text of each line of a PDF instead of serving",
    )
    options = parser.parse_args()
    if options.parent is not None:
        end_with_parent(options.parent)
    try:
        if options.explain is not None:
            explain(options.explain, options.timeout)
            sys.stdout.flush()
            return
        check_socket_path()
        token = read_token(options.token_file)
        server.serve(options.port, max(1, options.workers), token, options.timeout, host=options.host)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (UserError, OSError) as error:
        print(f"pdf2tei: {error}", file=sys.stderr)
        sys.exit(2)


def explain(pdf: Path, timeout: float) -> None:
    """Print page, place and text of each line of a PDF."""
    from pdf2tei.paper import extract
    from pdf2tei.places import place_lines

    lines: list[Line] = []
    try:
        tei = extract(pdf, timeout=timeout, printed=lines)
    except (OSError, ExtractionError) as error:
        raise UserError(f"{pdf} cannot be extracted ({error}); give a readable PDF of a paper") from None
    if tei is None:
        raise UserError(f"{pdf} has no text: its pages are images; give a PDF with a text layer")
    for row in place_lines(lines, tei):
        print(*row, sep="\t")


def read_token(file: Path | None) -> str | None:
    """Return the token from the file, or from the environment variable S2CORPUS_EXTRACTOR_TOKEN, or None."""
    if file is not None:
        try:
            token = file.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise UserError(f"the token file {file} cannot be read ({error.strerror}); give a readable file") from None
        if not token:
            raise UserError(f"the token file {file} is empty; write the token into it")
        return token
    return os.environ.get("S2CORPUS_EXTRACTOR_TOKEN") or None


if __name__ == "__main__":
    main()
