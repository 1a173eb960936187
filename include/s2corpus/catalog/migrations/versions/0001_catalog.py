"""The catalog's first tables: releases, stage runs, metrics, quality, approvals."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _release() -> sa.Column[str]:
    return sa.Column("release", sa.String(64), sa.ForeignKey("releases.release", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    """Create the tables."""
    when = sa.DateTime(timezone=True)
    op.create_table(
        "releases",
        sa.Column("release", sa.String(64), primary_key=True),
        sa.Column("spec", sa.String(48), nullable=False, index=True),
        sa.Column("as_of", when, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("snapshot", sa.String(96)),
        sa.Column("started_at", when, nullable=False),
        sa.Column("ended_at", when),
    )
    op.create_table(
        "stage_runs",
        _release(),
        sa.Column("stage", sa.String(32), primary_key=True),
        sa.Column("started_at", when, nullable=False),
        sa.Column("ended_at", when),
    )
    op.create_table(
        "metrics",
        _release(),
        sa.Column("stage", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("value", sa.Float, nullable=False),
    )
    op.create_table(
        "quality",
        _release(),
        sa.Column("stage", sa.String(32), primary_key=True),
        sa.Column("check", sa.String(128), primary_key=True),
        sa.Column("severity", sa.String(8), nullable=False),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("offending", sa.Integer, nullable=False),
        sa.Column("threshold", sa.Float),
        sa.Column("overridden_by", sa.String(128)),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_table(
        "approvals",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "release", sa.String(64), sa.ForeignKey("releases.release", ondelete="CASCADE"), nullable=False, index=True
        ),
        sa.Column("what", sa.String(160), nullable=False),
        sa.Column("who", sa.String(128), nullable=False),
        sa.Column("answer", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("at", when, nullable=False),
    )


def downgrade() -> None:
    """Drop the tables."""
    for table in ("approvals", "quality", "metrics", "stage_runs", "releases"):
        op.drop_table(table)
