"""Collect the texts of the pages and of the engine; run as a program, bring the files of `pages/languages` up to date.

``python -m tests.support.messages`` adds new texts without a translation, and removes those that are gone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from pages.shared.translation import ENGINE, LANGUAGES
from tests.support.sources import ROOT, parse_file

# The number of texts that each function has.
_FUNCTIONS = {"_": 1, "N_": 1, "ngettext": 2}


def collect_texts() -> Catalog:
    """Return the texts that the pages mark for translation.

    Babel's own extractor does not find the calls within f-strings.
    """
    found = Catalog()
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.walk(parse_file(path)):
            number = _FUNCTIONS.get(getattr(node.func, "id", ""), 0) if isinstance(node, ast.Call) else 0
            texts = [one.value for one in node.args[:number] if isinstance(one, ast.Constant)] if number else []
            if texts:
                place = str(path.relative_to(ROOT))
                found.add(texts[0] if number == 1 else tuple(texts), locations=[(place, None)])
    return found


@cache
def collect_templates() -> set[str]:
    """Return all texts in the code, with ``{0}``, ``{1}`` and so on in place of values, and ``{number}`` of a count."""
    found: set[str] = set()
    for folder in ("rag_core", "pages"):
        for path in (ROOT / folder).rglob("*.py"):
            found.update(_find_templates(parse_file(path)))
    return found


def _find_templates(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            count = iter(range(len(node.values)))
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else f"{{{next(count)}}}" for part in node.values
            )
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "format_count":
            words = [one.value for one in node.args[1:] if isinstance(one, ast.Constant)]
            if len(words) == len(node.args) - 1:
                one, many = words if len(words) == 2 else (words[0], f"{words[0]}s")
                yield from (f"{{number}} {one}", f"{{number}} {many}")


def read_language(path: Path) -> Catalog:
    """Return the texts of a language and their translations."""
    with path.open("rb") as file:
        return read_po(file)


def build_updated(path: Path) -> bytes:
    """Return the file of a language with the new texts of the pages, and without the texts that are gone."""
    texts, templates, language = collect_texts(), collect_templates(), read_language(path)
    for one in language:
        if one.context == ENGINE and one.id in templates:
            texts.add(one.id, context=ENGINE)
    language.update(texts, no_fuzzy_matching=True, update_creation_date=False)
    language.obsolete.clear()
    file = BytesIO()
    write_po(file, language, width=120, omit_header=False, include_lineno=False)
    return file.getvalue()


if __name__ == "__main__":
    for one in LANGUAGES.glob("*.po"):
        one.write_bytes(build_updated(one))
