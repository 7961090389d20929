"""Store the cards of documents."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table of cards; the cards of the newest documents are written in the background."""
    op.create_table(
        "document_cards",
        sa.Column("version_id", sa.String(32), sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("is_complete", sa.Boolean, nullable=False),
        sa.Column("card", sa.JSON, nullable=False),
    )
