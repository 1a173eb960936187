"""Count the tokens of a text with a tokenizer file of the library `tokenizers` (`tokenizer.json`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.resources import files

from s2corpus.errors import UserError
from s2corpus.rules.text import TokenizerRules

PACKAGE = "package:"
"""`package:<package>/<file>` is a file in an installed wheel"""


def counter(named: TokenizerRules, fetch: Callable[[str], bytes]) -> Callable[[str], int]:
    """Return a function that counts a text's tokens, without special tokens. `fetch` returns the bytes at an address.

    Raises:
        UserError: the checksum differs, the file is not a tokenizer, or a package is not installed.
    """
    try:
        from tokenizers import Tokenizer as Reader
    except ImportError:
        raise UserError("export.tokenizer needs the package tokenizers: pip install 's2corpus[tokens]'") from None
    if named.uri.startswith(PACKAGE):
        package, _, name = named.uri.removeprefix(PACKAGE).partition("/")
        try:
            content = files(package).joinpath(name).read_bytes()
        except (ImportError, OSError) as error:
            raise UserError(f"{named.uri}: {error}: install the package that brings it") from None
    else:
        content = fetch(named.uri)
    if (found := hashlib.sha256(content).hexdigest()) != named.sha256:
        raise UserError(f"{named.uri}: its SHA-256 is {found}, the spec says {named.sha256}")
    try:
        reader = Reader.from_buffer(content)
    except Exception as error:  # the library raises nothing more precise
        raise UserError(f"{named.uri}: not a tokenizer.json: {error}") from None
    return lambda text: len(reader.encode(text, add_special_tokens=False).ids)
