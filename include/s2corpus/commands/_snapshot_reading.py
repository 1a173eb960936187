"""Report damaged snapshots in the same way in all commands that read a snapshot."""

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
"""the errors that malformed bytes cause in libraries, and malformed values in our code; Arrow's and JSON's errors are subclasses"""


def reads_snapshot(command: Callable[P, R]) -> Callable[P, R]:
    """Return the command with the errors of a damaged snapshot replaced by an error message of one sentence.

    Raises:
        UserError: the snapshot is damaged or of another version.
        TransientError: the snapshot cannot be reached.
    """

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
