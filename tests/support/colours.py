"""Colours of the theme and their contrast."""

from __future__ import annotations

import tomllib
from typing import Any

from tests.support.app import ROOT

CONFIG: dict[str, Any] = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))
TEXT, GRAPHIC = 4.5, 3.0


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
