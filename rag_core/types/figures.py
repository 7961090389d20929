"""What language models write about the figures of documents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FigureDescription:
    """What a language model wrote about a figure. It is no text of the document, so it is never quoted or evidence.

    Attributes
    ----------
    page_index, start, end : int
        The place of the caption in the text of its page.
    text : str
    model : str
        Name of the model.
    caption : str
        The text of the caption; empty if it was not read.
    """

    page_index: int
    start: int
    end: int
    text: str
    model: str
    caption: str = ""
