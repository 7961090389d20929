"""The sliders for the weights of passages."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

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
        k=st.slider("Passages read, k", 1, most, default.k, key=f"{prefix}_k"),
        temperature=st.select_slider(
            "Temperature, τ",
            _TEMPERATURES,
            default.temperature,
            key=f"{prefix}_temperature",
            help="Low: the best score gets nearly all the weight. High: all passages that are read weigh the same.",
        ),
        freshness_weight=st.slider(
            "Freshness, λ",
            0.0,
            0.5,
            default.freshness_weight,
            0.01,
            key=f"{prefix}_freshness_weight",
            help="Added to the score of a passage from a new document; halves with each year of age.",
        ),
        noise=st.slider(
            "Noise",
            0.0,
            0.2,
            default.noise,
            0.01,
            key=f"{prefix}_noise",
            help="Standard deviation of random noise added to a score.",
        ),
        seed=seed,
    )
    if st.button("Draw new noise", icon=":material/casino:", key=f"{prefix}_draw", disabled=not values.noise):
        st.session_state[f"{prefix}_seed"] = seed + 1
        return replace(values, seed=seed + 1)
    return values
