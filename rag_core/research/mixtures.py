"""Mixtures of the answers that single passages give, and answers that are marginalized over passages."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from functools import partial

import numpy as np

from rag_core.answering.page_reading import PageReader
from rag_core.llm.prompts import build_short_answer_messages
from rag_core.reading.answer_probabilities import compute_probabilities_by_passage
from rag_core.research.evidence_mixture import mix_answers
from rag_core.research.marginalization.marginal_answers import generate_marginal_answer
from rag_core.research.marginalization.predictions import Predictions
from rag_core.research.worked_mixture import WorkedMixture, compute_worked_mixture
from rag_core.runtime.language_models import LanguageModels
from rag_core.types.explanations import WeightingConfig
from rag_core.types.marginalization import Decoding, MarginalAnswer, Marginalization
from rag_core.types.mixtures import UNKNOWN
from rag_core.types.retrieval import Passage

# The reply of a language model if a passage does not state the answer.
_NOT_STATED = "not stated"


class Mixtures:
    """Mixes the answers of single passages by the weights of the passages.

    Parameters
    ----------
    reader : PageReader
    models : LanguageModels
    """

    def __init__(self, reader: PageReader, models: LanguageModels) -> None:
        self._reader = reader
        self._models = models

    def read_answers(self, question: str, passages: Sequence[Passage]) -> dict[str, dict[str, float]]:
        """Return ``p(y|x, d)``, by chunk id and answer, from the reading model."""
        return compute_probabilities_by_passage(passages, partial(self._reader.find_answers_inside, question))

    def score_answers(
        self, question: str, passages: Sequence[Passage], answers: Collection[str]
    ) -> dict[str, dict[str, float]]:
        """Return ``p(y|x, d)``, by chunk id and answer, from the likelihoods of the answers under the language model.

        The likelihood of an answer is the product of the probabilities of its tokens and of the end of the message
        after these tokens. For each passage, the likelihoods of the ``answers`` are divided by their sum. `UNKNOWN`
        among the answers means that the passage does not state the answer.

        Raises
        ------
        SettingsError
            The model in use is not a GGUF file.
        GeneratorError
        """
        writer = self._models.require("The probability of an answer")
        model = writer.causal_model()
        prompts = [
            model.encode_prompt(build_short_answer_messages(question, one, or_else=_NOT_STATED)) for one in passages
        ]
        predictions = Predictions(model, prompts)
        texts = {one: _NOT_STATED if one == UNKNOWN else one for one in answers}
        tokens = {one: (*model.encode(text), model.message_end) for one, text in texts.items()}
        scored = {}
        for position, passage in enumerate(passages):
            likelihoods = np.array([predictions.score(position, tokens[one]).sum() for one in answers])
            shares = np.exp(likelihoods - np.logaddexp.reduce(likelihoods))
            scored[passage.chunk_id] = dict(zip(answers, shares.tolist(), strict=True))
        writer.record_tokens(sum(map(len, prompts)), predictions.computed)
        return scored

    mix = staticmethod(mix_answers)

    def compute_example(self, weighting: WeightingConfig) -> WorkedMixture:
        """Return the worked example, in which a stale passage can outweigh the right one."""
        return compute_worked_mixture(weighting)

    def generate(
        self,
        question: str,
        passages: Sequence[Passage],
        weights: Sequence[float],
        method: Marginalization,
        decoding: Decoding = "thorough",
    ) -> Generator[None, None, MarginalAnswer]:
        """Return the most probable short answer, marginalized over passages; yield after each token.

        Raises
        ------
        SettingsError
            The model in use is not a GGUF file.
        GeneratorError
        """
        writer = self._models.require("A short answer over several passages")
        answer = yield from generate_marginal_answer(writer, question, passages, weights, method, decoding)
        writer.record_tokens(answer.prompt_tokens, answer.predictions)
        return answer
