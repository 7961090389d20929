"""Draw the figure beside a caption of a stored page."""

from __future__ import annotations

import numpy as np

from rag_core.parsing.rendering import render_figure
from rag_core.runtime.stores import Stores
from rag_core.text.sections import find_captions
from rag_core.types.documents import Page, PageImage, VersionRow


def draw_figure(
    stores: Stores, version: VersionRow, page_index: int, span: tuple[int, int], scale: float
) -> PageImage | None:
    """Return the figure whose caption is in a span of the text of a page; ``None`` if there is none.

    ``scale`` is in pixels per point. May raise `DocumentError` or `StoreError`.
    """
    page: Page | None = stores.documents.page(version.id, page_index)
    if page is None:
        return None
    captions = [(kind, place, page.boxes.find_overlapping(*place)) for kind, place in find_captions(page.text)]
    captions = [one for one in captions if len(one[2])]
    wanted = [one for one in captions if one[0] == "figure" and one[1][0] < span[1] and span[0] < one[1][1]]
    if not wanted:
        return None
    others = [np.append(one[2][:, :2].min(0), one[2][:, 2:].max(0)) for one in captions if one is not wanted[0]]
    with stores.files.local(version.sha256) as path:
        return render_figure(
            path,
            page_index,
            name=version.name,
            caption=wanted[0][2],
            words=page.boxes.rects,
            others=np.array(others, np.float32).reshape(-1, 4),
            scale=scale,
        )
