"""Store snapshots, and the snapshot that a conversation asks."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the tables of snapshots; existing conversations ask the present documents."""
    op.create_table(
        "snapshots",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("collection", sa.Text, nullable=False),
        sa.Column("as_of", sa.DateTime(timezone=True), nullable=False, index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "snapshot_contents",
        sa.Column("snapshot_id", sa.String(32), sa.ForeignKey("snapshots.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("document_id", sa.String(32), sa.ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False),
    )
    op.create_index("snapshot_contents_by_document", "snapshot_contents", ["document_id", "sha256"])
    op.add_column("conversations", sa.Column("as_of", sa.Text, nullable=False, server_default=""))
