"""Hypothesis settings without deadlines, since the time of an example depends on the machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("footnote", deadline=None)
settings.load_profile("footnote")
