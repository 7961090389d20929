"""Statements of an answer, held against the passages that they cite."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.types import Citation, Passage
from rag_core.verification.verifier import NOT_CITED, NOT_SAID, VerifiedAnswer, claims_of_quotes, verify_answer
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
    return [one.supported for one in answer.statements]


def supported(statement: str, *passages: Passage) -> bool:
    """Whether a statement that cites passage 1 is supported, and quoted exactly when it is."""
    answer = verify_answer(f"{statement} [1]", passages or [FORT])
    assert bool(answer.citations) == any(verdicts(answer))
    return all(verdicts(answer))


def test_each_statement_gets_the_sentence_that_supports_it() -> None:
    answer = verify_answer("Capex was $1,749 m [1], up from $1,603 m [1]. Net sales fell by 3 % [2].", ALL)
    assert answer.text == "Capex was $1,749 m [1], up from $1,603 m [1]. Net sales fell by 3 % [2]."
    assert [(one.marker, one.quote) for one in answer.citations] == [
        (1, "Capital expenditure was $1,749 million in 2022."),
        (1, "It was $1,603 million in 2021."),
        (2, "They fell by 3 %."),
    ]
    assert [answer.text[one.start : one.end] for one in answer.statements] == [
        "Capex was $1,749 m",
        "up from $1,603 m",
        "Net sales fell by 3 %",
    ]
    assert verdicts(answer) == [True, True, True]


def test_a_statement_that_its_source_does_not_support_loses_its_marker_and_says_why() -> None:
    answer = verify_answer("Net sales fell by 4 % [2]. Cash at year-end was $3.7 billion [3].", ALL)
    assert answer.text == "Net sales fell by 4 %. Cash at year-end was $3.7 billion [3]."
    assert verdicts(answer) == [False, True]
    wrong = answer.statements[0]
    assert answer.text[wrong.start : wrong.end] == "Net sales fell by 4 %"
    assert wrong.reason == "In passage 2, the number 4 % is missing."
    assert [one.marker for one in answer.citations] == [3]


def test_a_citation_says_where_it_stands() -> None:
    (citation,) = verify_answer("Capital expenditure was $1,749 million [1].", ALL).citations
    assert citation.passage_rank == citation.marker == 1
    assert (citation.document, citation.page_index, citation.page_label) == ("report.pdf", 3, "iv")
    page = " " * 100 + CAPEX.text
    assert page[citation.start : citation.end] == citation.quote


def test_what_stands_word_for_word_is_quoted_as_it_stands() -> None:
    page = passage(1, "The tower is 88 metres\ntall, and “Lena Holm”  built it. It has eleven bells.")
    (citation,) = verify_answer('The tower is 88 metres tall, and "Lena Holm" built it [1].', [page]).citations
    assert citation.quote == "The tower is 88 metres\ntall, and “Lena Holm”  built it."


def test_a_few_other_characters_make_no_difference() -> None:
    page = passage(1, "The harbour of Brennick was fortifled in the reign of Queen Aldith. Swans live there.")
    (citation,) = verify_answer(
        "The harbour of Brennick was fortified in the reign of Queen Aldith [1].", [page]
    ).citations
    assert citation.quote == "The harbour of Brennick was fortifled in the reign of Queen Aldith."


@pytest.mark.parametrize(
    "statement",
    [
        "In 1750 Christopher Gist explored the Ohio territory.",
        "Christopher Gist explored the Ohio territory in 1750.",
        "The Ohio territory was explored by Christopher Gist, who opened negotiations at Logstown.",
        "Christopher Gist did not sign a treaty.",
        "The chiefs of the Iroquois agreed to terms in 1752.",
        "The company settled one hundred families.",
        "Of its 40 wagons the company lost twelve.",
        "Gist negotiated with tribes at Logstown.",
    ],
)
def test_what_the_source_says_in_other_words_is_supported(statement: str) -> None:
    assert supported(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "In 1752 Christopher Gist explored the Ohio territory.",
        "Christopher Gist explored the Ohio territory in 1749.",
        "George Croghan explored the Ohio territory.",
        "Christopher Gist explored the Kansas territory.",
        "Christopher Gist, acting for Iroquois, explored the Ohio territory.",
        "Christopher Gist signed a treaty there.",
        "He did sign a treaty there.",
        "Christopher Gist did not explore the Ohio territory.",
        "The company settled 12 families.",
        "The company settled 100 wagons.",
        "The company settled 1,000 families.",
        "The company settled 100 % of families.",
        "Swans sing at dawn.",
    ],
)
def test_a_wrong_number_name_date_or_negation_is_not(statement: str) -> None:
    assert not supported(statement)


@pytest.mark.parametrize(
    ("source", "said", "agree"),
    [
        ("Jane Doe, the treasurer, joined on 3 March 2019.", "John Doe joined on 3 March 2019.", False),
        ("Jane Doe, the treasurer, joined on 3 March 2019.", "J. Doe joined on 3 March 2019.", True),
        ("Jane Doe, the treasurer, joined on 3 March 2019.", "Ms Doe joined on 3 March 2019.", True),
        ("Jane Doe, the treasurer, joined on 3 March 2019.", "Treasurer Jane Doe joined on 3 March 2019.", True),
        ("Mr Doe joined on 3 March 2019.", "President Doe joined on 3 March 2019.", True),
        ("Orbit Tools employs 412 people.", "Apex Tools employs 412 people.", False),
        ("Net Income rose in the north.", "Operating Income rose in the north.", False),
    ],
)
def test_a_first_name_at_the_beginning_is_that_of_the_source(source: str, said: str, agree: bool) -> None:
    assert supported(said, passage(1, source)) is agree


@pytest.mark.parametrize(
    ("source", "said", "agree"),
    [
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
    ],
)
def test_notations_of_one_value_agree_and_no_others(source: str, said: str, agree: bool) -> None:
    assert supported(said, passage(1, source)) is agree


@pytest.mark.parametrize(
    ("source", "said", "agree"),
    [
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
def test_what_the_source_denies_is_not_supported_in_other_forms_of_its_words(
    source: str, said: str, agree: bool
) -> None:
    assert supported(said, passage(1, source)) is agree


@pytest.mark.parametrize(
    "statement",
    ["Revenue was 5,200 thousand dollars in 2022.", "Revenue was 5.2m dollars in 2022.", "Its 2022 revenue was $5.2M."],
)
def test_a_year_stays_in_its_place_where_another_word_is_added(statement: str) -> None:
    assert supported(statement, passage(1, "Its revenue was $5.2 million in 2022, up from $4.8 million in 2021."))


def test_an_acronym_stands_for_words_of_the_source() -> None:
    page = passage(1, "The chief executive officer, Jane Doe, lives in the United Kingdom, as users know.")
    assert supported("The CEO is Jane Doe.", page)
    assert supported("The CEO, Jane Doe, lives in the UK.", page)
    assert not supported("The CFO is Jane Doe.", page)
    assert not supported("The CEO, Jane Doe, lives in the UA.", page)


@pytest.mark.parametrize(
    ("statement", "agree"),
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
def test_a_figure_of_a_sentence_is_of_the_year_behind_it(statement: str, agree: bool) -> None:
    page = passage(1, "Its revenue was $5.2 million in 2022, up from $4.8 million in fiscal year 2021.")
    assert supported(statement, page) is agree


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
    "statement",
    [
        "Net sales were $34,229 million in 2022.",
        "Net sales were $34,229 million.",
        "Net sales in FY2021 were $35.355 billion.",
        "In 2022, cost of sales was $19,232 million.",
        "For the year ended December 31, 2021, cost of sales was $18,795 million.",
        "Research and development expenses were $1,994 million in 2021.",
        "Operating income fell from $7,369 million in 2021 to $6,539 million in 2022.",
        "Operating income fell from $7,369 million to $6,539 million in 2022.",
        "In 2022 and 2021, operating income was 6,539 and 7,369, respectively.",
        "In 2022 net sales were $34,229 million and cost of sales $19,232 million.",
        "Interest expense was $462 million in 2022.",
        "The operating margin was 20.8% in 2021.",
        "The net loss attributable to Orbit was $5,921 million in 2021.",
        "The impairment was $12 million in 2020.",
        "Earnings per share were $10.12 in 2021.",
    ],
)
def test_a_figure_of_a_table_is_that_of_its_row_and_year(statement: str) -> None:
    assert supported(statement, passage(1, INCOME))


@pytest.mark.parametrize(
    "statement",
    [
        # The column of another year.
        "Net sales were $34,229 million in 2021.",
        "Net sales were $32,184 million.",
        "Net sales were $35,355 million in the prior year.",
        "In 2021 and 2022, operating income was 6,539 and 7,369, respectively.",
        "Operating income fell from $7,369 million in 2022 to $6,539 million in 2021.",
        "Operating income was $7,369 million and $6,539 million in 2022.",
        "Operating income rose from $7,369 million in 2021 to $6,539 million in 2022.",
        "Operating income rose to $6,539 million in 2022.",
        # A year or a date that the table has not.
        "Net sales were $34,229 million in 2019.",
        "For the year ended June 30, 2022, net sales were $34,229 million.",
        "Net sales were $34,229 million in the third quarter of 2022.",
        # Another row.
        "Net sales were $19,232 million in 2022.",
        "Cost of sales was $34,229 million in 2022.",
        "Sales were $34,229 million in 2022.",
        "Net profit was $34,229 million in 2022.",
        "In 2022 net sales were $19,232 million and cost of sales $34,229 million.",
        # Another scale, currency, sign or unit.
        "Net sales were $34,229 billion in 2022.",
        "Net sales were $34,229 thousand in 2022.",
        "Net sales were $34,229 in 2022.",
        "Net sales were €34,229 million in 2022.",
        "The net income attributable to Orbit was $5,921 million in 2021.",
        "The net loss attributable to Orbit was $5,777 million in 2022.",
        "Operating margin was $20.8 million in 2021.",
        "Operating income was 6,539% in 2022.",
        "Earnings per share were $10.12 million in 2021.",
        # A row whose columns are not clear.
        "Restructuring was $55 million in 2022.",
        "Restructuring was $60 million in 2020.",
        "The impairment was $40 million in 2021.",
    ],
)
def test_a_figure_of_another_row_year_scale_or_sign_is_not(statement: str) -> None:
    assert not supported(statement, passage(1, INCOME))


def test_a_row_is_quoted_with_the_years_above_it() -> None:
    answer = verify_answer("Cost of sales was $18,795 million in 2021 [1].", [passage(1, INCOME)])
    assert [one.quote for one in answer.citations] == [
        "(Millions, except per share amounts) 2022 2021 2020",
        "Cost of sales 19,232 18,795 16,605",
    ]


def test_a_figure_of_another_column_is_told_with_its_own_year() -> None:
    answer = verify_answer("Cost of sales was $18,795 million in 2022 [1].", [passage(1, INCOME)])
    assert answer.statements[0].reason == "In passage 1, the number $18,795 million is for 2021."


@pytest.mark.parametrize(
    "head",
    "£m|€m|in $m|US$ million|€ million|In Mio. EUR|USD millions|(€ millions)|millions of euros|"
    "(amounts in million USD)|Dollars in millions|EUR million|in Millionen Euro|en millions d'euros".split("|"),
)
def test_a_table_s_scale_is_read_from_its_head(head: str) -> None:
    table = passage(1, f"Segments\n{head} 2023 2022\nRobots 141.2 128.4\nMedical devices 68.9 61.3\nServices 38.5 32.3")
    assert supported("Medical devices brought in 68.9 million in 2023.", table)
    assert not supported("Medical devices brought in 68.9 billion in 2023.", table)
    assert not supported("Medical devices brought in 61.3 million in 2023.", table)


@pytest.mark.parametrize("head", ["£'000", "$000s", "$ thousand", "TEUR", "in Tausend Euro"])
def test_thousands_are_no_millions(head: str) -> None:
    table = passage(1, f"Segments\n{head} 2023 2022\nRobots 141 128\nServices 38 32")
    assert supported("Services were 38 thousand in 2023.", table)
    assert not supported("Services were 38 million in 2023.", table)


@pytest.mark.parametrize(
    ("table", "statement", "agree"),
    [
        # A column of notes.
        ("Note 2023 2022\nRevenue 4 120 110\nCosts (80) (70)", "Revenue was 110 in 2022.", True),
        ("Note 2023 2022\nRevenue 4 120 110\nCosts (80) (70)", "Revenue was 120 in 2022.", False),
        ("Note 2023 2022\nRevenue 4 120 110\nImpairment 7 12", "Impairment was 7 in 2023.", False),
        ("2023 2022 2021\nRevenue 4 120 110\nCosts 80 70 60", "Revenue was 120 in 2022.", False),
        ("Note 2023 2022\nRevenue 4 120 110\nProfit 40.5 39.1", "Profit was 39.1 in 2022.", True),
        ("Note 2023 2022\nRevenue 4 120 110\nProfit 40.5 39.1", "Profit was 40.5 in 2022.", False),
        # A row that is shown again, whole.
        ("2023 2022\nRevenue 120 110\nCosts 80 70", "| Revenue | 120 | 110 |", True),
        ("2023 2022\nRevenue 120 110\nCosts 80 70", "| Revenue | 110 | 120 |", False),
        # A column of changes.
        ("2023 2022 Change\nRevenue 120 110 10\nCosts 80 70 10", "Revenue was 110 in 2022.", True),
        ("2023 2022 Change\nRevenue 120 110 10\nCosts 80 70 10", "Revenue was 10 in 2022.", False),
        # Years that head several columns each.
        ("2023 2022 2023 2022\nRevenue 120 110 60 50\nCosts 80 70 10 5", "Revenue was 120 in 2023.", False),
        # Figures of the third quarter are none of the year.
        ("Three months ended\n2023 2022\nRevenue 120 110\nCosts 80 70", "Revenue was 120 in 2023.", False),
        # The years of another table.
        ("2023 2022\nRevenue 120 110\nCosts 80 70\n\nEurope Asia\nTools 9 8\nToys 7 6", "Tools were 9 in 2023.", False),
        # Rows of the same words and others.
        ("2023 2022\nTotal current assets 60 50\nTotal assets 90 80", "Total assets were 90 in 2023.", True),
        ("2023 2022\nTotal current assets 60 50\nTotal assets 90 80", "Total assets were 60 in 2023.", False),
        # What is measured stands above the rows.
        ("Revenue\n2023 2022\nRobots 60 50\nTools 90 80", "Revenue of tools was 90 in 2023.", True),
        ("Revenue\n2023 2022\nRobots 60 50\nTools 90 80", "Profit of tools was 90 in 2023.", False),
        ("Year 2022 2021 2020\nEmployees 412 398 371\nOffices 9 8 7", "It had 398 employees in 2021.", True),
        ("Year 2022 2021 2020\nEmployees 412 398 371\nOffices 9 8 7", "It had 398 employees in 2020.", False),
        ("Item Quantity Price\nWatering can 10 £12.00\nHose 24 £7.50", "A watering can costs £12.00.", True),
        ("Item Quantity Price\nWatering can 10 £12.00\nHose 24 £7.50", "A watering can costs £7.50.", False),
    ],
)  # fmt: skip
def test_only_where_columns_are_clear_is_a_figure_of_a_year(table: str, statement: str, agree: bool) -> None:
    assert supported(statement, passage(1, table)) is agree


def test_rows_of_two_passages_keep_their_years() -> None:
    sales, costs = "2023 2022\nRevenue 120 110\nProfit 9 8", "2023 2022\nCosts 80 70\nStaff 5 4"
    both = [passage(1, sales), passage(2, costs)]
    right = verify_answer("Revenue was 120 and costs were 80 in 2023 [1][2].", both)
    assert verdicts(right) == [True]
    assert [(one.marker, one.quote) for one in right.citations] == [
        (1, "2023 2022"),
        (1, "Revenue 120 110"),
        (2, "2023 2022"),
        (2, "Costs 80 70"),
    ]
    assert verdicts(verify_answer("Revenue was 120 and costs were 80 in 2022 [1][2].", both)) == [False]


def test_two_passages_may_support_a_statement_together() -> None:
    answer = verify_answer("Net sales were $34.2 billion and cash at year-end was $3.7 billion [2][3].", ALL)
    assert verdicts(answer) == [True]
    assert [one.marker for one in answer.citations] == [2, 3]


def test_a_statement_without_a_marker_rests_on_the_next_of_its_paragraph() -> None:
    answer = verify_answer("Net sales were $34.2 billion. They fell by 3 % [2].\n\nTape is made by 3M.", ALL)
    assert verdicts(answer) == [True, True, False]
    assert answer.statements[2].reason == NOT_CITED
    assert [one.quote for one in answer.citations] == ["Net sales were $34.2 billion.", "They fell by 3 %."]


def test_headings_introductions_and_what_is_said_of_the_sources_are_no_statements() -> None:
    text = "## Sales\n\nHere is what I found:\n\n- **Net sales** were $34.2 billion [2]\n\nThe passages do not say why."
    answer = verify_answer(text, ALL)
    assert [text[one.start : one.end] for one in answer.statements] == ["Net sales** were $34.2 billion"]
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
def test_what_is_left_open_is_no_statement_and_what_is_said_beside_it_is(
    written: str, statements: list[tuple[str, bool]]
) -> None:
    answer = verify_answer(f"They fell by 3 % [2]. {written}", ALL)
    found = [(answer.text[one.start : one.end], one.supported) for one in answer.statements[1:]]
    assert [(text.startswith(begun), right) for (text, right), (begun, _) in zip(found, statements, strict=True)] == [
        (True, right) for _, right in statements
    ]


def test_each_row_of_a_table_is_a_statement_and_its_head_is_none() -> None:
    rows = ["Net sales | $34.2 billion [2] |", "Capex 2022 | $1,750 million [1] |", "Cash | $3.7 billion [3] |"]
    answer = verify_answer("\n".join(["| Item | Value |", "|:---|---:|", *(f"| {row}" for row in rows)]), ALL)
    assert verdicts(answer) == [True, False, True]
    assert [answer.text[one.start : one.end] for one in answer.statements] == [row.partition(" [")[0] for row in rows]
    separate = "Item | Value | Source\n|---|---|---|\n| Net sales | $34.2 billion | [2] |\n| Cash | $9 billion | [3] |"
    answer = verify_answer(f"| {separate}", ALL)
    assert verdicts(answer) == [True, False]
    assert answer.text.endswith("| Net sales | $34.2 billion | [2] |\n| Cash | $9 billion | |")


@pytest.mark.parametrize(
    ("line", "told"),
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
def test_a_heading_that_says_something_is_a_statement(line: str, told: list[bool]) -> None:
    assert verdicts(verify_answer(f"{line}\n\nNet sales were $34.2 billion [2].", ALL)) == [*told, True]


@pytest.mark.parametrize("text", ["", "\n", "---", "| - | - |"])
def test_nothing_said_is_nothing_to_verify(text: str) -> None:
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
def test_variants_become_the_normal_form(written: str, normal: str) -> None:
    statement = "The mill has eleven sails"
    same = [passage(rank, f"{statement}.") for rank in (1, 2, 3)]
    answer = verify_answer(f"{statement} {written}.", same)
    assert answer.text == f"{statement} {normal}."
    assert [one.marker for one in answer.citations] == [int(number) for number in re.findall(r"\d", normal)]


@pytest.mark.parametrize("marker", ["[4]", "[0]", "[2022]", "[9, 8]", "\u30109\u3011", f"[{'9' * 5000}]", "[7-9]"])
def test_a_marker_of_no_passage_goes_with_its_blank(marker: str) -> None:
    answer = verify_answer(f"Net sales fell {marker}. Then?", ALL)
    assert (answer.text, answer.citations) == ("Net sales fell. Then?", ())
    assert answer.statements[0].reason == NOT_CITED
    assert verify_answer(f"{marker} Net sales fell.\n{marker} So", ALL).text == "Net sales fell.\nSo"


def test_markers_after_the_full_stop_belong_to_the_sentence_before() -> None:
    answer = verify_answer("Net sales fell by 3 %. [2] Cash at year-end was $3.7 billion.[3]", ALL)
    assert [one.quote for one in answer.citations] == ["They fell by 3 %.", "Cash at year-end was $3.7 billion."]


def test_a_marker_without_words_of_its_own_takes_those_behind_it() -> None:
    answer = verify_answer("[2] Net sales fell by 3 %.", ALL)
    assert [one.quote for one in answer.citations] == ["They fell by 3 %."]
    assert verdicts(answer) == [True]


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
def test_words_that_lead_to_a_marker_are_no_statement(text: str) -> None:
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
def test_a_list_of_sources_below_an_answer_is_left_out(listed: str) -> None:
    said = "Net sales were $34.2 billion [2]."
    answer = verify_answer(f"{said}\n\n{listed}", ALL)
    assert (answer.text, verdicts(answer)) == (said, [True])


def test_a_list_of_sources_that_alone_names_them_stands_for_the_text_above() -> None:
    answer = verify_answer(
        "Net sales were $34.2 billion. They fell by 3 %.\n\nSources:\n[2] report.pdf\n[3] report.pdf", ALL
    )
    assert (answer.text, verdicts(answer)) == ("Net sales were $34.2 billion. They fell by 3 %. [2]", [True, True])


@pytest.mark.parametrize("line", ["- 412", "[2] They fell by 3 %.", "report.pdf says that they fell by 3 % [2]."])
def test_a_last_line_that_says_more_stays(line: str) -> None:
    answer = verify_answer(f"Net sales were $34.2 billion [2].\n\n{line}", ALL)
    assert len(answer.statements) == 2
    assert answer.text.endswith(line)


@pytest.mark.parametrize("text", ["Penguins live in Antarctica [1].", "It was the [2].", "[3]"])
def test_a_marker_whose_passage_says_nothing_of_the_kind_goes(text: str) -> None:
    answer = verify_answer(text, ALL)
    assert "[" not in answer.text
    assert answer.citations == ()
    assert all(one.reason in (NOT_SAID, NOT_CITED) for one in answer.statements)


@pytest.mark.parametrize(
    "text",
    ["No marker.", "[sic] f[x] [1 apple] [a] []", "[1.5] (1) 1]", "(passage of time) (source) x<sup>a</sup> [page 5]"],
)
def test_other_brackets_stay(text: str) -> None:
    assert verify_answer(text, ALL).text == text


def test_taking_a_marker_out_leaves_none_behind() -> None:
    answer = verify_answer("Net sales fell by 3 % [[9]2] and [[8]7].", ALL)
    assert answer.text == "Net sales fell by 3 % [2] and."
    assert verify_answer("Penguins sing [[1]2].", ALL).text == "Penguins sing."


def test_quotes_come_from_the_first_page_only() -> None:
    both = over_two_pages("Costs rose by 4 %.", "Net sales fell by 3 %.")
    assert verify_answer("Net sales fell by 3 % [1].", [both]).citations == ()
    (citation,) = verify_answer("Costs rose by 4 % [1].", [both]).citations
    assert (citation.quote, citation.start) == ("Costs rose by 4 %.", 100)


def test_a_sentence_that_goes_on_on_the_next_page_is_read_whole_and_quoted_to_the_end_of_the_first() -> None:
    both = over_two_pages("Net sales of the whole group", "fell by 3 %.")
    (citation,) = verify_answer("Net sales of the group fell by 3 % [1].", [both]).citations
    assert citation.quote == "Net sales of the whole group"
    assert not all(verdicts(verify_answer("Net sales of the group fell by 4 % [1].", [both])))


def test_chinese_is_matched_by_character() -> None:
    (citation,) = verify_answer("売上は増加 [1]", [passage(1, "会社は東京にある。売上高は増加した。")]).citations
    assert citation.quote == "売上高は増加した。"


def test_words_of_like_meaning_count_where_token_vectors_are_given() -> None:
    meanings = {"physician": "doctor", "illness": "disease", "treated": "cured"}
    numbers: dict[str, int] = {}

    def vectors(text: str) -> tuple[np.ndarray, np.ndarray]:
        found = list(re.finditer(r"\w+", text.lower()))
        rows = np.zeros((len(found), 100), np.float32)
        for row, match in enumerate(found):
            rows[row, numbers.setdefault(meanings.get(match[0], match[0]), len(numbers))] = 1.0
        return rows, np.array([match.span() for match in found], np.int32).reshape(-1, 2)

    page = passage(1, "The doctor cured the disease in Vienna.")
    statement = "The physician treated the illness in Vienna [1]."
    assert verdicts(verify_answer(statement, [page])) == [False]
    answer = verify_answer(statement, [page], vectors)
    assert verdicts(answer) == [True]
    assert answer.citations[0].quote == page.text
    assert verdicts(verify_answer(statement.replace("Vienna", "Prague"), [page], vectors)) == [False]


def test_an_extracted_answer_is_supported_by_its_own_quotes() -> None:
    quotes = ["Capital expenditure was\n$1,749 million in 2022.", "Cash fell [3]."]
    page = passage(1, " ".join(quotes))
    citations = [Citation.of(page, page.text.index(one), page.text.index(one) + len(one)) for one in quotes]
    text = "Capital expenditure was $1,749 million in 2022. [1] Cash fell [3]. [1]"
    statements = claims_of_quotes(text, citations)
    assert [text[one.start : one.end] for one in statements] == [" ".join(one.split()) for one in quotes]
    assert all(one.supported for one in statements)


WORDS = st.sampled_from(["Net", "sales", "fell", "3", "34.2", "cash", "tape", "USA", ".", ". ", " ", "\n", "é", "会"])
MARKS = st.sampled_from(["[1]", "[2]", "[9]", "[1, 2]", "[1-3]", "【2】", "[", "]", "[[", "1", "9", "［３］", ",", "-"])
ANSWERS = st.lists(WORDS | MARKS, max_size=25).map("".join) | st.text(max_size=60)
PASSAGES = st.lists(st.lists(WORDS, max_size=15).map("".join), max_size=3).map(
    lambda texts: [
        passage(rank, text) if rank != 2 else over_two_pages(text, "sales fell") for rank, text in enumerate(texts, 1)
    ]
)


@given(ANSWERS, PASSAGES)
def test_citations_and_markers_agree_and_nothing_else_changes(written: str, passages: list[Passage]) -> None:
    answer = verify_answer(written, passages)
    by_rank = {one.rank: one for one in passages}
    for citation in answer.citations:
        cited = by_rank[citation.passage_rank]
        offset = citation.start - cited.start
        assert citation.quote
        assert cited.text[offset : offset + len(citation.quote)] == citation.quote
        assert citation.end - citation.start == len(citation.quote)
        assert offset + len(citation.quote) <= len(cited.first_page_text)
    assert {int(number) for number in re.findall(r"\[(\d+)\]", answer.text)} <= {one.marker for one in answer.citations}
    assert bool(answer.citations) == any(verdicts(answer))
    assert len({(one.marker, one.start, one.end) for one in answer.citations}) == len(answer.citations)
    assert visible(answer.text) == visible(written)
    position = 0
    for one in answer.statements:
        assert position <= one.start < one.end <= len(answer.text)
        assert one.supported == (one.reason == "")
        position = one.end


@given(st.lists(WORDS, max_size=15).map("".join))
def test_what_a_passage_says_is_supported_by_it(text: str) -> None:
    page = passage(1, text)
    answer = verify_answer(f"{text} [1]", [page])
    assert verify_answer(answer.text, [page]).text == answer.text


def visible(text: str) -> str:
    """A text without blanks and anything a marker may be written with."""
    return re.sub(r"[\s\d\[\]【】［］,-]", "", text)
