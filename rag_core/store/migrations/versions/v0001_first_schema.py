"""The first schema. Databases with this schema have the number 1 in their preferences, and no table from Alembic.

New databases are created from `rag_core.store.schema`. This revision is only the starting point for the migrations of
older databases.
"""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Change nothing: databases with this schema already contain its tables."""
