"""Who makes a follow-up stand alone: the configured model where there is one, the rules otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_core.errors import GeneratorError
from rag_core.followups.anaphora import find_reference, is_anchored
from rag_core.followups.rewriting import rewrite, turns_of
from rag_core.llm.context_budget import newest_exchanges
from rag_core.llm.generator import OpenAIGenerator
from rag_core.llm.prompts import neutralise, turn
from rag_core.llm.replies import told_lines
from rag_core.text.noun_phrases import content
from rag_core.types import Message, Usage

# What the prompt may hold of the conversation, and how much longer than it the question may become.
HISTORY_TOKENS = 1500
MOST_WORDS_ADDED = 40

# "Rewritten question:" before it.
_LABEL = re.compile(r"^\W*(?:[\w-]+\s+){0,3}(?:question|query|rewritten|rewrite)\W*:\W*", re.I)
_RULES = """\
You prepare questions for a search. The last question of a conversation may lean on earlier turns: \
pronouns, "the second one", "and in 2021?". Write it so that it can be understood without them, with \
the names it refers to. Change nothing else, and answer nothing. If it can be understood as it is, \
repeat it letter for letter. Reply with the question alone, on one line, in its own language."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What to search for in place of a question; ``text`` is empty where it stands alone."""

    text: str = ""
    notices: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Rewriter:
    """Makes follow-ups stand alone.

    Parameters
    ----------
    generator : OpenAIGenerator or None
        Asked where a question leans on earlier turns, or may: where it names nothing of its own.
    """

    def __init__(self, generator: OpenAIGenerator | None) -> None:
        self._generator = generator

    def rewrite(self, question: str, history: Sequence[Message]) -> Rewriting:
        """What to search for. A failing endpoint is told in a notice, and the rules take its place."""
        turns = turns_of(history)
        leans = find_reference(question) is not None
        if not turns or not (leans or (self._generator and content(question) and not is_anchored(question))):
            return Rewriting()
        notices: tuple[str, ...] = ()
        usage = Usage()
        if self._generator is not None:
            spoken = _spoken(history)
            request = f"Conversation:\n{spoken}\n\nLast question: {neutralise(question)}"
            try:
                reply = self._generator.complete(
                    [{"role": "system", "content": _RULES}, {"role": "user", "content": request}]
                )
            except GeneratorError as error:
                notices = (f"{error} The question was completed by rules instead.",) if leans else ()
            else:
                usage = reply.usage
                if written := _usable(reply.text, question, spoken):
                    return Rewriting("" if written == question else written, usage=usage)
                notices = ("The model did not rewrite the question; it was completed by rules instead.",)
        made = rewrite(question, turns)
        return Rewriting("" if made == question else made, notices if leans else (), usage)


def _spoken(history: Sequence[Message]) -> str:
    """The newest turns that fit, a line each."""
    earlier, _ = newest_exchanges(history, HISTORY_TOKENS)
    return "\n".join(f"{'Reader' if one.role == 'user' else 'Answer'}: {turn(one)['content']}" for one in earlier)


def _usable(said: str, question: str, spoken: str) -> str:
    """The model's wording; empty where it is none: no question, or far from what was said."""
    lines = [line for line in told_lines(said) if line.strip()]
    wording = " ".join(_LABEL.sub("", lines[0]).split()).strip('*`"“”}') if len(lines) == 1 else ""
    if len(wording.split()) > len(question.split()) + MOST_WORDS_ADDED:
        return ""
    # An answer in its place is no wording of a question.
    if wording.endswith((".", "!")) and question.rstrip().endswith("?"):
        return ""
    known = {word.lower() for text in (question, spoken) for word in content(text)}
    words = [word.lower() for word in content(wording)]
    # What neither question nor conversation holds was made up.
    return wording if words and sum(word in known for word in words) * 2 >= len(words) else ""
