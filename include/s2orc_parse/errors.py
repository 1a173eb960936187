"""Errors for users and operators."""


class UserError(Exception):
    """An input or a setting is wrong. The message contains the value, the expected value and the fix.

    The command line prints the message and exits with status 2. A task fails with it and is not retried.
    """


class TransientError(Exception):
    """An external service failed, and a retry may succeed: a server is down, a lease was lost. Tasks are retried."""
