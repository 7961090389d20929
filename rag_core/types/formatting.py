"""Format values for messages and exported files."""

from __future__ import annotations

# A spreadsheet program takes a cell that starts with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def format_count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 page``, ``2 pages``, ``18,400 chunks``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def count_decimals(threshold: float) -> int:
    """Return the number of decimals for displaying a threshold and its scores: those it has, but 2 to 4."""
    return max(2, len(f"{threshold:.4f}".rstrip("0").partition(".")[2]))


def escape_formula(value: object) -> object:
    """Return a value for a CSV cell; a text that a spreadsheet could run as a formula gets a leading apostrophe."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
