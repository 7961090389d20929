"""From this revision on, Alembic records the revision of the database.

The number in the preferences is raised, so that versions of Footnote that do not use Alembic refuse the database.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Raise the number that older versions of Footnote check."""
    preferences = sa.table("preferences", sa.column("name", sa.String), sa.column("value", sa.JSON))
    op.execute(sa.update(preferences).where(preferences.c.name == "schema").values(value=2))
