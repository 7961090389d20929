"""Store further names of documents, because the same file may be added from several paths."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table of aliases."""
    op.create_table(
        "aliases",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("document_id", sa.String(32), sa.ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("collection", sa.Text, nullable=False),
        sa.Column("folder", sa.Text, nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
    )
    for column in ("document_id", "name", "collection"):
        op.create_index(f"ix_aliases_{column}", "aliases", [column])
