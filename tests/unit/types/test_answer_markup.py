"""Tables and bold text in the text of an answer."""

from __future__ import annotations

import pytest

from rag_core.types.answer_markup import Paragraph, Run, TextTable, parse_answer_text, remove_formatting


def cells(table: Paragraph | TextTable) -> list[list[str]]:
    assert isinstance(table, TextTable)
    return [["".join(run.text for run in cell) for cell in row] for row in table.rows]


def test_bold_value_and_table_are_recognized() -> None:
    rows = "| Company | Sales |\n| --- | ---: |\n| A | **5** [1] |\n| B | 6 [2] |"
    text = f"**$5 m** · sales [1].\n\nBy company:\n{rows}\nEnd"
    value, lead, table, end = parse_answer_text(text)
    assert value == Paragraph((Run("$5 m", bold=True), Run(" · sales [1].")))
    assert (lead, end) == (Paragraph((Run("By company:"),)), Paragraph((Run("End"),)))
    assert cells(table) == [["Company", "Sales"], ["A", "5 [1]"], ["B", "6 [2]"]]
    assert isinstance(table, TextTable)
    assert table.rows[1][1] == (Run("5", bold=True), Run(" [1]"))


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |",
        "a | b\n--- | ---",
        "|a|\n\n|-|",
        "2 ** 3 ** 4",
        "**open",
        "****",
        "a\n|-|",
        "| a |\n| - | x",
        "|a|b|\n|-|",
    ],
)
def test_other_text_is_kept(text: str) -> None:
    blocks = parse_answer_text(text)
    assert all(isinstance(block, Paragraph) for block in blocks)
    kept = "\n\n".join(run.text for block in blocks if isinstance(block, Paragraph) for run in block.runs)
    assert kept == text


def test_rows_of_a_table_have_the_same_number_of_cells() -> None:
    (table,) = parse_answer_text("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |")
    assert cells(table) == [["a", "b", ""], ["1", "", ""], ["1", "2", "3"]]


def test_escaped_bar_is_part_of_its_cell() -> None:
    (table,) = parse_answer_text("| a \\| b | c |\n|---|---|\n| \\|\\| | \\ |")
    assert cells(table) == [["a | b", "c"], ["||", "\\"]]


def test_asterisks_in_a_quote_are_kept() -> None:
    text = "**7** · Note: the **gross** sum is 2**3**. [1]"
    (paragraph,) = parse_answer_text(text, ["Note:  the **gross** sum\nis 2**3**."])
    assert paragraph == Paragraph((Run("7", bold=True), Run(" · Note: the **gross** sum is 2**3**. [1]")))


def test_formatting_is_removed_from_plain_text() -> None:
    assert remove_formatting("**5 m** · a ** b [1]") == "5 m · a ** b [1]"
