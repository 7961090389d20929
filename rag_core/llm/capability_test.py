"""Requests that test whether a model can answer from whole pages and whether it sees pictures, and checks of replies.

A capable model cites the number of the source behind each sentence, answers in the language of the question, and says
that a fact is missing instead of guessing it. A model that sees pictures names the colours of stripes in their order.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rag_core.llm.message_parts import build_image_part, build_text_part
from rag_core.llm.prompts import build_chat

_RULES = (
    "Answer the question from the numbered sources only. Cite the number of the source in square brackets after each "
    "sentence, such as [1]. Write in the language of the question. If the sources do not contain the answer, reply "
    "with the word NOT_STATED and nothing else."
)
_SOURCES = """\
[1] Harbour report 2021, page 12
The harbour of Ostmole was dredged to a depth of 14 metres in 2021. The work cost 38 million euros.

[2] Harbour report 2021, page 13
The new crane lifts 65 tonnes. It was delivered in March by a shipyard in Gdansk."""
_GERMAN = re.compile(r"\b(?:der|die|das|wurde|ist|hat|hebt|kann|Tonnen|neue|Kran)\b")
_REFUSALS = re.compile(
    r"not[ _]stated|not (?:contain|mention|state|provide|say|specif)|no information|n.t (?:contain|mention|state|say)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class CapabilityQuestion:
    """A test question.

    ``is_right`` returns whether a reply is right. ``failure`` says what a model with a wrong reply did, as the end of a
    sentence whose subject is the model.
    """

    question: str
    failure: str
    is_right: Callable[[str], bool]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of the request."""
        return build_chat(_RULES, f"Sources:\n\n{_SOURCES}\n\nQuestion: {self.question}")


QUESTIONS = (
    CapabilityQuestion(
        "To what depth was the harbour dredged, and what did it cost?",
        "did not cite its source as [1]",
        lambda reply: "14" in reply and "38" in reply and "[1]" in reply,
    ),
    CapabilityQuestion(
        "Wie viele Tonnen hebt der neue Kran?",
        "did not answer a German question in German",
        lambda reply: "65" in reply and len(_GERMAN.findall(reply)) >= 2,
    ),
    CapabilityQuestion(
        "How many ships called at the harbour in 2021?",
        "answered a question whose answer its sources do not contain",
        lambda reply: bool(_REFUSALS.search(reply)),
    ),
)

# Side of the picture in pixels. No known flag has these colours in this order, so a model cannot guess the order.
_SIDE = 256
_COLOURS = ((0, 90, 255), (255, 220, 0), (0, 140, 60), (220, 0, 0))
_COLOURS_SEEN = re.compile(r"blue\W.*yellow\W.*green\W.*red", re.IGNORECASE | re.DOTALL)


def build_picture_messages() -> list[dict[str, Any]]:
    """Return chat messages that ask for the colours of a generated picture with four vertical stripes."""
    ask = "Name the colours of the four vertical stripes in this picture, from left to right, and say nothing else."
    return [{"role": "user", "content": [build_text_part(ask), build_image_part(_draw_stripes())]}]


def names_stripes(reply: str) -> bool:
    """Return whether a reply to `build_picture_messages` names the colours of the stripes in their order."""
    return _COLOURS_SEEN.search(reply) is not None


def _draw_stripes() -> bytes:
    """Return a PNG picture of vertical stripes in the colours `_COLOURS`."""
    from PIL import Image

    stripes = Image.new("RGB", (len(_COLOURS), 1))
    stripes.putdata(_COLOURS)
    png = io.BytesIO()
    stripes.resize((_SIDE, _SIDE), Image.Resampling.NEAREST).save(png, "PNG")
    return png.getvalue()
