"""Stream the text that a language model writes from the passages in its prompt."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from rag_core.answering.prompt_evidence import PromptEvidence
from rag_core.answering.summary import WRITING
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import GeneratorError
from rag_core.gate.features import ANSWERABLE_SCORE
from rag_core.llm.answer_stream import AnswerStream
from rag_core.llm.generator import LanguageModel
from rag_core.llm.page_prompt import ControlLineFilter
from rag_core.llm.reasoning import retract_reasoning
from rag_core.types.answers import AskEvent, Delta, Restart
from rag_core.types.conversations import Message
from rag_core.types.searches import Query
from rag_core.verification.attribution import EMPTY_ANSWER, contains_words

# If no passage answers the question with at least this probability, the prompt tells the model to refuse in doubt.
ALL_BUT_CERTAIN = 0.917


def stream_text(
    writer: LanguageModel,
    query: Query,
    evidence: PromptEvidence,
    history: Sequence[Message],
    trace: AnswerTrace,
) -> Generator[AskEvent, None, tuple[str, str]]:
    """Yield the model's text while it is written; return the text, and why it is incomplete; see `relay_reply`."""
    pieces: list[str] = []
    scores = (one.scores.get(ANSWERABLE_SCORE) or 0.0 for one in evidence.outcome.passages)
    stream = writer.stream_answer(
        evidence.outcome.result.question,
        evidence.prompt_passages,
        history,
        doubtful=max(scores, default=0.0) < ALL_BUT_CERTAIN,
        instructions=query.writer.instructions,
        hint=evidence.hint,
    )
    problem = yield from relay_reply(stream, pieces, trace, strict=query.strict)
    text = (yield from retract_reasoning(pieces)).strip()
    if pieces and not contains_words(text):
        yield Restart(EMPTY_ANSWER)
    return text, problem


def relay_reply(
    stream: AnswerStream,
    pieces: list[str],
    trace: AnswerTrace,
    *,
    strict: bool,
    visible: ControlLineFilter | None = None,
) -> Generator[AskEvent, None, str]:
    """Yield the events of a reply, append its text to ``pieces``, and record its usage and notices.

    Return why the reply is incomplete: the endpoint failed, or the reply reached its limit. Empty if it is complete.

    Parameters
    ----------
    stream : AnswerStream
    pieces : list of str
    trace : AnswerTrace
    strict : bool
        Whether to raise an error of the endpoint. A reply that reached its limit then counts as complete.
    visible : ControlLineFilter, optional
        Removes control lines from the text that is shown; by default, the whole text is shown.

    Raises
    ------
    GeneratorError
        The endpoint failed, and ``strict`` is true.
    """
    problem = ""
    try:
        for event in stream.events(WRITING):
            if not isinstance(event, Delta):
                yield event
                continue
            pieces.append(event.text)
            if shown := visible.feed(event.text) if visible else event.text:
                trace.record_first_token()
                yield Delta(shown)
        if visible and (shown := visible.finish()):
            yield Delta(shown)
    except GeneratorError as error:
        if strict:
            raise
        problem = str(error)
        trace.is_model_lost = True
    finally:
        stream.close()
        trace.usage += stream.usage
    if not strict:
        # The user can continue an answer that reached its limit.
        problem = problem or stream.cut
    trace.notices += [notice for notice in stream.notices if notice != problem]
    return problem
