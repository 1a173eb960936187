"""The errors of reading a snapshot."""


class SnapshotError(Exception):
    """An address, an argument or a file is wrong: the message contains the value, the expected value and the fix."""


class NotASnapshotFile(SnapshotError):
    """A path of a local snapshot leads out of it, or to a folder, a FIFO, a device or a socket."""


class UnreachableError(Exception):
    """A server did not answer, or refused for now: another try may work."""
