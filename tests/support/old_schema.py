"""Statements that undo the migrations of the database."""

from __future__ import annotations

# By revision, newest first.
UNDO: dict[str, tuple[str, ...]] = {
    "0015": ("DROP TABLE figure_descriptions",),
    "0014": ("DROP TABLE api_tokens",),
    "0013": ("ALTER TABLE conversations DROP COLUMN tags",),
    "0012": ("ALTER TABLE pages DROP COLUMN headings",),
    "0011": ("DROP TABLE document_cards",),
    "0010": (
        "ALTER TABLE documents DROP COLUMN tags",
        "ALTER TABLE versions DROP COLUMN company",
        "ALTER TABLE versions DROP COLUMN year",
        "ALTER TABLE versions DROP COLUMN kind",
    ),
    "0009": (
        "DROP TABLE snapshot_contents",
        "DROP TABLE snapshots",
        "ALTER TABLE conversations DROP COLUMN as_of",
    ),
    "0008": ("DROP TABLE trainings", "ALTER TABLE labels DROP COLUMN is_pseudo"),
    "0007": (
        "DROP TABLE theme_statements",
        "DROP TABLE theme_entities",
        "DROP TABLE themes",
        "DROP TABLE document_entities",
    ),
    "0006": ("DROP TABLE page_tables",),
    "0005": (
        "ALTER TABLE conversations DROP COLUMN model",
        "ALTER TABLE conversations DROP COLUMN instructions",
    ),
    "0004": ("DROP TABLE aliases",),
    "0003": ("ALTER TABLE documents DROP COLUMN folder",),
}


def undo_to(revision: str) -> list[str]:
    """Return the statements that bring a new database to the schema of an older revision."""
    return [statement for number, statements in UNDO.items() if number > revision for statement in statements]
