"""Days and times of a time zone; stored times are in UTC.

Where ``zone`` is ``None``, the time zone is that of the machine, with its changes of the clock.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo


def get_today(zone: tzinfo | None = None) -> date:
    """Return the present date in a time zone."""
    return datetime.now(zone).date()


def to_local_time(moment: datetime, zone: tzinfo | None = None) -> datetime:
    """Return a stored time in a time zone."""
    return moment.astimezone(zone)


def compute_start_of_day(day: date, zone: tzinfo | None = None) -> datetime:
    """Return the first moment of a day in a time zone, in UTC."""
    # A time without a zone is in the time zone of the machine.
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def compute_end_of_day(day: date, zone: tzinfo | None = None) -> datetime:
    """Return the last moment of a day in a time zone, in UTC."""
    return compute_start_of_day(day + timedelta(days=1), zone) - timedelta(microseconds=1)
