"""An HTTP client for Chroma whose requests fail within seconds if the server hangs."""

from __future__ import annotations

from typing import Any

import httpx

CONNECT_WITHIN_S = 1.5
# Maximum times in seconds for a response. After each time limit, the client checks whether the server still answers. A
# server that answers may be working on a large request, so the request is repeated with the next limit.
RESPOND_WITHIN_S = (1.5, 10.0, 60.0, 300.0)
# Maximum time in seconds for the response to such a check.
CHECK_WITHIN_S = 1.0


class ChromaHttpClient(httpx.Client):
    """An HTTP client whose requests fail within seconds if the server hangs, but not if the server is merely slow.

    Parameters
    ----------
    api_url : str
        URL of Chroma's API.
    """

    def __init__(self, api_url: str, **options: Any) -> None:
        super().__init__(**options)
        self._check_url = f"{api_url}/heartbeat"

    def request(self, *arguments: Any, **options: Any) -> httpx.Response:
        """Send a request, and repeat it with the next time limit as long as the server answers checks.

        Raises
        ------
        httpx.TransportError
            The server does not answer a check, or the last time limit is exceeded.
        """
        for limit in RESPOND_WITHIN_S[:-1]:
            try:
                return self._request(limit, *arguments, **options)
            except httpx.ReadTimeout:
                self.check_server()
        return self._request(RESPOND_WITHIN_S[-1], *arguments, **options)

    def check_server(self) -> None:
        """Raise `httpx.TransportError` if the server does not answer."""
        self._request(CHECK_WITHIN_S, "GET", self._check_url)

    def _request(self, limit: float, *arguments: Any, **options: Any) -> httpx.Response:
        return super().request(*arguments, timeout=httpx.Timeout(limit, connect=CONNECT_WITHIN_S), **options)
