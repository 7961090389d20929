"""The format MSG of Microsoft Outlook."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

from rag_core.parsing.flow.content import AttachedFile, Content
from rag_core.parsing.flow.recognition import CONTAINER
from rag_core.parsing.formats.base import UnreadableError
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe

# Name of a stream that every mail contains.
_PROPERTIES = "__properties_version1.0".encode("utf-16-le")


class OutlookFormat(FlowFormat):
    """Mails saved by Outlook."""

    description = describe("MSG", "mail of Outlook", (".msg",), "application/vnd.ms-outlook")
    parser_version = build_parser_version("msg", 2)

    def recognizes(self, file: BinaryIO) -> bool:
        return file.read(len(CONTAINER)) == CONTAINER and _PROPERTIES in file.read()

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from oxmsg import Message

        from rag_core.parsing.flow.mail import Mail, build_mail_content

        try:
            message = Message.load(str(path))
            recipients = "; ".join(f"{one.name} <{one.email_address}>" for one in message.recipients)
            attachments = [_read_attachment(one) for one in message.attachments]
            mail = Mail(
                message.subject or "",
                message.sender or "",
                recipients,
                "",
                f"{message.sent_date:%a, %d %b %Y %H:%M %z}" if message.sent_date else "",
                message.body or "",
                message.html_body or "",
                attachments,
            )
        except (OSError, ValueError, KeyError, AttributeError, NotImplementedError) as error:
            raise UnreadableError(f"{type(error).__name__}: {error}") from None
        return build_mail_content(mail)

    def reads_attachments(self, parser_version: str) -> bool:
        return parser_version.startswith("msg ")


def _read_attachment(attachment: Any) -> AttachedFile:
    return AttachedFile(attachment.file_name or "", attachment.file_bytes or b"")
