"""Format numbers, times and untrusted text for display."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from pages.shared.translation import _, format_date_and_time, format_number, ngettext
from rag_core.types.evaluation import Interval
from rag_core.types.formatting import format_size
from rag_core.types.local_time import get_today, to_local_time

# The Unicode word joiner, which is invisible and does not allow a line break.
_JOINER = "\u2060"
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ARROWS = re.compile(r"(^|\s)(<->|->|<-|--|>=|<=|~=)(?=\s|$)")
_LINKS = re.compile(r"(?i)www(?=\.)|:(?=//|[^\s:]+:)|@(?=\S)")


def escape_markdown(text: str) -> str:
    """Escape a text, so that a Markdown label shows the text literally and on one line.

    Backslashes escape Markdown. They do not prevent Streamlit and its parser from replacing ``:emoji:``,
    ``:material/icon:``, bare addresses and arrows, so an invisible character breaks up these patterns.
    """
    line = " ".join(text.split())
    line = _ARROWS.sub(rf"\1{_JOINER}\2", line)
    line = _LINKS.sub(lambda found: found[0] + _JOINER, line)
    return _PUNCTUATION.sub(r"\\\1", line)


def name_page(document: str, page_label: str) -> str:
    """Return the name of a document with the label of one of its pages."""
    return f"{document}, {_('p. {page}', page=page_label)}"


def truncate(text: str, width: int) -> str:
    """Cut a text that is wider than ``width`` columns, and add an ellipsis; wide characters take two columns."""
    room = width
    for position, letter in enumerate(text):
        room -= 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if room < 0:
            return text[: max(0, position - 1)].rstrip() + "…"
    return text


def format_interval(interval: Interval, sign: str = "") -> str:
    """Format a value and its interval, for example as ``0.800 (0.750 to 0.850)``.

    If ``sign`` is ``+``, positive numbers get a plus sign.
    """
    value, low, high = (format_number(one, 3, sign) for one in (interval.value, interval.low, interval.high))
    return _("{value} ({low} to {high})", value=value, low=low, high=high)


def format_duration(seconds: float) -> str:
    """Format a number of seconds, for example as ``80 ms``, ``0.2 s``, ``45 s``, ``3 min`` or ``2.0 h``."""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 10:
        return f"{format_number(seconds, 1)} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{format_number(seconds / 3600, 1)} h"


def format_bytes(amount: float) -> str:
    """Return a number of bytes as `format_size` does, in the reader's language."""
    number, unit = format_size(amount).split()
    return f"{format_number(float(number), len(number.partition('.')[2]))} {unit}"


def count_documents(number: int) -> str:
    """Return a number of documents, such as ``18,400 documents``."""
    return ngettext("{number} document", "{number} documents", number)


def count_pages(number: int) -> str:
    """Return a number of pages, such as ``212 pages``."""
    return ngettext("{number} page", "{number} pages", number)


def count_questions(number: int) -> str:
    """Return a number of questions, such as ``120 questions``."""
    return ngettext("{number} question", "{number} questions", number)


def count_files(number: int) -> str:
    """Return a number of files, such as ``12 files``."""
    return ngettext("{number} file", "{number} files", number)


def get_reader_zone() -> tzinfo | None:
    """Return the time zone of the reader's browser; ``None`` if it is unknown, which means the server's time zone."""
    try:
        return ZoneInfo(st.context.timezone) if st.context.timezone else None
    except (ZoneInfoNotFoundError, ValueError):
        return None


def format_time(when: datetime) -> str:
    """Format a time in the reader's time zone, for example as ``23 Nov 2026, 20:45``."""
    return format_date_and_time(to_local_time(when, get_reader_zone()))


def number_equal_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Return titles by id, newest first as given; a title that an older one equals gets a number, as in "Run (2)".

    Streamlit finds the chosen option of a list by its title, so that of two equal titles it may choose the other one.
    """
    counts = Counter[str]()
    numbered: dict[str, str] = {}
    for one, title in reversed([*titles.items()]):
        counts[title] += 1
        numbered[one] = f"{title} ({counts[title]})" if counts[title] > 1 else title
    return numbered


def is_today(when: datetime) -> bool:
    """Return whether a time is today in the reader's time zone."""
    zone = get_reader_zone()
    return to_local_time(when, zone).date() == get_today(zone)


def format_day(when: datetime) -> str:
    """Return the day of a time in the reader's time zone, such as ``2025-03-01``."""
    return to_local_time(when, get_reader_zone()).date().isoformat()


def name_file(title: str) -> str:
    """Return a title as the name of a file: without characters that file systems do not allow, up to 60 columns.

    If nothing is left, return the word for a conversation.
    """
    return truncate(" ".join(re.sub(r'[\x00-\x1f<>:"/\\|?*.]', " ", title).split()), 60) or _("Conversation")
