"""PDFs with given texts."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from pypdf import PdfReader, PdfWriter

MakePdf = Callable[..., bytes]


def make_pdf(*pages: str | Sequence[str], title: str = "") -> bytes:
    """Return a PDF with one page for each text or sequence of lines; an empty text gives an empty page."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfbase.pdfmetrics import stringWidth
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setTitle(title)
    for page in pages:
        y = A4[1] - 72
        lines = [page] if isinstance(page, str) else page
        for line in lines:
            row = ""
            for word in [*line.split(), None]:
                if word is None or stringWidth(f"{row} {word}", "Helvetica", 11) > A4[0] - 144:
                    canvas.setFont("Helvetica", 11)
                    canvas.drawString(72, y, row.strip())
                    y -= 15
                    row = ""
                row += f" {word}" if word else ""
            y -= 8
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def encrypted(password: str, *pages: str) -> bytes:
    writer = PdfWriter()
    writer.append(PdfReader(io.BytesIO(make_pdf(*pages))))
    writer.encrypt(password, algorithm="AES-256")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def with_attachments(pdf: bytes, **files: bytes) -> bytes:
    """Return a PDF with attached files; ``a_pdf`` becomes ``a.pdf``."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    for name, data in files.items():
        writer.add_attachment(".".join(name.rsplit("_", 1)), data)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()
