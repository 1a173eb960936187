"""The errors that a user or an operator reads."""

from s2orc_parse.errors import TransientError, UserError

__all__ = ["LostRace", "QualityBlocked", "TransientError", "UserError"]


class LostRace(TransientError):
    """Another process wrote the same object first: retry the step immediately."""


class QualityBlocked(UserError):
    """A check of severity block found offending rows: a release stops before the next stage, a dataset is not published."""
