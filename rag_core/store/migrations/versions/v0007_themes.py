"""Store the entities of documents, and the themes that they form."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables of themes, which stay empty until themes are built."""
    op.create_table(
        "document_entities",
        sa.Column("version_id", sa.String(32), sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("rules", sa.Text, nullable=False),
        sa.Column("entities", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "themes",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("build", sa.String(32), nullable=False, index=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, index=True),
        sa.Column("generator", sa.Text, nullable=False),
        sa.Column("summary", sa.JSON, nullable=False),
        sa.Column("cited", sa.Integer, nullable=False),
    )
    op.create_table(
        "theme_entities",
        sa.Column("theme_id", sa.String(32), sa.ForeignKey("themes.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("version_id", sa.String(32), sa.ForeignKey("versions.id"), nullable=False, index=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("mentions", sa.Integer, nullable=False),
    )
    op.create_table(
        "theme_statements",
        sa.Column("theme_id", sa.String(32), sa.ForeignKey("themes.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("version_id", sa.String(32), sa.ForeignKey("versions.id"), nullable=False, index=True),
        sa.Column("chunk_id", sa.Integer, nullable=False),
        sa.Column("start", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
    )
