"""Continue an answer that was interrupted, and check the whole answer again."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace

from rag_core.answering.cited_tables import add_cited_tables
from rag_core.answering.generated_answers import QUOTES_BELOW, check_text, compare_with
from rag_core.answering.page_answers import build_page_continuation
from rag_core.answering.page_reading import PageReader
from rag_core.answering.prompt_evidence import create_hint, find_probable_answer
from rag_core.answering.strategies.registry import Strategies
from rag_core.answering.summary import WRITING
from rag_core.answering.trace import AnswerTrace
from rag_core.answering.verifier import NOT_VERIFIED, Verifier
from rag_core.errors import GeneratorError
from rag_core.llm.answer_stream import AnswerStream
from rag_core.llm.generator import LanguageModel
from rag_core.llm.reasoning import REASONING_REMOVED, strip_unopened_reasoning
from rag_core.runtime.index_generations import IndexGenerations
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.preferences import Preferences
from rag_core.runtime.stores import Stores
from rag_core.types.answers import Answer, AskEvent, Delta, Restart, Stage
from rag_core.types.conversations import Message
from rag_core.verification.attribution import NOT_CHECKED, contains_words
from rag_core.verification.support import create_text_encoder
from rag_core.verification.verified_answer import VerifiedAnswer, append_quotes

_FIRST_WORD, _LAST_WORD = re.compile(r"\w+"), re.compile(r"\w+\Z")


class Continuations:
    """Continues answers with a language model, from the passages of the answer.

    Parameters
    ----------
    models : LanguageModels
    generations : IndexGenerations
        The embedder of the active index checks the answer.
    preferences : Preferences
        Contains the instructions for all answers.
    reader : PageReader
    stores : Stores
    strategies : Strategies
    verifier : Verifier
    """

    def __init__(
        self,
        models: LanguageModels,
        generations: IndexGenerations,
        preferences: Preferences,
        reader: PageReader,
        stores: Stores,
        strategies: Strategies,
        verifier: Verifier,
    ) -> None:
        self._verifier = verifier
        self._reader = reader
        self._models = models
        self._generations = generations
        self._preferences = preferences
        self._stores = stores
        self._strategies = strategies

    def continue_answer(
        self, answer: Answer, history: Sequence[Message] = (), *, model: str | None = None, instructions: str = ""
    ) -> Generator[AskEvent, None, None]:
        """Continue an interrupted answer: yield its further text, and at the end the whole answer, checked again.

        If the model fails before it writes a word, the text of the answer stays as it is and is not checked again.

        Parameters
        ----------
        answer : Answer
        history : sequence of Message
            The messages before the question, oldest first.
        model, instructions
            As in `Engine.ask`.

        Raises
        ------
        SettingsError
            There is no language model, or the instructions are too long.
        """
        wishes = self._preferences.add_instructions(instructions)
        writer = self._models.require("The rest of an answer", model)
        started = time.perf_counter()
        written, question = answer.unfinished_text, answer.rewritten or answer.question
        stream = self._start_stream(writer, answer, history, wishes)
        pieces: list[str] = []
        problem, is_lost = "", False
        yield Stage("generate", WRITING)
        try:
            texts = (one.text if isinstance(one, Delta) else one for one in stream.events(WRITING))
            for piece in join_continuation(written, texts, [passage.text for passage in answer.passages]):
                if isinstance(piece, Stage):
                    yield piece
                    continue
                pieces.append(piece)
                yield Delta(piece)
        except GeneratorError as error:
            problem = str(error)
            is_lost = True
        finally:
            stream.close()
        problem = problem or stream.cut
        added = "".join(pieces)
        without_reasoning = strip_unopened_reasoning(added)
        if without_reasoning != added:
            added = without_reasoning
            yield Restart(REASONING_REMOVED)
            yield Delta(written + added)
        yield Stage("generate", WRITING, done=True)
        elapsed_ms = round(1000 * (time.perf_counter() - started), 2)
        timings = {**answer.timings_ms, "total": answer.timings_ms.get("total", 0.0) + elapsed_ms}
        usage = answer.usage + stream.usage
        base = replace(answer, usage=usage, timings_ms=timings, interrupted=problem, stopped=False)
        before = answer.interrupted
        notices = [one for one in answer.notices if not before or not one.startswith(before)] + [*stream.notices]
        if problem:
            notices.append(problem if answer.quotes_start is None else f"{problem} {QUOTES_BELOW}")
        if problem and not contains_words(added):
            yield replace(base, notices=tuple(dict.fromkeys(notices)), stopped=answer.stopped)
            return
        encode = create_text_encoder(self._generations.active().embedder)
        text = (written + added).strip()
        comparison = compare_with(answer.passages, question, encode)
        kept = [one for one in notices if one != NOT_CHECKED and not one.startswith(NOT_VERIFIED)]
        trace = AnswerTrace(notices=kept, is_model_lost=is_lost)
        verified = check_text(text, comparison, self._reader.read, self._verifier, writer, trace)
        base = replace(base, usage=usage + trace.usage, steps=(*base.steps, *trace.steps))
        whole = _replace_text(
            base, verified, answer if problem else None, writer.name, tuple(dict.fromkeys(trace.notices))
        )
        yield add_cited_tables(self._reader.restore_struck_in_answer(whole), self._stores)

    def _start_stream(
        self, writer: LanguageModel, answer: Answer, history: Sequence[Message], instructions: str
    ) -> AnswerStream:
        """Return a stream of the rest of an answer, with a prompt of the same kind: whole pages, or passages."""
        if self._strategies.reads_pages(answer.strategy, writer):
            return writer.stream_reply(
                build_page_continuation(answer, history, instructions, self._reader, writer.context_budget)
            )
        question = answer.rewritten or answer.question
        found = find_probable_answer(question, answer.passages, self._reader)
        return writer.stream_answer(
            question,
            self._reader.write_tables(answer.passages),
            history,
            instructions=instructions,
            hint=create_hint(found, answer.passages),
            written=answer.unfinished_text,
        )


def _replace_text(
    base: Answer, verified: VerifiedAnswer, quoted: Answer | None, generator: str, notices: tuple[str, ...]
) -> Answer:
    """Return ``base`` with the text ``verified``, followed by the quotes at the end of ``quoted``, if there are any."""
    # Footnote added some citations to the beginning of the text. They stay marked as added.
    before = {(one.chunk_id, one.start, one.end) for one in base.citations if one.added}
    citations = tuple(
        replace(one, added=one.added or (one.chunk_id, one.start, one.end) in before) for one in verified.citations
    )
    verified = replace(verified, citations=citations)
    if quoted is not None and quoted.quotes_start is not None:
        begin = quoted.quotes_start
        text = quoted.text[begin:]
        cited = [one for one in quoted.citations if " ".join(one.quote.split()) in " ".join(text.split())]
        statements = [one for one in quoted.statements if one.start >= begin]
        shifted = tuple(replace(one, start=one.start - begin, end=one.end - begin) for one in statements)
        verified = append_quotes(verified, VerifiedAnswer(text, tuple(cited), shifted))
    return replace(
        base,
        text=verified.text,
        citations=verified.citations,
        statements=verified.statements,
        generator=generator,
        notices=notices,
        short=verified.short,
        quotes_start=verified.quotes_start,
    )


def join_continuation(
    written: str, pieces: Iterable[str | Stage], passages: Sequence[str] = ()
) -> Generator[str | Stage, None, None]:
    """Yield the pieces of a continuation, changed so that they can be appended to the text ``written``.

    Words at the start that repeat the end of ``written`` are left out, and a blank is inserted between two words. No
    blank is inserted if both halves together are a word of the passages. Stages are yielded unchanged.
    """
    rest, start = iter(pieces), ""
    for piece in rest:
        if isinstance(piece, Stage):
            yield piece
            continue
        start += piece
        # The start is complete when its first word has ended and ``written`` does not contain the start.
        if (opening := start.strip()) not in written and re.search(r"\w\W", opening):
            break
    if fitting := _fit_start(written, start, passages):
        yield fitting
    yield from rest


def _fit_start(written: str, start: str, passages: Sequence[str]) -> str:
    """Return the start of a continuation as `join_continuation` yields it."""
    opening = start.lstrip()
    for length in range(min(len(opening), len(written)), 0, -1):
        if (
            written.endswith(opening[:length])
            and _is_boundary(written, len(written) - length)
            and _is_boundary(opening, length)
        ):
            return opening[length:]
    if _is_boundary(written + start, len(written)) and not (opening == start and start[:1].isalnum()):
        return start
    first, last = _FIRST_WORD.match(start), _LAST_WORD.search(written)
    joined = last[0] + first[0] if first and last else ""
    is_word = joined and any(re.search(rf"\b{re.escape(joined)}\b", text, re.IGNORECASE) for text in passages)
    return start if is_word else f" {start}"


def _is_boundary(text: str, position: int) -> bool:
    """Return whether a position is not inside a word."""
    around = text[max(0, position - 1) : position + 1]
    return len(around) < 2 or not around.isalnum()
