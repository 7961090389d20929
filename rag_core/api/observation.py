"""Give each request an id, log and count the requests, and report metrics to Prometheus."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_core.api.problems import request_id
from rag_core.engine import Engine
from rag_core.runtime.activity import LIMITS_S, Durations
from rag_core.runtime.tracing import open_span

_log = logging.getLogger(__name__)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_HEADER = "X-Request-ID"
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
# Durations of requests by method, path (with the names of parameters instead of their values) and status.
requests = Durations()


class ObservationMiddleware:
    """ASGI middleware that gives each request an id, logs the request, and counts it under ``path``.

    The id is the value of the header ``X-Request-ID`` or, if that is missing or invalid, a new id. The log and the
    metrics contain no text of questions or documents.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 0
        sent = dict(scope["headers"]).get(_HEADER.lower().encode(), b"").decode("latin-1")
        current_id = sent if _ID.fullmatch(sent) else uuid4().hex
        request_id.set(current_id)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[_HEADER] = current_id
            await send(message)

        # A client can send any word as the method; each would become a separate time series.
        method = scope["method"] if scope["method"] in _METHODS else "other"
        known = {"http.request.method": method, "http.route": self._path, "footnote.request_id": current_id}
        try:
            with open_span(f"{method} {self._path}", kind="SERVER", headers=Headers(scope=scope), **known) as added:
                await self._app(scope, receive, send_with_id)
                added["http.response.status_code"] = status
                if status >= 500:
                    added["error.type"] = str(status)
        finally:
            seconds = time.perf_counter() - started
            requests.add(seconds, method, self._path, str(status))
            level = logging.WARNING if status >= 500 else logging.INFO
            _log.log(level, "request %s: %s %s: %s in %.3f s", current_id, method, self._path, status, seconds)


def write_metrics(engine: Engine) -> bytes:
    """Return the metrics in the text format of Prometheus."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_MetricsCollector(engine))
    return generate_latest(registry)


class _MetricsCollector:
    """A collector of prometheus_client for the metrics of the application."""

    def __init__(self, engine: Engine) -> None:
        self._activity = engine.activity

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily

        histograms = {
            ("footnote_request_seconds", "Requests of programs", ("method", "path", "status")): requests,
            ("footnote_question_seconds", "Questions by outcome", ("outcome",)): self._activity.questions,
        }
        for (name, words, labels), durations in histograms.items():
            family = HistogramMetricFamily(name, f"{words}, and how long they took.", labels=labels)
            for values, (counts, seconds) in durations.list().items():
                limits = [*map(str, LIMITS_S), "+Inf"]
                buckets = [(limit, sum(counts[: place + 1])) for place, limit in enumerate(limits)]
                family.add_metric(values, buckets, seconds)
            yield family
        gauges = {
            ("footnote_library", "Documents, and pages and chunks that searches find.", "kind"): (
                self._activity.count_documents
            ),
            ("footnote_jobs", "Stored jobs by state.", "state"): self._activity.count_jobs,
        }
        for (name, words, label), count in gauges.items():
            gauge = GaugeMetricFamily(name, words, labels=[label])
            for value, number in count().items():
                gauge.add_metric([value], number)
            yield gauge
