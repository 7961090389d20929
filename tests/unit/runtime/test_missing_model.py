"""The message that a language model is needed."""

from __future__ import annotations

from rag_core.runtime.model_connection import explain_missing_model


def test_message_names_the_purpose_what_to_set_and_the_alternative() -> None:
    assert explain_missing_model("Judging answers") == (
        "Judging answers needs a language model, and none is set. Connect one on the Settings page, or set "
        "RAG_OPENAI_MODEL, and OPENAI_BASE_URL to the address of its endpoint, or RAG_GGUF."
    )
    assert explain_missing_model("This", "use the plain search").endswith(", or RAG_GGUF; or use the plain search.")


def test_message_says_that_quotes_only_are_chosen() -> None:
    assert explain_missing_model("This", quotes_only=True) == (
        "This needs a language model, but “Quotes only” is chosen. Choose a model."
    )
