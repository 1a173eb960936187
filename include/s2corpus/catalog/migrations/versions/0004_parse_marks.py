"""Add the judgments of citations and bibliographies in a release's evaluation."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "parse_marks",
        sa.Column("release", sa.String(64), primary_key=True),
        sa.Column("item", sa.String(96), primary_key=True),
        sa.Column("marker", sa.String(128), primary_key=True),
        sa.Column("wrong", sa.JSON, nullable=False),
        sa.Column("unsure", sa.JSON, nullable=False),
        sa.Column("missing", sa.Integer, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    """Take back."""
    op.drop_table("parse_marks")
