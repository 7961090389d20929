"""The text of quoted answers."""

from __future__ import annotations

from rag_core.answering.answer_text import write_pieces, write_quotes
from rag_core.types import Citation
from tests.unit.verification.test_verifier import passage


def test_extractive_answer_is_supported_by_its_quotes() -> None:
    sentences = ["Capital expenditure was\n$1,749 million in 2022.", "Cash fell [3]."]
    page = passage(1, " ".join(sentences))
    starts = [page.text.index(sentence) for sentence in sentences]
    citations = [Citation.of(page, start, start + len(text)) for start, text in zip(starts, sentences, strict=True)]
    answer = write_quotes([(citation, False) for citation in citations])
    assert answer.text == "Capital expenditure was $1,749 million in 2022. [1] Cash fell [3]. [1]"
    claims = answer.statements
    assert [answer.text[claim.start : claim.end] for claim in claims] == [" ".join(text.split()) for text in sentences]
    assert all(claim.supported for claim in claims)


def test_pieces_are_followed_by_their_markers_once() -> None:
    page, other = passage(1, "Cash 20"), passage(2, "Debt 10")
    cash, debt = Citation.of(page, 0, 7), Citation.of(other, 0, 7)
    answer = write_pieces([("2.0 = 20", [cash, cash]), (" / 10", [debt]), (", rounded", [])], "2.0")
    assert answer.text == "2.0 = 20 [1] / 10 [2], rounded"
    assert [answer.text[one.start : one.end] for one in answer.statements] == ["2.0 = 20", "/ 10"]
    assert answer.citations == (cash, debt)
    assert answer.short == "2.0"
