"""Verification of an answer's statements against the passages that they cite."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.types import Passage
from rag_core.verification.verifier import (
    NOT_CITED,
    NOT_SUPPORTED,
    VerifiedAnswer,
    verify_answer,
)
from tests.support.passages import over_two_pages, passage

CAPEX = passage(1, "3M makes tape. Capital expenditure was $1,749 million in 2022. It was $1,603 million in 2021.")
SALES = passage(2, "Net sales were $34.2 billion. They fell by 3 %.")
CASH = passage(3, "Cash at year-end was $3.7 billion.")
ALL = [CAPEX, SALES, CASH]
FORT = passage(
    1,
    "In 1750 Christopher Gist, acting for Virginia, explored the Ohio territory and opened negotiations with the "
    "tribes at Logstown. He did not sign a treaty there. Two years later, in 1752, the chiefs of the Iroquois agreed "
    "to terms with George Croghan. The company settled 100 families and lost 12 of its 40 wagons.",
)


def verdicts(answer: VerifiedAnswer) -> list[bool]:
    return [statement.supported for statement in answer.statements]


def statement_texts(answer: VerifiedAnswer) -> list[str]:
    return [answer.text[statement.start : statement.end] for statement in answer.statements]


def markers(answer: VerifiedAnswer) -> list[int]:
    return [citation.marker for citation in answer.citations]


def quotes(answer: VerifiedAnswer) -> list[str]:
    return [citation.quote for citation in answer.citations]


def supported(statement: str, *passages: Passage) -> bool:
    """Return whether a statement that cites passage 1 is supported; check that it has a quote only then."""
    answer = verify_answer(f"{statement} [1]", passages or [FORT])
    assert bool(answer.citations) == any(verdicts(answer))
    return all(verdicts(answer))


def test_each_statement_cites_its_supporting_sentence() -> None:
    answer = verify_answer("Capex was $1,749 m [1], up from $1,603 m [1]. Net sales fell by 3 % [2].", ALL)
    assert answer.text == "Capex was $1,749 m [1], up from $1,603 m [1]. Net sales fell by 3 % [2]."
    assert [(citation.marker, citation.quote) for citation in answer.citations] == [
        (1, "Capital expenditure was $1,749 million in 2022."),
        (1, "It was $1,603 million in 2021."),
        (2, "They fell by 3 %."),
    ]
    assert statement_texts(answer) == [
        "Capex was $1,749 m",
        "up from $1,603 m",
        "Net sales fell by 3 %",
    ]
    assert verdicts(answer) == [True, True, True]


def test_unsupported_statement_loses_marker_and_has_reason() -> None:
    answer = verify_answer("Net sales fell by 4 % [2]. Cash at year-end was $3.7 billion [3].", ALL)
    assert answer.text == "Net sales fell by 4 %. Cash at year-end was $3.7 billion [3]."
    assert verdicts(answer) == [False, True]
    wrong = answer.statements[0]
    assert answer.text[wrong.start : wrong.end] == "Net sales fell by 4 %"
    assert wrong.reason == "In passage 2, the number 4 % is missing."
    assert markers(answer) == [3]


def test_citation_has_document_page_and_offsets() -> None:
    (citation,) = verify_answer("Capital expenditure was $1,749 million [1].", ALL).citations
    assert citation.passage_rank == citation.marker == 1
    assert (citation.document, citation.page_index, citation.page_label) == ("report.pdf", 3, "iv")
    page = " " * 100 + CAPEX.text
    assert page[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    ("text", "statement", "quote"),
    [
        (
            "The tower is 88 metres\ntall, and “Lena Holm”  built it. It has eleven bells.",
            'The tower is 88 metres tall, and "Lena Holm" built it',
            "The tower is 88 metres\ntall, and “Lena Holm”  built it.",
        ),
        (
            "The harbour of Brennick was fortifled in the reign of Queen Aldith. Swans live there.",
            "The harbour of Brennick was fortified in the reign of Queen Aldith",
            "The harbour of Brennick was fortifled in the reign of Queen Aldith.",
        ),
        ("会社は東京にある。売上高は増加した。", "売上は増加", "売上高は増加した。"),
    ],
    ids=["white space and quotation marks", "misread letter", "Chinese characters"],
)
def test_quote_is_verbatim_text_of_passage(text: str, statement: str, quote: str) -> None:
    (citation,) = verify_answer(f"{statement} [1].", [passage(1, text)]).citations
    assert citation.quote == quote


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        # Other words for the same.
        ("In 1750 Christopher Gist explored the Ohio territory.", True),
        ("Christopher Gist explored the Ohio territory in 1750.", True),
        ("The Ohio territory was explored by Christopher Gist, who opened negotiations at Logstown.", True),
        ("Christopher Gist did not sign a treaty.", True),
        ("The chiefs of the Iroquois agreed to terms in 1752.", True),
        ("The company settled one hundred families.", True),
        ("Of its 40 wagons the company lost twelve.", True),
        ("Gist negotiated with tribes at Logstown.", True),
        # A wrong number, name, date or negation.
        ("In 1752 Christopher Gist explored the Ohio territory.", False),
        ("Christopher Gist explored the Ohio territory in 1749.", False),
        ("George Croghan explored the Ohio territory.", False),
        ("Christopher Gist explored the Kansas territory.", False),
        ("Christopher Gist, acting for Iroquois, explored the Ohio territory.", False),
        ("Christopher Gist signed a treaty there.", False),
        ("He did sign a treaty there.", False),
        ("Christopher Gist did not explore the Ohio territory.", False),
        ("The company settled 12 families.", False),
        ("The company settled 100 wagons.", False),
        ("The company settled 1,000 families.", False),
        ("The company settled 100 % of families.", False),
        ("Swans sing at dawn.", False),
    ],
)
def test_paraphrase_is_supported_and_wrong_detail_is_not(statement: str, expected: bool) -> None:
    assert supported(statement) is expected


@pytest.mark.parametrize(
    ("source", "statement", "expected"),
    [
        # First names and titles.
        ("Jane Doe, the treasurer, joined on 3 March 2019.", "John Doe joined on 3 March 2019.", False),
        ("Jane Doe, the treasurer, joined on 3 March 2019.", "J. Doe joined on 3 March 2019.", True),
        ("Jane Doe, the treasurer, joined on 3 March 2019.", "Ms Doe joined on 3 March 2019.", True),
        ("Jane Doe, the treasurer, joined on 3 March 2019.", "Treasurer Jane Doe joined on 3 March 2019.", True),
        ("Mr Doe joined on 3 March 2019.", "President Doe joined on 3 March 2019.", True),
        ("Orbit Tools employs 412 people.", "Apex Tools employs 412 people.", False),
        ("Net Income rose in the north.", "Operating Income rose in the north.", False),
        # Notations of numbers and dates.
        ("Sales were $1.7 billion.", "Sales were 1,700 million dollars.", True),
        ("Sales were $1.7 billion.", "Sales were $1.7 million.", False),
        ("Sales were $1.7 billion.", "Sales were €1.7 billion.", False),
        ("Sales were $1,749 million.", "Sales were about $1.7 billion.", True),
        ("Sales were $1,749 million.", "Sales were $1.7 billion.", False),
        ("Sales were 1,749 dollars.", "Sales were $1749.", True),
        ("Sales were 1.749,50 euros.", "Sales were €1,749.50.", True),
        ("Sales (in millions) were 1,749 there.", "Sales were $1,749 million.", True),
        ("Sales rose by 3 to 5 %.", "Sales rose by 3% to 5 per cent.", True),
        ("Sales rose by 5 percentage points.", "Sales rose by 5.", False),
        ("It began on July 14, 1789.", "It began on 14 July 1789.", True),
        ("It began on July 14, 1789.", "It began on 14 June 1789.", False),
        ("It began on 1789-07-14.", "It began on July 14, 1789.", True),
        ("It began on 3 March 2019.", "It began on 03/03/2019.", True),
        ("It began on 14 July 2019.", "It began on 07/14/2019.", True),
        ("It began on 14 July 2019.", "It began on 14.7.2019.", True),
        ("It began on 14 July 2019.", "It began on 14/08/2019.", False),
        ("It began on 01/07/2023.", "It began on 1 July 2023.", True),
        ("It began on 01/07/2023.", "It began on July 1, 2023.", True),
        ("It began on 1.7.2023.", "It began on 1 July 2023.", True),
        ("It began on 1.7.2023.", "It began on 7 January 2023.", False),
        ("It began on 01/07/2023.", "It began on 1 August 2023.", False),
        ("The war lasted from 1754–63 in all.", "The war lasted from 1754 to 1763 in all.", True),
        ("The church is of the 17th century.", "The church is of the seventeenth century.", True),
        ("The church is of the 17th century.", "The church is of the eighteenth century.", False),
        ("The style arose in the 1960s.", "The style arose in 1960.", False),
        ("The tower is 88 m tall.", "The tower is 88 metres tall.", True),
        ("Sales rose in the north.", "Sales fell in the north.", False),
        ("They refused to pay the tax.", "They did not pay the tax.", True),
        ("Warsaw had 94 000 inhabitants.", "Warsaw had 94,000 inhabitants.", True),
        # Negations.
        ("It does not cover damage by water.", "Water damage is covered.", False),
        ("It does not cover damage by water.", "It covers water.", False),
        ("It does not cover damage by water.", "Water damage is not covered.", True),
        ("It does not cover damage by water.", "It does not cover water.", True),
        ("It does not cover damage by water.", "Damage by fire is not covered.", False),
        ("It does not cover damage by water.", "It does not cover damage by fire.", False),
        ("It covers damage by fire, but not by water.", "It covers damage by fire.", True),
        ("It does not cover damage by water, and covers fire.", "It covers fire.", True),
        ("The board did not refer the claim to the court.", "The claim was referred to the court.", False),
        ("They did not mention the merger in the report.", "The merger was mentioned in the report.", False),
    ],
)
def test_statement_agrees_with_source(source: str, statement: str, expected: bool) -> None:
    assert supported(statement, passage(1, source)) is expected


@pytest.mark.parametrize(
    "statement",
    ["Revenue was 5,200 thousand dollars in 2022.", "Revenue was 5.2m dollars in 2022.", "Its 2022 revenue was $5.2M."],
)
def test_year_may_be_separated_by_another_word(statement: str) -> None:
    assert supported(statement, passage(1, "Its revenue was $5.2 million in 2022, up from $4.8 million in 2021."))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("The CEO is Jane Doe.", True),
        ("The CEO, Jane Doe, lives in the UK.", True),
        ("The CFO is Jane Doe.", False),
        ("The CEO, Jane Doe, lives in the UA.", False),
    ],
)
def test_acronym_matches_words_of_source(statement: str, expected: bool) -> None:
    text = "The chief executive officer, Jane Doe, lives in the United Kingdom, as users know."
    assert supported(statement, passage(1, text)) is expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Revenue was $5.2 million in 2022.", True),
        ("Revenue in 2021 was $4.8 million.", True),
        ("Revenue rose from $4.8 million in 2021 to $5.2 million in 2022.", True),
        ("In 2022 revenue was $5.2 million, up from $4.8 million.", True),
        ("Revenue rose from $4.8 million to $5.2 million.", True),
        ("Revenue rose from $5.2 million to $4.8 million.", False),
        ("In 2022 and 2021 revenue was $5.2 million and $4.8 million, respectively.", True),
        ("Revenue in 2021 was $5.2 million.", False),
        ("Its 2022 revenue was $4.8 million.", False),
        ("Revenue was $4.8 million in 2022 and $5.2 million in 2021.", False),
    ],
)
def test_figure_belongs_to_the_year_after_it(statement: str, expected: bool) -> None:
    page = passage(1, "Its revenue was $5.2 million in 2022, up from $4.8 million in fiscal year 2021.")
    assert supported(statement, page) is expected


INCOME = """\
Consolidated Statement of Income
Years ended December 31
(Millions, except per share amounts) 2022 2021 2020
Net sales $ 34,229 $ 35,355 $ 32,184
Operating expenses
Cost of sales 19,232 18,795 16,605
Research, development and
related expenses 1,862 1,994 1,878
Operating income 6,539 7,369 7,161
Interest expense (462) (488) (529)
Operating margin 19.1 % 20.8 % 22.3 %
Net income (loss) attributable to Orbit 5,777 (5,921) 5,454
Impairment (see Note 13) 40 — 12
Restructuring 55 60
Earnings per share 10.18 10.12 9.32"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Net sales were $34,229 million in 2022.", True),
        ("Net sales were $34,229 million.", True),
        ("Net sales in FY2021 were $35.355 billion.", True),
        ("In 2022, cost of sales was $19,232 million.", True),
        ("For the year ended December 31, 2021, cost of sales was $18,795 million.", True),
        ("Research and development expenses were $1,994 million in 2021.", True),
        ("Operating income fell from $7,369 million in 2021 to $6,539 million in 2022.", True),
        ("Operating income fell from $7,369 million to $6,539 million in 2022.", True),
        ("In 2022 and 2021, operating income was 6,539 and 7,369, respectively.", True),
        ("In 2022 net sales were $34,229 million and cost of sales $19,232 million.", True),
        ("Interest expense was $462 million in 2022.", True),
        ("The operating margin was 20.8% in 2021.", True),
        ("The net loss attributable to Orbit was $5,921 million in 2021.", True),
        ("The impairment was $12 million in 2020.", True),
        ("Earnings per share were $10.12 in 2021.", True),
        # The column of another year.
        ("Net sales were $34,229 million in 2021.", False),
        ("Net sales were $32,184 million.", False),
        ("Net sales were $35,355 million in the prior year.", False),
        ("In 2021 and 2022, operating income was 6,539 and 7,369, respectively.", False),
        ("Operating income fell from $7,369 million in 2022 to $6,539 million in 2021.", False),
        ("Operating income was $7,369 million and $6,539 million in 2022.", False),
        ("Operating income rose from $7,369 million in 2021 to $6,539 million in 2022.", False),
        ("Operating income rose to $6,539 million in 2022.", False),
        # A year or a date missing from the table.
        ("Net sales were $34,229 million in 2019.", False),
        ("For the year ended June 30, 2022, net sales were $34,229 million.", False),
        ("Net sales were $34,229 million in the third quarter of 2022.", False),
        # Another row.
        ("Net sales were $19,232 million in 2022.", False),
        ("Cost of sales was $34,229 million in 2022.", False),
        ("Sales were $34,229 million in 2022.", False),
        ("Net profit was $34,229 million in 2022.", False),
        ("In 2022 net sales were $19,232 million and cost of sales $34,229 million.", False),
        # Another scale, currency, sign or unit.
        ("Net sales were $34,229 billion in 2022.", False),
        ("Net sales were $34,229 thousand in 2022.", False),
        ("Net sales were $34,229 in 2022.", False),
        ("Net sales were €34,229 million in 2022.", False),
        ("The net income attributable to Orbit was $5,921 million in 2021.", False),
        ("The net loss attributable to Orbit was $5,777 million in 2022.", False),
        ("Operating margin was $20.8 million in 2021.", False),
        ("Operating income was 6,539% in 2022.", False),
        ("Earnings per share were $10.12 million in 2021.", False),
        # A row whose columns are not clear.
        ("Restructuring was $55 million in 2022.", False),
        ("Restructuring was $60 million in 2020.", False),
        ("The impairment was $40 million in 2021.", False),
    ],
)
def test_table_figure_needs_row_year_scale_and_sign(statement: str, expected: bool) -> None:
    assert supported(statement, passage(1, INCOME)) is expected


def test_table_row_is_quoted_with_its_header() -> None:
    answer = verify_answer("Cost of sales was $18,795 million in 2021 [1].", [passage(1, INCOME)])
    assert quotes(answer) == [
        "(Millions, except per share amounts) 2022 2021 2020",
        "Cost of sales 19,232 18,795 16,605",
    ]


def test_reason_names_the_year_of_the_figure() -> None:
    answer = verify_answer("Cost of sales was $18,795 million in 2022 [1].", [passage(1, INCOME)])
    assert answer.statements[0].reason == "In passage 1, the number $18,795 million is for 2021."


@pytest.mark.parametrize(
    "header",
    "£m|€m|in $m|US$ million|€ million|In Mio. EUR|USD millions|(€ millions)|millions of euros|"
    "(amounts in million USD)|Dollars in millions|EUR million|in Millionen Euro|en millions d'euros".split("|"),
)
def test_table_header_gives_scale(header: str) -> None:
    table = passage(
        1, f"Segments\n{header} 2023 2022\nRobots 141.2 128.4\nMedical devices 68.9 61.3\nServices 38.5 32.3"
    )
    assert supported("Medical devices brought in 68.9 million in 2023.", table)
    assert not supported("Medical devices brought in 68.9 billion in 2023.", table)
    assert not supported("Medical devices brought in 61.3 million in 2023.", table)


@pytest.mark.parametrize("header", ["£'000", "$000s", "$ thousand", "TEUR", "in Tausend Euro"])
def test_table_header_in_thousands_is_not_millions(header: str) -> None:
    table = passage(1, f"Segments\n{header} 2023 2022\nRobots 141 128\nServices 38 32")
    assert supported("Services were 38 thousand in 2023.", table)
    assert not supported("Services were 38 million in 2023.", table)


@pytest.mark.parametrize(
    ("table", "statement", "expected"),
    [
        # A column of notes.
        ("Note 2023 2022\nRevenue 4 120 110\nCosts (80) (70)", "Revenue was 110 in 2022.", True),
        ("Note 2023 2022\nRevenue 4 120 110\nCosts (80) (70)", "Revenue was 120 in 2022.", False),
        ("Note 2023 2022\nRevenue 4 120 110\nImpairment 7 12", "Impairment was 7 in 2023.", False),
        ("2023 2022 2021\nRevenue 4 120 110\nCosts 80 70 60", "Revenue was 120 in 2022.", False),
        ("Note 2023 2022\nRevenue 4 120 110\nProfit 40.5 39.1", "Profit was 39.1 in 2022.", True),
        ("Note 2023 2022\nRevenue 4 120 110\nProfit 40.5 39.1", "Profit was 40.5 in 2022.", False),
        # A row repeated as a whole.
        ("2023 2022\nRevenue 120 110\nCosts 80 70", "| Revenue | 120 | 110 |", True),
        ("2023 2022\nRevenue 120 110\nCosts 80 70", "| Revenue | 110 | 120 |", False),
        # A column of changes.
        ("2023 2022 Change\nRevenue 120 110 10\nCosts 80 70 10", "Revenue was 110 in 2022.", True),
        ("2023 2022 Change\nRevenue 120 110 10\nCosts 80 70 10", "Revenue was 10 in 2022.", False),
        # Years that head several columns each.
        ("2023 2022 2023 2022\nRevenue 120 110 60 50\nCosts 80 70 10 5", "Revenue was 120 in 2023.", False),
        # Figures of a quarter.
        ("Three months ended\n2023 2022\nRevenue 120 110\nCosts 80 70", "Revenue was 120 in 2023.", False),
        # The years of another table.
        ("2023 2022\nRevenue 120 110\nCosts 80 70\n\nEurope Asia\nTools 9 8\nToys 7 6", "Tools were 9 in 2023.", False),
        # Rows that share words.
        ("2023 2022\nTotal current assets 60 50\nTotal assets 90 80", "Total assets were 90 in 2023.", True),
        ("2023 2022\nTotal current assets 60 50\nTotal assets 90 80", "Total assets were 60 in 2023.", False),
        # The measure is named above the rows.
        ("Revenue\n2023 2022\nRobots 60 50\nTools 90 80", "Revenue of tools was 90 in 2023.", True),
        ("Revenue\n2023 2022\nRobots 60 50\nTools 90 80", "Profit of tools was 90 in 2023.", False),
        ("Year 2022 2021 2020\nEmployees 412 398 371\nOffices 9 8 7", "It had 398 employees in 2021.", True),
        ("Year 2022 2021 2020\nEmployees 412 398 371\nOffices 9 8 7", "It had 398 employees in 2020.", False),
        ("Item Quantity Price\nWatering can 10 £12.00\nHose 24 £7.50", "A watering can costs £12.00.", True),
        ("Item Quantity Price\nWatering can 10 £12.00\nHose 24 £7.50", "A watering can costs £7.50.", False),
    ],
)  # fmt: skip
def test_figure_has_a_year_only_in_clear_columns(table: str, statement: str, expected: bool) -> None:
    assert supported(statement, passage(1, table)) is expected


def test_rows_of_two_passages_keep_their_years() -> None:
    sales, costs = "2023 2022\nRevenue 120 110\nProfit 9 8", "2023 2022\nCosts 80 70\nStaff 5 4"
    both = [passage(1, sales), passage(2, costs)]
    answer = verify_answer("Revenue was 120 and costs were 80 in 2023 [1][2].", both)
    assert verdicts(answer) == [True]
    assert [(citation.marker, citation.quote) for citation in answer.citations] == [
        (1, "2023 2022"),
        (1, "Revenue 120 110"),
        (2, "2023 2022"),
        (2, "Costs 80 70"),
    ]
    assert verdicts(verify_answer("Revenue was 120 and costs were 80 in 2022 [1][2].", both)) == [False]


@pytest.mark.parametrize(
    ("text", "numbers", "quoted"),
    [
        (
            "Net sales were $34.2 billion and cash at year-end was $3.7 billion [2][3].",
            [2, 3],
            ["Net sales were $34.2 billion.", "Cash at year-end was $3.7 billion."],
        ),
        (
            "Net sales fell by 3 %. [2] Cash at year-end was $3.7 billion.[3]",
            [2, 3],
            ["They fell by 3 %.", "Cash at year-end was $3.7 billion."],
        ),
        ("[2] Net sales fell by 3 %.", [2], ["They fell by 3 %."]),
    ],
    ids=["two markers", "after the full stop", "before the statement"],
)
def test_markers_belong_to_their_statement(text: str, numbers: list[int], quoted: list[str]) -> None:
    answer = verify_answer(text, ALL)
    assert all(verdicts(answer))
    assert (markers(answer), quotes(answer)) == (numbers, quoted)


def test_unmarked_statement_uses_next_marker_of_paragraph() -> None:
    answer = verify_answer("Net sales were $34.2 billion. They fell by 3 % [2].\n\nTape is made by 3M.", ALL)
    assert verdicts(answer) == [True, True, False]
    assert answer.statements[2].reason == NOT_CITED
    assert quotes(answer) == ["Net sales were $34.2 billion.", "They fell by 3 %."]


def test_headings_and_introductions_are_not_statements() -> None:
    text = "## Sales\n\nHere is what I found:\n\n- **Net sales** were $34.2 billion [2]\n\nThe passages do not say why."
    answer = verify_answer(text, ALL)
    assert statement_texts(answer) == ["Net sales** were $34.2 billion"]
    assert verdicts(answer) == [True]


@pytest.mark.parametrize(
    ("written", "statements"),
    [
        ("The passages do not say why.", []),
        ("The reason is not mentioned [2].", []),
        ("There is no information about costs in 2022.", []),
        ("The passages do not say why, but it was the weather in Paris.", [("it was the weather in Paris.", False)]),
        ("The reason is not mentioned; it is the weather.", [("it is the weather.", False)]),
        ("Although the passages do not say why, it was the weather.", [("it was the weather.", False)]),
        ("The texts do not say why, although cash at year-end was $3.7 billion [3].", [("cash at year-end", True)]),
        ("The costs of $9 million are not mentioned.", [("The costs of $9 million", False)]),
        ("Why did they fall? Net sales were $34.2 billion [2].", [("Net sales were", True)]),
    ],
)
def test_admitted_gap_is_not_a_statement(written: str, statements: list[tuple[str, bool]]) -> None:
    answer = verify_answer(f"They fell by 3 % [2]. {written}", ALL)
    later = answer.statements[1:]
    assert [statement.supported for statement in later] == [expected for _, expected in statements]
    for statement, (beginning, _) in zip(later, statements, strict=True):
        assert answer.text[statement.start : statement.end].startswith(beginning)


def test_each_table_row_but_the_header_is_a_statement() -> None:
    rows = ["Net sales | $34.2 billion [2] |", "Capex 2022 | $1,750 million [1] |", "Cash | $3.7 billion [3] |"]
    answer = verify_answer("\n".join(["| Item | Value |", "|:---|---:|", *(f"| {row}" for row in rows)]), ALL)
    assert verdicts(answer) == [True, False, True]
    assert statement_texts(answer) == [row.partition(" [")[0] for row in rows]
    separate = "Item | Value | Source\n|---|---|---|\n| Net sales | $34.2 billion | [2] |\n| Cash | $9 billion | [3] |"
    answer = verify_answer(f"| {separate}", ALL)
    assert verdicts(answer) == [True, False]
    assert answer.text.endswith("| Net sales | $34.2 billion | [2] |\n| Cash | $9 billion | |")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("**$34.2 billion**", [True]),
        ("**77**", [False]),
        ("**Answer: net sales were $99 billion**", [False]),
        ("# Net sales were $99 billion", [False]),
        ("**Tom Smith founded the company.**", [False]),
        ("## Net sales did not fall", [False]),
        ("## Net sales", []),
        ("## 2. Net sales of 2022", []),
        ("**Net sales in 2022**", []),
        ("## What were net sales?", []),
    ],
)
def test_heading_with_an_assertion_is_a_statement(line: str, expected: list[bool]) -> None:
    assert verdicts(verify_answer(f"{line}\n\nNet sales were $34.2 billion [2].", ALL)) == [*expected, True]


@pytest.mark.parametrize("text", ["", "\n", "---", "| - | - |"])
def test_text_without_statements_is_unchanged(text: str) -> None:
    assert verify_answer(text, ALL) == VerifiedAnswer(text, (), ())


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("[1, 2]", "[1][2]"),
        ("[1; 2]", "[1][2]"),
        ("[1 and 2]", "[1][2]"),
        ("[1-3]", "[1][2][3]"),
        ("[1\u20133]", "[1][2][3]"),
        ("[ 1 ]", "[1]"),
        ("[01]", "[1]"),
        ("[^1]", "[1]"),
        ("\u30101\u3011", "[1]"),
        ("\u30101\u2020source\u3011", "[1]"),
        ("\uff3b\uff11\uff0c\uff12\uff3d", "[1][2]"),
        ("[passage 2]", "[2]"),
        ("[Passages 1, 3]", "[1][3]"),
        ("[Source 1]", "[1]"),
        ("[source: 1]", "[1]"),
        ("[doc. 1]", "[1]"),
        ("[#1]", "[1]"),
        ("[1, p. 57]", "[1]"),
        ("[Passages 1, 3, pages 57\u201358]", "[1][3]"),
        ("(passage 1)", "[1]"),
        ("(see Sources 1 and 2)", "[1][2]"),
        ("(source 1, page iv)", "[1]"),
        ("\\[1\\]", "[1]"),
        ("[1](#1)", "[1]"),
        ("[2](https://example.org/a?b=c)", "[2]"),
        ("<sup>1</sup>", "[1]"),
        ("<sup>[1, 2]</sup>", "[1][2]"),
        ("[1, 9]", "[1]"),
        ("[1-900000]", "[1][2][3]"),
        ("[2, 2]", "[2]"),
    ],
)
def test_marker_variants_are_normalized(written: str, normal: str) -> None:
    statement = "The mill has eleven sails"
    same = [passage(rank, f"{statement}.") for rank in (1, 2, 3)]
    answer = verify_answer(f"{statement} {written}.", same)
    assert answer.text == f"{statement} {normal}."
    assert markers(answer) == [int(number) for number in re.findall(r"\d", normal)]


@pytest.mark.parametrize("marker", ["[4]", "[0]", "[2022]", "[9, 8]", "\u30109\u3011", f"[{'9' * 5000}]", "[7-9]"])
def test_marker_of_unknown_passage_is_removed(marker: str) -> None:
    answer = verify_answer(f"Net sales fell {marker}. Then?", ALL)
    assert (answer.text, answer.citations) == ("Net sales fell. Then?", ())
    assert answer.statements[0].reason == NOT_CITED
    assert verify_answer(f"{marker} Net sales fell.\n{marker} So", ALL).text == "Net sales fell.\nSo"


@pytest.mark.parametrize(
    "text",
    [
        "As stated in [2], net sales were $34.2 billion.",
        "According to passage [2], net sales were $34.2 billion.",
        "Passage [2] says that net sales were $34.2 billion.",
        "Net sales were $34.2 billion (see [2]).",
        "Net sales were $34.2 billion.\n\n[2]",
        "> Net sales were $34.2 billion.\n\nSource: [2]",
        "Net sales were $34.2 billion [2].\n\nSources: [2]",
    ],
)
def test_words_that_introduce_a_marker_are_not_a_statement(text: str) -> None:
    answer = verify_answer(text, ALL)
    assert verdicts(answer) == [True]
    assert answer.text == text


@pytest.mark.parametrize(
    "listed",
    [
        "Sources:\n[2] report.pdf, page iv",
        "**References**\n\n1. report.pdf, p. 57\n2. Report.pdf, pp. 3-4",
        "[^2]: report.pdf, page iv",
        "[1] Passage 1\n[2] Passage 2",
        "Quellen:\n- [2] report (Seite 4)",
        "Source: report.pdf",
    ],
)
def test_list_of_sources_is_removed(listed: str) -> None:
    statement = "Net sales were $34.2 billion [2]."
    answer = verify_answer(f"{statement}\n\n{listed}", ALL)
    assert (answer.text, verdicts(answer)) == (statement, [True])


def test_list_of_sources_cites_text_without_markers() -> None:
    answer = verify_answer(
        "Net sales were $34.2 billion. They fell by 3 %.\n\nSources:\n[2] report.pdf\n[3] report.pdf", ALL
    )
    assert (answer.text, verdicts(answer)) == ("Net sales were $34.2 billion. They fell by 3 %. [2]", [True, True])


@pytest.mark.parametrize("line", ["- 412", "[2] They fell by 3 %.", "report.pdf says that they fell by 3 % [2]."])
def test_last_line_with_an_assertion_is_kept(line: str) -> None:
    answer = verify_answer(f"Net sales were $34.2 billion [2].\n\n{line}", ALL)
    assert len(answer.statements) == 2
    assert answer.text.endswith(line)


@pytest.mark.parametrize("text", ["Penguins live in Antarctica [1].", "It was the [2].", "[3]"])
def test_marker_of_unrelated_passage_is_removed(text: str) -> None:
    answer = verify_answer(text, ALL)
    assert "[" not in answer.text
    assert answer.citations == ()
    assert all(statement.reason in (NOT_SUPPORTED, NOT_CITED) for statement in answer.statements)


@pytest.mark.parametrize(
    "text",
    ["No marker.", "[sic] f[x] [1 apple] [a] []", "[1.5] (1) 1]", "(passage of time) (source) x<sup>a</sup> [page 5]"],
)
def test_other_brackets_are_kept(text: str) -> None:
    assert verify_answer(text, ALL).text == text


def test_removing_a_marker_creates_no_other() -> None:
    answer = verify_answer("Net sales fell by 3 % [[9]2] and [[8]7].", ALL)
    assert answer.text == "Net sales fell by 3 % [2] and."
    assert verify_answer("Penguins sing [[1]2].", ALL).text == "Penguins sing."


def test_quotes_come_from_the_first_page() -> None:
    source = over_two_pages("Costs rose by 4 %.", "Net sales fell by 3 %.")
    assert verify_answer("Net sales fell by 3 % [1].", [source]).citations == ()
    (citation,) = verify_answer("Costs rose by 4 % [1].", [source]).citations
    assert (citation.quote, citation.start) == ("Costs rose by 4 %.", 100)


def test_sentence_over_two_pages_is_quoted_to_the_page_end() -> None:
    source = over_two_pages("Net sales of the whole group", "fell by 3 %.")
    (citation,) = verify_answer("Net sales of the group fell by 3 % [1].", [source]).citations
    assert citation.quote == "Net sales of the whole group"
    assert not all(verdicts(verify_answer("Net sales of the group fell by 4 % [1].", [source])))


def test_token_vectors_match_synonyms() -> None:
    meanings = {"physician": "doctor", "illness": "disease", "treated": "cured"}
    numbers: dict[str, int] = {}

    def vectors(text: str) -> tuple[np.ndarray, np.ndarray]:
        matches = list(re.finditer(r"\w+", text.lower()))
        rows = np.zeros((len(matches), 100), np.float32)
        for row, match in enumerate(matches):
            rows[row, numbers.setdefault(meanings.get(match[0], match[0]), len(numbers))] = 1.0
        return rows, np.array([match.span() for match in matches], np.int32).reshape(-1, 2)

    page = passage(1, "The doctor cured the disease in Vienna.")
    statement = "The physician treated the illness in Vienna [1]."
    assert verdicts(verify_answer(statement, [page])) == [False]
    answer = verify_answer(statement, [page], vectors)
    assert verdicts(answer) == [True]
    assert answer.citations[0].quote == page.text
    assert verdicts(verify_answer(statement.replace("Vienna", "Prague"), [page], vectors)) == [False]


WORDS = st.sampled_from(["Net", "sales", "fell", "3", "34.2", "cash", "tape", "USA", ".", ". ", " ", "\n", "é", "会"])
MARKS = st.sampled_from(["[1]", "[2]", "[9]", "[1, 2]", "[1-3]", "【2】", "[", "]", "[[", "1", "9", "［３］", ",", "-"])
ANSWERS = st.lists(WORDS | MARKS, max_size=25).map("".join) | st.text(max_size=60)
PASSAGES = st.lists(st.lists(WORDS, max_size=15).map("".join), max_size=3).map(
    lambda texts: [
        passage(rank, text) if rank != 2 else over_two_pages(text, "sales fell") for rank, text in enumerate(texts, 1)
    ]
)


@given(ANSWERS, PASSAGES)
def test_citations_and_markers_agree_and_text_is_kept(written: str, passages: list[Passage]) -> None:
    answer = verify_answer(written, passages)
    by_rank = {source.rank: source for source in passages}
    for citation in answer.citations:
        cited = by_rank[citation.passage_rank]
        offset = citation.start - cited.start
        assert citation.quote
        assert cited.text[offset : offset + len(citation.quote)] == citation.quote
        assert citation.end - citation.start == len(citation.quote)
        assert offset + len(citation.quote) <= len(cited.first_page_text)
    assert {int(number) for number in re.findall(r"\[(\d+)\]", answer.text)} <= set(markers(answer))
    assert bool(answer.citations) == any(verdicts(answer))
    places = [(citation.marker, citation.start, citation.end) for citation in answer.citations]
    assert len(places) == len(set(places))
    assert visible(answer.text) == visible(written)
    position = 0
    for statement in answer.statements:
        assert position <= statement.start < statement.end <= len(answer.text)
        assert statement.supported == (statement.reason == "")
        position = statement.end


@given(st.lists(WORDS, max_size=15).map("".join))
def test_verification_of_passage_text_is_idempotent(text: str) -> None:
    page = passage(1, text)
    answer = verify_answer(f"{text} [1]", [page])
    assert verify_answer(answer.text, [page]).text == answer.text


def visible(text: str) -> str:
    """Return a text without white space and characters of markers."""
    return re.sub(r"[\s\d\[\]【】［］,-]", "", text)
