"""Add the table of evaluation marks."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
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
    """Drop the table."""
    op.drop_table("marks")
