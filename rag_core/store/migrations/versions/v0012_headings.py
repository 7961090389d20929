"""Store all headings of pages with their places."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the headings of pages; those of existing pages are unknown until the documents are indexed again."""
    op.add_column("pages", sa.Column("headings", sa.JSON))
