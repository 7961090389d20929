"""Alembic records the revision from here on; the number in the preferences makes older versions refuse the database."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Raise the number that older versions compare."""
    preferences = sa.table("preferences", sa.column("name", sa.String), sa.column("value", sa.JSON))
    op.execute(sa.update(preferences).where(preferences.c.name == "schema").values(value=2))
