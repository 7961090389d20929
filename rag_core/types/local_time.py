"""Convert between stored times, which are in UTC, and a local time zone.

If ``zone`` is ``None``, the functions use the time zone of the machine.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo


def get_today(zone: tzinfo | None = None) -> date:
    """Return the current date in a time zone."""
    return datetime.now(zone).date()


def to_local_time(moment: datetime, zone: tzinfo | None = None) -> datetime:
    """Return a stored time as a time in a time zone."""
    return moment.astimezone(zone)


def compute_start_of_day(day: date, zone: tzinfo | None = None) -> datetime:
    """Return the UTC time at which a day begins in a time zone."""
    # `datetime.astimezone` takes a time without a zone as a time of the machine's zone.
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def compute_end_of_day(day: date, zone: tzinfo | None = None) -> datetime:
    """Return the UTC time of the last microsecond of a day in a time zone."""
    return compute_start_of_day(day + timedelta(days=1), zone) - timedelta(microseconds=1)
