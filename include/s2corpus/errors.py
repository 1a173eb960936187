"""The errors that a user or an operator reads."""

from s2orc_parse.errors import TransientError, UserError

__all__ = ["QualityBlocked", "TransientError", "UserError"]


class QualityBlocked(UserError):
    """A check of severity block found offending rows: a release stops before the next stage, a dataset is not published."""
