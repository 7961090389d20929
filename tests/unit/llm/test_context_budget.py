"""Selection of passages and history within the context of a model."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_core.errors import GeneratorError
from rag_core.llm.context_budget import count_tokens, fit_context, fit_newest_exchanges
from rag_core.llm.prompts import build_messages
from rag_core.types.chunks import PAGE_BREAK
from tests.support.passages import message, over_two_pages, passage

LONG = " ".join(f"Sentence number {n} speaks of net sales." for n in range(400))


def test_control_tokens_are_counted_as_text() -> None:
    assert count_tokens("") == 0
    assert count_tokens("<|endoftext|>") > 1


def test_all_passages_and_turns_are_kept_if_they_fit() -> None:
    passages = [passage(2), passage(1)]
    history = [message("user", "a"), message("assistant", "b")]
    fitted = fit_context(passages, "?", history, context_tokens=8192, answer_tokens=800)
    assert [source.rank for source in fitted.passages] == [1, 2]
    assert fitted.history == tuple(history)
    assert fitted.left_out == ()
    assert not fitted.shortened


def test_best_passages_are_kept() -> None:
    passages = [passage(rank, "word " * 200) for rank in (3, 1, 4, 2)]
    fitted = fit_context(passages, "?", [], context_tokens=1200, answer_tokens=200)
    kept = fitted.passages
    assert [source.rank for source in kept] == list(range(1, len(kept) + 1))
    assert kept
    assert fitted.left_out == tuple(range(len(kept) + 1, 5)) != ()
    assert not fitted.shortened


def test_long_first_passage_is_cut_after_a_sentence() -> None:
    fitted = fit_context([passage(1, LONG), passage(2)], "?", [], context_tokens=900, answer_tokens=100)
    first = fitted.passages[0]
    assert fitted.shortened
    assert LONG.startswith(first.text)
    assert first.text.endswith("sales.")
    assert first.end == first.start + len(first.text)
    assert len(fitted.left_out) + len(fitted.passages) == 2


def test_long_passage_without_sentences_is_cut_after_a_word() -> None:
    (first,) = fit_context([passage(1, "word " * 3000)], "?", [], context_tokens=900, answer_tokens=100).passages
    assert set(first.text.split()) == {"word"}


def test_cut_passage_over_two_pages_has_the_end_of_its_text() -> None:
    ends_on_first = over_two_pages(LONG, "Tail.")
    (first,) = fit_context([ends_on_first], "?", [], context_tokens=900, answer_tokens=100).passages
    assert (first.page_index_end, first.end) == (3, first.start + len(first.text))
    ends_on_second = over_two_pages("Head.", LONG)
    (first,) = fit_context([ends_on_second], "?", [], context_tokens=900, answer_tokens=100).passages
    assert first.page_index_end == 4
    assert LONG[: first.end] == first.text.partition(PAGE_BREAK)[2]


def test_newest_turns_take_at_most_a_quarter() -> None:
    history = [message(role, f"{n} " + "word " * 60) for n in range(20) for role in ("user", "assistant")]
    fitted = fit_context([passage()], "?", history, context_tokens=2000, answer_tokens=100)
    kept, turns = fitted.passages, fitted.history
    assert len(kept) == 1
    assert turns == tuple(history[-len(turns) :])
    assert 0 < sum(count_tokens(turn.text) for turn in turns) <= 500


def test_error_for_too_small_context_names_the_settings() -> None:
    with pytest.raises(GeneratorError, match=r"RAG_OPENAI_CONTEXT_TOKENS=512.*RAG_OPENAI_ANSWER_TOKENS=800"):
        fit_context([passage()], "?", [], context_tokens=512, answer_tokens=800)


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 600), max_size=8),
    turns=st.lists(st.integers(1, 300), max_size=6),
    context=st.integers(700, 4000),
)
def test_selection_fits_the_context(sizes: list[int], turns: list[int], context: int) -> None:
    passages = [passage(rank, "A few words. " * size) for rank, size in enumerate(sizes, 1)]
    history = [message(("user", "assistant")[at % 2], "word " * size) for at, size in enumerate(turns)]
    fitted = fit_context(passages, "What?", history, context_tokens=context, answer_tokens=100)
    kept, kept_turns = fitted.passages, fitted.history
    messages = build_messages("What?", kept, kept_turns)
    assert sum(count_tokens(prompt_message["content"]) + 4 for prompt_message in messages) + 100 <= context
    assert len(kept) + len(fitted.left_out) == len(passages)
    assert bool(kept) or not passages


def test_history_has_whole_exchanges_and_a_cut_last_answer() -> None:
    history = [
        *(message("user", "Without an answer?"), message("user", "Old?"), message("assistant", "Old.")),
        *(message("user", "New?"), message("assistant", LONG)),
    ]
    turns, spent = fit_newest_exchanges(history, 200)
    assert [turn.role for turn in turns] == ["user", "assistant"]
    assert turns[0].text == "New?"
    assert LONG.startswith(turns[1].text)
    assert turns[1].text.endswith("sales.")
    assert 100 < spent <= 200
    turns, _ = fit_newest_exchanges(history[:3], 200)
    assert [turn.text for turn in turns] == ["Old?", "Old."]
    assert fit_newest_exchanges(history, 5) == ((), 0)
