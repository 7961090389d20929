"""Watched mailboxes and web sites with a sitemap, on servers of this machine."""

from __future__ import annotations

import gzip
import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import SettingsError
from rag_core.indexing import watches
from rag_core.types.jobs import SyncResult, WatchedFolder
from tests.support.engines import idle, page_text

MAIL = "From: ida@tern.example\r\nSubject: {subject}\r\nDate: Mon, 2 Mar 2026 09:00:00 +0000\r\n\r\n{text}\r\n"
PAGE = "<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>"


@dataclass
class Mailbox:
    """A mailbox on an IMAP server that knows the commands Footnote sends."""

    messages: dict[int, bytes] = field(default_factory=dict)
    password: str = "gannet"
    commands: list[str] = field(default_factory=list)
    port: int = 0

    def put(self, uid: int, subject: str, text: str) -> None:
        self.messages[uid] = MAIL.format(subject=subject, text=text).encode()

    def answer(self, words: list[str]) -> Iterator[bytes]:
        """Yield the lines of a reply before its last line, or raise `PermissionError`."""
        command = words[0].upper()
        expected = {"LOGIN": self.password, "EXAMINE": "INBOX"}.get(command)
        if expected and words[-1].strip('"') != expected:
            raise PermissionError
        if command == "CAPABILITY":
            yield b"* CAPABILITY IMAP4rev1"
        elif command == "EXAMINE":
            yield b"* %d EXISTS" % len(self.messages)
            yield b"* OK [UIDVALIDITY 7] valid"
        elif command == "FETCH":
            for number, (uid, message) in enumerate(self.messages.items(), 1):
                header = b"".join(line + b"\r\n" for line in message.splitlines() if line.startswith(b"Subject"))
                start = b"* %d FETCH (UID %d RFC822.SIZE %d BODY[HEADER.FIELDS (SUBJECT)] {%d}"
                yield start % (number, uid, len(message), len(header)) + b"\r\n" + header + b")"
        elif command == "UID" and (message := self.messages.get(int(words[2]))) is not None:
            yield b"* 1 FETCH (UID %s BODY[] {%d}\r\n" % (words[2].encode(), len(message)) + message + b")"


@contextmanager
def serve_mail(mailbox: Mailbox) -> Iterator[Mailbox]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"* OK ready\r\n")
            for line in self.rfile:
                tag, *words = line.decode().split()
                mailbox.commands.append(" ".join(words))
                try:
                    for one in mailbox.answer(words):
                        self.wfile.write(one + b"\r\n")
                    self.wfile.write(f"{tag} OK done\r\n".encode())
                except PermissionError:
                    self.wfile.write(f"{tag} NO refused\r\n".encode())

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with run_server(Server(("127.0.0.1", 0), Handler)) as port:
        mailbox.port = port
        yield mailbox


@dataclass
class Site:
    """A web site: the content by path, and the paths that were read."""

    pages: dict[str, str | bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)
    address: str = ""

    def list_pages(self, *paths: str, changed: str = "2026-03-01") -> None:
        """Write the sitemap; a path may be an address on another host."""
        urls = [path if "://" in path else self.address + path for path in paths]
        entries = "".join(f"<url><loc>{url}</loc><lastmod>{changed}</lastmod></url>" for url in urls)
        self.pages["/pages.xml.gz"] = gzip.compress(f"<urlset>{entries}</urlset>".encode())
        self.pages["/sitemap.xml"] = (
            f"<sitemapindex><sitemap><loc>{self.address}/pages.xml.gz</loc></sitemap></sitemapindex>"
        )


@contextmanager
def serve_site(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.read.append(self.path)
            content = site.pages.get(self.path)
            target = site.redirects.get(self.path)
            self.send_response(301 if target else 404 if content is None else 200)
            if target:
                self.send_header("Location", target)
            self.end_headers()
            self.wfile.write(content.encode() if isinstance(content, str) else content or b"")

        def log_message(self, *_: object) -> None:
            pass

    with run_server(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        site.address = f"http://127.0.0.1:{port}"
        yield site


@contextmanager
def run_server(server: socketserver.TCPServer) -> Iterator[int]:
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def _netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / ".netrc"
    file.write_text("machine 127.0.0.1 login ida password gannet\n")
    file.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(autouse=True)
def _remove_watches(engine: Engine) -> Iterator[None]:
    yield
    for watch in engine.watches.list():
        engine.watches.remove(watch.watch_id)


def sync(engine: Engine, url: str) -> SyncResult:
    result = engine.watches.sync(engine.watches.add(url).watch_id)
    assert result is not None
    idle(engine)
    return result


def texts(engine: Engine) -> dict[str, str]:
    return {one.name: page_text(engine, one.document_id, 0) for one in engine.documents.list()}


def test_messages_of_a_mailbox_are_documents(engine: Engine) -> None:
    with serve_mail(Mailbox()) as mailbox:
        url = f"imap://ida@127.0.0.1:{mailbox.port}/INBOX"
        mailbox.put(4, "Crane: offer/price", "The crane costs 412,000 crowns.")
        mailbox.put(9, "=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "The quay is closed on Friday.")
        assert len(sync(engine, url).added) == 2
        assert sorted(texts(engine)) == ["4 Crane offer price.eml", "9 Grüße.eml"]
        assert "412,000 crowns" in texts(engine)["4 Crane offer price.eml"]
        mailbox.put(12, "Tide", "High water is at noon.")
        del mailbox.messages[4]
        result = sync(engine, url)
        assert (len(result.added), len(result.removed), result.problem) == (1, 1, "")
        assert sorted(texts(engine)) == ["12 Tide.eml", "9 Grüße.eml"]
        assert not any(one.startswith(("SELECT", "STORE")) for one in mailbox.commands)


@pytest.mark.parametrize(
    ("login", "mailbox", "message"),
    [
        ("ida", "Archive", "refused"),
        ("olaf", "INBOX", "the netrc file has no password for olaf at 127.0.0.1"),
    ],
)
def test_a_mailbox_that_cannot_be_read_is_named(engine: Engine, login: str, mailbox: str, message: str) -> None:
    with serve_mail(Mailbox()) as server, pytest.raises(SettingsError, match=message):
        engine.watches.add(f"imap://{login}@127.0.0.1:{server.port}/{mailbox}")


def test_a_wrong_password_is_named_without_the_password(engine: Engine) -> None:
    with serve_mail(Mailbox(password="other")) as server, pytest.raises(SettingsError) as raised:
        engine.watches.add(f"imap://127.0.0.1:{server.port}/INBOX")
    assert "127.0.0.1 refuses the login ida" in str(raised.value)
    assert "gannet" not in str(raised.value)


def test_pages_of_a_sitemap_are_documents(engine: Engine) -> None:
    with serve_site(Site()) as site:
        url = f"sitemap+{site.address}/sitemap.xml"
        site.pages["/harbour/"] = PAGE.format(title="Harbour", text="The harbour was dredged in 1931.")
        site.pages["/fees?year=2026"] = PAGE.format(title="Fees", text="A berth costs 40 crowns.")
        site.list_pages("/harbour/", "/fees?year=2026", "/gone", "http://other.example/page")
        result = sync(engine, url)
        assert len(result.added) == 2
        assert re.search("gone.*404", result.problem)
        assert "dredged in 1931" in texts(engine)["harbour.html"]
        site.pages["/harbour/"] = PAGE.format(title="Harbour", text="The harbour was dredged in 1932.")
        site.list_pages("/harbour/", changed="2026-03-02")
        result = sync(engine, url)
        assert (len(result.changed), len(result.removed), result.problem) == (1, 1, "")
        assert "1932" in texts(engine)["harbour.html"]


def test_a_page_that_leads_to_another_host_is_not_read(engine: Engine) -> None:
    with serve_site(Site()) as site, serve_site(Site()) as other:
        other.pages["/secret"] = PAGE.format(title="Secret", text="Only for this machine.")
        site.redirects |= {"/away": f"{other.address}/secret", "/old": "/new"}
        site.pages["/new"] = PAGE.format(title="New", text="The new page.")
        site.list_pages("/away", "/old")
        result = sync(engine, f"sitemap+{site.address}/sitemap.xml")
        assert "leads to another host" in result.problem
        assert (list(texts(engine)), other.read) == (["old.html"], [])


def test_a_notice_in_place_of_the_sitemap_removes_no_pages(engine: Engine) -> None:
    with serve_site(Site()) as site:
        url = f"sitemap+{site.address}/sitemap.xml"
        site.pages["/pier"] = PAGE.format(title="Pier", text="The pier is closed.")
        site.list_pages("/pier", "http://[bad/x")
        assert len(sync(engine, url).added) == 1
        for notice in (
            PAGE.format(title="Maintenance", text="Back soon."),
            "<urlset><url><loc>http://a.b/c</loc></url></urlset>",
        ):
            site.pages["/sitemap.xml"] = notice
            result = sync(engine, url)
            assert (result.removed, bool(result.problem)) == ((), True)
        assert "pier.html" in texts(engine)


def test_a_mail_with_an_invalid_subject_is_read(engine: Engine) -> None:
    with serve_mail(Mailbox()) as mailbox:
        mailbox.put(3, "=?utf-7?q?+2AA-?=", "The buoy is lit.")
        assert len(sync(engine, f"imap://127.0.0.1:{mailbox.port}/INBOX").added) == 1
        assert "The buoy is lit" in texts(engine)["3 message.eml"]


@pytest.mark.parametrize(
    "url", ["imaps://ida:gannet@mail.example/INBOX", "sitemap+https://ida:gannet@web.example/s.xml"]
)
def test_a_password_in_the_address_is_refused(engine: Engine, url: str) -> None:
    with pytest.raises(SettingsError, match="Put it in the netrc file") as raised:
        engine.watches.find(url)
    assert "gannet" not in str(raised.value)


@pytest.mark.parametrize(
    "content",
    ["no XML", '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><urlset><url><loc>&e;</loc></url>'],
)
def test_a_sitemap_that_cannot_be_read_is_named(engine: Engine, content: str) -> None:
    with serve_site(Site(pages={"/sitemap.xml": content})) as site, pytest.raises(SettingsError, match="is no sitemap"):
        engine.watches.add(f"sitemap+{site.address}/sitemap.xml")


@pytest.mark.parametrize(
    ("url", "minutes", "due"),
    [
        ("/inbox", 0, True),
        ("imaps://host/INBOX", 2, False),
        ("imaps://host/INBOX", 6, True),
        ("sitemap+https://host/sitemap.xml", 30, False),
        ("sitemap+https://host/sitemap.xml", 61, True),
    ],
)
def test_servers_are_asked_less_often_than_folders(url: str, minutes: int, due: bool) -> None:
    checked = datetime.now(UTC) - timedelta(minutes=minutes)
    watch = WatchedFolder(watch_id="w", url=url, collection="default", files=0, checked_at=checked, problem="")
    assert watches.is_due(watch) == due
