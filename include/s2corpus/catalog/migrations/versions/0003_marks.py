"""What people say of the items of a release's evaluation."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "marks",
        sa.Column("release", sa.String(64), primary_key=True),
        sa.Column("item", sa.String(96), primary_key=True),
        sa.Column("marker", sa.String(128), primary_key=True),
        sa.Column("title", sa.Boolean),
        sa.Column("authors", sa.Boolean),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Take back."""
    op.drop_table("marks")
