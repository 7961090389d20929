"""Export conversations as Markdown and PDF, with the sources of each answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

from rag_core.settings import Settings
from rag_core.types import Answer, Conversation, Message
from rag_core.types.answers import BOLD_START

REMOVED = "[removed]"
# Minimum length of a secret value that is removed from exports. For endpoints that need no key, users set words such as
# "none" or "ollama", which occur in ordinary text.
SHORTEST_SECRET = 8
# All special characters of Markdown are escaped in quotes. In a model's text, only the characters that ``_LINK_MARKUP``
# matches are escaped: emphasis and lists stay, but links, images and HTML do not.
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!<>|~&$])")
# A dash, or a number with its full stop, begins a list; in "4.1 Scope" there is no list to escape.
_LEADING = re.compile(r"^(\s*)(?:(?=[-=])|(\d+)(?=[.)](?:\s|$)))", re.MULTILINE)
_LINK_MARKUP = re.compile(r"([\\`\[\]<>!&|$])")
_FONTS = {"Export": "Vera.ttf", "Export-Bold": "VeraBd.ttf"}
_MISSING_GLYPHS = "Characters that are missing in this PDF’s font appear as “?”. The Markdown export contains them."


def markdown(settings: Settings, conversation: Conversation, messages: Sequence[Message]) -> str:
    """Return a conversation as Markdown: each question as a heading, then its answer with the sources."""
    lines = [f"# {_escape_markdown(conversation.title)}", f"{_format_date(conversation)}"]
    for message in messages:
        if message.role == "user":
            lines.append(f"## {_escape_markdown(' '.join(message.text.split()))}")
            continue
        answer = message.answer
        if answer and answer.rewritten:
            lines.append(f"*Searched for: {_escape_markdown(answer.rewritten)}*")
        by_model = answer is not None and answer.generator != "extractive"
        if answer and answer.short and not answer.opens_with_short:
            lines.append(f"**{_escape_markdown(answer.short)}**")
        text = answer.marked_text if answer else message.text
        quotes = answer.text[answer.quotes_start :] if answer and answer.quotes_start is not None else ""
        text = text.removesuffix(quotes)
        lines.append(_LINK_MARKUP.sub(r"\\\1", text) if by_model else _escape_quotes(text))
        lines.append(_escape_quotes(quotes))
        if answer:
            lines += [f"*{_escape_markdown(note)}*" for note in _describe_origin(answer)]
            lines.append("\n".join(f"- {_escape_markdown(line)}" for line in _list_sources(answer)))
    return _remove_secrets(settings, "\n\n".join(line for line in lines if line) + "\n")


def pdf(settings: Settings, conversation: Conversation, messages: Sequence[Message]) -> bytes:
    """Return a conversation as a PDF in A4 with selectable text."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    styles, known = _load_styles()
    plain = [(style, _remove_secrets(settings, text)) for style, text in _paragraphs(conversation, messages)]
    shown = [(style, "".join(char if ord(char) in known else "?" for char in text)) for style, text in plain]
    if shown != plain:
        shown.insert(2, ("note", _MISSING_GLYPHS))
    target = BytesIO()
    title = shown[0][1]
    document = SimpleDocTemplate(
        target,
        pagesize=A4,
        **dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), 22 * mm),
        title=title,
        author="Footnote",
    )
    document.build([Paragraph(escape(text).replace("\n", "<br/>"), styles[style]) for style, text in shown])
    return target.getvalue()


def _paragraphs(conversation: Conversation, messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs in order, as pairs of style name and text."""
    yield "title", " ".join(conversation.title.split())
    yield "note", _format_date(conversation)
    for message in messages:
        if message.role == "user":
            yield "question", " ".join(message.text.split())
            continue
        answer = message.answer
        if answer and answer.rewritten:
            yield "note", f"Searched for: {answer.rewritten}"
        if answer and answer.short and not answer.opens_with_short:
            yield "short", answer.short
        yield "answer", answer.plain_text if answer else message.text
        if answer:
            yield from (("note", note) for note in _describe_origin(answer))
            yield from (("source", line) for line in _list_sources(answer))


def _format_date(conversation: Conversation) -> str:
    return f"Conversation of {conversation.created_at:%Y-%m-%d}, exported from Footnote. Times are UTC."


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


def _list_sources(answer: Answer) -> list[str]:
    """Return one line for each distinct citation; if there are no citations, one line for each passage."""
    cited = [
        f"[{one.marker}] {one.document}, page {one.page_label}: “{' '.join(one.quote.split())}”"
        + (" (citation added, not the model's)" if one.added else "")
        for one in answer.citations
    ]
    listed = [f"[{one.rank}] {one.document}, page {one.page_label} (not cited)" for one in answer.passages]
    return list(dict.fromkeys(cited or listed))


def _escape_markdown(text: str) -> str:
    """Escape a text so that Markdown displays the same characters and line breaks."""
    escaped = _LEADING.sub(lambda match: f"{match[1]}{match[2] or ''}\\", _MARKUP.sub(r"\\\1", text))
    return escaped.replace("\n", "  \n")


def _escape_quotes(text: str) -> str:
    """Escape quotes for Markdown, except for the bold type of the value with which they begin."""
    bold = BOLD_START.match(text)
    lead = "" if bold is None else f"**{_escape_markdown(bold['value'])}**"
    paragraphs = text[0 if bold is None else bold.end() :].split("\n\n")
    return lead + "\n\n".join(_escape_markdown(paragraph) for paragraph in paragraphs)


def _remove_secrets(settings: Settings, text: str) -> str:
    """Remove the values of secret settings; a user may have typed them, or an endpoint may have repeated them."""
    for secret in (settings.openai_api_key, settings.database_url):
        value = secret.get_secret_value() if secret else ""
        for form in (value, _escape_markdown(value)) if len(value) >= SHORTEST_SECRET else ():
            text = text.replace(form, REMOVED)
    return text


def _load_styles() -> tuple[dict[str, Any], frozenset[int]]:
    """Return the paragraph styles by name, and the code points that their fonts can display."""
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
        ParagraphStyle("note", parent=body, fontSize=8, leading=11, textColor="#555555"),
        ParagraphStyle("source", parent=body, fontSize=8.5, leading=12, leftIndent=12, textColor="#333333"),
    ]
    glyphs = [pdfmetrics.getFont(name).face.charToGlyph for name in _FONTS]
    return {style.name: style for style in styles}, frozenset(glyphs[0].keys() & glyphs[1].keys()) | {10}
