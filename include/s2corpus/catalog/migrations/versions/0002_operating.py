"""Why a check was overridden, and what a stage failed with."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Apply."""
    op.add_column("quality", sa.Column("overridden_because", sa.Text))
    op.add_column("stage_runs", sa.Column("failed_at", sa.DateTime(timezone=True)))
    op.add_column("stage_runs", sa.Column("error", sa.Text))


def downgrade() -> None:
    """Take back."""
    op.drop_column("quality", "overridden_because")
    op.drop_column("stage_runs", "failed_at")
    op.drop_column("stage_runs", "error")
