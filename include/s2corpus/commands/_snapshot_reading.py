"""Report damaged snapshots in the same way in all commands that read a snapshot."""

from __future__ import annotations

import functools
import gzip
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from s2corpus.errors import TransientError, UserError
from s2corpus_reader import SnapshotError, UnreachableError
from s2corpus_reader.errors import describe

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake

P = ParamSpec("P")
R = TypeVar("R")
_DAMAGE_ERRORS = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, TypeError, ValueError, gzip.BadGzipFile, zlib.error,
)  # fmt: skip
"""Errors that a damaged snapshot can cause. Arrow's and JSON's errors are subclasses."""


def reads_snapshot(command: Callable[P, R]) -> Callable[P, R]:
    """Wrap a command so that errors of a damaged snapshot become one readable message.

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
        except _DAMAGE_ERRORS as error:
            what = describe(error)
            raise UserError(
                f"the snapshot cannot be read ({type(error).__name__}: {what}): it is damaged or of another version; "
                f"run corpus verify to find the damage"
            ) from error

    return read


def open_lake_of(folder: Lake, snapshot: str, advice: str) -> Lake:
    """Open the lake that contains the folder of a snapshot.

    Raises:
        UserError: the folder is not in a lake; the message ends with `advice`.
    """
    from s2corpus.storage.lake import open_lake

    root, _, name = folder.root.rstrip("/").rpartition("/snapshots/")
    if not root or name != snapshot:
        raise UserError(f"{folder.root} is not in a lake (…/snapshots/{snapshot}): {advice}")
    return open_lake(root)
