"""Which financial statements a question is answered from, and the lines to look for in them.

"What is the current ratio" shares no word with the balance sheet that answers it, and much with the
prose of a filing. What a measure is computed from is known: it is looked for beside the question.
The terms are English, as filings use them; any other question is searched as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from rag_core.types import FloatArray, Hit, Question, Versions, unembedded
from rag_core.types.protocols import Reranker, Retriever

# Chunks among which the statements are looked for: the question's best, and as many that words find.
LOOKED_UP = 50
# Of the chunks most like what is looked for, so many are held against the statements' titles, which stand
# in a chunk's prefix or among its first characters.
HELD, HEAD_CHARACTERS = 30, 300
# Chunks of a statement that count. Why something changed is told in prose: there one, for the figures.
MOST, MOST_FOR_A_CAUSE = 10, 1


class Statement(Enum):
    """The primary financial statements, by what they are called most."""

    BALANCE = "Consolidated Balance Sheets"
    INCOME = "Consolidated Statements of Income"
    CASH = "Consolidated Statements of Cash Flows"


@dataclass(frozen=True, slots=True)
class Lookup:
    """What to look for beside a question.

    Attributes
    ----------
    statements : tuple of Statement
    lines : tuple of str
        What the rows are called that tell the measure asked for or that it is computed from; none where
        only a statement is named.
    text : str
        Titles and lines, with what the question names.
    rest : str
        The question without the measures: whose figures it asks for, and of when.
    of_a_cause : bool
        Whether the question asks why something changed, which no row tells.
    """

    statements: tuple[Statement, ...]
    lines: tuple[str, ...]
    text: str
    rest: str
    of_a_cause: bool

    @property
    def most(self) -> int:
        """How many chunks of each statement count."""
        return MOST_FOR_A_CAUSE if self.of_a_cause else MOST


_TITLES: Mapping[Statement, str] = {
    Statement.BALANCE: (
        r"balance sheets?|statements? of (?:consolidated )?(?:financial (?:position|condition)|net assets)"
    ),
    Statement.INCOME: (
        r"statements? of (?:consolidated )?(?:comprehensive )?(?:income|operations|earnings|profit|loss)|"
        r"income statements?|profit (?:and|or|&) loss"
    ),
    Statement.CASH: r"statements? of (?:consolidated )?cash flows?|cash flows? statements?",
}
_BALANCE, _INCOME, _CASH = Statement
# What is looked for of a statement that is only named.
_NAMED: tuple[tuple[str, Mapping[Statement, str]], ...] = (
    (_TITLES[_BALANCE], {_BALANCE: "total assets, total liabilities"}),
    (rf"{_TITLES[_INCOME]}|p ?& ?l", {_INCOME: "revenue, operating income, net income"}),
    (_TITLES[_CASH], {_CASH: "net cash provided by operating activities"}),
)
# Measures, and the lines that tell them or that they are computed from.
_MEASURES: tuple[tuple[str, Mapping[Statement, str]], ...] = (
    # Liquidity.
    (r"current ratio|working capital|liquidity ratio", {_BALANCE: "total current assets, total current liabilities"}),
    (
        r"(?:quick|acid[- ]test|cash) ratio",
        {_BALANCE: "cash and cash equivalents, receivables, inventories, total current liabilities"},
    ),
    # Profit.
    (r"gross (?:profit )?margins?|gross profit", {_INCOME: "revenue, net sales, cost of sales, gross profit"}),
    (r"operating (?:profit |income )?margins?|ebit margins?", {_INCOME: "revenue, operating income"}),
    (r"(?:net|profit) (?:profit |income )?margins?", {_INCOME: "revenue, net income"}),
    (r"ebitda", {_INCOME: "operating income", _CASH: "depreciation and amortization"}),
    (r"ebit", {_INCOME: "operating income"}),
    (r"earnings per share|eps", {_INCOME: "earnings per share, diluted"}),
    (r"effective tax rate", {_INCOME: "income before income taxes, provision for income taxes"}),
    (r"sg&a|selling, general", {_INCOME: "selling general and administrative expenses, revenue"}),
    (
        r"(?:revenue|sales|top[- ]line) (?:growth|cagr)|growth (?:rate )?(?:in|of) (?:\w+ )?(?:revenues?|sales)",
        {_INCOME: "revenue, net sales"},
    ),
    (r"interest coverage|times interest earned", {_INCOME: "operating income, interest expense"}),
    # Cash.
    (
        r"capex|capital (?:expenditures?|spending)",
        {_CASH: "capital expenditures, purchases of property and equipment"},
    ),
    (
        r"free cash flows?|fcf",
        {_CASH: "net cash provided by operating activities, capital expenditures, purchases of property and equipment"},
    ),
    (
        r"(?:operating|investing|financing) cash flows?|"
        r"cash (?:flows? )?from (?:operations|operating|investing|financing)",
        {_CASH: "net cash provided by operating activities, investing activities, financing activities"},
    ),
    (
        r"dividends? paid|(?:share|stock) (?:repurchases?|buybacks?)|buybacks?",
        {_CASH: "dividends paid, repurchases of common stock"},
    ),
    (r"(?:dividend )?pay-?out ratio|retention ratio", {_INCOME: "net income", _CASH: "dividends paid"}),
    # Returns and the use of assets.
    (r"return on (?:\w+ )?(?:total )?assets|roa", {_INCOME: "net income", _BALANCE: "total assets"}),
    (
        r"return on (?:\w+ )?(?:(?:share|stock)holders['’]? )?equity|roe",
        {_INCOME: "net income", _BALANCE: "total shareholders equity"},
    ),
    (
        r"return on (?:invested |employed )?capital|roic|roce",
        {_INCOME: "operating income", _BALANCE: "total debt, total shareholders equity"},
    ),
    (
        r"capital[- ]intens(?:ive|ity)",
        {_INCOME: "revenue", _BALANCE: "property plant and equipment, total assets", _CASH: "capital expenditures"},
    ),
    (r"asset turnover", {_INCOME: "revenue", _BALANCE: "property plant and equipment, total assets"}),
    (
        r"inventory turn(?:over|s)?|stock turn(?:over|s)?|days (?:of )?(?:sales (?:of|in) )?inventory|dio",
        {_INCOME: "cost of sales, cost of goods sold", _BALANCE: "inventories"},
    ),
    (
        r"days payables? outstanding|payables? turnover|dpo",
        {_INCOME: "cost of sales, cost of goods sold", _BALANCE: "accounts payable, inventories"},
    ),
    (
        r"days sales outstanding|receivables? turnover|dso",
        {_INCOME: "revenue, net sales", _BALANCE: "accounts receivable"},
    ),
    (
        r"cash conversion cycle",
        {_INCOME: "revenue, cost of sales", _BALANCE: "accounts receivable, inventories, accounts payable"},
    ),
    # What is owned and owed.
    (
        r"net debt|total debt|leverage(?: ratio)?|debt[- ]to[- ](?:equity|assets|capital)",
        {_BALANCE: "short-term debt, long-term debt, cash and cash equivalents, total shareholders equity"},
    ),
    (
        r"(?:total|largest|biggest) (?:\w+ )?(?:assets?|liabilit(?:y|ies))|net assets|book value|"
        r"(?:share|stock)holders['’]? equity",
        {_BALANCE: "total assets, total liabilities, total shareholders equity"},
    ),
)


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


# With what is looked for, and whether that tells a measure.
_PATTERNS = [(_whole(pattern), told, terms is _MEASURES) for terms in (_NAMED, _MEASURES) for pattern, told in terms]
_HEADS = {statement: _whole(pattern) for statement, pattern in _TITLES.items()}
_CAUSE = _whole(r"why|how come|reasons?|causes?|caused|drivers?|drove|drives|driven|explains?|explained|led to|due to")
# What is yet to come is in no statement.
_AHEAD = _whole(
    r"guidance|guid(?:es|ed|ing)|targets?|outlook|forecasts?|expects?|expected|project(?:ed|ions?)|authoriz(?:ed|ation)"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def lookup(question: str, names: Sequence[str]) -> Lookup | None:
    """What to look for beside a question, or ``None`` where it asks for no reported figure.

    Parameters
    ----------
    question : str
    names : sequence of str
        What it names, such as the company: many filings have the same statements.

    Examples
    --------
    >>> lookup("What is Acme's current ratio in 2022?", ["Acme"]).text
    'Consolidated Balance Sheets total current assets total current liabilities Acme 2022'
    >>> lookup("Who founded Acme?", ["Acme"])
    """
    if _AHEAD.search(question):
        return None
    rest = question
    named: dict[Statement, dict[str, None]] = {}
    lines: dict[str, None] = {}
    for pattern, told, measures in _PATTERNS:
        if pattern.search(question):
            rest = pattern.sub(" ", rest)
            for statement, words in told.items():
                own = dict.fromkeys(words.split(", "))
                named.setdefault(statement, {}).update(own)
                if measures:
                    lines.update(own)
    if not named:
        return None
    parts = [" ".join([statement.value, *words]) for statement, words in named.items()]
    text = " ".join([*parts, *dict.fromkeys([*names, *_YEAR.findall(question)])])
    return Lookup(tuple(named), tuple(lines), text, rest, bool(_CAUSE.search(question)))


class Financials:
    """The statements that a question's `Lookup` asks for, ranked.

    Parameters
    ----------
    wanted : Lookup
    asked : callable
        Its text, embedded, and how much each of that text's tokens counts, shape (m,).
    words : Retriever
    reranker : Reranker
    texts : callable
        Chunks' embedded texts, their prefix first, by id; those that are gone are left out.
    """

    def __init__(
        self,
        wanted: Lookup,
        asked: Callable[[], tuple[Question, FloatArray]],
        words: Retriever,
        reranker: Reranker,
        texts: Callable[[Sequence[int]], Mapping[int, str]],
    ) -> None:
        self.wanted = wanted
        self._asked = asked
        self._words = words
        self._reranker = reranker
        self._texts = texts

    @property
    def question(self) -> Question:
        """The lookup's text, embedded; waited for."""
        return self._asked()[0]

    @property
    def weights(self) -> FloatArray:
        """How much each of its tokens counts; waited for."""
        return self._asked()[1]

    def candidates(self, versions: Versions | None) -> list[int]:
        """Chunks that hold the words looked for, best first."""
        # Not the embedded one, which is still being made.
        return [hit.chunk_id for hit in self._words.retrieve(unembedded(self.wanted.text), LOOKED_UP, versions)]

    def rankings(self, chunk_ids: Sequence[int], looked_up: Sequence[int]) -> list[list[Hit]]:
        """For each statement its chunks, those most like what is looked for first.

        Parameters
        ----------
        chunk_ids : sequence of int
            What was found for the question, best first.
        looked_up : sequence of int
            The `candidates`.
        """
        among = list(dict.fromkeys([*chunk_ids[:LOOKED_UP], *looked_up]))
        held = self._reranker.rerank(self.question, among)[:HELD]
        texts = self._texts([hit.chunk_id for hit in held])
        heads = {chunk_id: text[:HEAD_CHARACTERS] for chunk_id, text in texts.items()}
        return [
            [hit for hit in held if _HEADS[statement].search(heads.get(hit.chunk_id, ""))][: self.wanted.most]
            for statement in self.wanted.statements
        ]
