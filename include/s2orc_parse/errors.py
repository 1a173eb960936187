"""The errors that a user or an operator reads."""


class UserError(Exception):
    """An input or a setting is wrong: the message contains the value, the expected value and the fix.

    The command line prints it as one sentence and exits with status 2; a task fails with it and is not retried.
    """


class TransientError(Exception):
    """Something outside failed and may work when retried (a server that is down, a lost lease): a task is retried."""
