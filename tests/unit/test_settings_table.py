"""The table of docs/settings.md matches the settings in the code."""

from __future__ import annotations

from pathlib import Path

from pydantic import AliasChoices

from rag_core.settings import PREFIX, REMOVED_SETTINGS, Settings

DOCS = Path(__file__).parents[2] / "docs"


def expected_table() -> list[str]:
    """Return the lines of the table, one row for each setting, in the order of the code."""
    rows = ["| setting | default | what it does |", "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        names = (
            [str(one) for one in alias.choices[:-1]] if isinstance(alias, AliasChoices) else [(PREFIX + name).upper()]
        )
        default = "" if field.default is None else str(field.default)
        shown = "`, `".join(names)
        rows.append(f"| `{shown}` | {default} | {field.description} |")
    return rows


def test_the_table_of_settings_is_complete_and_true() -> None:
    lines = (DOCS / "settings.md").read_text("utf-8").splitlines()
    expected = expected_table()
    found = [line for line in lines if line.startswith("|")]
    assert found == expected, "Paste this table into docs/settings.md:\n\n" + "\n".join(expected)


def test_the_retired_settings_are_listed_in_the_upgrade_notes() -> None:
    text = (DOCS / "upgrading.md").read_text("utf-8")
    assert [name for name in sorted(REMOVED_SETTINGS) if f"`{name}`" not in text] == []
