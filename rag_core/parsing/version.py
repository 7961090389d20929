"""What the text of a page depends on, for the fingerprint of an index."""

from __future__ import annotations

from importlib.metadata import version

# Raised with every change to layout, cleaning or reading order that changes the text of some page: citations
# are offsets into that text.
LAYOUT_REVISION = 6

VERSION = f"pypdfium2 {version('pypdfium2')}, layout {LAYOUT_REVISION}"
