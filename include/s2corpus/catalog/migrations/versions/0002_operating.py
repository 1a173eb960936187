"""Add the reason of overrides and the error of failed stages."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("quality", sa.Column("overridden_because", sa.Text))
    op.add_column("stage_runs", sa.Column("failed_at", sa.DateTime(timezone=True)))
    op.add_column("stage_runs", sa.Column("error", sa.Text))


def downgrade() -> None:
    """Drop the columns."""
    op.drop_column("quality", "overridden_because")
    op.drop_column("stage_runs", "failed_at")
    op.drop_column("stage_runs", "error")
