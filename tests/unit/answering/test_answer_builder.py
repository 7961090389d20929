"""The text of quoted answers."""

from __future__ import annotations

from rag_core.answering.answer_builder import AnswerBuilder
from rag_core.answering.cited_sentences import CitedText
from rag_core.types.answers import Citation
from tests.support.passages import passage
from tests.support.themed import build_rows


def test_builder_puts_texts_around_statements_and_cites_each_source_once() -> None:
    page, other = passage(1, "Cash 20"), passage(2, "Debt 10")
    cash, debt = Citation.of(page, 0, 7), Citation.of(other, 0, 7)
    builder = AnswerBuilder(citations={debt: None})
    builder.text = "| "
    builder.add_statement("Cash 20", cash)
    builder.text += " |\n"
    builder.add_statement("Cash is above debt", cash, debt, cash)
    builder.cite(debt)
    answer = builder.build()
    assert answer.text == "| Cash 20 [1] |\nCash is above debt [1][2] [2]"
    assert [answer.text[one.start : one.end] for one in answer.statements] == ["Cash 20", "Cash is above debt"]
    assert all(one.supported for one in answer.statements)
    assert answer.citations == (debt, cash)


def test_sentences_of_a_chunk_share_a_passage_and_follow_titles() -> None:
    first, second = build_rows("Pumps move water. Valves stop it.", "Pipes leak.")
    text = CitedText()
    text.begin("Machines")
    text.add(first, 0, 17)
    text.add_claim("Valves and pipes", [(first, 18, 33), (second, 0, 11)])
    text.begin("Again")
    text.add(first, 0, 17)
    answer = text.build()
    assert answer.text == (
        "Machines\n\nPumps move water. [1] Valves and pipes [1] [2]\n\nAgain\n\nPumps move water. [1]"
    )
    assert [one.quote for one in answer.citations] == ["Pumps move water.", "Valves stop it.", "Pipes leak."]
    assert [one.rank for one in text.passages] == [1, 2]
    assert len(answer.statements) == 3
