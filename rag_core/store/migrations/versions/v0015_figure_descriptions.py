"""Store what language models write about the figures of documents."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Create the table of descriptions, which is empty."""
    op.create_table(
        "figure_descriptions",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("version_id", sa.String(32), sa.ForeignKey("versions.id"), nullable=False, index=True),
        sa.Column("page_index", sa.Integer),
        sa.Column("start", sa.Integer),
        sa.Column("end", sa.Integer),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("chunk_id", sa.Integer),
    )
