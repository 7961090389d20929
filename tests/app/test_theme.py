"""Contrast of the theme (WCAG 2.2 AA), and a configuration without external access."""

from __future__ import annotations

import pytest

from tests.support.app import ROOT
from tests.support.colours import CONFIG, GRAPHIC, TEXT, contrast

# Constants of Streamlit: the opacity of captions, and the text colour of primary buttons and chosen options.
CAPTION, ON_PRIMARY = 0.6, "#ffffff"


def faded(colour: str, background: str) -> str:
    pairs = [(int(colour[at : at + 2], 16), int(background[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(CAPTION * front + (1 - CAPTION) * back):02x}" for front, back in pairs)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colors_have_enough_contrast(theme: str) -> None:
    colours = CONFIG["theme"][theme]
    sidebar = colours | colours["sidebar"]
    for ground in (colours, sidebar):
        for background in (ground["backgroundColor"], ground["secondaryBackgroundColor"]):
            assert contrast(ground["textColor"], background) >= TEXT
            assert contrast(faded(ground["textColor"], background), background) >= TEXT
            assert contrast(ground["linkColor"], background) >= TEXT
            assert contrast(ground["primaryColor"], background) >= GRAPHIC
        for drawn in ground["chartCategoricalColors"]:
            assert contrast(drawn, ground["backgroundColor"]) >= GRAPHIC
        assert contrast(ON_PRIMARY, ground["primaryColor"]) >= TEXT


def test_configuration_and_assets_access_no_other_host() -> None:
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"]["address"] == "localhost"
    assert CONFIG["client"]["showErrorDetails"] == "none"
    assert CONFIG["client"]["showErrorLinks"] is False
    assert "http" not in (ROOT / ".streamlit/config.toml").read_text("utf-8")
    for file in ROOT.glob("pages/**/*"):
        if file.suffix in (".js", ".css"):
            assert "//" not in file.read_text("utf-8").replace("// ", ""), file
            assert "innerHTML" not in file.read_text("utf-8"), file
