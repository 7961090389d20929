"""Endpoints that imitate a model which answers questions and judges answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from tests.support.servers import Exchange, Play, complete

# The task at the end of a judge's prompt, recognized by its first words.
TASKS = {
    "statements": "For each numbered statement",
    "passages": "For each numbered passage",
    "sentences": "The numbered sentences are",
    "questions": "Write 3 different questions",
}
# Returns the reply to a task, given the user's message.
Reply = Callable[[str], str]


def find_task(exchange: Exchange) -> str:
    """Return the judge's task of a request; empty if the request is none of the judge."""
    content = exchange.body["messages"][-1]["content"]
    return next((name for name, words in TASKS.items() if words in content), "")


def verdicts(supported: Callable[[int, str], bool], named: Sequence[object] | None = None) -> Reply:
    """Return a reply with a verdict on each number that the prompt asks for, given the number and the prompt.

    A verdict names the passages ``named``, or else those that the prompt gives for the statement.
    """

    def reply(prompt: str) -> str:
        numbers = map(int, re.findall(r"\d+", prompt.rpartition("of the numbers ")[2]))
        rows = [
            {
                "number": n,
                "reason": "so",
                "verdict": "yes" if supported(n, prompt) else "no",
                "passages": find_passages(n, prompt) if named is None else named,
            }
            for n in numbers
        ]
        return json.dumps({"verdicts": rows})

    return reply


def find_passages(number: int, prompt: str) -> list[int]:
    """Return the numbers of the passages that a prompt gives for a statement."""
    given = re.search(rf"^{number}\. .*\(passage ([\d, ]+)\)$", prompt, re.MULTILINE)
    return [int(one) for one in given[1].split(", ")] if given else []


def questions(*texts: str, noncommittal: str = "no") -> Reply:
    return lambda prompt: json.dumps({"noncommittal": noncommittal, "questions": texts})


YES = verdicts(lambda number, prompt: True)


def judging(answer: str | Play, **replies: Reply) -> Play:
    """Answer questions with one text, and judge with one reply for each task (by default, everything is right)."""
    given = {"statements": YES, "passages": YES, "sentences": YES, "questions": questions("What is it?")} | replies

    def play(exchange: Exchange) -> None:
        task = find_task(exchange)
        if task:
            complete(given[task](exchange.body["messages"][-1]["content"]), tokens=(100, 10))(exchange)
        else:
            (complete(answer) if isinstance(answer, str) else answer)(exchange)

    return play
