"""Store the tags of conversations."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the column of tags; existing conversations have none."""
    op.add_column("conversations", sa.Column("tags", sa.JSON, nullable=False, server_default="[]"))
