"""Store trainings of the query adapter, and mark labels of pseudo-questions."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the table of trainings. No existing label is of a pseudo-question."""
    op.create_table(
        "trainings",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, index=True),
        sa.Column("weights", sa.String(64), nullable=False),
        sa.Column("projection", sa.String(64), nullable=False),
        sa.Column("report", sa.JSON, nullable=False),
        sa.Column("matrices", sa.LargeBinary, nullable=True),
    )
    op.add_column("labels", sa.Column("is_pseudo", sa.Boolean, nullable=False, server_default=sa.false()))
