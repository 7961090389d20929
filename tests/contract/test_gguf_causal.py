"""The probabilities of single tokens of a GGUF model, and the short answers that use them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from rag_core.engine import Engine
from rag_core.errors import GeneratorUnavailable
from rag_core.llm.generator import LanguageModel
from rag_core.llm.gguf_causal import GgufCausalModel
from rag_core.types.answers import AnswerState
from rag_core.types.explanations import WeightingConfig
from rag_core.types.marginalization import MARGINALIZATIONS, Decoding, Marginalization
from rag_core.types.mixtures import UNKNOWN
from rag_core.types.retrieval import RetrievalConfig
from tests.contract.test_gguf import SMALL, settings
from tests.support.engines import ASK_BUDGET, open_library, page_text
from tests.support.servers import MODEL_FILE

CAPITAL = "The capital of France is"


@pytest.fixture(scope="module")
def model() -> Iterator[GgufCausalModel]:
    language_model = LanguageModel(settings(MODEL_FILE))
    yield language_model.causal_model()
    language_model.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("marginal") / "data", gguf=MODEL_FILE, **SMALL) as engine:
        yield engine


def test_text_survives_encoding(model: GgufCausalModel) -> None:
    assert model.decode(model.encode(CAPITAL)) == CAPITAL
    assert model.message_end in model.end_tokens
    # A control token in a text is plain text.
    assert model.message_end not in model.encode("<|im_end|>")
    prompt = model.encode_prompt([{"role": "user", "content": CAPITAL}])
    assert set(model.encode(CAPITAL)) <= set(prompt)


def test_distribution_sums_to_one_and_knows_the_capital(model: GgufCausalModel) -> None:
    (distribution,) = model.predict([model.encode(CAPITAL)])
    unlisted = model.vocabulary_size - len(distribution.tokens)
    total = np.exp(distribution.log_probabilities).sum() + unlisted * np.exp(distribution.rest)
    assert total == pytest.approx(1.0, abs=1e-3)
    assert model.decode([int(distribution.tokens[0])]).strip() == "Paris"
    assert distribution.rest <= distribution.log_probabilities.min()


def test_several_contexts_have_their_own_distributions(model: GgufCausalModel) -> None:
    contexts = [model.encode(text) for text in (CAPITAL, "One, two, three,", CAPITAL)]
    first, second, third = model.predict(contexts)
    assert model.decode([int(second.tokens[0])]).strip() == "four"
    assert first.tokens[:5].tolist() == third.tokens[:5].tolist()
    assert first.log_probabilities[:5] == pytest.approx(third.log_probabilities[:5], abs=1e-2)


def test_context_beyond_the_limit_names_the_setting(model: GgufCausalModel) -> None:
    with pytest.raises(GeneratorUnavailable, match="RAG_OPENAI_CONTEXT_TOKENS"):
        model.predict([model.encode("word " * 3000)])


@pytest.mark.parametrize("strategy", MARGINALIZATIONS)
def test_short_answer_is_cited_and_checked(library: Engine, strategy: Marginalization) -> None:
    answer = library.answer(ASK_BUDGET, configuration=RetrievalConfig(strategy=strategy))
    assert (answer.state, answer.strategy) == (AnswerState.ANSWERED, strategy)
    assert answer.generator == f"gguf:{MODEL_FILE.stem}"
    assert "42 million" in answer.text
    for citation in answer.citations:
        page = page_text(library, citation.document_id, citation.page_index)
        assert page[citation.start : citation.end] == citation.quote
    assert answer.citations[0].document == "bridge.pdf"
    assert answer.statements
    assert "most probable first: “" in answer.steps[-1]
    assert answer.usage.calls == 1
    assert answer.usage.output_tokens > 0


@pytest.mark.parametrize("strategy", MARGINALIZATIONS)
def test_gate_refuses_before_the_model_is_used(library: Engine, strategy: Marginalization) -> None:
    answer = library.answer("Who won the chess match in Reykjavik?", configuration=RetrievalConfig(strategy=strategy))
    assert answer.state is AnswerState.ABSTAINED
    assert answer.usage.calls == 0


@pytest.mark.parametrize(("method", "decoding"), [("rag-sequence", "fast"), ("rag-token", "thorough")])
def test_shares_of_each_token_sum_to_one(library: Engine, method: Marginalization, decoding: Decoding) -> None:
    explanation = library.explain(ASK_BUDGET)
    weighted = library.explanations.weight_passages(explanation, WeightingConfig(k=2))[:2]
    passages = [next(p for p in explanation.passages if p.chunk_id == one.candidate.chunk_id) for one in weighted]
    steps = library.mixtures.generate(ASK_BUDGET, passages, [one.weight for one in weighted], method, decoding)
    answer = None
    while answer is None:
        try:
            next(steps)
        except StopIteration as end:
            answer = end.value
    assert answer.method == method
    assert answer.chunk_ids == tuple(one.chunk_id for one in passages)
    assert "".join(token.text for token in answer.tokens).strip() == answer.text
    for token in answer.tokens:
        assert sum(token.shares) == pytest.approx(1.0)
    assert 0 < answer.probability <= 1
    assert passages[answer.main_passage].document == "bridge.pdf"


def test_likelihoods_of_answers_prefer_the_stated_one(library: Engine) -> None:
    passages = [one for one in library.explain(ASK_BUDGET).passages if one.document == "bridge.pdf"]
    scored = library.mixtures.score_answers(ASK_BUDGET, passages, ["42 million euros", "ninety percent", UNKNOWN])
    (probabilities,) = scored.values()
    assert sum(probabilities.values()) == pytest.approx(1.0)
    assert probabilities["42 million euros"] > probabilities["ninety percent"]


@pytest.mark.parametrize("strategy", MARGINALIZATIONS)
def test_failing_model_is_replaced_by_quotes(
    library: Engine, strategy: Marginalization, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(model: GgufCausalModel, contexts: object) -> None:
        raise GeneratorUnavailable("The language model did not reply (lost). Ask the question again.")

    monkeypatch.setattr(GgufCausalModel, "predict", fail)
    answer = library.answer(ASK_BUDGET, configuration=RetrievalConfig(strategy=strategy))
    assert answer.generator == "extractive"
    assert "42 million euros" in answer.text
    assert any("did not reply (lost)" in notice and "Quoted" in notice for notice in answer.notices)


def test_lost_server_is_reported(model: GgufCausalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model._server, "start", lambda: ("http://127.0.0.1:9/v1", "key"))
    with pytest.raises(GeneratorUnavailable, match=r"did not reply \(.+\)\. Ask the question again"):
        model.encode(CAPITAL)
