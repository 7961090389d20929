"""The contents of chat messages: a text, or a list of parts, each a text or an image.

A part is ``{"type": "text", "text": …}`` or ``{"type": "image_url", "image_url": {"url": "data:image/png;base64,…"}}``,
as in the Chat Completions API.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

# Assumed number of tokens of an image. Endpoints count a few hundred to a few thousand, depending on the image's size.
IMAGE_TOKENS = 1000


def build_text_part(text: str) -> dict[str, Any]:
    """Return a part with a text."""
    return {"type": "text", "text": text}


def build_image_part(png: bytes) -> dict[str, Any]:
    """Return a part with an image."""
    url = f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def join_text(content: Any) -> str:
    """Return the text of a content, without its images."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def count_images(content: Any) -> int:
    """Return the number of images in a content."""
    return 0 if isinstance(content, str) else sum(part["type"] == "image_url" for part in content)


def drop_images(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages without their images, for models that read none."""
    return [{**message, "content": join_text(message["content"])} for message in messages]
