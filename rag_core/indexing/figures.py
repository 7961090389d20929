"""Draw the figure beside a caption of a stored page."""

from __future__ import annotations

import numpy as np

from rag_core.parsing.rendering import render_figure
from rag_core.runtime.stores import Stores
from rag_core.text.sections import find_captions
from rag_core.types.documents import PageImage, VersionRow


def draw_figure(
    stores: Stores, version: VersionRow, page_index: int, span: tuple[int, int], scale: float
) -> PageImage | None:
    """Return an image of the first figure whose caption overlaps a span of a page's text; ``None`` if there is none.

    ``scale`` is in pixels per point. May raise `DocumentError` or `StoreError`.
    """
    page = stores.documents.page(version.id, page_index)
    if page is None:
        return None
    caption, others = None, []
    for kind, (start, end) in find_captions(page.text):
        rects = page.boxes.find_overlapping(start, end)
        if not len(rects):
            continue
        if caption is None and kind == "figure" and start < span[1] and span[0] < end:
            caption = rects
        else:
            others.append(np.append(rects[:, :2].min(0), rects[:, 2:].max(0)))
    if caption is None:
        return None
    with stores.files.local(version.sha256) as path:
        return render_figure(
            path,
            page_index,
            name=version.name,
            caption=caption,
            words=page.boxes.rects,
            others=np.array(others, np.float32).reshape(-1, 4),
            scale=scale,
        )
