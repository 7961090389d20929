"""The lines of financial statements: how questions name them, and how statements label them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache


class Statement(Enum):
    """The primary financial statements, by their most common titles."""

    BALANCE = "Consolidated Balance Sheets"
    INCOME = "Consolidated Statements of Income"
    CASH = "Consolidated Statements of Cash Flows"


@dataclass(frozen=True, slots=True)
class LineItem:
    """A line of a statement.

    Attributes
    ----------
    name : str
        The most common label.
    statements : tuple of Statement
        The statements that may contain the line; the first with a matching row is used.
    asked : str
        Pattern of the words by which questions and formulas name the line.
    labels : tuple of str
        Patterns of the labels of its row, in lower case and without remarks in brackets, best first.
    formula : str
        The formula by which the line is computed if no row has such a label; may be empty.
    is_sum : bool
        Whether the line is the sum of all rows with such labels, such as those of short-term and long-term debt.
    is_positive : bool
        Whether a negative figure only means that the line is subtracted, as for costs and payments.
    is_per_share : bool
        Whether the scale of the statement does not apply to the line.
    """

    name: str
    statements: tuple[Statement, ...]
    asked: str
    labels: tuple[str, ...]
    formula: str = ""
    is_sum: bool = False
    is_positive: bool = False
    is_per_share: bool = False


_BALANCE, _INCOME, _CASH = ((one,) for one in Statement)
_PPE = (
    r"(?:land|property|properties|premises|plant)(?:, (?:plant|buildings?|land|leasehold improvements))*,?"
    r" (?:and|&) equipment"
)
_OF_OWNERS = r"(?:total )?(?:[\w.,&' ]+ )?(?:share(?:holders?|owners?)|stockholders?)'?s?'? ?(?:equity|investment)"
_LOSS = r"(?: \((?:loss|losses)\)|/\(loss\)| or loss)?"

LINE_ITEMS: tuple[LineItem, ...] = (
    # Income statement.
    LineItem(
        "revenue",
        _INCOME,
        r"(?:total |net )*(?:revenues?|sales|turnover)",
        (
            r"total (?:net )?(?:operating )?(?:revenues?|sales)(?: and other income)?(?:, net)?",
            r"(?:net |operating |consolidated )*(?:revenues?|sales)(?:, net)?(?: and other income)?",
            r"(?:net )?sales and (?:other )?(?:operating )?revenues?",
            r"(?:total )?revenues?,? net of interest expense",
        ),
    ),
    LineItem(
        "cost of goods sold",
        _INCOME,
        r"cogs|costs? of (?:goods sold|(?:net )?(?:revenues?|sales)|products? sold)",
        (
            r"total costs? of (?:net )?(?:revenues?|sales|goods sold|products sold)",
            r"costs? of (?:goods sold|(?:net )?(?:revenues?|sales)|products? sold|merchandise sold|sales and services)"
            r"(?:[,;]? .*)?",
        ),
        is_positive=True,
    ),
    LineItem(
        "gross profit",
        _INCOME,
        r"gross (?:profit|income)(?! margin)",
        (r"(?:total )?gross (?:profit|margin|income)" + _LOSS,),
        formula="revenue - cost of goods sold",
    ),
    LineItem(
        "selling, general and administrative expenses",
        _INCOME,
        r"sg&a(?: expenses?)?|selling, general,? (?:and|&) administrative(?: expenses?| costs?)?",
        (
            r"(?:total )?selling, general,? (?:and|&) administrative(?: expenses?)?",
            r"selling, (?:informational|marketing),? and administrative expenses",
        ),
        is_positive=True,
    ),
    LineItem(
        "research and development expenses",
        _INCOME,
        r"r&d(?: expenses?)?|research (?:and|&) development(?: expenses?| costs?)?",
        (r"research (?:and|&) development(?: expenses?| costs?)?(?:, net)?",),
        is_positive=True,
    ),
    LineItem(
        "operating income",
        _INCOME,
        r"(?:unadjusted )?(?:operating (?:income|profit|earnings)|income from operations|ebit)(?! margin)",
        (
            r"(?:total )?operating (?:income|profit|earnings)" + _LOSS,
            r"(?:income|profit|earnings)" + _LOSS + r" from operations",
        ),
    ),
    LineItem(
        "restructuring costs",
        (Statement.INCOME, Statement.CASH),
        r"restructuring (?:and (?:related|other) )?(?:costs?|charges?|expenses?)",
        (r"restructuring,? .*(?:costs?|charges?|expenses?)(?:, net)?", r"restructuring"),
        is_positive=True,
    ),
    LineItem(
        "interest expense",
        _INCOME,
        r"interest expenses?",
        (r"(?:total )?interest expenses?(?:, net.*)?", r"(?:net )?interest(?: expense)?(?:, net| and other)?"),
        is_positive=True,
    ),
    LineItem(
        "income before taxes",
        _INCOME,
        r"(?:pre-?tax|income before(?: income)? tax(?:es)?) ?(?:income|earnings|profit)?",
        (
            r"(?:income|earnings|profit)" + _LOSS + r"(?: from continuing operations)? before .*(?:tax|taxes).*",
            r"pre-?tax (?:income|earnings|profit)" + _LOSS,
        ),
    ),
    LineItem(
        "income taxes",
        _INCOME,
        r"(?:income tax(?:es)?(?: expenses?)?|provision for (?:income )?taxes|tax expenses?)",
        (
            r"(?:(?:total )?(?:provision|benefit) (?:\(benefit\) )?(?:for|from) )?(?:income )?tax(?:es)?"
            r"(?: expense| provision)?" + r"(?: \(benefit\))?(?: on income| expense)?",
        ),
    ),
    LineItem(
        "net income",
        _INCOME,
        r"net (?:income|earnings|profit|loss)(?: attributable to (?:share|stock)holders)?(?! margin)|"
        r"bottom line",
        (
            r"net (?:income|earnings)"
            + _LOSS
            + r",? attributable to (?!.*(?:noncontrolling|non-controlling|redeemable)"
            r"|.*per )(?!participating).+",
            r"net (?:income|earnings|profit)" + _LOSS,
            r"net loss",
            r"consolidated net (?:income|earnings)" + _LOSS,
            r"net (?:income|earnings)" + _LOSS + r",? including .*",
        ),
    ),
    LineItem(
        "diluted earnings per share",
        _INCOME,
        r"(?:diluted )?(?:eps|earnings per (?:common )?share)",
        (
            r".*(?:earnings|income|loss).* per .*share.*dilut.*",
            r"dilut.* (?:earnings|income|net income|net earnings).* per .*share.*",
            r"diluted(?: .*)?",
        ),
        is_per_share=True,
    ),
    # Cash flow statement.
    LineItem(
        "depreciation and amortization",
        (Statement.CASH, Statement.INCOME),
        r"d&a|depreciation(?:,?(?: depletion,?)? (?:and|&) amorti[sz]ation)?(?: expenses?)?",
        (
            r"depreciation(?:, depletion,?)?,?(?: and| &) amorti[sz]ation.*",
            r"depreciation, amorti[sz]ation.*",
            r"(?:total )?depreciation",
        ),
        is_positive=True,
    ),
    LineItem(
        "cash from operating activities",
        _CASH,
        r"(?:net )?cash(?: flows?)?(?: generated| provided)?(?: from| by)? ?(?:operations|operating activities)|"
        r"operating cash flows?(?! ratio| margin)|cfo|"
        # "how much cash did Acme generate from operations": the name of the company is no part of the line.
        r"cash(?= (?:[\w.&'’-]+ ){1,6}?(?:generated?|provided?) (?:from|by) (?:its |the )?operat(?:ions|ing)\b)",
        (
            r"(?:total )?(?:net )?cash (?:flows? )?"
            r"(?:\(?(?:provided|generated|used|from|by|in|for)\)?[ /]?|\([a-z ]+\) )*"
            r"(?:operating activities|operations)(?:[ -]+continuing operations)?",
            r"(?:total )?operating cash flows?",
        ),
    ),
    LineItem(
        "cash from investing activities",
        _CASH,
        r"(?:net )?cash(?: flows?)?(?: used| provided)?(?: from| by| in| for)? investing activities|"
        r"investing cash flows?",
        (r"(?:total )?(?:net )?cash .*investing activities.*",),
    ),
    LineItem(
        "cash from financing activities",
        _CASH,
        r"(?:net )?cash(?: flows?)?(?: used| provided)?(?: from| by| in| for)? financing activities|"
        r"financing cash flows?",
        (r"(?:total )?(?:net )?cash .*financing activities.*",),
    ),
    LineItem(
        "capital expenditures",
        _CASH,
        r"cap[- ]?ex|capital (?:expenditures?|spending|spend|investments?)(?: amounts?)?",
        (
            r"(?:payments? for )?capital (?:expenditures?|spending)(?:[, ].*)?",
            r"(?:purchases?|acquisitions?|additions?|payments?|expenditures?|investments?|cash paid)"
            r"(?: of| to| for| in|, net)*(?: purchases? of| acquisitions? of| the)? " + _PPE + r"(?:[, ].*)?",
            r"(?:purchases?|acquisitions?|additions?|payments?)(?: of| to| for)* (?:property|fixed assets)(?:[, ].*)?",
        ),
        is_positive=True,
    ),
    LineItem(
        "dividends paid",
        _CASH,
        r"(?:total )?(?:cash )?dividends?(?: payments?)?(?: paid| distributed)?(?: out)?(?: to (?:common )?"
        r"(?:share|stock)holders)?",
        (
            r"(?:payments? (?:of|for) )?(?:cash )?dividends?(?: paid| payments?)?(?:[, ](?!received).*)?",
            r"payments? of (?:cash )?(?:common )?(?:stock )?dividends?.*",
        ),
        is_positive=True,
    ),
    LineItem(
        "share repurchases",
        _CASH,
        r"(?:share|stock) (?:repurchases?|buy-?backs?)|repurchases? of (?:common )?(?:shares?|stock)|buy-?backs?",
        (
            r"(?:re)?purchases? of (?:\w+ )*(?:common )?(?:shares?|stock).*",
            r"common stock repurchase.*",
            r"share repurchases?.*",
        ),
        is_positive=True,
    ),
    # Balance sheet.
    LineItem(
        "cash and cash equivalents",
        _BALANCE,
        r"cash (?:and|&) (?:cash )?equivalents|cash(?: balance| position| on hand)?(?! flow| ratio| conver| from| div"
        r"| used| gen| prov| paid)",
        (r"(?:total )?cash (?:and|&) (?:cash )?equivalents(?:,.*)?", r"cash(?:, including .*)?"),
    ),
    LineItem(
        "short-term investments",
        _BALANCE,
        r"short[- ]term investments|marketable securities",
        (r"short[- ]term investments(?:,.*)?", r"(?:current )?marketable securities(?:,.*)?"),
    ),
    LineItem(
        "accounts receivable",
        _BALANCE,
        r"(?:net )?(?:trade )?(?:accounts? )?receivables?(?:, net)?(?! turnover)|\bar\b",
        (
            r"(?:net )?(?:trade )?accounts? (?:and (?:notes|other) )?receivables?(?:[,-].*)?",
            r"accounts and (?:notes|other|trade) receivables?(?:[,-].*)?",
            r"(?:net )?(?:trade |trade and other |customer |total )?receivables?(?:[,-].*)?",
        ),
    ),
    LineItem(
        "inventories",
        _BALANCE,
        r"(?:net |total |merchandise )*inventor(?:y|ies)(?:, net)?(?! turn)",
        (r"(?:net |total |merchandise )*inventor(?:y|ies)(?:[,-].*)?",),
    ),
    LineItem("total current assets", _BALANCE, r"(?:total )?current assets", (r"total current assets",)),
    LineItem(
        "property, plant and equipment, net",
        _BALANCE,
        r"(?:net )?(?:pp&e|pp?n?&?e|ppe|fixed assets|property,? plant,?(?: and|,? &) equipment|"
        r"property (?:and|&) equipment)"
        r"(?:,? net)?(?! turnover)",
        (
            r"(?:net |total )*" + _PPE + r",? ?[-–—]? ?net(?:[, ].*)?",
            r"(?:net |total )+" + _PPE,
            _PPE + r"(?:, at cost.*|, less.*)?",
            r"(?:property|fixed assets)(?:, net.*)?",
        ),
    ),
    LineItem("goodwill", _BALANCE, r"goodwill(?! impair)", (r"goodwill(?:, net.*)?",)),
    LineItem("total assets", _BALANCE, r"total assets|assets(?= turnover)", (r"total assets",)),
    LineItem(
        "accounts payable",
        _BALANCE,
        r"(?:trade )?(?:accounts? )?payables?(?! turnover| outstanding)",
        (
            r"(?:trade )?accounts? payable(?:[,-] ?trade)?",
            r"(?:trade|trade accounts) payables?",
            r"accounts payable(?: and|,) .*",
        ),
    ),
    LineItem("total current liabilities", _BALANCE, r"(?:total )?current liabilities", (r"total current liabilities",)),
    LineItem(
        "long-term debt",
        _BALANCE,
        r"long[- ]term debt",
        (r"long[- ]term (?:debt|borrowings|obligations)(?:[, ](?!.*due within).*)?",),
    ),
    LineItem(
        "total debt",
        _BALANCE,
        r"(?:total )?debt(?! ratio| instru| secur| invest| fin| to)",
        (
            r"total debt",
            r"(?:short[- ]term|long[- ]term) (?:debt|borrowings?|notes)(?:[, ].*)?",
            r"(?:current (?:portion|maturities|installments) of|long[- ]term).*(?:debt|borrowings|obligations)"
            r"(?:[, ].*)?",
            r"debt(?: due)?(?:[, ].*)?",
            r"(?:notes payable|commercial paper|loans payable|short[- ]term borrowings)(?:[, ].*)?",
        ),
        is_sum=True,
    ),
    LineItem(
        "total liabilities", _BALANCE, r"total liabilities", (r"total liabilities",), "total assets - total equity"
    ),
    LineItem("retained earnings", _BALANCE, r"retained earnings", (r"retained earnings.*", r"accumulated deficit.*")),
    LineItem(
        "shareholders' equity",
        _BALANCE,
        r"(?:total )?(?:(?:share|stock)holders['’]? )equity|book value",
        (_OF_OWNERS, r"total equity" + r"(?: attributable to .*)?"),
    ),
    LineItem("total equity", _BALANCE, r"(?:total )?equity", (r"total equity", _OF_OWNERS)),
)


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w&-])(?:{pattern})(?![\w&])", re.IGNORECASE)


@cache
def compile_label(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern of a label."""
    return re.compile(pattern, re.IGNORECASE)


_ASKED = [(item, _compile(item.asked)) for item in LINE_ITEMS]
BY_NAME = {item.name: item for item in LINE_ITEMS}


def find_line_items(text: str) -> list[tuple[LineItem, int, int]]:
    """Return the lines that a text names, with their character spans, in the order of the text.

    Of names that overlap, the longest counts: "total current assets" does not name the assets.
    """
    found = [(item, *match.span()) for item, pattern in _ASKED for match in pattern.finditer(text)]
    kept: list[tuple[LineItem, int, int]] = []
    for item, start, end in sorted(found, key=lambda one: (one[1] - one[2], one[1])):
        if all(end <= other_start or start >= other_end for _, other_start, other_end in kept):
            kept.append((item, start, end))
    return sorted(kept, key=lambda one: one[1])
