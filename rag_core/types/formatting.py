"""Format values for messages and for exported files."""

from __future__ import annotations

# Spreadsheet programs can interpret a cell that begins with one of these characters as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def format_count(number: int, one: str, many: str = "") -> str:
    """Return a number and its noun in the singular or plural, such as ``1 page`` or ``18,400 chunks``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def format_size(amount: float) -> str:
    """Return a number of bytes as text, such as ``812 B`` or ``1.4 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def count_decimals(threshold: float) -> int:
    """Return the number of decimals with which to display a threshold and its scores, from 2 to 4."""
    return max(2, len(f"{threshold:.4f}".rstrip("0").partition(".")[2]))


def escape_formula(value: object) -> object:
    """Return the value of a CSV cell, with an apostrophe before a text that spreadsheets could run as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
