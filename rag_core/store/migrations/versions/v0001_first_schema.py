"""The first schema. Databases of this schema have the number 1 in their preferences and no table of Alembic's.

New databases are created from `rag_core.store.schema`, so this revision only names where older ones start.
"""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Change nothing: the tables are there."""
