"""Format the numbers and dates of a workbook as their cells show them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

# Excel's built-in number formats by id. Dates that depend on the locale (14, 22) are ISO dates.
BUILT_IN = {
    **{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00"},
    **{14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM"},
    **{20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)"},
    **{39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 41: "#,##0;(#,##0);-", 42: "$#,##0;($#,##0);-"},
    **{43: "#,##0.00;(#,##0.00);-", 44: "$#,##0.00;($#,##0.00);-", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss"},
    **{48: "0.0E+0", 49: "@"},
}
# Parts of a format code: quoted text, escaped sign, filler, bracket such as "[Red]" or "[$€-407]", and other code.
_PART = re.compile(
    r'"([^"]*)"|\\(.)|[_*].|\[([^\]]*)\]|(AM/PM|A/P|General|[ymdhs]+|[0#?.,%/]+|E[+-]0+|.)', re.IGNORECASE
)
_DIGITS, _DATE_LETTERS = re.compile(r"[0#?]"), frozenset("ymdhs")
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
# Number of the day after 31 December 9999.
_MAX_DAY = 2_958_466
_GENERAL_DIGITS = 11
# Quoted text, escaped sign, bracket and other code; all but one are ``None``, and for a filler all are.
_Part = tuple[str | None, ...]


@lru_cache(maxsize=1 << 16)
def format_number(value: float, code: str, is_1904: bool = False) -> str:
    """Return a number, or the date that it stands for, as a cell with a number format shows it.

    ``is_1904`` says whether days are counted from 1904 instead of 1900. Formats with fractions and unknown formats give
    plain numbers.

    >>> format_number(0.125, "0.0%"), format_number(-1204.5, '"$"#,##0.00;("$"#,##0.00)')
    ('12.5%', '($1,204.50)')
    >>> format_number(45292, "d mmm yyyy")
    '1 Jan 2024'
    """
    if code == "General":
        return _format_general(value)
    sections = _split_sections(code)
    number = value
    if len(sections) > 1 and value < 0:
        section, number = sections[1], -value
    elif len(sections) > 2 and value == 0:
        section = sections[2]
    else:
        section = sections[0]
    parts = [match.groups() for match in _PART.finditer(section)]
    codes = [code.lower() for *_, code in parts if code]
    if any(_DATE_LETTERS.issuperset(code) for code in codes):
        return _format_date(value, parts, is_1904)
    if not any(_DIGITS.search(code) for code in codes):
        literal = "".join(_read_literal(*part) for part in parts).strip()
        return literal if literal and "general" not in codes else _format_general(value)
    pattern = "".join(code for code in codes if _DIGITS.search(code) or code[0] in ".,%")
    if "/" in pattern:
        return _format_general(value)
    return _format_figure(number, pattern, parts, codes)


@lru_cache(maxsize=1024)
def _split_sections(code: str) -> list[str]:
    return re.findall(r'(?:"[^"]*"|\\.|[^;"\\])+', code) or ["General"]


def _read_literal(quoted: str | None, escaped: str | None, bracket: str | None, code: str | None) -> str:
    """Return the text or the currency that a part of a format shows; empty for a part that formats the number."""
    if bracket is not None:
        return bracket[1:].split("-")[0] if bracket.startswith("$") else ""
    if code is not None:
        return "" if _DIGITS.search(code) or code in ".,?@" or code.lower() == "general" else code
    return quoted or escaped or ""


def _format_general(value: float) -> str:
    if value == int(value) and abs(value) < 10**_GENERAL_DIGITS:
        return str(int(value))
    return f"{value:.{_GENERAL_DIGITS - 1}g}"


def _format_figure(number: float, pattern: str, parts: list[_Part], codes: list[str]) -> str:
    """Return a number with the digits of ``pattern``, between the texts of a format.

    ``parts`` are the parts of the format, and ``codes`` those that are other code, in lower case.
    """
    digits = pattern.replace("%", "")
    number *= 100 ** pattern.count("%")
    exponent = next((code for code in codes if code.startswith(("e+", "e-"))), "")
    digits = digits.removesuffix(exponent) if exponent else digits
    thousands = len(digits) - len(digits.rstrip(","))
    number /= 1000**thousands
    whole, _, decimals = digits.rstrip(",").partition(".")
    places = len(_DIGITS.findall(decimals.partition("e")[0]))
    if exponent:
        figure = f"{number:.{places}E}"
    else:
        # Cells round half away from zero, and 2.675 is stored as slightly less than 2.675, so a small amount is added.
        figure = f"{number + (1e-9 if number > 0 else -1e-9):{',' if ',' in whole else ''}.{places}f}"
        least = decimals.count("0")
        while places > least and figure.endswith("0"):
            figure, places = figure[:-1], places - 1
        figure = figure.removesuffix(".")
        figure = figure.zfill(whole.count("0") + (len(figure) - len(figure.partition(".")[0])))
    figure = "0" if figure in ("-0", "") else figure
    written, is_written = "", False
    for part in parts:
        code = (part[3] or "").lower()
        if code and (_DIGITS.search(code) or code in ".,"):
            written += "" if is_written else figure
            is_written = True
            written += "%" * code.count("%")
        elif code and code == exponent:
            continue
        else:
            written += _read_literal(*part)
    return written.strip()


def _format_date(value: float, parts: list[_Part], is_1904: bool) -> str:
    if not 0 <= value < _MAX_DAY:
        return _format_general(value)
    moment = (_EPOCH_1904 if is_1904 else _EPOCH) + timedelta(seconds=round(value * 86400))
    names = [(part[3] or "").lower() for part in parts]
    is_12_hour = any(name in ("am/pm", "a/p") for name in names)
    written = ""
    before = ""
    for place, (part, name) in enumerate(zip(parts, names, strict=True)):
        bracket = (part[2] or "").lower()
        if bracket and set(bracket) <= {"h", "m", "s"}:
            seconds = round(value * 86400)
            written += str(seconds // {"h": 3600, "m": 60, "s": 1}[bracket[0]])
            before = bracket[0]
        elif name and _DATE_LETTERS.issuperset(name):
            after = next((other for other in names[place + 1 :] if other and _DATE_LETTERS.issuperset(other)), "")
            is_minute = name[0] == "m" and len(name) < 3 and (before == "h" or after.startswith("s"))
            written += _write_part(moment, name, is_minute, is_12_hour)
            before = name[0]
        elif name in ("am/pm", "a/p"):
            written += moment.strftime("%p")
        elif name and _DIGITS.search(name):
            continue  # fractions of seconds
        else:
            written += _read_literal(*part)
    return written.strip()


def _write_part(moment: datetime, name: str, is_minute: bool, is_12_hour: bool) -> str:
    short = len(name) == 1
    if is_minute:
        return f"{moment.minute:d}" if short else f"{moment.minute:02d}"
    if name[0] == "m":
        texts = {3: "%b", 4: "%B", 5: "%b"}
        return moment.strftime(texts[min(len(name), 5)]) if len(name) > 2 else f"{moment.month:0{len(name)}d}"
    if name[0] == "y":
        return f"{moment.year:04d}" if len(name) > 2 else f"{moment.year % 100:02d}"
    if name[0] == "d":
        return moment.strftime("%a" if len(name) == 3 else "%A") if len(name) > 2 else f"{moment.day:0{len(name)}d}"
    number = moment.hour if name[0] == "h" else moment.second
    number = (number - 1) % 12 + 1 if is_12_hour and name[0] == "h" else number
    return f"{number:d}" if short else f"{number:02d}"
