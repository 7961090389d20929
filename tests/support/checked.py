"""A document about a lighthouse, and a draft of twelve sentences, three of which do not agree with it."""

from __future__ import annotations

FACTS = (
    "The lighthouse of Skarvoy was built in 1887 by the engineer Olaf Brenner.",
    "The tower of the lighthouse is 34 metres high.",
    "Its lamp is seen from a distance of 19 nautical miles.",
    "The keeper of the lighthouse lived in a house of red brick.",
    "The lamp was changed from oil to electricity in 1931.",
    "The lighthouse was automated in 1974.",
    "The foghorn of Skarvoy sounds twice a minute.",
    "The museum in the tower is open from May to September.",
    "A ticket of the museum costs 60 crowns.",
    "The museum had 8,200 visitors in 2019.",
    "The ferry to Skarvoy takes 45 minutes.",
)
BROKEN = {"34 metres": "39 metres", "60 crowns": "75 crowns"}
UNKNOWN = "Penguins hatch in the basements of Antarctic breweries."


def write_draft() -> str:
    """Return the facts with two changed values, and a sentence about something else."""
    draft = " ".join((*FACTS, UNKNOWN))
    for right, wrong in BROKEN.items():
        draft = draft.replace(right, wrong)
    return draft
