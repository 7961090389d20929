"""Standard measures of financial analysis and their formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class Unit(Enum):
    """The unit of a figure."""

    MONEY = "money"
    PER_SHARE = "money per share"
    PERCENT = "percent"
    RATIO = "ratio"
    DAYS = "days"


@dataclass(frozen=True, slots=True)
class StandardMeasure:
    """A measure, the words by which questions name it, and its formula; see `formulas.parse_formula`."""

    name: str
    asked: str
    formula: str
    unit: Unit


_MARGIN = r"(?: profit| income| earnings)?(?: \(?%\)?| percent(?:age)?)? margins?"
_OWNERS = r"(?:average |total )?(?:(?:share|stock)holders?['’]? )?equity"

MEASURES: tuple[StandardMeasure, ...] = (
    StandardMeasure("gross margin", rf"gross{_MARGIN}", "gross profit / revenue", Unit.PERCENT),
    StandardMeasure(
        "operating margin",
        rf"(?:unadjusted )?(?:operating|ebit){_MARGIN}",
        "operating income / revenue",
        Unit.PERCENT,
    ),
    StandardMeasure("net profit margin", rf"net{_MARGIN}|profit margins?", "net income / revenue", Unit.PERCENT),
    StandardMeasure(
        "EBITDA margin",
        rf"(?:unadjusted )?ebitda{_MARGIN}",
        "EBITDA / revenue",
        Unit.PERCENT,
    ),
    StandardMeasure(
        "EBITDA", r"(?:unadjusted )?ebitda", "operating income + depreciation and amortization", Unit.MONEY
    ),
    StandardMeasure(
        "depreciation and amortization margin",
        rf"(?:d&a|depreciation (?:and|&) amorti[sz]ation){_MARGIN}",
        "depreciation and amortization / revenue",
        Unit.PERCENT,
    ),
    StandardMeasure(
        "cost of goods sold margin",
        rf"(?:cogs|cost of goods sold){_MARGIN}",
        "cost of goods sold / revenue",
        Unit.PERCENT,
    ),
    StandardMeasure(
        "effective tax rate", r"effective (?:income )?tax rate", "income taxes / income before taxes", Unit.PERCENT
    ),
    StandardMeasure(
        "current ratio",
        r"(?:current|working[- ]capital|liquidity) ratio",
        "total current assets / total current liabilities",
        Unit.RATIO,
    ),
    StandardMeasure(
        "quick ratio",
        r"(?:quick|acid[- ]test) ratio",
        "(total current assets - inventories) / total current liabilities",
        Unit.RATIO,
    ),
    StandardMeasure("cash ratio", r"cash ratio", "cash and cash equivalents / total current liabilities", Unit.RATIO),
    StandardMeasure(
        "operating cash flow ratio",
        r"operating cash flow ratio",
        "cash from operating activities / total current liabilities",
        Unit.RATIO,
    ),
    StandardMeasure(
        "working capital",
        r"(?:net )?working capital",
        "total current assets - total current liabilities",
        Unit.MONEY,
    ),
    StandardMeasure(
        "free cash flow", r"free cash flows?|fcf", "cash from operating activities - capital expenditures", Unit.MONEY
    ),
    StandardMeasure(
        "free cash flow margin",
        rf"(?:free cash flow|fcf){_MARGIN}",
        "free cash flow / revenue",
        Unit.PERCENT,
    ),
    StandardMeasure(
        "fixed asset turnover",
        r"fixed[- ]assets? turnover(?: ratio)?",
        "revenue / average property and equipment",
        Unit.RATIO,
    ),
    StandardMeasure(
        "asset turnover", r"(?:total )?assets? turnover(?: ratio)?", "revenue / average total assets", Unit.RATIO
    ),
    StandardMeasure(
        "inventory turnover",
        r"(?:inventory|stock) turn(?:over|s)?(?: ratio)?",
        "cost of goods sold / average inventories",
        Unit.RATIO,
    ),
    StandardMeasure(
        "receivables turnover",
        r"(?:accounts )?receivables? turnover(?: ratio)?",
        "revenue / average accounts receivable",
        Unit.RATIO,
    ),
    StandardMeasure(
        "payables turnover",
        r"(?:accounts )?payables? turnover(?: ratio)?",
        "cost of goods sold / average accounts payable",
        Unit.RATIO,
    ),
    StandardMeasure(
        "days inventory outstanding",
        r"days (?:of )?(?:sales (?:of|in) )?inventory(?: outstanding)?|dio|dsi",
        "365 * average inventories / cost of goods sold",
        Unit.DAYS,
    ),
    StandardMeasure(
        "days sales outstanding",
        r"days sales outstanding|dso",
        "365 * average accounts receivable / revenue",
        Unit.DAYS,
    ),
    StandardMeasure(
        "days payable outstanding",
        r"days payables? outstanding|dpo",
        "365 * average accounts payable / cost of goods sold",
        Unit.DAYS,
    ),
    StandardMeasure("cash conversion cycle", r"cash conversion cycle|ccc", "DIO + DSO - DPO", Unit.DAYS),
    StandardMeasure(
        "return on assets", r"return on (?:average |total )*assets|roa", "net income / average total assets", Unit.RATIO
    ),
    StandardMeasure(
        "return on equity", rf"return on {_OWNERS}|roe", "net income / average shareholders' equity", Unit.RATIO
    ),
    StandardMeasure(
        "dividend payout ratio", r"(?:dividend )?pay-?out ratio", "dividends paid / net income", Unit.RATIO
    ),
    StandardMeasure("retention ratio", r"retention ratio", "1 - (dividends paid / net income)", Unit.RATIO),
    StandardMeasure(
        "interest coverage",
        r"(?:interest coverage(?: ratio)?|times interest earned)",
        "operating income / interest expense",
        Unit.RATIO,
    ),
    StandardMeasure("net debt", r"net debt", "total debt - cash and cash equivalents", Unit.MONEY),
    StandardMeasure(
        "debt to equity", r"debt[- ]to[- ]equity(?: ratio)?", "total debt / shareholders' equity", Unit.RATIO
    ),
    StandardMeasure(
        "debt to assets",
        r"debt[- ]to[- ](?:total[- ])?assets?(?: ratio)?|debt ratio",
        "total debt / total assets",
        Unit.RATIO,
    ),
)
_COMPILED = [(one, re.compile(rf"(?<![\w&-])(?:{one.asked})(?![\w&])", re.IGNORECASE)) for one in MEASURES]
# The formulas by name, and by the abbreviations that other formulas contain.
FORMULAS = {one.name.casefold(): one.formula for one in MEASURES} | {
    abbreviation: next(one.formula for one in MEASURES if one.name == name)
    for abbreviation, name in (
        ("dio", "days inventory outstanding"), ("dso", "days sales outstanding"), ("dpo", "days payable outstanding"),
    )
}  # fmt: skip


def find_measure(text: str) -> tuple[StandardMeasure, int, int] | None:
    """Return the measure with the longest name in a text, and the character span of the name; ``None`` without one."""
    found = [(one, *match.span()) for one, pattern in _COMPILED for match in pattern.finditer(text)]
    return max(found, key=lambda one: one[2] - one[1], default=None)
