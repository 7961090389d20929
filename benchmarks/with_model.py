"""Compare the app's answers, which a language model writes, with the model's answers to a plain prompt.

    RAG_GGUF=model.gguf python -m benchmarks.with_model DATA [--limit 40] [--rows FILE]
    RAG_OPENAI_BASE_URL=… RAG_OPENAI_MODEL=… python -m benchmarks.with_model DATA

DATA contains ``pdfs/`` and ``questions.jsonl`` with ``question``, ``answerable`` and, for questions with an answer,
``values``. The answer must contain one of the texts in ``values``; numbers are compared by value. The plain prompt
contains the passages of the app's answer and two sentences of instructions. Refusals of the plain prompt are recognized
by their words. ``--rows`` writes every answer to a file, as JSON lines. Intervals are 95 % bootstrap intervals.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality import index_pdfs, interval, read_questions
from rag_core.engine import Engine
from rag_core.llm.generator import LanguageModel
from rag_core.settings import load_settings
from rag_core.text.numbers import numbers_equal, parse_numbers
from rag_core.types.answers import Answer, AnswerState, Restart
from rag_core.types.retrieval import Passage, SearchResult
from rag_core.verification.refusals import has_leading_refusal

PLAIN = (
    "Answer the question from the numbered passages only, in one or two sentences. If they don't contain the answer, "
    "say: I don't know."
)
SEED = 5
MOST_MARKS_LISTED = 20


@dataclass(frozen=True)
class Asked:
    """A question with the answer of the app and the model's answer to the plain prompt.

    ``retracted`` is true if the app replaced or retracted the model's text, and ``None`` if the app did not ask the
    model.
    """

    row: dict[str, Any]
    answer: Answer
    retracted: bool | None
    plain: str


def questions(data: Path, limit: int | None) -> list[dict[str, Any]]:
    """Return all questions, or a sample of ``limit`` questions that is the same in every run."""
    rows = read_questions(data)
    return random.Random(SEED).sample(rows, limit) if limit and limit < len(rows) else rows


def holds_value(row: dict[str, Any], text: str) -> bool:
    """Return whether a text contains one of the expected values; numbers are compared by value."""
    folded = " ".join(text.split()).casefold()
    numbers = parse_numbers(text)
    for value in row.get("values") or [row["answer"]]:
        if " ".join(value.split()).casefold() in folded:
            return True
        expected = parse_numbers(value)
        if expected and all(any(numbers_equal(one, other, rounded=True) for other in numbers) for one in expected):
            return True
    return False


def ask(engine: Engine, model: LanguageModel, rows: Sequence[dict[str, Any]]) -> Iterator[Asked]:
    for row in rows:
        events = list(engine.ask(row["question"], top_k=5))
        answer = events[-1]
        assert isinstance(answer, Answer)
        put_to_model = any(isinstance(event, SearchResult) and event.gate.answerable for event in events)
        replaced = answer.generator == "extractive" or any(isinstance(event, Restart) for event in events)
        retracted = replaced if put_to_model else None
        yield Asked(row, answer, retracted, model.complete(plain_messages(row["question"], answer.passages)).text)


def plain_messages(question: str, passages: Sequence[Passage]) -> list[dict[str, str]]:
    """Return the messages of the plain prompt, with the question and the given passages."""
    blocks = [f"[{one.rank}] {one.document} p. {one.page_label}\n{one.text}" for one in passages]
    text = "\n\n".join([*blocks, f"Question: {question}"])
    return [{"role": "system", "content": PLAIN}, {"role": "user", "content": text}]


def show(results: Sequence[Asked]) -> None:
    """Print the table, and the first statements that the verification marked."""
    there = [one for one in results if one.row["answerable"]]
    missing = [one for one in results if not one.row["answerable"]]
    print(f"{len(there)} questions with an answer, {len(missing)} without\n")
    print("| | with the product | plain prompt |\n| --- | --- | --- |")
    outcomes = [(_outcome(one.row, _product(one)), _outcome(one.row, _plain(one))) for one in there]
    for name in ("right", "wrong", "refused"):
        product, plain = ([one[which] == name for one in outcomes] for which in (0, 1))
        print(f"| {name} | {sum(product)} {interval(product)} | {sum(plain)} {interval(plain)} |")
    product, plain = ([read(one) is not None for one in missing] for read in (_product, _plain))
    if missing:
        print(f"| missing facts answered | {sum(product)} {interval(product)} | {sum(plain)} {interval(plain)} |")
    answered = [one.answer for one in results if one.answer.state is AnswerState.ANSWERED]
    retracted = [one.retracted for one in results if one.retracted is not None]
    statements = [(answer, one) for answer in answered for one in answer.statements]
    print(f"| replaced or retracted | {sum(retracted)} of {len(retracted)} | |")
    print(f"| sentences with a citation | {_share([one.supported for _, one in statements])} | |")
    print(f"| citations that were added | {_share([one.added for answer in answered for one in answer.citations])} | |")
    marked = [(answer, one) for answer, one in statements if one.mark]
    print(f"| marks | {len(marked)} of {len(statements)} sentences | |\n")
    for answer, one in marked[:MOST_MARKS_LISTED]:
        compared = next((p.text for p in answer.passages if p.rank == one.compared_rank), "")
        print(f"- “{answer.text[one.start : one.end]}” {one.mark_text}\n  compared with: {' '.join(compared.split())}")


def _product(result: Asked) -> str | None:
    """Return the model's text in the app's answer, without the quotes below it; ``None`` for a refusal."""
    answer = result.answer
    return answer.text[: answer.quotes_start] if answer.state is AnswerState.ANSWERED else None


def _plain(result: Asked) -> str | None:
    refused = has_leading_refusal(result.plain) or "don't know" in result.plain.casefold()
    return None if refused else result.plain


def _outcome(row: dict[str, Any], text: str | None) -> str:
    if text is None:
        return "refused"
    return "right" if holds_value(row, text) else "wrong"


def _share(values: Sequence[bool]) -> str:
    return f"{sum(values)} of {len(values)}" if values else "none"


def _json_row(result: Asked) -> str:
    answer = result.answer
    return json.dumps(
        {
            "question": result.row["question"],
            "answerable": result.row["answerable"],
            "state": answer.state.value,
            "text": answer.marked_text,
            "plain": result.plain,
            "gate": answer.gate.score,
            "citations": [[one.marker, one.document, one.page_label, one.quote, one.added] for one in answer.citations],
            "notices": answer.notices,
        },
        ensure_ascii=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--rows", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(data_dir=Path(folder) / "data")
        if not settings.model:
            parser.error("no language model is set: set RAG_GGUF, or RAG_OPENAI_MODEL and RAG_OPENAI_BASE_URL")
        model = LanguageModel(settings)
        with Engine(settings) as engine:
            index_pdfs(engine, arguments.data)
            results = []
            for one in ask(engine, model, questions(arguments.data, arguments.limit)):
                results.append(one)
                if arguments.rows:
                    arguments.rows.write_text("".join(f"{_json_row(one)}\n" for one in results), "utf-8")
        model.close()
    show(results)


if __name__ == "__main__":
    main()
