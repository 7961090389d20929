"""Find the financial statements, and the lines in them, that answer a question.

The question "What is the current ratio" has no word in common with the balance sheet that answers it, but many words in
common with the prose of a filing. An additional search therefore looks for the lines from which the measure is
computed. All terms are English, so that questions in other languages have no such search.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from rag_core.finance.relevance import is_other_entity_or_period
from rag_core.text.dates import find_years
from rag_core.types.documents import Heading
from rag_core.types.retrieval import Passage

# Maximum number of retrieved chunks of a statement. It is lower for questions about a cause, which only prose states.
MAX_CHUNKS, MAX_CHUNKS_FOR_CAUSE = 10, 1
# A line with the title of a statement has at most twice as many characters as the title, plus this number.
_MAX_TITLE_REST = 25
# Maximum number of characters of a line with the title of a statement.
_MAX_TITLE_LINE = 140
# Maximum number of pages of a statement.
MAX_STATEMENT_PAGES = 2
_FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+|\d+\.\d+|\d{2,}")
# Each title contains one of these words.
_TITLE_WORD = re.compile(r"sheet|statement|loss", re.IGNORECASE)


class Statement(Enum):
    """The primary financial statements, by their most common titles."""

    BALANCE = "Consolidated Balance Sheets"
    INCOME = "Consolidated Statements of Income"
    CASH = "Consolidated Statements of Cash Flows"


@dataclass(frozen=True, slots=True)
class StatementPlan:
    """The financial statements and lines to look up for a question; a `LookupPlan`.

    Attributes
    ----------
    statements : tuple of Statement
    lines : tuple of str
        Labels of the rows that contain the measure, or from which it is computed; empty if the question only names a
        statement.
    text : str
        Query of the look-up: the titles of statements, the lines, and the names and years of the question.
    rest : str
        The question without the words for statements and measures. What is left names the company and the period.
    asks_for_cause : bool
        Whether the question asks for a cause.
    """

    statements: tuple[Statement, ...]
    lines: tuple[str, ...]
    text: str
    rest: str
    asks_for_cause: bool

    @property
    def max_chunks(self) -> int:
        """Maximum number of chunks that are retrieved from each statement."""
        return MAX_CHUNKS_FOR_CAUSE if self.asks_for_cause else MAX_CHUNKS

    @property
    def sections(self) -> tuple[str, ...]:
        """The titles of the statements."""
        return tuple(statement.value for statement in self.statements)

    @property
    def has_rows(self) -> bool:
        """Whether the plan names lines of financial statements; otherwise, it names only the statements."""
        return bool(self.lines)

    def is_in_section(self, section: str, head: str) -> bool:
        """Return whether ``head``, the beginning of a chunk, contains a title of the statement ``section``.

        ``section`` is one of ``sections``.
        """
        return bool(_TITLE_PATTERNS[Statement(section)].search(head))

    def is_relevant(self, passage: Passage, title: str, document: str | None) -> bool:
        """Return whether the figures of a passage are for the company and period of the question."""
        return not is_other_entity_or_period(self.rest, passage.text, title, document)


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
# Patterns of words for a statement, and lines that the statement contains.
_STATEMENT_LINES: tuple[tuple[str, Mapping[Statement, str]], ...] = (
    (_TITLES[_BALANCE], {_BALANCE: "total assets, total liabilities"}),
    (rf"{_TITLES[_INCOME]}|p ?& ?l", {_INCOME: "revenue, operating income, net income"}),
    (_TITLES[_CASH], {_CASH: "net cash provided by operating activities"}),
)
# Patterns of words for a measure, and the lines that contain the measure or from which it is computed.
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
    # Assets and debt.
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


def _compile_phrase(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


# Each pattern with its lines by statement, and with whether it matches a measure.
_PATTERNS = [
    (_compile_phrase(pattern), lines, terms is _MEASURES)
    for terms in (_STATEMENT_LINES, _MEASURES)
    for pattern, lines in terms
]
_TITLE_PATTERNS = {statement: _compile_phrase(pattern) for statement, pattern in _TITLES.items()}
_CAUSE = _compile_phrase(
    r"why|how come|reasons?|causes?|caused|drivers?|drove|drives|driven|explains?|explained|led to|due to"
)
# Labels of the most important lines of each statement.
KEY_LINES: Mapping[Statement, Sequence[re.Pattern[str]]] = {
    statement: [re.compile(rf"(?:{label})(?: \((?:loss|losses)\))?", re.IGNORECASE) for label in labels]
    for statement, labels in {
        Statement.INCOME: (
            r"(?:total )?(?:net )?(?:operating )?(?:revenues?|sales)(?:,? net(?: of interest expense)?)?",
            r"operating (?:income|profit)|income from operations",
            r"(?:consolidated )?net (?:income|earnings)",
        ),
        Statement.BALANCE: (r"total assets", r"total liabilities"),
        Statement.CASH: (
            r"(?:total )?(?:net )?cash (?:flows? )?(?:provided by|from)(?: \(used in\))? "
            r"(?:operating activities|operations)",
        ),
    }.items()
}


def find_title_lines(text: str) -> set[Statement]:
    """Return the statements whose title is in a line of a text, alone or with few other words."""
    found = set()
    for line in text.splitlines():
        line = line.strip()
        if len(line) > _MAX_TITLE_LINE or line.endswith((".", ";")) or not _TITLE_WORD.search(line):
            continue
        for statement, pattern in _TITLE_PATTERNS.items():
            match = pattern.search(line)
            if match and len(line) <= 2 * (match.end() - match.start()) + _MAX_TITLE_REST:
                found.add(statement)
    return found


def find_statement_pages(
    texts: Mapping[int, str], headings: Mapping[int, Sequence[Heading]], titles: Collection[str]
) -> list[int]:
    """Return the indices of the pages of a document that contain financial statements, ascending.

    Of the pages on which `find_title_lines` finds the title of a statement, the `MAX_STATEMENT_PAGES` pages with most
    figures are returned. The others are contents, notes and selected data. The figures of a page count twice if a
    heading of the page ends with the title.

    Parameters
    ----------
    texts : mapping of int to str
        The texts of all pages of the document, by page index.
    headings : mapping of int to sequence of Heading
        The headings of the pages, by page index.
    titles : collection of str
        The titles of the statements to find, as in `Statement`.
    """
    wanted = {one for one in Statement if one.value in titles}
    ranked: dict[Statement, list[tuple[int, int]]] = {one: [] for one in wanted}
    for page, text in texts.items():
        if found := find_title_lines(text) & wanted:
            lines = [line for one in headings.get(page, ()) for line in text[one.start : one.end].splitlines()]
            figures = len(_FIGURE.findall(text))
            for statement in found:
                # The title must be at the end of the heading: "Balance sheet components" is the heading of a note.
                ends = (
                    match.end() == len(line) for line in lines for match in _TITLE_PATTERNS[statement].finditer(line)
                )
                ranked[statement].append((-figures * (1 + any(ends)), page))
    return sorted({page for pages in ranked.values() for _, page in sorted(pages)[:MAX_STATEMENT_PAGES]})


def plan_lookup(question: str, names: Sequence[str]) -> StatementPlan | None:
    """Return what to look up for a question; ``None`` if it does not ask for figures of financial statements.

    Parameters
    ----------
    question : str
    names : sequence of str
        Names in the question, such as the company, which distinguish filings.

    Examples
    --------
    >>> plan_lookup("What is Acme's current ratio in 2022?", ["Acme"]).text
    'Consolidated Balance Sheets total current assets total current liabilities Acme 2022'
    >>> plan_lookup("Who founded Acme?", ["Acme"])
    """
    rest = question
    named: dict[Statement, dict[str, None]] = {}
    lines: dict[str, None] = {}
    for pattern, lines_by_statement, is_measure in _PATTERNS:
        if pattern.search(question):
            rest = pattern.sub(" ", rest)
            for statement, words in lines_by_statement.items():
                labels = dict.fromkeys(words.split(", "))
                named.setdefault(statement, {}).update(labels)
                if is_measure:
                    lines.update(labels)
    if not named:
        return None
    parts = [" ".join([statement.value, *words]) for statement, words in named.items()]
    text = " ".join([*parts, *dict.fromkeys([*names, *find_years(question)])])
    return StatementPlan(tuple(named), tuple(lines), text, rest, bool(_CAUSE.search(question)))
