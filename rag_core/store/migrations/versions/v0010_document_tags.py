"""Store the tags of documents, and what their first pages say about them."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the columns; existing documents have no tags, and their attributes are found when they are read again."""
    op.add_column("documents", sa.Column("tags", sa.JSON, nullable=False, server_default="[]"))
    op.add_column("versions", sa.Column("company", sa.Text, nullable=False, server_default=""))
    op.add_column("versions", sa.Column("year", sa.Integer))
    op.add_column("versions", sa.Column("kind", sa.Text, nullable=False, server_default=""))
