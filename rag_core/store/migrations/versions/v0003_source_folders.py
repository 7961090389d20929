"""Store the folder of each document's file, so that files with the same name in two folders are two documents."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column for the folder. It is null for existing documents, because their folder is unknown."""
    op.add_column("documents", sa.Column("folder", sa.Text, nullable=True))
