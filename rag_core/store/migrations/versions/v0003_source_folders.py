"""Documents have the folder of their file, so that two files of one name are two documents."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the folder, which is unknown for the documents so far."""
    op.add_column("documents", sa.Column("folder", sa.Text, nullable=True))
