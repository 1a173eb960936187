"""What every command that reads a snapshot says of one that is damaged."""

from __future__ import annotations

import functools
import gzip
import zlib
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from s2corpus.errors import TransientError, UserError
from s2corpus_reader import SnapshotError, UnreachableError

P = ParamSpec("P")
R = TypeVar("R")
_FORMS = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, TypeError, ValueError, gzip.BadGzipFile, zlib.error,
)  # fmt: skip
"""What libraries raise at bytes, and our code at values, that have not the form of a snapshot's; Arrow's and JSON's errors are of these."""


def reads_snapshot(command: Callable[P, R]) -> Callable[P, R]:
    """A command for which such an error is one sentence."""

    @functools.wraps(command)
    def read(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except SnapshotError as error:
            raise UserError(str(error)) from error
        except UnreachableError as error:
            raise TransientError(str(error)) from error
        except _FORMS as error:
            what = " ".join(str(error).split())[:200]
            raise UserError(
                f"the snapshot cannot be read ({type(error).__name__}: {what}): it is damaged or of another version, "
                f"and corpus verify says where"
            ) from error

    return read
