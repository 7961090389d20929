"""Read mailboxes on IMAP servers like folders. The files are the messages."""

from __future__ import annotations

import email
import email.policy
import imaplib
import netrc
import re
import ssl
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from rag_core.store.remote_folders import RemoteFolder
from rag_core.text.mails import read_mail_field
from rag_core.types.access import is_loopback

_TIMEOUT_S = 30.0
_PORT, _TLS_PORT = 143, 993
# Maximum number of characters of a subject in a file name.
_MAX_SUBJECT = 80
_UID_AND_SIZE = re.compile(rb"UID (\d+).*?RFC822\.SIZE (\d+)|RFC822\.SIZE (\d+).*?UID (\d+)")
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f/\\:*?"<>|]+')


class Mailboxes(RemoteFolder):
    """The messages of mailboxes at URLs such as ``imaps://anna@mail.example.org/INBOX``, opened read-only.

    The password, and the login if the URL contains none, come from the entry of the host in the user's netrc file. A
    connection to an ``imap:`` URL is encrypted by STARTTLS; only servers on this machine may lack encryption.
    """

    check_interval_s = 300.0

    def __init__(self) -> None:
        self._servers: dict[str, imaplib.IMAP4] = {}
        weakref.finalize(self, _log_out, self._servers)

    def normalize_url(self, url: str) -> str:
        return url.rstrip("/")

    def find(self, path: str, detail: bool = True) -> dict[str, dict[str, Any]]:
        """Return the details of the messages in a mailbox by path.

        Raises
        ------
        OSError
            The server cannot be reached, refuses the login or the mailbox, or sends an incomplete list of messages.
        """
        with self._open(path) as (server, count):
            validity = (server.response("UIDVALIDITY")[1] or [b""])[0] or b""
            fields = "(UID RFC822.SIZE BODY.PEEK[HEADER.FIELDS (SUBJECT)])"
            answers = _check(server.fetch("1:*", fields)) if count else []
        messages = {}
        for index, answer in enumerate(answers):
            if not isinstance(answer, tuple):
                continue
            head, header = answer
            # Some servers send the UID or the size after the header.
            rest = next((one for one in answers[index + 1 : index + 2] if isinstance(one, bytes)), b"")
            if found := _UID_AND_SIZE.search(head + b" " + rest):
                uid, size = (found[1], found[2]) if found[1] else (found[4], found[3])
                stamp = f"{validity.decode()}-{int(uid)}"
                name = f"{path}/{int(uid)} {_find_subject(header)}.eml"
                messages[name] = {"size": int(size), "type": "file", "etag": stamp}
        # The library would remove the documents of messages that are missing in the list.
        if len(messages) < count:
            raise OSError("the server's list of messages cannot be read")
        return messages

    def cat_file(self, path: str) -> bytes:
        """Return the source of a message, without marking the message as read; raise `OSError` if it cannot be read."""
        url, _, name = path.rpartition("/")
        with self._open(url) as (server, _count):
            answers = _check(server.uid("FETCH", name.partition(" ")[0], "(BODY.PEEK[])"))
        for answer in answers:
            if isinstance(answer, tuple):
                return bytes(answer[1])
        raise FileNotFoundError(f"{name} is no longer in the mailbox")

    @contextmanager
    def _open(self, url: str) -> Iterator[tuple[imaplib.IMAP4, int]]:
        """Select the mailbox at a URL, and yield the connection and the number of messages in the mailbox.

        The connection is kept for the next call. If the server has closed the connection, a new one is opened.
        """
        parts = urlsplit(url)
        mailbox = _quote(unquote(parts.path.strip("/")) or "INBOX")
        server, count = self._servers.get(parts.netloc), None
        try:
            if server is not None:
                with suppress(imaplib.IMAP4.abort, OSError):
                    count = _select(server, mailbox)
            if server is None or count is None:
                server = _log_in(parts.scheme, parts.hostname or "", parts.port, parts.username)
                self._servers[parts.netloc] = server
                count = _select(server, mailbox)
            yield server, count
        except imaplib.IMAP4.error as error:
            raise OSError(str(error)) from error


def _select(server: imaplib.IMAP4, mailbox: str) -> int:
    """Select a mailbox for reading, and return the number of its messages."""
    return int(_check(server.select(mailbox, readonly=True))[-1] or 0)


def _log_out(servers: dict[str, imaplib.IMAP4]) -> None:
    for server in servers.values():
        with suppress(OSError, imaplib.IMAP4.error):
            server.logout()


def _log_in(scheme: str, host: str, port: int | None, login: str | None) -> imaplib.IMAP4:
    """Log in to a server and return the connection.

    Raises
    ------
    PermissionError
        The netrc file has no password, the server refuses the login, or a server on another machine lacks encryption.
    """
    login, password = _find_credentials(host, unquote(login or ""))
    server: imaplib.IMAP4
    # Without this context, imaplib would accept any certificate.
    context = ssl.create_default_context()
    if scheme == "imaps":
        server = imaplib.IMAP4_SSL(host, port or _TLS_PORT, ssl_context=context, timeout=_TIMEOUT_S)
    else:
        server = imaplib.IMAP4(host, port or _PORT, timeout=_TIMEOUT_S)
        if "STARTTLS" in server.capabilities:
            server.starttls(context)
        elif not is_loopback(host):
            _log_out({host: server})
            raise PermissionError(f"{host} offers no encryption; use imaps:")
    try:
        server.login(login, password)
    except imaplib.IMAP4.error:
        _log_out({host: server})
        raise PermissionError(f"{host} refuses the login {login}; check the line of {host} in the netrc file") from None
    return server


def _find_credentials(host: str, login: str) -> tuple[str, str]:
    """Return the login and the password for a host from the user's netrc file. ``login`` may be empty."""
    try:
        found = netrc.netrc().authenticators(host)
    except FileNotFoundError as error:
        raise PermissionError(f"there is no netrc file {error.filename} with the password of {host}") from None
    except netrc.NetrcParseError as error:
        # The message of the error is not shown, because it can contain a part of the password.
        raise PermissionError(f"line {error.lineno} of the netrc file {error.filename} cannot be read") from None
    if found is None or (login and found[0] and found[0] != login):
        raise PermissionError(f"the netrc file has no password for {login + ' at ' if login else ''}{host}")
    return login or found[0], found[2] or ""


def _check(answer: tuple[str, Any]) -> list[Any]:
    """Return the data of a response; raise `OSError` with the message of the server if it refused the command."""
    status, data = answer
    if status != "OK":
        raise OSError(b" ".join(one for one in data if isinstance(one, bytes)).decode(errors="replace"))
    return list(data)


def _find_subject(header: bytes) -> str:
    """Return the decoded subject of a message in a form that can be part of a file name.

    Return ``message`` if the subject is empty.
    """
    subject = read_mail_field(email.message_from_bytes(header, policy=email.policy.default), "Subject")
    return " ".join(_NOT_IN_NAMES.sub(" ", subject).split())[:_MAX_SUBJECT].strip(". ") or "message"


def _quote(mailbox: str) -> str:
    escaped = mailbox.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
