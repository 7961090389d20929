"""The sliders for the weights of passages."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.shared.translation import _
from rag_core.types.explanations import WeightingConfig

_TEMPERATURES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0)


def choose_weighting(default: WeightingConfig, most: int, prefix: str = "lab") -> WeightingConfig:
    """Let the reader choose how passages are weighted.

    Parameters
    ----------
    default : WeightingConfig
        The values of the sliders at the start.
    most : int
        Largest number of passages that can be read.
    prefix : str
        Start of the keys of the widgets.
    """
    seed = st.session_state.setdefault(f"{prefix}_seed", 0)
    values = WeightingConfig(
        k=st.slider(
            _("Passages that are read"),
            1,
            most,
            default.k,
            key=f"{prefix}_k",
            help=_("k: the first passages of the ranking."),
        ),
        temperature=st.select_slider(
            _("Share with lower ranks"),
            _TEMPERATURES,
            default.temperature,
            key=f"{prefix}_temperature",
            help=_("The temperature τ. Low: the best passage gets nearly all the weight. High: all weigh the same."),
        ),
        freshness_weight=st.slider(
            _("Prefer new documents"),
            0.0,
            0.5,
            default.freshness_weight,
            0.01,
            key=f"{prefix}_freshness_weight",
            help=_(
                "The freshness λ: added to the score of a passage from a new document; halves with each year of age."
            ),
        ),
        noise=st.slider(
            _("Random error"),
            0.0,
            0.2,
            default.noise,
            0.01,
            key=f"{prefix}_noise",
            help=_("Noise: the standard deviation of random numbers that are added to the scores."),
        ),
        seed=seed,
    )
    if st.button(_("Draw again"), icon=":material/casino:", key=f"{prefix}_draw", disabled=not values.noise):
        st.session_state[f"{prefix}_seed"] = seed + 1
        return replace(values, seed=seed + 1)
    return values
