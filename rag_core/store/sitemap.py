"""Read web sites with a sitemap like folders. The files are the pages that the sitemap lists."""

from __future__ import annotations

import mimetypes
import time
import zlib
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx
from lxml import etree

from rag_core.store.remote_folders import RemoteFolder

_PREFIX = "sitemap+"
_TIMEOUT_S = 30.0
_MAX_BYTES = 50 * 2**20
_MAX_REDIRECTS = 5
_MAX_SITEMAPS, _MAX_PAGES = 200, 50_000
# Maximum time in seconds for a page and its redirects.
_DEADLINE_S = 120.0
_PORTS = {"http": 80, "https": 443}
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "Footnote (reads the pages of a sitemap)"}
_PARSER_OPTIONS = {"resolve_entities": False, "no_network": True, "huge_tree": False}


class Sitemaps(RemoteFolder):
    """The pages of sitemaps at URLs such as ``sitemap+https://example.org/sitemap.xml``.

    Only pages on the host of the sitemap are read, because this is the host that the user chose. Redirects to other
    hosts are refused. The format of sitemaps is described at https://www.sitemaps.org/protocol.html.
    """

    check_interval_s = 3600.0

    def __init__(self) -> None:
        self._addresses: dict[str, str] = {}

    def find(self, path: str, detail: bool = True) -> dict[str, dict[str, Any]]:
        """Return the details of the pages that a sitemap lists, directly or through other sitemaps, by path.

        Raises
        ------
        OSError
            A sitemap cannot be read, the content at its URL is no sitemap, or too many sitemaps or pages are listed.
        """
        pages = {}
        # Pages without a time of their last change are read again each day.
        today = datetime.now(UTC).date().isoformat()
        waiting = [path.removeprefix(_PREFIX)]
        seen: set[str] = set()
        with _open_client() as client:
            while waiting and len(seen) < _MAX_SITEMAPS:
                url = waiting.pop()
                if url in seen:
                    continue
                seen.add(url)
                for tag, location, changed in _list_entries(_read(client, url), url):
                    if tag == "sitemap":
                        waiting.append(location)
                        continue
                    name = f"{path}/{_build_name(location)}"
                    self._addresses[name] = location
                    pages[name] = {"size": 0, "type": "file", "etag": changed or today}
        # The library would remove the documents of pages that are missing in the list.
        if waiting or len(pages) > _MAX_PAGES:
            raise OSError(f"it lists more than {_MAX_SITEMAPS} sitemaps or {_MAX_PAGES} pages")
        return pages

    def cat_file(self, path: str) -> bytes:
        """Return the content of a page that `find` found; raise `OSError` if the page cannot be read."""
        if path not in self._addresses:
            raise FileNotFoundError(f"{path} is not in the sitemap")
        with _open_client() as client:
            return _read(client, self._addresses[path])


def _open_client() -> httpx.Client:
    return httpx.Client(headers=_HEADERS, timeout=_TIMEOUT_S, follow_redirects=False)


def _read(client: httpx.Client, url: str) -> bytes:
    """Return the content at a URL, following redirects on the same host.

    Raises
    ------
    OSError
        The server does not send the content, redirects to another host or too often, or the content is too large.
    """
    deadline = time.monotonic() + _DEADLINE_S
    for _redirect in range(_MAX_REDIRECTS):
        try:
            with client.stream("GET", url) as response:
                if response.has_redirect_location:
                    target = urljoin(url, response.headers["Location"])
                    if not _has_same_host(target, url):
                        raise PermissionError(f"it leads to another host, {urlsplit(target).hostname}")
                    url = target
                    continue
                if response.status_code != httpx.codes.OK:
                    raise OSError(f"the server answered {response.status_code} {response.reason_phrase}".strip())
                data = bytearray()
                # The raw data is read, because httpx would decompress it without a limit.
                for part in response.iter_raw():
                    data += part
                    if len(data) > _MAX_BYTES or time.monotonic() > deadline:
                        raise OSError(f"it is larger than {_MAX_BYTES // 2**20} MB, or sent too slowly")
                is_packed = response.headers.get("Content-Encoding") == "gzip"
                return _unpack_gzip(bytes(data)) if is_packed else bytes(data)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise OSError(str(error) or type(error).__name__) from error
    raise OSError("it redirects too often")


def _unpack_gzip(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(data, _MAX_BYTES)
    except zlib.error as error:
        raise OSError(f"it cannot be unpacked: {error}") from None
    if unpacker.unconsumed_tail:
        raise OSError(f"it is larger than {_MAX_BYTES // 2**20} MB")
    return unpacked


def _list_entries(data: bytes, url: str) -> list[tuple[str, str, str]]:
    """Return the entries of the sitemap at ``url`` that are on the same host as the sitemap.

    Each entry consists of its kind (``sitemap`` or ``url``), its URL, and the time of the last change, which may be
    empty.

    Raises
    ------
    OSError
        The content is no sitemap, or all its entries are on other hosts.
    """
    try:
        xml = _unpack_gzip(data) if data[:2] == b"\x1f\x8b" else data
        root = etree.fromstring(xml, etree.XMLParser(**_PARSER_OPTIONS))
    except etree.XMLSyntaxError as error:
        raise OSError(f"{url} is no sitemap: {error}") from None
    # A server may send an error page instead of the sitemap, whose pages still exist.
    if etree.QName(root).localname not in ("urlset", "sitemapindex"):
        raise OSError(f"{url} is no sitemap, but a page of the kind {etree.QName(root).localname}")
    entries = []
    for entry in root:
        values = {etree.QName(one).localname: (one.text or "").strip() for one in entry if isinstance(one.tag, str)}
        if isinstance(entry.tag, str) and values.get("loc"):
            entries.append((etree.QName(entry).localname, values["loc"], values.get("lastmod", "")))
    own = [(kind, loc, changed) for kind, loc, changed in entries if _has_same_host(loc, url)]
    if entries and not own:
        raise OSError(f"all pages that {url} lists are on other hosts")
    return own


def _has_same_host(url: str, base: str) -> bool:
    """Return whether two URLs have the same host and port. If ``base`` is encrypted, ``url`` must be encrypted too."""
    try:
        parts, base_parts = urlsplit(url), urlsplit(base)
        host, base_host = ((one.hostname, one.port or _PORTS.get(one.scheme)) for one in (parts, base_parts))
    except ValueError:
        return False
    return host == base_host and parts.scheme in ("https", base_parts.scheme)


def _build_name(url: str) -> str:
    """Return the file name of a page, with folders.

    The extension ``.html`` is added if the URL has a query, or if its path has no known extension.
    """
    parts = urlsplit(url)
    path = "/".join(part for part in unquote(parts.path).split("/") if part not in ("", ".", "..")) or "index"
    name = f"{path}?{unquote(parts.query)}".replace("/", "_") if parts.query else path
    kind = mimetypes.guess_type(path)[0]
    return name if kind and not parts.query else f"{name}.html"
