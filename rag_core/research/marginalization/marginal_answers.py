"""Short answers that a causal model gives for several passages at once: RAG-Sequence and RAG-Token."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence

import numpy as np

from rag_core.answering.call_budget import require_model
from rag_core.answering.prompt_evidence import PromptEvidence
from rag_core.answering.search import Searcher
from rag_core.answering.steps import report_tokens
from rag_core.answering.strategies.base import SearchStrategy, Steps
from rag_core.answering.trace import AnswerTrace
from rag_core.errors import GeneratorError
from rag_core.llm.generator import LanguageModel
from rag_core.llm.gguf_causal import GgufCausalModel
from rag_core.llm.prompts import build_short_answer_messages
from rag_core.research.marginalization.predictions import MarginalCandidate, Predictions
from rag_core.research.marginalization.rag_sequence import decode_sequence
from rag_core.research.marginalization.rag_token import decode_token
from rag_core.retrieval.passage_weights import softmax
from rag_core.runtime.language_models import LanguageModels
from rag_core.types.answers import AskEvent, Delta
from rag_core.types.conversations import Message
from rag_core.types.explanations import WeightingConfig
from rag_core.types.marginalization import Decoding, GeneratedToken, MarginalAnswer, Marginalization
from rag_core.types.retrieval import Passage, Timer
from rag_core.types.searches import Query
from rag_core.verification.attribution import contains_words

# Parameters of `search_beams`. The answers have a few words.
BEAMS, MAX_TOKENS, MIN_RATIO = 3, 24, 0.01
# Most passages that are read. The time grows with their number.
MAX_PASSAGES = 5
# Most candidates for the answer that are reported.
MAX_CANDIDATES = 5
_LABELS: dict[Marginalization, tuple[str, str]] = {
    "rag-sequence": ("RAG-Sequence", "A short answer, each candidate weighed over the passages"),
    "rag-token": ("RAG-Token", "A short answer, each word weighed over the passages"),
}
NO_SCORES = "The passages have no rerank scores, so all have the same weight."


def generate_marginal_answer(
    writer: LanguageModel,
    question: str,
    passages: Sequence[Passage],
    weights: Sequence[float],
    method: Marginalization,
    decoding: Decoding = "thorough",
) -> Generator[None, None, MarginalAnswer]:
    """Return the most probable short answer over passages that contains a word.

    Yield after each token, so that a caller can stop. The reported candidates begin with the answer.

    Parameters
    ----------
    writer : LanguageModel
    question : str
    passages : sequence of Passage
        The passages; each is in a separate prompt.
    weights : sequence of float
        ``p(z|x)`` of each passage, above 0.
    method : {"rag-sequence", "rag-token"}
    decoding : {"thorough", "fast"}
        How RAG-Sequence scores candidates; see `decode_sequence`.

    Raises
    ------
    SettingsError
        The model is not a GGUF file.
    GeneratorError
        The model cannot be loaded, or a passage does not fit into its context.
    """
    started = time.perf_counter()
    model = writer.causal_model()
    prompts = [model.encode_prompt(build_short_answer_messages(question, one)) for one in passages]
    predictions = Predictions(model, prompts)
    log_weights = np.log(np.array(weights, np.float64))
    if method == "rag-sequence":
        candidates = yield from decode_sequence(
            predictions,
            log_weights,
            beams=BEAMS,
            max_tokens=MAX_TOKENS,
            min_ratio=MIN_RATIO,
            decoding=decoding,
        )
    else:
        candidates = yield from decode_token(
            predictions, log_weights, beams=BEAMS, max_tokens=MAX_TOKENS, min_ratio=MIN_RATIO
        )
    texts = [_decode(model, one) for one in candidates]
    best = next((at for at, text in enumerate(texts) if contains_words(text)), 0)
    shares = candidates[best].compute_passage_shares(log_weights, method)
    return MarginalAnswer(
        method=method,
        text=texts[best],
        probability=float(np.exp(candidates[best].log_probability)),
        chunk_ids=tuple(one.chunk_id for one in passages),
        weights=tuple(weights),
        tokens=tuple(
            GeneratedToken("" if token in model.end_tokens else model.decode([token]), tuple(row))
            for token, row in zip(candidates[best].tokens, shares.tolist(), strict=True)
        ),
        candidates=tuple(
            (text, float(np.exp(one.log_probability)))
            for text, one in list(zip(texts, candidates, strict=True))[best : best + MAX_CANDIDATES]
        ),
        predictions=predictions.computed,
        prompt_tokens=sum(map(len, prompts)),
        seconds=time.perf_counter() - started,
    )


class MarginalAnswers(SearchStrategy):
    """Runs the plain search, and generates a short answer that is marginalized over the passages.

    Parameters
    ----------
    method : {"rag-sequence", "rag-token"}
        Also the name of the strategy.
    searcher : Searcher
    models : LanguageModels
    """

    in_chat = False
    uses_model = True
    reads_pages = False
    summarizes_without_model = False

    def __init__(self, method: Marginalization, searcher: Searcher, models: LanguageModels) -> None:
        super().__init__(searcher)
        self.name = self._method = method
        self.label, self.description = _LABELS[method]
        self._models = models

    def is_usable(self, model: str) -> bool:
        """Return whether a language model is chosen that gives the probabilities of single tokens."""
        return bool(model) and self._models.predicts_tokens

    def search(self, query: Query, timer: Timer) -> Steps:
        """Run the plain search; raise `SettingsError` first if the model does not predict single tokens."""
        require_model(query, self._models).causal_model()
        return (yield from super().search(query, timer))

    def write_text(
        self,
        writer: LanguageModel,
        query: Query,
        evidence: PromptEvidence,
        history: Sequence[Message],
        trace: AnswerTrace,
    ) -> Generator[AskEvent, None, tuple[str, str]]:
        """Yield the short answer with its citation; return its text, and why the model failed (empty if it did not).

        The passage with the largest share in the answer is cited. If the model fails, the text is empty; for a strict
        query, the error is raised. The text is also empty if the answer contains no word.
        """
        # Leave out computed figures, which have no chunk.
        passages = [one for one in evidence.prompt_passages if one.chunk_id][:MAX_PASSAGES]
        weights = weigh_by_rerank(passages, trace)
        steps = generate_marginal_answer(writer, evidence.outcome.result.question, passages, weights, self._method)
        label = f"Generating with {self.label} over {len(passages)} passages"
        try:
            answer = yield from report_tokens("marginalize", label, steps)
        except GeneratorError as error:
            if query.strict:
                raise
            return "", str(error)
        trace.usage += writer.record_tokens(answer.prompt_tokens, answer.predictions)
        trace.steps.append(_describe_answer(answer))
        text = f"{answer.text.rstrip('.')} [{passages[answer.main_passage].rank}]"
        if not contains_words(text):
            return "", ""
        trace.record_first_token()
        yield Delta(text)
        return text, ""


def weigh_by_rerank(passages: Sequence[Passage], trace: AnswerTrace) -> list[float]:
    """Return the softmax of the rerank scores; if a passage has no score, add a notice and return equal weights."""
    scores = [one.scores.get("rerank") for one in passages]
    known = [one for one in scores if one is not None]
    if len(known) < len(scores):
        trace.notices.append(NO_SCORES)
        known = [0.0] * len(scores)
    return [float(one) for one in softmax(known, WeightingConfig().temperature)]


def _decode(model: GgufCausalModel, candidate: MarginalCandidate) -> str:
    return model.decode([token for token in candidate.tokens if token not in model.end_tokens]).strip()


def _describe_answer(answer: MarginalAnswer) -> str:
    listed = "; ".join(f"“{text}” {probability:.3f}" for text, probability in answer.candidates)
    return f"{_LABELS[answer.method][0]} over {len(answer.weights)} passages, most probable first: {listed}"
