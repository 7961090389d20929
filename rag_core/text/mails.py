"""Find printed mails in the text of a page.

A mail begins with header lines, or with an attribution line such as "On 3 May 2021, Anna Berg wrote:".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from email.errors import MessageError
from email.message import Message
from functools import lru_cache
from itertools import pairwise

# Labels of header fields in English, German, French and Spanish. Fields of recipients have an empty kind.
_LABELS = {
    "from": ("from", "von", "de"),
    "when": ("date", "datum", "fecha", "sent", "gesendet", "envoyé", "enviado el", "enviado"),
    "subject": ("subject", "betreff", "objet", "asunto"),
    "": ("to", "an", "à", "para", "cc", "bcc", "copie", "kopie"),
}
_LABELLED = re.compile(
    rf"[>|* \t]*(?P<label>{'|'.join(label for labels in _LABELS.values() for label in labels)})"
    r"[* \t\u00a0]*:[* \t]*(?P<value>[^\n]*)",
    re.IGNORECASE,
)
# The sender and the date in one line, as web mailers print them.
_SENDER = re.compile(r"[^\n<>:]{2,60}<[^<>\s]+@[^<>\s]+>[^\n<>]*\d[^\n<>]*")
_ATTRIBUTION = re.compile(
    r"^[> \t]*(?P<line>(?:On|Am|Le|El)\s(?=[^:]*\d)[^\n]{4,160}?(?:\n[^\n]{1,100}?)?"
    r"\b(?:wrote|schrieb|a écrit|escribió)\b[^\n:]{0,80})\s?:[ \t]*$",
    re.MULTILINE,
)
_LINE = re.compile(r"[^\n]+")
_ADDRESS = re.compile(r"\s*(?:<[^<>\s]*>|\[mailto:[^\]]*\])")
_QUOTED, _NEXT_PARAGRAPH = re.compile(r"\s*>"), re.compile(r"\n\s*\n\s*(?=\S)")
# Maximum number of lines without a label between two header fields, such as further lines of a list of recipients.
_MAX_BETWEEN = 2
# Maximum numbers of characters of `Mail.heading`, and of a title above the first mail.
_MAX_HEADING, _MAX_TITLE = 80, 120


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail, or a part of a mail, in the text of a page. Each mail ends where the next one starts.

    Attributes
    ----------
    start : int
        Offset of the header in the text of the page.
    body : int
        Offset of the text after the header; equal to ``start`` without a header.
    heading : str
        The sender and the date; empty if this page does not state them.
    """

    start: int
    body: int
    heading: str


# Cached, because the mails of a page are needed once for each excerpt of an answer.
@lru_cache(maxsize=64)
def find_mails(text: str, *, is_first: bool = False) -> tuple[Mail, ...]:
    """Return the mails in the text of a page, in order.

    On the first page of a document (``is_first``), a short title above the first mail belongs to this mail.

    >>> [mail.heading for mail in find_mails("From: Anna Berg <a@b.org>\\nDate: 3 May 2021\\n\\nIt leaks.")]
    ['From: Anna Berg, Date: 3 May 2021']
    """
    attributions = [
        Mail(match.start(), match.end(), _shorten_heading(match["line"])) for match in _ATTRIBUTION.finditer(text)
    ]
    found = sorted([*_find_mails_with_header(text), *attributions], key=lambda mail: mail.start)
    title = text[: found[0].start] if is_first and found else ""
    if 0 < len(title.strip()) <= _MAX_TITLE:
        found[0] = replace(found[0], start=len(title) - len(title.lstrip()))
    mails: list[Mail] = []
    # The heading of the mail that quotes others. The text of this mail can continue after a quoted mail.
    outer_heading = ""
    for mail, following in pairwise([*found, Mail(len(text), len(text), "")]):
        mails.append(mail)
        end = _find_quote_end(text, mail.body, following.start) if mail in attributions else None
        if end is not None:
            mails.append(Mail(end, end, outer_heading))
        elif mail not in attributions:
            outer_heading = mail.heading
    return tuple(mails)


def find_mail_at(mails: Sequence[Mail], offset: int) -> Mail | None:
    """Return the mail that contains an offset in the text of the page; ``None`` if no mail does."""
    return next((mail for mail in reversed(mails) if mail.start <= offset), None)


def find_header(text: str, offset: int, *, is_first: bool = False) -> tuple[int, int] | None:
    """Return the span of the header of the mail that contains an offset; ``None`` without a header before the offset.

    The span ends at the offset at the latest. Text of a mail after a quoted mail has the header of its first part.
    """
    mails = find_mails(text, is_first=is_first)
    mail = find_mail_at(mails, offset)
    if mail is not None and mail.start == mail.body and mail.heading:
        mail = next(one for one in mails if one.heading == mail.heading)
    if mail is None or mail.start == mail.body or mail.start >= offset:
        return None
    return mail.start, min(mail.body, offset)


@dataclass(slots=True)
class _HeaderLine:
    """A line of a mail's header. ``kind`` is a key of `_LABELS`; ``label`` is empty if the line has no label."""

    start: int
    end: int
    kind: str
    label: str
    value: str


def _find_mails_with_header(text: str) -> Iterator[Mail]:
    block: list[_HeaderLine] = []
    between = 0
    for match in _LINE.finditer(text):
        line = _parse_line(match)
        if line is None and block and between < _MAX_BETWEEN:
            between += 1
            # If a label has no value in its line, the value is in the next line.
            if not block[-1].value:
                block[-1].value, block[-1].end = match[0].strip(), match.end()
            continue
        if line is None or line.kind == "from":
            yield from _build_mail(block)
            block = []
        block += [line] if line is not None else []
        between = 0
    yield from _build_mail(block)


def _parse_line(line: re.Match[str]) -> _HeaderLine | None:
    if match := _LABELLED.fullmatch(line[0]):
        kind = next((kind for kind, labels in _LABELS.items() if match["label"].casefold() in labels), "")
        return _HeaderLine(line.start(), line.end(), kind, match["label"], match["value"].strip())
    return _HeaderLine(line.start(), line.end(), "from", "", line[0]) if _SENDER.fullmatch(line[0]) else None


def _build_mail(block: Sequence[_HeaderLine]) -> Iterator[Mail]:
    """Yield the mail with a header of these lines, or nothing if they are not the header of a mail."""
    values = {line.kind: line for line in reversed(block) if line.kind and line.value}
    # Travel forms and invoices have fields such as "From", "To" and "Date" as well.
    is_mail = any(line.kind == "subject" or "@" in line.value for line in block)
    if len(block) > 1 and "from" in values and is_mail:
        named = [values[kind] for kind in ("from", "when") if kind in values]
        heading = ", ".join(f"{line.label}: {line.value}" if line.label else line.value for line in named)
        yield Mail(block[0].start, block[-1].end, _shorten_heading(heading))


def _find_quote_end(text: str, start: int, end: int) -> int | None:
    """Return the offset of the first paragraph without ">" after paragraphs with ">"; ``None`` if there is none.

    ``start`` and ``end`` are the span of the paragraphs.
    """
    if not _QUOTED.match(text, start):
        return None
    paragraphs = (match.end() for match in _NEXT_PARAGRAPH.finditer(text, start, end))
    return next((offset for offset in paragraphs if start < offset and not _QUOTED.match(text, offset)), None)


def _shorten_heading(line: str) -> str:
    """Return a line without mail addresses and extra white space, in at most `_MAX_HEADING` characters.

    Addresses stay if the line contains nothing else.
    """
    bare = _ADDRESS.sub("", line)
    line = " ".join((bare if bare.strip(" :") else line).split())
    return line if len(line) <= _MAX_HEADING else line[: _MAX_HEADING - 1].rstrip() + "…"


def read_mail_field(message: Message, name: str) -> str:
    """Return the decoded value of a field of a mail; empty if the field is missing or cannot be decoded."""
    try:
        return str(message.get(name, "")).encode("utf-8", "replace").decode()
    except (ValueError, LookupError, AttributeError, TypeError, MessageError):
        # `email` raises many kinds of errors for invalid fields.
        return ""
