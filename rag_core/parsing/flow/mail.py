"""Convert mails to content: header, body and attached files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_core.parsing.flow.content import (
    AttachedFile,
    Block,
    Content,
    PageStart,
    TableBlock,
    TextBlock,
    clean_text,
    clean_words,
)
from rag_core.parsing.flow.html import read_html


@dataclass(frozen=True, slots=True)
class Mail:
    """The fields and the body of a mail, whose texts may be empty."""

    subject: str
    sender: str
    to: str
    copies: str
    date: str
    text: str
    html: str | bytes
    attachments: Sequence[AttachedFile]


def build_mail_content(mail: Mail) -> Content:
    """Return the content of a mail: the subject as a heading, the header fields, and the body.

    The body is the plain text. If it is empty or the HTML text has tables, the body is the HTML text.
    """
    subject = clean_words(mail.subject)
    header = {"From": mail.sender, "To": mail.to, "Cc": mail.copies, "Date": mail.date, "Subject": subject}
    lines = [f"{name}: {line}" for name, value in header.items() if (line := clean_words(value))]
    blocks: list[Block] = [PageStart()]
    blocks += [TextBlock(subject, level=0)] if subject else []
    blocks += [TextBlock("\n".join(lines))] if lines else []
    formatted = read_html(mail.html) if mail.html.strip() else []
    # The plain text that mail programs write lacks the tables of the HTML text.
    has_tables = any(isinstance(block, TableBlock) for block in formatted)
    if mail.text.strip() and not has_tables:
        paragraphs = map(clean_text, mail.text.replace("\r\n", "\n").split("\n\n"))
        blocks += [TextBlock(paragraph) for paragraph in paragraphs if paragraph]
    else:
        blocks += formatted
    return Content(blocks, mail.attachments)
