"""Ask questions about documents without a language model, and list the answers.

    python -m benchmarks.list_answers DATA [--data-dir FOLDER]

DATA contains ``pdfs/`` and ``questions.jsonl`` with ``question``, and ``values`` or ``all_of``: an answer is right if
it contains one of the texts in ``values``, or all texts in ``all_of``. If ``values`` is empty, the documents do not
contain the answer, and a refusal is right. The list is a Markdown table. It shows whether the answer that is given
first (``Answer.short``) contains the expected texts, too. With ``--data-dir``, the index is kept in this folder.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.quality import index_pdfs, read_questions
from rag_core.engine import Engine
from rag_core.settings import load_settings
from rag_core.types import Answer, AnswerState


def judge(row: dict[str, Any], answer: Answer) -> str:
    """Return ``right``, ``wrong`` or ``refused``."""
    is_refused = answer.state is not AnswerState.ANSWERED
    if row.get("values") == []:
        return "right" if is_refused else "wrong"
    if is_refused:
        return "refused"
    return "right" if contains_expected(row, answer.text) else "wrong"


def contains_expected(row: dict[str, Any], text: str) -> bool:
    """Return whether a text contains all texts in ``all_of``, or one of those in ``values``, in any case."""
    folded = " ".join(text.split()).casefold()
    if "all_of" in row:
        return all(one.casefold() in folded for one in row["all_of"])
    return any(one.casefold() in folded for one in row["values"])


def list_answers(engine: Engine, data: Path) -> None:
    counts: Counter[str] = Counter()
    print("| document | question | | first | answer |\n| --- | --- | --- | --- | --- |")
    for row in read_questions(data):
        answer = list(engine.ask(row["question"]))[-1]
        assert isinstance(answer, Answer)
        verdict = judge(row, answer)
        counts[verdict] += 1
        first = "" if not answer.short else "yes" if contains_expected(row, answer.short) else "no"
        text = " ".join(answer.text.split()).replace("|", "\\|")
        document = Path(row["document"]).stem
        print(f"| {document} | {row['question']} | {verdict} | {first} | {text} |", flush=True)
    print("\n" + ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--data-dir", type=Path)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(load_settings(data_dir=arguments.data_dir or Path(folder) / "data")) as engine,
    ):
        index_pdfs(engine, arguments.data)
        list_answers(engine, arguments.data)


if __name__ == "__main__":
    main()
