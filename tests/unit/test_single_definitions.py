r"""Patterns and word lists that many modules need are defined once.

`python -m tests.unit.test_single_definitions` prints how many modules write each of them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "rag_core"
# What a definition looks like in the source, and the modules that may contain it.
DEFINITIONS = {
    "years": (r"\(\?:19\|20\)\\d\\d|1\\d\{+3\}+\|20\\d\\d", {"text/dates.py"}),
    "months": (r"january february|\bjan\|feb|\bJanuary\b.*\bFebruary\b", {"text/dates.py"}),
    "quarters": (r"[Qq]\[1-4\]", {"text/dates.py"}),
    "runs of letters and digits": (r'"\[\^\\W_\]\+"', {"text/words.py", "research/baselines.py"}),
    "runs of letters": (r'"\[\^\\W\\d_\]\+"', {"text/words.py"}),
    "words with hyphens": (r"\[\^\\W\\d_\]\+\(\?:-\[\^\\W\\d_\]\+\)\*", {"text/words.py"}),
    "citation markers": (r're\.compile\(r"(?:\\s\*)?\\\[\(?\\d', {"types/answers.py"}),
    "separator of headings": (r'" › "', {"types/chunks.py"}),
    "labels of sections": (r"\[IVXLC\]\{1,6\}", {"text/sentences.py"}),
    "stemmers": (r"\bStemmer\(|_SUFFIXES = |removesuffix\(suffix\)", {"text/words.py"}),
    "stop words": (r"(?i)\b(?:STOP_?WORDS|FUNCTION_WORDS) = ", {"text/words.py", "text/grammar.py"}),
}


def writers(pattern: str, root: Path = CORE) -> set[str]:
    """Return the modules whose source contains a definition."""
    found = re.compile(pattern)
    return {str(file.relative_to(root)) for file in root.rglob("*.py") if found.search(file.read_text("utf-8"))}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definition_is_in_its_module_only(name: str) -> None:
    pattern, modules = DEFINITIONS[name]
    assert writers(pattern) == modules


if __name__ == "__main__":
    for shown, (source, _) in DEFINITIONS.items():
        print(f"{shown}: {len(writers(source))}")
