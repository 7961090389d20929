"""Stream answers from a language model, with retries."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rag_core.errors import GeneratorError, SettingsError
from rag_core.llm.answer_stream import AnswerStream, Pieces, read_in_background
from rag_core.llm.connection_test import ConnectionTest
from rag_core.llm.context_budget import count_tokens, fit_context
from rag_core.llm.endpoint import Endpoint
from rag_core.llm.gguf_causal import GgufCausalModel
from rag_core.llm.message_parts import count_images
from rag_core.llm.model_profile import ModelProfile
from rag_core.llm.pricing import estimate_usage
from rag_core.llm.prompts import Hint, build_continuation, build_messages
from rag_core.llm.reasoning import strip_reasoning, strip_unopened_reasoning
from rag_core.llm.request import ModelRequest, RequestReport
from rag_core.llm.setting_names import ENVIRONMENT_NAMES, SettingNames
from rag_core.llm.tool_calls import (
    Tool,
    ToolCall,
    build_call_schema,
    find_written_call,
    join_call_pieces,
    write_as_text,
)
from rag_core.settings import Settings
from rag_core.types.answers import REFUSAL
from rag_core.types.conversations import Message
from rag_core.types.retrieval import Passage
from rag_core.types.status import Capability, ModelCheck
from rag_core.types.usage import Usage

# Seconds to wait before the first retry; the wait doubles with each retry.
BACKOFF_S = 0.5
# HTTP statuses and words of the message with which endpoints say that a model cannot call tools.
_TOOLS_REJECTED = (400, 404, 422, 500, 501)
_ABOUT_TOOLS = re.compile(r"\btools?\b|\bfunction[_ ]call", re.IGNORECASE)
# The same for models that read no images. Some endpoints say instead that the content must be a string.
_IMAGES_REJECTED = (*_TOOLS_REJECTED, 415)
_ABOUT_IMAGES = re.compile(r"image|\bvision\b|multi-?modal|\bcontent\b.*\b(?:type|string|str)\b", re.IGNORECASE)


class _ToolsRejected(Exception):
    """The endpoint rejects tools; the message is the error of the endpoint."""


class ImagesRejected(Exception):
    """The endpoint rejects a request because it contains images; the model gets none from now on."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The complete reply to a request, its usage, and the calls of tools in it."""

    text: str
    usage: Usage
    calls: tuple[ToolCall, ...] = ()


class LanguageModel:
    """A language model at an endpoint with OpenAI's Chat Completions or Responses API, or in this process.

    Parameters
    ----------
    settings : Settings
        The fields ``gguf`` and ``openai_*`` are used. Without a base URL, requests go to OpenAI. Without a key, a
        placeholder is sent, since local servers need no key.
    names : SettingNames
        How messages name the settings.
    key_problem : str
        Why the API key cannot be read, as an error message of every request. Empty if the key can be read.
    profile : ModelProfile, optional
        The context and the capability of the model. Default: those of the settings and the endpoint.
    find_budget : Callable[[], int], optional
        Returns the limit on the tokens of pages in a prompt. Default: the setting ``context_budget``.
    on_usage : Callable[[Usage], None]
        Called with the usage of each request when the request ends.
    sleep : Callable[[float], None]
        Called with the number of seconds to wait before a retry.

    Attributes
    ----------
    profile : ModelProfile
    tools_problem : str
        Why the model writes calls of tools as text: the endpoint has rejected tools, or the model has ignored them.
        Empty before that, and for a GGUF file, whose model always writes calls as text.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        names: SettingNames = ENVIRONMENT_NAMES,
        key_problem: str = "",
        profile: ModelProfile | None = None,
        find_budget: Callable[[], int] | None = None,
        on_usage: Callable[[Usage], None] = lambda usage: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._names = names
        self.profile = profile or ModelProfile(settings)
        self._find_budget = find_budget or (lambda: settings.context_budget)
        self._endpoint = Endpoint(settings, self.profile, names, key_problem=key_problem)
        self._errors = self._endpoint.errors
        self._on_usage = on_usage
        self._sleep = sleep
        self._writes_calls = settings.gguf is not None
        self._has_called = False
        self._rejects_images = False
        self.tools_problem = ""

    @property
    def name(self) -> str:
        return self._settings.generator_name

    @property
    def context_tokens(self) -> int:
        """Maximum tokens of prompt and answer together. The first access may ask the endpoint."""
        return self.profile.context_tokens

    @property
    def capability(self) -> Capability:
        """What the model can be asked to do. The first access may ask the endpoint for the context."""
        return self.profile.capability

    @property
    def context_budget(self) -> int:
        """Limit on the tokens of pages in a prompt, at most half of the context."""
        return min(self._find_budget(), self.context_tokens // 2)

    @property
    def page_images(self) -> int:
        """Largest number of page images in a prompt; 0 for a GGUF file, and after the endpoint has rejected images."""
        return 0 if self._settings.gguf or self._rejects_images else self._settings.page_images

    @property
    def answer_tokens(self) -> int:
        """Maximum length of an answer in tokens."""
        return self.profile.answer_tokens

    def stream_answer(
        self,
        question: str,
        passages: Sequence[Passage],
        history: Sequence[Message] = (),
        *,
        doubtful: bool = False,
        instructions: str = "",
        hint: Hint | None = None,
        written: str = "",
    ) -> AnswerStream:
        """Stream an answer from the passages that fit into the context; see `prompts.build_messages`.

        If ``written`` is the beginning of an answer that was interrupted, only the rest is streamed. Without passages,
        no request is sent, and the answer is `REFUSAL`.

        A request that fails temporarily (HTTP 429, 5xx, no connection, an interruption before the first piece) is
        repeated up to ``RAG_OPENAI_RETRIES`` times. The pause doubles with each retry, is partly random, and is not
        shorter than the endpoint demands. A time-out is not retried, since the user has already waited for long.

        Raises
        ------
        GeneratorError
            Raised during iteration over the stream, as one of the subclasses of this class.
        SettingsError
            No model is set.
        """
        if not self._settings.model:
            raise SettingsError("RAG_OPENAI_MODEL is not set. Name a model that the endpoint serves.")

        def write(stream: AnswerStream) -> Pieces:
            if not passages:
                # Without passages, the model would answer from its training data.
                yield REFUSAL
                return
            room = self.profile.filled_tokens
            fitted = fit_context(
                passages,
                question,
                history,
                context_tokens=room,
                answer_tokens=self.answer_tokens + count_tokens(written),
                instructions=instructions,
                hint=hint,
                names=self._names,
            )
            stream.notices += tuple(fitted.describe_omissions(self._names.context_value.format(room)))
            kept = {passage.rank for passage in fitted.passages}
            messages = build_messages(
                question,
                fitted.passages,
                fitted.history,
                doubtful=doubtful,
                instructions=instructions,
                hint=hint if hint and hint.rank in kept else None,
            )
            yield from self._stream_with_retries(stream, ModelRequest([*messages, *build_continuation(written)]))

        return AnswerStream(write)

    def stream_reply(self, messages: Sequence[dict[str, Any]], *, tools: Sequence[Tool] = ()) -> AnswerStream:
        """Stream the reply to arbitrary chat messages; the content of a message can be a list of texts and images.

        The model may call ``tools``; the calls are in `AnswerStream.calls`. Tools are left out for a GGUF file, and
        after the endpoint has rejected tools or the model has ignored them. If the endpoint rejects images,
        `ImagesRejected` is raised during iteration over the stream.
        """

        def write(stream: AnswerStream) -> Pieces:
            if tools and not self._writes_calls:
                try:
                    yield from self._stream_with_retries(stream, ModelRequest(messages, tools))
                    return
                except _ToolsRejected as rejected:
                    self._stop_calling(str(rejected))
            yield from self._stream_with_retries(stream, ModelRequest(messages))

        return AnswerStream(write)

    def complete(self, messages: Sequence[dict[str, Any]], schema: dict[str, Any] | None = None) -> Completion:
        """Return the complete reply to chat messages; may raise `GeneratorError`.

        With a JSON ``schema``, the endpoint is asked for a reply in this form, which not every endpoint supports.
        """
        return self._read_reply(ModelRequest(messages, schema=schema))

    def causal_model(self) -> GgufCausalModel:
        """Return the model of the GGUF file, which predicts single tokens.

        Raises
        ------
        SettingsError
            The model is not a GGUF file. Endpoints do not give the probabilities of all tokens.
        """
        model = self._endpoint.causal_model()
        if model is None:
            raise SettingsError(
                "RAG-Sequence, RAG-Token and likelihoods need the probabilities of single tokens, which only a model "
                "in a GGUF file gives. Set RAG_GGUF, connect a file on the Settings page, or choose another strategy."
            )
        return model

    def record_tokens(self, input_tokens: int, output_tokens: int) -> Usage:
        """Return the usage for the tokens of a `causal_model` in one answer, and pass that usage to ``on_usage``."""
        usage = estimate_usage(self._settings.token_price, (), "", (input_tokens, output_tokens))
        self._on_usage(usage)
        return usage

    def call_tools(self, messages: Sequence[dict[str, Any]], tools: Sequence[Tool]) -> Completion:
        """Return the reply to a conversation in which the model can call tools. The reply may contain no call.

        If the endpoint rejects tools or the model ignores them, this and later conversations are sent as text, and the
        model writes its calls in JSON; `tools_problem` says why. A GGUF model always writes its calls in JSON, because
        llama.cpp enforces a JSON schema for every model, but tools only for some.

        Raises
        ------
        GeneratorError
        """
        usage = Usage()
        if not self._writes_calls:
            try:
                reply = self._read_reply(ModelRequest(messages, tools, must_call=True))
            except _ToolsRejected as rejected:
                self._stop_calling(str(rejected))
            else:
                calls = reply.calls or find_written_call(reply.text, tools)
                if calls or self._has_called:
                    self._has_called = True
                    return Completion(reply.text if reply.calls or not calls else "", reply.usage, calls)
                usage = reply.usage
                self._stop_calling("The model called none of the tools that were offered to it.")
        reply = self._read_reply(ModelRequest(write_as_text(messages, tools), schema=build_call_schema(tools)))
        calls = find_written_call(reply.text, tools)
        return Completion("" if calls else reply.text, usage + reply.usage, calls)

    def models(self) -> list[str]:
        """Return the names of the endpoint's models, sorted.

        Raises
        ------
        GeneratorError
            The endpoint does not answer, or its answer is not a list of models.
        """
        return self._endpoint.models()

    def warm_up(self) -> None:
        """Create the client, and load a model that runs in this process; may raise `GeneratorError`."""
        self._endpoint.warm_up()

    def test_connection(self) -> Iterator[ModelCheck]:
        """Test the endpoint with a small request; see `ConnectionTest`."""
        return ConnectionTest(self._endpoint, self.profile, self._settings, self._names, self._on_usage).run()

    def close(self) -> None:
        """Close idle connections; the model stays usable."""
        self._endpoint.close()

    def _stop_calling(self, problem: str) -> None:
        self._writes_calls = True
        self.tools_problem = f"{problem} So the model wrote its calls as text."

    def _read_reply(self, request: ModelRequest) -> Completion:
        reply = AnswerStream(lambda stream: self._stream_with_retries(stream, request))
        return Completion(strip_unopened_reasoning("".join(reply)), reply.usage, reply.calls)

    def _stream_with_retries(self, stream: AnswerStream, request: ModelRequest) -> Pieces:
        attempt = 0
        while True:
            report, started, thought, failed = RequestReport(), False, False, None
            pieces = self._endpoint.stream(request, report)
            if stream.reports_pauses:
                pieces = read_in_background(pieces, report)
            try:
                with closing(strip_reasoning(pieces)) as texts:
                    for piece in texts:
                        started = started or piece is not None
                        is_hidden = bool(report.written) and not started
                        stream.is_reasoning = piece is None and (report.is_reasoning or is_hidden)
                        thought = thought or stream.is_reasoning
                        yield piece
            except GeneratorError as failure:
                failed = failure
            finally:
                self._record_usage(stream, request.messages, report)
            if failed is None:
                stream.calls = join_call_pieces(report.calls)
                if stream.calls:
                    return
                # Repeat the request with a higher limit if the reasoning has used up the tokens of the answer.
                is_used_up = report.finish == "length" and not started
                if (thought or is_used_up) and self._endpoint.make_room_for_reasoning() and is_used_up:
                    continue
                self._check_completeness(stream, report, started)
                return
            if request.tools and failed.status in _TOOLS_REJECTED and _ABOUT_TOOLS.search(str(failed)):
                raise _ToolsRejected(str(failed))
            if _is_about_images(failed) and any(count_images(one["content"]) for one in request.messages):
                self._rejects_images = True
                raise ImagesRejected(str(failed))
            if started or not failed.is_temporary or attempt == self._settings.openai_retries:
                raise failed
            yield from stream.pause_before_retry(self._compute_pause_s(attempt, failed.retry_after_s), self._sleep)
            attempt += 1

    def _compute_pause_s(self, attempt: int, retry_after_s: float) -> float:
        longest = min(BACKOFF_S * 2.0**attempt, self._settings.openai_timeout_s)
        # Part of the pause is random, so that clients that were rejected together do not retry together.
        return retry_after_s + longest * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret

    def _record_usage(self, stream: AnswerStream, messages: Sequence[dict[str, Any]], report: RequestReport) -> None:
        written = report.written + "".join(one.name + one.arguments for one in report.calls)
        if not written and report.tokens is None:
            return  # The request was refused or interrupted before the model wrote anything.
        usage = estimate_usage(self._settings.token_price, messages, written, report.tokens)
        stream.usage += usage
        self._on_usage(usage)

    def _check_completeness(self, stream: AnswerStream, report: RequestReport, started: bool) -> None:
        """Raise an error if the text was withheld, declined or never ``started``; note in ``stream`` why it is cut."""
        if report.finish == "content_filter":
            why = "its content filter withheld the text"
            raise self._errors.interrupted(why) if started else self._errors.filtered(why)
        if report.refusal:
            why = f"the model declined to continue: “{report.refusal}”"
            raise self._errors.interrupted(why) if started else self._errors.declined(report.refusal)
        if not started:
            if report.finish == "length":
                raise self._errors.only_reasoning(self.answer_tokens)
            raise self._errors.empty("it has no text")
        if report.finish == "length":
            stream.cut = f"The answer ends at the limit of {self.answer_tokens} tokens (RAG_OPENAI_ANSWER_TOKENS)."
        if report.finish == "incomplete":
            stream.cut = "The endpoint ended the answer before it was complete."
        stream.notices += (stream.cut,) if stream.cut else ()


def _is_about_images(failed: GeneratorError) -> bool:
    return failed.status in _IMAGES_REJECTED and bool(_ABOUT_IMAGES.search(failed.reply))
