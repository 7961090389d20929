"""RAG-Sequence and RAG-Token against an enumeration of all answers, and a case computed by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from rag_core.answering.steps import run_to_end
from rag_core.research.marginalization.beam_search import search_beams
from rag_core.research.marginalization.predictions import Predictions
from rag_core.research.marginalization.rag_sequence import decode_sequence
from rag_core.research.marginalization.rag_token import decode_token, mix_distributions
from rag_core.types.marginalization import GeneratedToken, MarginalAnswer, TokenDistribution
from tests.support.causal_models import TableModel

A, B, END = 0, 1, 2
# Tokens of the prompts with the first and the second passage.
FIRST, SECOND = 10, 11
EVEN = np.log([0.5, 0.5])


def two_passages() -> TableModel:
    """Two passages and answers of two tokens: the first passage begins with A, the second continues it."""
    table = {
        (FIRST,): (0.8, 0.2, 0.0),
        (FIRST, A): (0.5, 0.5, 0.0),
        (FIRST, B): (0.8, 0.2, 0.0),
        (SECOND,): (0.3, 0.7, 0.0),
        (SECOND, A): (1.0, 0.0, 0.0),
        (SECOND, B): (0.0, 1.0, 0.0),
    }
    table |= {(one, *answer): (0.0, 0.0, 1.0) for one in (FIRST, SECOND) for answer in product((A, B), repeat=2)}
    return TableModel(table)


def test_the_two_methods_choose_different_answers() -> None:
    # RAG-Sequence:  p(AA) = ½ · 0.8 · 0.5 + ½ · 0.3 · 1 = 0.35    p(AB) = ½ · 0.8 · 0.5 + ½ · 0.3 · 0 = 0.20
    #                p(BA) = ½ · 0.2 · 0.8 + ½ · 0.7 · 0 = 0.08    p(BB) = ½ · 0.2 · 0.2 + ½ · 0.7 · 1 = 0.37
    # RAG-Token:     p(AA) = (0.8 + 0.3)/2 · (0.5 + 1)/2 = 0.4125  p(AB) = 0.55 · (0.5 + 0)/2 = 0.1375
    #                p(BA) = (0.2 + 0.7)/2 · (0.8 + 0)/2 = 0.18    p(BB) = 0.45 · (0.2 + 1)/2 = 0.27
    model = two_passages()
    by_sequence = run_to_end(
        decode_sequence(Predictions(model, [[FIRST], [SECOND]]), EVEN, beams=4, max_tokens=3, decoding="thorough")
    )
    by_token = run_to_end(decode_token(Predictions(model, [[FIRST], [SECOND]]), EVEN, beams=4, max_tokens=3))
    sequence = {one.tokens: math.exp(one.log_probability) for one in by_sequence}
    token = {one.tokens: math.exp(one.log_probability) for one in by_token}
    assert sequence == pytest.approx({(B, B, END): 0.37, (A, A, END): 0.35, (A, B, END): 0.20, (B, A, END): 0.08})
    assert token == pytest.approx({(A, A, END): 0.4125, (B, B, END): 0.27, (B, A, END): 0.18, (A, B, END): 0.1375})
    assert next(iter(sequence)) == (B, B, END)
    assert next(iter(token)) == (A, A, END)


def test_shares_of_the_passages_match_manual_calculation() -> None:
    model = two_passages()
    predictions = Predictions(model, [[FIRST], [SECOND]])
    best = run_to_end(decode_sequence(predictions, EVEN, beams=4, max_tokens=3, decoding="thorough"))[0]
    # The answer is BB: the posterior of the first passage is 0.2 / 0.9, then 0.2 · 0.2 / (0.04 + 0.7).
    expected = [[2 / 9, 7 / 9], [0.04 / 0.74, 0.7 / 0.74], [0.04 / 0.74, 0.7 / 0.74]]
    assert best.compute_passage_shares(EVEN, "rag-sequence") == pytest.approx(np.array(expected))
    best = run_to_end(decode_token(predictions, EVEN, beams=4, max_tokens=3))[0]
    # The answer is AA: 0.8 / 1.1 of the first token comes from the first passage, and 0.5 / 1.5 of the second.
    expected = [[0.8 / 1.1, 0.3 / 1.1], [1 / 3, 2 / 3], [0.5, 0.5]]
    assert best.compute_passage_shares(EVEN, "rag-token") == pytest.approx(np.array(expected))


def test_fast_decoding_ignores_passages_whose_beams_lack_the_answer() -> None:
    model = two_passages()
    predictions = Predictions(model, [[FIRST], [SECOND]])
    fast = run_to_end(decode_sequence(predictions, EVEN, beams=1, max_tokens=3, decoding="fast"))
    # With one beam, the first passage finds AA (0.8 · 0.5), and the second BB (0.7 · 1).
    assert {one.tokens: math.exp(one.log_probability) for one in fast} == pytest.approx(
        {(B, B, END): 0.35, (A, A, END): 0.2}
    )
    thorough = run_to_end(decode_sequence(predictions, EVEN, beams=1, max_tokens=3, decoding="thorough"))
    assert {one.tokens: math.exp(one.log_probability) for one in thorough} == pytest.approx(
        {(B, B, END): 0.37, (A, A, END): 0.35}
    )


def random_model(seed: int, passages: int, vocabulary: int, length: int) -> TableModel:
    """A model with random probabilities, whose answers have at most ``length`` tokens before the end."""
    random = np.random.default_rng(seed)
    table = {}
    for passage in range(passages):
        for count in range(length + 1):
            for answer in product(range(vocabulary - 1), repeat=count):
                row = random.dirichlet(np.ones(vocabulary) / 2)
                table[(100 + passage, *answer)] = row if count < length else np.eye(vocabulary)[-1]
    return TableModel(table)


@pytest.mark.parametrize("seed", range(5))
def test_decoding_equals_the_enumeration_of_all_answers(seed: int) -> None:
    passages, vocabulary, length = 3, 4, 3
    model = random_model(seed, passages, vocabulary, length)
    weights = np.random.default_rng(seed).dirichlet(np.ones(passages))
    prompts = [[100 + passage] for passage in range(passages)]
    sequence, token = {}, {}
    for count in range(length + 1):
        for words in product(range(vocabulary - 1), repeat=count):
            answer = (*words, vocabulary - 1)
            rows = np.array(
                [[model._table[(*prompt, *answer[:at])][one] for at, one in enumerate(answer)] for prompt in prompts]
            )
            sequence[answer] = weights @ rows.prod(axis=1)
            token[answer] = (weights @ rows).prod()
    assert sum(sequence.values()) == pytest.approx(1.0)
    assert sum(token.values()) == pytest.approx(1.0)
    # With as many beams as answers, the search is exhaustive.
    beams = len(sequence)
    found = run_to_end(
        decode_sequence(
            Predictions(model, prompts), np.log(weights), beams=beams, max_tokens=length + 1, decoding="thorough"
        )
    )
    assert {one.tokens: math.exp(one.log_probability) for one in found} == pytest.approx(sequence, abs=1e-12)
    assert found[0].tokens == max(sequence, key=sequence.__getitem__)
    mixed = run_to_end(decode_token(Predictions(model, prompts), np.log(weights), beams=beams, max_tokens=length + 1))
    assert {one.tokens: math.exp(one.log_probability) for one in mixed} == pytest.approx(token, abs=1e-12)
    assert mixed[0].tokens == max(token, key=token.__getitem__)


def test_each_prediction_is_computed_once() -> None:
    model = two_passages()
    predictions = Predictions(model, [[FIRST], [SECOND]])
    run_to_end(decode_sequence(predictions, EVEN, beams=4, max_tokens=3, decoding="thorough"))
    run_to_end(decode_token(predictions, EVEN, beams=4, max_tokens=3))
    # The contexts are the two prompts with "", A, B, AA, AB, BA and BB; the second passage excludes AB and BA in its
    # own beams, but scores them.
    assert predictions.computed == model.calls == 14


def test_search_ends_at_the_longest_answer() -> None:
    never_ending = TableModel({(FIRST, *[A] * count): (0.9, 0.1, 0.0) for count in range(4)})
    predictions = Predictions(never_ending, [[FIRST]])
    found = run_to_end(search_beams(lambda answers: predictions.predict(0, answers), {END}, 1, 4))
    assert [(one.tokens, one.is_complete) for one in found] == [((A, A, A, A), False)]
    assert found[0].log_probability == pytest.approx(4 * math.log(0.9))


def test_sequences_far_below_the_best_are_dropped() -> None:
    table = {(FIRST,): (0.9, 0.02, 0.08), (FIRST, A): (0.0, 0.0, 1.0), (FIRST, B): (0.0, 0.0, 1.0)}
    predictions = Predictions(TableModel(table), [[FIRST]])
    found = run_to_end(search_beams(lambda answers: predictions.predict(0, answers), {END}, 3, 4, min_ratio=0.05))
    assert [one.tokens for one in found] == [(A, END), (END,)]
    found = run_to_end(search_beams(lambda answers: predictions.predict(0, answers), {END}, 3, 4))
    assert [one.tokens for one in found] == [(A, END), (END,), (B, END)]


def test_tokens_that_are_not_listed_have_the_rest() -> None:
    first = TokenDistribution(np.array([7, 3], np.int32), np.log([0.6, 0.2]), math.log(0.1))
    second = TokenDistribution(np.array([5], np.int32), np.log([0.9]), math.log(0.05))
    wanted = np.array([3, 5, 7, 9], np.int32)
    assert np.exp(first.find(wanted)) == pytest.approx([0.2, 0.1, 0.6, 0.1])
    mixed = mix_distributions([first, second], np.log([0.25, 0.75]))
    assert np.exp(mixed.find(wanted)) == pytest.approx(
        [0.25 * 0.2 + 0.75 * 0.05, 0.25 * 0.1 + 0.75 * 0.9, 0.25 * 0.6 + 0.75 * 0.05, 0.25 * 0.1 + 0.75 * 0.05]
    )
    empty = TokenDistribution(np.array([], np.int32), np.array([]), -1.0)
    assert empty.find(wanted).tolist() == [-1.0] * 4


@pytest.mark.parametrize(("method", "passage"), [("rag-sequence", 1), ("rag-token", 0)])
def test_main_passage_has_the_largest_share(method: str, passage: int) -> None:
    tokens = (GeneratedToken("a", (0.9, 0.1)), GeneratedToken("b", (0.4, 0.6)))
    answer = MarginalAnswer(method, "ab", 0.5, ("1", "2"), (0.5, 0.5), tokens, (("ab", 0.5),), 4, 20, 0.1)  # type: ignore[arg-type]
    assert answer.main_passage == passage
