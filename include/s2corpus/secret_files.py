"""Read a secret from an environment variable, or from the file that the variable with the suffix `_FILE` names."""

from __future__ import annotations

import os
from pathlib import Path

from s2corpus.errors import UserError


def read_secret(name: str, *, is_optional: bool = False) -> str | None:
    """Return the secret `name`, or None if neither variable is set. An optional secret is None also if its file is empty.

    Raises:
        UserError: the file cannot be read, or is empty.
    """
    if (value := os.environ.get(name)) or not (path := os.environ.get(f"{name}_FILE")):
        return value or None
    try:
        content = Path(path).read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise UserError(f"{name}_FILE: {path} cannot be read ({error}): name a readable file") from None
    if not content and not is_optional:
        raise UserError(f"{name}_FILE: {path} is empty: write the secret into it")
    return content or None
