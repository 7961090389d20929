"""Files of other formats than PDF, each with a heading, a sentence and a table, and hostile ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage

HEADING, ROWS = "Boats", (("Boat", "2023", "2024"), ("Ferry", "1,204", "1,310"), ("Tug", "88", "92"))
_XML = '<?xml version="1.0" encoding="UTF-8"?>'
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def make_zip(parts: Mapping[str, str | bytes], first: str = "") -> bytes:
    """Return a zip archive; the part ``mimetype`` comes first and is not compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        if first:
            archive.writestr("mimetype", first, zipfile.ZIP_STORED)
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _read_parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {one: archive.read(one) for one in archive.namelist()}


def _build(parts: dict[str, bytes]) -> bytes:
    return make_zip(
        {name: part for name, part in parts.items() if name != "mimetype"}, parts.get("mimetype", b"").decode()
    )


def change_part(data: bytes, name: str, before: str, after: str) -> bytes:
    """Return a zip archive in which a text of a part is replaced."""
    parts = _read_parts(data)
    assert before.encode() in parts[name]
    return _build({**parts, name: parts[name].replace(before.encode(), after.encode(), 1)})


def with_part(data: bytes, name: str, part: bytes) -> bytes:
    """Return a zip archive with another part."""
    return _build({**_read_parts(data), name: part})


def remove_part(data: bytes, name: str) -> bytes:
    """Return a zip archive without a part."""
    parts = _read_parts(data)
    del parts[name]
    return _build(parts)


def make_docx(text: str, rows: Sequence[Sequence[str]] = ROWS) -> bytes:
    import docx

    document = docx.Document()
    document.add_heading(HEADING, 1)
    document.add_paragraph(text)
    table = document.add_table(len(rows), len(rows[0]))
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, value in zip(row.cells, texts, strict=True):
            cell.text = value
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def make_pptx(text: str) -> bytes:
    from pptx import Presentation
    from pptx.util import Inches

    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = HEADING
    slide.placeholders[1].text = text
    table = slide.shapes.add_table(len(ROWS), len(ROWS[0]), Inches(1), Inches(5), Inches(6), Inches(2)).table
    for row, texts in enumerate(ROWS):
        for column, value in enumerate(texts):
            table.cell(row, column).text = value
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def make_xlsx(text: str, rows: int = 0) -> bytes:
    """Return a workbook with the table and a hidden sheet; ``rows`` more rows follow the table."""
    import xlsxwriter

    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet(HEADING)
        thousands = book.add_format({"num_format": "#,##0"})
        sheet.write(0, 0, text)
        sheet.write_row(2, 0, ["Boat", 2023, 2024])
        for number, (name, *values) in enumerate(ROWS[1:], 3):
            sheet.write(number, 0, name)
            for column, value in enumerate(values, 1):
                sheet.write(number, column, int(value.replace(",", "")), thousands)
        for number in range(rows):
            sheet.write_row(5 + number, 0, [f"Barge {number}", number, number + 1])
        hidden = book.add_worksheet("Hidden")
        hidden.write(0, 0, "A hidden sentence.")
        hidden.hide()
    return buffer.getvalue()


def _html_table() -> str:
    rows = ["".join(f"<td>{value}</td>" for value in row) for row in ROWS]
    return f"<table><tr>{rows[0].replace('td>', 'th>')}</tr>{''.join(f'<tr>{row}</tr>' for row in rows[1:])}</table>"


def make_html(text: str, more: str = "") -> bytes:
    return f"<!doctype html><html><body><h1>{HEADING}</h1><p>{text}</p>{_html_table()}{more}</body></html>".encode()


def make_markdown(text: str) -> bytes:
    lines = [f"| {' | '.join(row)} |" for row in ROWS]
    return "\n".join([f"# {HEADING}", "", text, "", lines[0], "|---|---|---|", *lines[1:]]).encode()


def make_csv(rows: Sequence[Sequence[str]] = ROWS) -> bytes:
    return "\n".join(";".join(row) for row in rows).encode()


def make_rtf(text: str) -> bytes:
    edges = "".join(rf"\cellx{2000 * number}" for number in range(1, 4))
    rows = "".join(
        rf"\trowd{edges}\pard\intbl " + "".join(rf"{value}\cell " for value in row) + "\\row " for row in ROWS
    )
    body = f"{{\\b {HEADING}}}\\par\n{text}\\par\n{rows}\\pard\\par"
    return rf"{{\rtf1\ansi\ansicpg1252{{\fonttbl{{\f0 Arial;}}}}{body}}}".encode()


def make_opendocument(kind: str, text: str) -> bytes:
    """Return a file of a kind: "text", "spreadsheet" or "presentation"."""
    cells = ["".join(f"<table:table-cell><text:p>{value}</text:p></table:table-cell>" for value in row) for row in ROWS]
    rows = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    columns = '<table:table-column table:number-columns-repeated="3"/>'
    table = f'<table:table table:name="{HEADING}">{columns}{{above}}{rows}</table:table>'
    sentence = f"<text:p>{text}</text:p>"
    above = f"<table:table-row><table:table-cell>{sentence}</table:table-cell></table:table-row><table:table-row/>"
    title = (
        f'<draw:frame presentation:class="title"><draw:text-box><text:p>{HEADING}</text:p></draw:text-box></draw:frame>'
    )
    bodies = {
        "text": f'<text:h text:outline-level="1">{HEADING}</text:h>{sentence}{table.format(above="")}',
        "spreadsheet": table.format(above=above),
        "presentation": f"<draw:page>{title}<draw:frame><draw:text-box>{sentence}</draw:text-box></draw:frame>"
        f"<draw:frame>{table.format(above='')}</draw:frame></draw:page>",
    }
    names = "".join(f' xmlns:{one}="{_ODF}:{one}:1.0"' for one in ("office", "text", "table", "presentation"))
    names += f' xmlns:draw="{_ODF}:drawing:1.0"'
    body = f"<office:body><office:{kind}>{bodies[kind]}</office:{kind}></office:body>"
    content = f"{_XML}<office:document-content{names}>{body}</office:document-content>"
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{one}"/>'
        for path, one in (("/", media_type), ("content.xml", "text/xml"))
    )
    manifest = f'{_XML}<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0">{entries}</manifest:manifest>'
    return make_zip({"content.xml": content, "META-INF/manifest.xml": manifest}, media_type)


def make_epub(text: str) -> bytes:
    container = f'{_XML}<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    items = '<manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine>'
    package = f"{_XML}<package>{items}</package>"
    parts = {"META-INF/container.xml": container, "OPS/book.opf": package, "OPS/a.xhtml": make_html(text)}
    return make_zip(parts, "application/epub+zip")


def make_mail(text: str, html: str = "", **files: bytes) -> bytes:
    """Return a mail with attached files; ``a_csv`` becomes ``a.csv``."""
    message = EmailMessage()
    message["From"], message["To"] = "Anna Berg <anna@example.org>", "bo@example.org"
    message["Date"], message["Subject"] = "Mon, 03 May 2021 10:00:00 +0200", HEADING
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    for name, data in files.items():
        message.add_attachment(
            data, maintype="application", subtype="octet-stream", filename=".".join(name.rsplit("_", 1))
        )
    return message.as_bytes()


def make_picture(*texts: str, kind: str = "PNG") -> bytes:
    """Return a picture with a page for each text."""
    from PIL import Image, ImageDraw, ImageFont

    pages = []
    for text in texts:
        # Text recognition enlarges pictures whose shorter side is below 736 pixels, which takes three times as long.
        page = Image.new("RGB", (1000, 740), "white")
        ImageDraw.Draw(page).text((60, 100), text, "black", ImageFont.load_default(36))
        pages.append(page)
    buffer = io.BytesIO()
    pages[0].save(buffer, kind, **({"save_all": True, "append_images": pages[1:]} if len(pages) > 1 else {}))
    return buffer.getvalue()


def encrypt_office(data: bytes, password: str) -> bytes:
    """Return a file of Office that needs a password."""
    from msoffcrypto.format.ooxml import OOXMLFile

    buffer = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt(password, buffer)
    return buffer.getvalue()
