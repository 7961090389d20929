"""The format EML of mails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any, BinaryIO

from rag_core.parsing.flow.content import AttachedFile, Content
from rag_core.parsing.formats.base import UnreadableError
from rag_core.parsing.formats.flow import FlowFormat, build_parser_version, describe
from rag_core.text.mails import read_mail_field

_HEAD = 16_384
_FIELD = re.compile(rb"^(from|to|date|subject|message-id|received|return-path|mime-version)[ \t]*:", re.I | re.M)
# Minimum number of different fields of `_FIELD` in the header of a mail.
_FEWEST_FIELDS = 3


class MailFormat(FlowFormat):
    """Mails; attached files become separate documents, and pictures on servers are not loaded."""

    description = describe("EML", "mail", (".eml",), "message/rfc822")
    parser_version = build_parser_version("eml", 2)

    def recognizes(self, file: BinaryIO) -> bool:
        head = file.read(_HEAD).lstrip().replace(b"\r\n", b"\n").partition(b"\n\n")[0]
        first = head.partition(b"\n")[0]
        is_field = re.match(rb"[!-9;-~]+[ \t]*:", first) is not None or first.startswith(b"From ")
        return is_field and len({name.lower() for name in _FIELD.findall(head)}) >= _FEWEST_FIELDS

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from email import policy
        from email.parser import BytesParser

        from rag_core.parsing.flow.mail import Mail, build_mail_content

        with path.open("rb") as file:
            message = BytesParser(policy=policy.default).parse(file)
        if not isinstance(message, EmailMessage):
            raise UnreadableError("it has no header")
        texts = {kind: _read_body(message, kind) for kind in ("plain", "html")}
        subject, sender, to, copies, date = (
            read_mail_field(message, name) for name in ("Subject", "From", "To", "Cc", "Date")
        )
        attachments = list(_iter_attachments(message))
        return build_mail_content(Mail(subject, sender, to, copies, date, texts["plain"], texts["html"], attachments))

    def reads_attachments(self, parser_version: str) -> bool:
        return parser_version.startswith("eml ")


def _read_body(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    if part is None:
        return ""
    try:
        return str(part.get_content())
    except (LookupError, ValueError):  # an unknown encoding
        return bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")


def _iter_attachments(message: EmailMessage) -> Iterator[AttachedFile]:
    if not message.is_multipart():
        return
    for part in message.iter_attachments():
        is_inline = part.get("Content-ID") and part.get_content_disposition() != "attachment"
        if part.get_content_maintype() == "image" and is_inline:
            continue  # a picture of the body
        if part.get_content_type() == "message/rfc822":
            inner: Any = part.get_payload(0)
            yield AttachedFile(f"{inner.get('Subject') or 'mail'}.eml".replace("/", " "), inner.as_bytes())
            continue
        data = part.get_payload(decode=True)
        yield AttachedFile(part.get_filename() or "", data if isinstance(data, bytes) else b"")
