"""Export conversations as Markdown, PDF and DOCX, with the sources of each answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

from rag_core.settings import Settings
from rag_core.types.answer_markup import Paragraph, Run, TextTable, parse_answer_text
from rag_core.types.answers import Answer, AnswerState, build_citation_link, strip_markers
from rag_core.types.conversations import Conversation, Message
from rag_core.types.documents import STRUCK
from rag_core.types.local_time import to_local_time

# Replaces a secret value.
REMOVED = "[removed]"
# Minimum length of a secret value that is removed from exports. For endpoints that need no key, users set words such as
# "none" or "ollama", which occur in ordinary text.
MIN_SECRET_CHARS = 8
# A citation marker such as ``[1]``, which is no markup unless a bracket or a colon follows.
_NUMBER = r"(\[\d+\](?![\[(:]))"
# Characters that are escaped in quotes, because they would be markup. An underscore is markup only at the edge of a
# word, and a tilde only beside another.
_MARKUP = re.compile(rf"{_NUMBER}|([\\`*\[\]<>|$]|(?<!\w)_|_(?!\w)|~(?=~)|(?<=~)~|&(?=#?\w+;))")
# Signs at the beginning of a line that begin a list, such as "- " and "4. ", but not "4.1 Scope".
_LEADING = re.compile(r"^(\s*)(?:(?=[-=+#])|(\d+)(?=[.)](?:\s|$)))", re.MULTILINE)
_STRUCK_MARKUP = re.compile(r"\\~\\~(.+?)\\~\\~")
# Characters that are escaped in a model's text: emphasis and lists stay, but links, images and HTML do not.
_LINK_MARKUP = re.compile(rf"{_NUMBER}|([\\`\[\]<>|$]|&(?=#?\w+;))")
# Stands between the text of an answer and its sources.
SOURCES_HEADING = "\n\nSources:\n\n"
Block = Paragraph | TextTable
# Templates of paragraphs in Markdown, by style.
_MARKDOWN = {"title": "# {}", "question": "## {}", "note": "*{}*", "short": "**{}**", "source": "- {}"}
# The styles of Word's default template.
_WORD_STYLES = {
    "title": "Title",
    "question": "Heading 2",
    "note": "Caption",
    "date": "Caption",
    "caption": "Caption",
    "source": "List Bullet",
}
# Characters that XML, and so a Word document, cannot contain.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# The fonts of PDFs and their files, which reportlab contains.
_FONTS = {"Export": "Vera.ttf", "Export-Bold": "VeraBd.ttf"}
_MISSING_GLYPHS = "Characters that are missing in this PDF’s font appear as “?”. The Markdown export contains them."


def export_markdown(
    settings: Settings, conversation: Conversation, messages: Sequence[Message], application: str = ""
) -> str:
    """Return a conversation as Markdown: each question as a heading, then its answer with the sources."""
    return write_markdown(settings, _list_blocks(conversation, messages, application))


def export_answer(settings: Settings, answer: Answer, application: str) -> str:
    """Return an answer as Markdown, with its sources and the links to their pages; a refusal has no sources.

    ``application`` is the address of the application.
    """
    if answer.state is AnswerState.ABSTAINED:
        return write_markdown(settings, [("answer", Paragraph.of(strip_markers(answer.text)))])
    blocks = list(_list_answer_blocks(answer, application))
    text, sources = (
        write_markdown(settings, [one for one in blocks if (one[0] == "source") == is_source])
        for is_source in (False, True)
    )
    return f"{text.rstrip()}{SOURCES_HEADING}{sources}"


def export_pdf(
    settings: Settings, conversation: Conversation, messages: Sequence[Message], application: str = ""
) -> bytes:
    """Return a conversation as a PDF in A4 with selectable text."""
    return write_pdf(settings, _list_blocks(conversation, messages, application))


def write_markdown(settings: Settings, blocks: Iterable[tuple[str, Block]]) -> str:
    """Return paragraphs and tables as Markdown; ``blocks`` are pairs of the name of a style and a block."""
    parts: list[str] = []
    before = ""
    for style, plain in _make_public(settings, blocks):
        escape_text = _escape_links if style == "written" else _escape_markdown
        if isinstance(plain, TextTable):
            text = _format_table(plain, escape_text)
        else:
            text = _MARKDOWN.get(style, "{}").format(_join_markdown(plain.runs, escape_text))
        if style == before == "source":
            parts[-1] += f"\n{text}"
        elif text:
            parts.append(text)
        before = style
    return "\n\n".join(parts) + "\n"


def write_pdf(settings: Settings, blocks: Iterable[tuple[str, Block]]) -> bytes:
    """Return paragraphs and tables as a PDF in A4 with selectable text; the first paragraph is the title.

    "?" replaces characters that the fonts lack; a note then says so.
    """
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import SimpleDocTemplate

    styles, known = _load_styles()
    plain = _make_public(settings, blocks)
    shown = [
        (style, _map_runs(block, lambda text: "".join(char if ord(char) in known else "?" for char in text)))
        for style, block in plain
    ]
    title = "".join(run.text for _, block in shown[:1] if isinstance(block, Paragraph) for run in block.runs)
    if shown != plain:
        shown.insert(2, ("note", Paragraph.of(_MISSING_GLYPHS)))
    target = BytesIO()
    document = SimpleDocTemplate(
        target,
        pagesize=A4,
        **dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), 22 * mm),
        title=title,
        author="Footnote",
    )
    document.build(
        [
            _build_flowable(block, styles["cell" if isinstance(block, TextTable) else style], document.width)
            for style, block in shown
        ]
    )
    return target.getvalue()


def export_docx(
    settings: Settings, conversation: Conversation, messages: Sequence[Message], application: str = ""
) -> bytes:
    """Return a conversation as a Word document; the sources of each answer are a list below the answer."""
    import docx

    document = docx.Document()
    document.core_properties.title = conversation.title
    document.core_properties.author = "Footnote"
    for style, block in _make_public(settings, _list_blocks(conversation, messages, application)):
        if isinstance(block, TextTable):
            table = document.add_table(len(block.rows), len(block.rows[0]), "Table Grid")
            for row, cells in zip(table.rows, block.rows, strict=True):
                for cell, runs in zip(row.cells, cells, strict=True):
                    _add_word_runs(cell.paragraphs[0], runs)
        else:
            _add_word_runs(
                document.add_paragraph(style=_WORD_STYLES.get(style, "Normal")), block.runs, style == "short"
            )
    target = BytesIO()
    document.save(target)
    return target.getvalue()


def _add_word_runs(paragraph: Any, runs: Sequence[Run], bold: bool = False) -> None:
    """Add runs of text to a paragraph of Word, without control characters, and with struck words struck through."""
    for run in runs:
        for position, part in enumerate(STRUCK.split(_CONTROL.sub(" ", run.text))):
            added = paragraph.add_run(part)
            added.bold = run.bold or bold
            added.font.strike = position % 2 == 1


def _build_flowable(block: Block, style: Any, width: float) -> Any:
    """Return a paragraph or a table of the PDF; the first column of a table is twice as wide as the others."""
    from reportlab import platypus

    if isinstance(block, TextTable):
        cells = [[platypus.Paragraph(_format_runs(cell), style) for cell in row] for row in block.rows]
        shares = [2, *[1] * (len(cells[0]) - 1)]
        widths = [width * share / sum(shares) for share in shares]
        look = [
            ("GRID", (0, 0), (-1, -1), 0.5, "#bbbbbb"),
            ("BACKGROUND", (0, 0), (-1, 0), "#f0f0f0"),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ]
        # A row may be higher than a page, so it can be split.
        return platypus.Table(cells, widths, style=look, spaceAfter=6, repeatRows=1, splitInRow=1)
    return platypus.Paragraph(_format_runs(block.runs), style)


def _format_runs(runs: Sequence[Run]) -> str:
    """Return the runs in the markup of reportlab."""
    marked = ((STRUCK.sub(r"<strike>\1</strike>", escape(run.text)), run.bold) for run in runs)
    texts = [(text.replace("\n", "<br/>"), bold) for text, bold in marked]
    return "".join(f'<font name="Export-Bold">{text}</font>' if bold else text for text, bold in texts)


def _list_blocks(
    conversation: Conversation, messages: Sequence[Message], application: str
) -> Iterator[tuple[str, Block]]:
    """Yield the paragraphs and tables of a conversation in order, each with the name of its style.

    ``application`` is as in `_list_sources`.
    """
    yield "title", Paragraph.of(" ".join(conversation.title.split()))
    day = f"{to_local_time(conversation.created_at):%Y-%m-%d}"
    yield "date", Paragraph.of(f"Conversation of {day}, exported from Footnote.")
    for message in messages:
        if message.role == "user":
            yield "question", Paragraph.of(" ".join(message.text.split()))
        elif message.answer is None:
            yield from (("answer", block) for block in parse_answer_text(message.text, ()))
        else:
            yield from _list_answer_blocks(message.answer, application)


def _list_answer_blocks(answer: Answer, application: str) -> Iterator[tuple[str, Block]]:
    if answer.rewritten:
        yield "note", Paragraph.of(f"Searched for: {answer.rewritten}")
    if answer.short and not answer.opens_with_short:
        yield "short", Paragraph.of(answer.short)
    quotes = answer.text[answer.quotes_start :] if answer.quotes_start is not None else ""
    cited = [answer.short, *(one.quote for one in answer.citations)]
    style = "answer" if answer.generator == "extractive" else "written"
    yield from ((style, block) for block in parse_answer_text(answer.marked_text.removesuffix(quotes), cited))
    yield from (("answer", block) for block in parse_answer_text(quotes, cited))
    yield from (("note", Paragraph.of(note)) for note in _describe_origin(answer))
    for title, table in _list_tables(answer):
        yield "caption", Paragraph.of(title)
        yield "answer", table
    yield from (("source", Paragraph.of(line)) for line in _list_sources(answer, application))


def _make_public(settings: Settings, blocks: Iterable[tuple[str, Block]]) -> list[tuple[str, Block]]:
    """Return paragraphs and tables without secret values."""
    return [(style, _map_runs(block, lambda text: remove_secrets(settings, text))) for style, block in blocks]


def _map_runs(block: Block, convert: Callable[[str], str]) -> Block:
    """Return a block in which ``convert`` has changed the text of each run."""

    def converted(runs: Sequence[Run]) -> tuple[Run, ...]:
        return tuple(Run(convert(run.text), run.bold) for run in runs)

    if isinstance(block, Paragraph):
        return Paragraph(converted(block.runs))
    return TextTable(tuple(tuple(map(converted, row)) for row in block.rows))


def _list_tables(answer: Answer) -> Iterator[tuple[str, TextTable]]:
    """Yield the cited rows of each table, with a title that names the source and the unit.

    Nothing is yielded for an answer that consists of excerpts, because its text contains the rows.
    """
    for cited in () if answer.consists_of_excerpts else answer.tables:
        source = next(one for one in answer.citations if one.marker == cited.marker)
        parts = (f"[{cited.marker}] {source.document}, {source.place}", cited.table.unit_above)
        yield " · ".join(filter(None, parts)), cited.to_text_table()


def _format_table(table: TextTable, escape_text: Callable[[str], str]) -> str:
    lines = [f"| {' | '.join(_join_markdown(cell, escape_text) for cell in row)} |" for row in table.rows]
    return "\n".join([lines[0], f"|{' --- |' * len(table.rows[0])}", *lines[1:]])


def _join_markdown(runs: Sequence[Run], escape_text: Callable[[str], str]) -> str:
    return "".join(f"**{escape_text(run.text)}**" if run.bold else escape_text(run.text) for run in runs)


def _describe_origin(answer: Answer) -> list[str]:
    """Return notes that say which model wrote an answer, and whether the answer is incomplete.

    The notices of the answer are omitted, because they are about the installation.
    """
    stopped = ["Stopped before the end."] if answer.stopped else []
    if answer.interrupted and answer.generator != "extractive":
        stopped.append("The model did not complete this answer.")
    if answer.generator == "extractive":
        return stopped
    unchecked = ["Not checked against the sources."] if answer.stopped else []
    return [f"Written by {answer.generator.partition(':')[2]}.", *stopped, *unchecked]


def _list_sources(answer: Answer, application: str) -> list[str]:
    """Return one line for each distinct citation; if there are no citations, one line for each passage.

    ``application`` is the address of the application. If the address is not empty, the line of a citation ends with a
    link to the cited page.
    """
    cited = [
        f"[{one.marker}] {one.document}, {one.place}: “{' '.join(one.quote.split())}”"
        + (" (citation added, not the model's)" if one.added else "")
        + (f" {build_citation_link(application, one)}" if application else "")
        for one in answer.citations
    ]
    listed = [f"[{one.rank}] {one.page_name} (not cited)" for one in answer.passages]
    return list(dict.fromkeys(cited or listed))


def _escape_match(match: re.Match[str]) -> str:
    return match[1] or f"\\{match[2]}"


def _escape_links(text: str) -> str:
    return _LINK_MARKUP.sub(_escape_match, text)


def _escape_markdown(text: str) -> str:
    """Escape a text so that Markdown displays the same characters and line breaks, and strikes out struck words."""
    escaped = _LEADING.sub(lambda match: f"{match[1]}{match[2] or ''}\\", _MARKUP.sub(_escape_match, text))
    return _STRUCK_MARKUP.sub(r"~~\1~~", escaped).replace("\n", "  \n")


def remove_secrets(settings: Settings, text: str) -> str:
    """Return a text without the values of secret settings, which a user may have typed or an endpoint repeated."""
    for secret in (settings.openai_api_key, settings.database_url):
        value = secret.get_secret_value() if secret else ""
        if len(value) >= MIN_SECRET_CHARS:
            text = text.replace(value, REMOVED)
    return text


def _load_styles() -> tuple[dict[str, Any], frozenset[int]]:
    """Return the styles of PDF paragraphs by name, and the code points that their fonts can display."""
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    for name, file in _FONTS.items():
        if name not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(TTFont(name, file))
    body = ParagraphStyle("answer", fontName="Export", fontSize=9.5, leading=14, spaceAfter=6, splitLongWords=1)
    bold = {"parent": body, "fontName": "Export-Bold", "keepWithNext": True}
    styles = [
        body,
        ParagraphStyle("title", fontSize=16, leading=21, spaceAfter=6, **bold),
        ParagraphStyle("question", fontSize=11, leading=15, spaceBefore=12, spaceAfter=5, **bold),
        ParagraphStyle("short", fontSize=9.5, leading=14, spaceAfter=4, **bold),
        ParagraphStyle("cell", parent=body, fontSize=8, leading=10.5, spaceAfter=0),
        ParagraphStyle("caption", parent=body, fontSize=8.5, leading=12, spaceAfter=2, keepWithNext=True),
        ParagraphStyle("note", parent=body, fontSize=8, leading=11, textColor="#555555"),
        ParagraphStyle("source", parent=body, fontSize=8.5, leading=12, leftIndent=12, textColor="#333333"),
    ]
    glyphs = [pdfmetrics.getFont(name).face.charToGlyph for name in _FONTS]
    named = {style.name: style for style in styles}
    return {**named, "date": named["note"], "written": body}, frozenset(glyphs[0].keys() & glyphs[1].keys()) | {10}
