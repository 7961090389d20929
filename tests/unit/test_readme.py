"""The table of settings in README."""

from __future__ import annotations

from pathlib import Path

from pydantic import AliasChoices

from rag_core.settings import PREFIX, Settings

README = Path(__file__).parents[2] / "README.md"


def test_table_of_settings_matches_the_code() -> None:
    text = README.read_text("utf-8")
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        names = (
            [str(choice) for choice in alias.choices[:-1]]
            if isinstance(alias, AliasChoices)
            else [(PREFIX + name).upper()]
        )
        default = "" if field.default is None else str(field.default)
        shown = "`, `".join(names)
        assert f"| `{shown}` | {default} | {field.description} |" in text, name
