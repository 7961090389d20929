"""Numbers, times and foreign text, made fit to show."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from rag_core.types import decimals

# Invisible, and not a place to break a line.
_JOINER = "\u2060"
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ARROWS = re.compile(r"(^|\s)(<->|->|<-|--|>=|<=|~=)(?=\s|$)")
_LINKS = re.compile(r"(?i)www(?=\.)|:(?=//|[^\s:]+:)|@(?=\S)")

SCORE_ORDER = (
    *(
        "answerable",
        "on_topic",
        "rerank",
        "expanded",  # of answers stored by earlier releases
        "statement",
        "financials",
        "named",
        "cross_encoder",
        "sentence",
        "topic",
        "reading",
        "dense",
        "bm25",
        "rrf",
    ),
)


def plain(text: str) -> str:
    """Text that a Markdown label shows letter for letter, on one line.

    Backslashes stop Markdown itself. Streamlit and its parser then look through the finished text
    for ``:emoji:``, ``:material/icon:``, bare addresses and arrows, which no backslash stops: an
    invisible character between their parts does.
    """
    line = " ".join(text.split())
    line = _ARROWS.sub(rf"\1{_JOINER}\2", line)
    line = _LINKS.sub(lambda found: found[0] + _JOINER, line)
    return _PUNCTUATION.sub(r"\\\1", line)


def shortened(text: str, width: int) -> str:
    """The beginning of a text, with an ellipsis where something is left out; wide letters count twice."""
    room = width
    for position, letter in enumerate(text):
        room -= 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if room < 0:
            return text[: max(0, position - 1)].rstrip() + "…"
    return text


def count(number: int, one: str, many: str = "") -> str:
    """``1 page``, ``2 pages``, ``18,400 chunks``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def score(name: str, value: float | None, places: int = 2) -> str:
    """A score to two decimals, or as many as given; three of fused ranks, which never exceed a few hundredths."""
    if value is None:
        return "–"
    # Rounded first: a score just below zero is no "-0.00".
    places = 3 if name in ("rrf", "financials") else places
    return f"{round(value, places) + 0.0:.{places}f}"


def threshold_text(value: float) -> str:
    """A threshold, with as many decimals as scores have beside it."""
    return f"{value:.{decimals(value)}f}"


def ordered(scores: Mapping[str, float | None]) -> list[tuple[str, float]]:
    """The scores that were computed, the deciding one first."""
    known = [name for name in SCORE_ORDER if name in scores]
    names = known + [name for name in scores if name not in SCORE_ORDER]
    return [(name, value) for name in names if (value := scores[name]) is not None]


def size(amount: float) -> str:
    """Bytes as ``812 B``, ``1.4 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """``80 ms``, ``0.2 s``, ``45 s``, ``3 min``, ``2 h``."""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def reader_zone() -> tzinfo:
    """The time zone of the reader's browser; UTC where it tells none."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def moment(when: datetime) -> str:
    """``23 Nov 2026, 20:45``, by the reader's clock."""
    return when.astimezone(reader_zone()).strftime("%d %b %Y, %H:%M")


def is_today(when: datetime) -> bool:
    """Whether a moment lies on the reader's present day."""
    zone = reader_zone()
    return when.astimezone(zone).date() == datetime.now(zone).date()
