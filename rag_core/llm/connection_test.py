"""Test the connection to an endpoint; the results say what to do about failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rag_core.errors import GeneratorAuthError, GeneratorError
from rag_core.llm.answer_stream import Pieces
from rag_core.llm.capability_test import QUESTIONS, build_picture_messages, names_stripes
from rag_core.llm.context_length import DEFAULT_CONTEXT_TOKENS, describe_ollama_remedy
from rag_core.llm.endpoint import Endpoint
from rag_core.llm.model_profile import CAPABLE_TOKENS, ModelProfile
from rag_core.llm.pricing import estimate_usage
from rag_core.llm.reasoning import strip_reasoning, strip_unopened_reasoning
from rag_core.llm.request import ModelRequest, RequestReport
from rag_core.llm.setting_names import SettingNames
from rag_core.settings import Settings
from rag_core.types.formatting import format_count
from rag_core.types.status import ModelCheck
from rag_core.types.usage import Usage

REACHABLE, KEY, MODEL, STREAMING, SPEED = "Reachable", "Key", "Model", "Streaming", "First text"
CONTEXT, CAPABILITY, PICTURES = "Context length", "Capability", "Pictures"
_MESSAGES = [{"role": "user", "content": "Count from one to five in words, and say nothing else."}]
# Characters after which no more is read of a reply: of the reply to `_MESSAGES`, and of replies about the capability
# and the picture.
_MAX_TEXT_CHARS, _MAX_ANSWER_CHARS = 50, 1000
_MAX_LISTED = 5
# A proxy seems to buffer the stream if the last piece arrives more than `_LONG_S` seconds after the request, but less
# than `_BURST_S` seconds after the first piece.
_LONG_S, _BURST_S = 3.0, 0.02
# If the first text takes more seconds than this, the test advises what to do.
SLOW_S = 10.0


@dataclass(frozen=True, slots=True)
class _Reply:
    """The reply to a request.

    ``moments`` are the times at which the pieces of ``text`` arrived, in seconds after the start of the request.
    ``thought`` says whether the model reasoned, ``failure`` is the error of the request, and ``finish`` says why the
    text ended.
    """

    text: str
    moments: tuple[float, ...]
    thought: bool
    failure: GeneratorError | None
    finish: str


@dataclass(frozen=True, slots=True)
class ConnectionTest:
    """A test of an endpoint and its model with small requests, without retries.

    Attributes
    ----------
    endpoint : Endpoint
    profile : ModelProfile
    settings : Settings
    names : SettingNames
        How messages name the settings.
    on_usage : Callable[[Usage], None]
        Called with the usage of each request.
    """

    endpoint: Endpoint
    profile: ModelProfile
    settings: Settings
    names: SettingNames
    on_usage: Callable[[Usage], None]

    def run(self) -> Iterator[ModelCheck]:
        """Request the list of models and short texts, and yield the result of each check.

        Checks that depend on a failed check are skipped, as are those of the key and of pictures for a GGUF file. The
        checks are, in this order:

        - whether the endpoint is reachable, accepts the key, has the model, and streams the text;
        - how long the first text takes;
        - which context length the endpoint reports;
        - which capability the model has;
        - whether the model sees pictures.
        """
        reachable, listed = self._check_reachable()
        yield reachable
        if not reachable.passed:
            return
        settings, reply = self.settings, self._request_text()
        if reply.failure is not None and not reply.moments:
            name = KEY if isinstance(reply.failure, GeneratorAuthError) else MODEL
            other = f" The endpoint lists {_list_first(listed)}." if name == MODEL and listed else ""
            yield ModelCheck(name, False, f"{reply.failure}{other if settings.model not in (listed or ()) else ''}")
            return
        if not settings.gguf:
            accepted = "The key was accepted." if settings.openai_api_key else "No key is set, and none is required."
            yield ModelCheck(KEY, True, accepted)
        yield _check_model(settings.model, listed)
        yield _check_streaming(reply)
        if reply.moments:
            yield _check_speed(reply.moments[0], thought=reply.thought)
        yield self._check_context()
        if reply.moments:
            yield self._check_capability()
            if not settings.gguf:
                yield self._check_pictures()

    def _check_reachable(self) -> tuple[ModelCheck, list[str] | None]:
        """Return the result of the check, and the names of the endpoint's models; ``None`` if they cannot be listed.

        An endpoint that answers the request for the list with an HTTP error passes. If the endpoint refuses the
        key, the result is that of the check of the key.
        """
        try:
            self.endpoint.warm_up()
            models = self.endpoint.models()
        except GeneratorAuthError as refused:
            return ModelCheck(KEY, False, str(refused)), None
        except GeneratorError as failed:
            missing = f"It answers, but has no list of models (HTTP {failed.status}). Type the name of the model."
            return ModelCheck(REACHABLE, bool(failed.status), missing if failed.status else str(failed)), None
        return ModelCheck(REACHABLE, True, f"It answers and lists {format_count(len(models), 'model')}."), models

    def _request_text(self) -> _Reply:
        reply = self._request(_MESSAGES, _MAX_TEXT_CHARS, lambda pieces: pieces)
        # The limit of the reply includes the reasoning.
        is_used_up = reply.finish == "length" and not reply.moments
        if reply.thought and self.endpoint.make_room_for_reasoning() and is_used_up:
            return self._request_text()
        return reply

    def _request(self, messages: list[dict[str, Any]], most_chars: int, convert: Callable[[Pieces], Pieces]) -> _Reply:
        """Return the reply to messages as ``convert`` passes it on; stop reading after ``most_chars`` characters."""
        report, text, moments, thought, failure = RequestReport(), "", list[float](), False, None
        started = time.perf_counter()
        try:
            with closing(convert(self.endpoint.stream(ModelRequest(messages), report))) as pieces:
                for piece in pieces:
                    if piece is None:
                        thought = True
                        continue
                    moments.append(time.perf_counter() - started)
                    text += piece
                    if len(text) > most_chars:
                        break
        except GeneratorError as failed:
            failure = failed
        if report.written or report.tokens:
            self.on_usage(estimate_usage(self.settings.token_price, messages, report.written, report.tokens))
        return _Reply(text, tuple(moments), thought, failure, report.finish)

    def _check_context(self) -> ModelCheck:
        profile, names, entered = self.profile, self.names, self.settings.openai_context_tokens
        # The test request has loaded a model that is loaded on demand.
        profile.refresh()
        used, found = profile.context_tokens, profile.reported
        if self.settings.gguf:
            return ModelCheck(CONTEXT, True, f"{used:,} tokens, with which the model runs in this process.")
        reported = found.limit(entered or DEFAULT_CONTEXT_TOKENS)
        if reported is None:
            known = "are known of its host" if used != DEFAULT_CONTEXT_TOKENS and not entered else "are assumed"
            words = f"Not reported by the endpoint; {used:,} tokens {known}. If the model takes fewer, lower"
            return ModelCheck(CONTEXT, True, f"{words} {names.context}.")
        if entered and reported < entered:
            words = f"{reported:,} tokens, as the endpoint reports, but up to {entered:,} are sent. Lower"
            return ModelCheck(CONTEXT, False, f"{words} {names.context} to {reported}.")
        if remedy := describe_ollama_remedy(found):
            return ModelCheck(CONTEXT, None, f"{reported:,} tokens, as the endpoint reports. {remedy}")
        rest = "" if reported == used else f"; {used:,} of them are used, which {names.context} changes"
        return ModelCheck(CONTEXT, True, f"{reported:,} tokens, as the endpoint reports{rest}.")

    def _check_capability(self) -> ModelCheck:
        """Check whether the model answers the test questions and has enough context for whole pages.

        The capability of a GGUF file is not tested: the result contains that of the profile.
        """
        if self.settings.gguf:
            capability = self.profile.capability
            words = "It gets whole pages" if capability == "capable" else "It gets a few passages and simple rules"
            return ModelCheck(CAPABILITY, True, f"{capability.capitalize()}. {words}.", capability)
        failures = []
        for one in QUESTIONS:
            reply = self._request(one.messages, _MAX_ANSWER_CHARS, strip_reasoning)
            if reply.failure:
                failures.append(f"gave no answer ({reply.failure})")
                break
            failures += [] if one.is_right(strip_unopened_reasoning(reply.text)) else [one.failure]
        if self.profile.context_tokens < CAPABLE_TOKENS:
            failures.append(f"has a context of less than {CAPABLE_TOKENS:,} tokens")
        if not failures:
            words = "Capable. It cites its sources, answers in the language of the question, and refuses missing facts."
            return ModelCheck(CAPABILITY, True, f"{words} It gets whole pages.", "capable")
        reasons = " and ".join(filter(None, (", ".join(failures[:-1]), failures[-1])))
        words = f"Small, because it {reasons}. It gets a few passages and simple rules."
        return ModelCheck(CAPABILITY, None, words, "small")

    def _check_pictures(self) -> ModelCheck:
        """Check whether the model names the colours of a generated picture."""
        reply = self._request(build_picture_messages(), _MAX_ANSWER_CHARS, strip_reasoning)
        if not reply.failure and names_stripes(strip_unopened_reasoning(reply.text)):
            words = "It named the colours of a generated picture, so it can describe figures."
            return ModelCheck(PICTURES, True, words, sees_pictures=True)
        why = f"It takes none ({reply.failure})" if reply.failure else "It did not name the colours of one"
        return ModelCheck(PICTURES, None, f"{why}, so it cannot describe figures.", sees_pictures=False)


def _check_model(model: str, listed: list[str] | None) -> ModelCheck:
    if listed is None or model in listed:
        return ModelCheck(MODEL, True, f"{model} answers.")
    return ModelCheck(
        MODEL, None, f"{model} answers, but is not in the endpoint's list of models: {_list_first(listed)}."
    )


def _list_first(listed: list[str]) -> str:
    return ", ".join(listed[:_MAX_LISTED]) + (", …" if len(listed) > _MAX_LISTED else "")


def _check_speed(first_s: float, *, thought: bool) -> ModelCheck:
    shown = f"{1000 * first_s:,.0f} ms" if first_s < 1 else f"{first_s:,.1f} s"
    shown += ", because the model reasons first" if thought else ""
    if first_s <= SLOW_S:
        return ModelCheck(SPEED, True, f"It arrived after {shown}.")
    remedy = "Test again: a server that had to load the model is faster now. If it stays slow, choose a smaller model"
    return ModelCheck(SPEED, None, f"It arrived after {shown}. {remedy} or a faster machine.")


def _check_streaming(reply: _Reply) -> ModelCheck:
    moments = reply.moments
    if reply.failure is not None:
        return ModelCheck(STREAMING, False, str(reply.failure))
    if not moments:
        words = "No text arrived. A reasoning model may need more tokens: raise RAG_OPENAI_ANSWER_TOKENS."
        return ModelCheck(STREAMING, None, words)
    if len(moments) == 1:
        words = "The text arrived in one piece, so users see nothing until it is complete. Let the server stream."
        return ModelCheck(STREAMING, False, words)
    if moments[-1] > _LONG_S and moments[-1] - moments[0] < _BURST_S:
        words = "All pieces arrived at the same moment, so a proxy in front of the endpoint buffers them."
        return ModelCheck(STREAMING, False, f"{words} Turn off its buffering.")
    return ModelCheck(STREAMING, True, "The text arrives in pieces.")
