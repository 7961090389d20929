"""The user guide as a PDF, about which new users can ask questions before they add documents."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from rag_core.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

GUIDE_NAME = "Footnote user guide.pdf"
GUIDE_QUESTIONS: tuple[str, str, str] = (
    "How can I check an answer against its source?",
    "When does Footnote say that it does not know?",
    "Do my documents leave my machine?",
)
_SOURCE = Path(__file__).with_name("guide.md")
# Settings whose default values the guide states, besides the threshold.
_STATED_SETTINGS = ("max_file_mb", "top_k")


def build_guide_text() -> str:
    """Return the guide in Markdown (headings, paragraphs, inline code), with default values of settings filled in."""
    values = {name: f"{Settings.model_fields[name].default:,}" for name in _STATED_SETTINGS}
    values["threshold"] = f"{Settings.model_fields['threshold'].default:.2f}"
    return _SOURCE.read_text(encoding="utf-8").format_map(values)


def build_guide_pdf() -> bytes:
    """Return the guide as an A4 PDF with page labels and with an outline entry for each heading.

    Each call returns the same bytes, so that a second copy of the guide is recognized as a duplicate.
    """
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm

    target = BytesIO()
    document = _build_template_class()(
        target,
        pagesize=A4,
        leftMargin=25 * mm,
        rightMargin=25 * mm,
        topMargin=20 * mm,
        bottomMargin=22 * mm,
        title="Footnote user guide",
        author="Footnote",
        subject="How to add documents, ask questions and check answers",
        lang="en",
        invariant=1,
    )
    document.build(list(_iter_paragraphs()), onFirstPage=_draw_footer, onLaterPages=_draw_footer)
    return target.getvalue()


def _iter_paragraphs() -> Iterator[Any]:
    from reportlab.platypus import Paragraph

    styles = _build_styles()
    for block in re.split(r"\n{2,}", build_guide_text().strip()):
        line = " ".join(block.split())
        text = line.lstrip("#")
        yield Paragraph(_format_inline(text.strip()), styles[len(line) - len(text)])


def _format_inline(text: str) -> str:
    text = re.sub(r'"([^"]+)"', "\u201c\\1\u201d", text).replace("'", "\u2019")
    return re.sub(r"`([^`]+)`", r'<font face="Courier">\1</font>', escape(text))


def _build_styles() -> dict[int, Any]:
    """Return the paragraph styles of blocks, by the number of ``#`` at the start of the block."""
    from reportlab.lib.colors import HexColor
    from reportlab.lib.styles import ParagraphStyle

    body = ParagraphStyle("body", fontName="Helvetica", fontSize=10.5, leading=15, spaceAfter=7)
    ink = HexColor("#1f3a4d")
    heading = {"parent": body, "fontName": "Helvetica-Bold", "textColor": ink, "keepWithNext": True}
    return {
        0: body,
        1: ParagraphStyle("title", fontSize=24, leading=30, spaceAfter=14, **heading),
        2: ParagraphStyle("heading", fontSize=13.5, leading=18, spaceBefore=11, spaceAfter=5, **heading),
    }


def _build_template_class() -> type[Any]:
    from reportlab.platypus import SimpleDocTemplate

    class Template(SimpleDocTemplate):  # type: ignore[misc] # reportlab has no types
        """Document template that adds an outline entry for each heading."""

        def afterFlowable(self, flowable: Any) -> None:  # noqa: N802 - reportlab calls this name
            style = getattr(flowable, "style", None)
            level = {"title": 0, "heading": 1}.get(getattr(style, "name", ""))
            if level is not None:
                title = flowable.getPlainText()
                self.canv.bookmarkPage(title)
                self.canv.addOutlineEntry(title, title, level=level)

    return Template


def _draw_footer(canvas: Any, document: Any) -> None:
    canvas.addPageLabel(document.page - 1, style="ARABIC", start=document.page)
    canvas.setFont("Helvetica", 8.5)
    canvas.setFillGray(0.4)
    # The footer is indented like the body text, which reportlab indents by 6 points from the margin.
    right = document.pagesize[0] - document.rightMargin - 6
    canvas.drawString(document.leftMargin + 6, 36, "Footnote user guide")
    canvas.drawRightString(right, 36, str(document.page))
