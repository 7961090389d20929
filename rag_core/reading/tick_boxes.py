"""Read the ticked boxes of a line of a form."""

from __future__ import annotations

import re

_LABEL = r"(?P<label>[^☐☒]*?)"
_SINGLE = re.compile(rf"{_LABEL}\s*:?\s*(?P<box>[☐☒])|(?P<first>[☐☒])\s*(?P<after>[^☐☒]+)")
_OPTIONS = re.compile(rf"{_LABEL}\s*:?\s*(?P<options>[☐☒][^☐☒]*\w[^☐☒]*.*)")
_TICKED = re.compile(r"☒\s*([^☐☒]+)")


def contains_box(text: str) -> bool:
    """Return whether a text contains a tick box."""
    return "☐" in text or "☒" in text


def read_boxes(line: str) -> tuple[str, str]:
    """Return the label and the value of a line with boxes: "yes" or "no", or the ticked options; else empty strings.

    >>> read_boxes("Training group ☐ morning ☒ midday"), read_boxes("Newsletter wanted ☐"), read_boxes("Surname: Berg")
    (('Training group', 'midday'), ('Newsletter wanted', 'no'), ('', ''))
    """
    if single := _SINGLE.fullmatch(line.strip()):
        ticked = (single["box"] or single["first"]) == "☒"
        return (single["label"] or single["after"]).strip(), "yes" if ticked else "no"
    if options := _OPTIONS.fullmatch(line.strip()):
        return options["label"].strip(), ", ".join(option.strip() for option in _TICKED.findall(options["options"]))
    return "", ""
