"""The errors of reading a snapshot."""


class SnapshotError(Exception):
    """An address, an argument or a file is wrong: the message contains the value, the expected value and the fix."""


class NotASnapshotFile(SnapshotError):
    """A path is not a regular file inside the snapshot's folder."""


class UnreachableError(Exception):
    """A server did not respond or failed temporarily: a retry may work."""


def describe(error: Exception) -> str:
    """Return the message of an error as one line of at most 300 characters."""
    return " ".join(str(error).split())[:300]


def is_damage(error: Exception) -> bool:
    """Return whether an error of reading Parquet means damaged bytes. Errors of the disk have an errno, Arrow's do not."""
    return not isinstance(error, OSError) or error.errno is None
