"""Store the tables of pages."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table of page tables; it stays empty for documents that an earlier version read."""
    op.create_table(
        "page_tables",
        sa.Column("version_id", sa.String(32), sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("page_index", sa.Integer, primary_key=True),
        sa.Column("tables", sa.LargeBinary, nullable=False),
    )
