"""The errors a user or an operator is meant to read."""


class UserError(Exception):
    """Something given to us is wrong: says what was given, what was expected and what to do.

    The command line prints it as one sentence and exits with status 2; a task fails with it and is not retried.
    """


class TransientError(Exception):
    """Something outside failed that may work when retried (a server down, a lease lost): a task is retried."""


class LostRace(TransientError):
    """Another process wrote the same object first: the step can be done again at once."""


class QualityBlocked(UserError):
    """A check of severity block found offending rows: a release stops before the next stage, a dataset is not published."""
