"""Store the model and the instructions of each conversation."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns. Existing conversations use the configured model, without instructions."""
    op.add_column("conversations", sa.Column("model", sa.Text, nullable=True))
    op.add_column("conversations", sa.Column("instructions", sa.Text, nullable=False, server_default=""))
