"""The contents of chat messages: a text, or a list of parts, each a text or an image.

A part is ``{"type": "text", "text": …}`` or ``{"type": "image_url", "image_url": {"url": "data:image/png;base64,…"}}``,
as in the Chat Completions API.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Tokens that an image is assumed to take. Endpoints count between some hundred and some thousand, by its size.
IMAGE_TOKENS = 1000


def join_text(content: Any) -> str:
    """Return the text of a content, without its images."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def count_images(content: Any) -> int:
    """Return the number of images in a content."""
    return 0 if isinstance(content, str) else sum(part["type"] == "image_url" for part in content)


def drop_images(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages whose contents are texts, for models that read no images."""
    return [{**message, "content": join_text(message["content"])} for message in messages]
