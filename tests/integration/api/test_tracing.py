"""Traces that a collector of OpenTelemetry gets."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rag_core.api.calls import ServedApp
from rag_core.api.routes import build_routes
from rag_core.errors import PackageNotInstalled
from tests.support.engines import opened
from tests.support.pdfs import make_pdf

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps the spans that it gets."""

    def __init__(self) -> None:
        self.received: list[Any] = []

    def Export(self, request: Any, context: Any) -> Any:
        self.received.append(request)
        return trace_service_pb2.ExportTraceServiceResponse()

    def list_spans(self) -> list[Any]:
        found = (scope for one in self.received for resource in one.resource_spans for scope in resource.scope_spans)
        return [span for scope in found for span in scope.spans]


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(kept := Collector(), server)
    server.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    yield kept
    server.stop(None)


def test_trace_has_the_request_its_question_and_its_stages_but_no_text(tmp_path: Path, collector: Collector) -> None:
    with opened(tmp_path / "data") as engine:
        http = TestClient(
            Starlette(routes=build_routes(ServedApp(lambda: engine, lambda: "localhost", lambda: ""))),
            *("http://localhost:8501",),
            client=("127.0.0.1", 5000),
            raise_server_exceptions=False,
        )
        file = {"file": ("quaggas.pdf", make_pdf("Quaggas grazed near Zeerust in herds of forty."))}
        job = http.post("/api/v1/documents", files=file).json()
        engine.jobs.wait([job["job_id"]])
        asked = {"json": {"question": "In herds of how many did quaggas graze?"}}
        headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "Accept": "text/event-stream"}
        assert "event: answer" in http.post("/api/v1/ask", **asked, headers=headers).text
        assert http.post("/api/v1/ask", json={"question": "Quaggas?", "documents": ["zeerust.pdf"]}).status_code == 404
    spans = collector.list_spans()
    names = {span.span_id: span.name for span in spans}
    trace = [span for span in spans if span.trace_id.hex() == TRACE]
    (request,) = (span for span in trace if span.parent_span_id.hex() == PARENT)
    assert request.name == "POST /api/v1/ask"
    parents = {span.name: names[span.parent_span_id] for span in trace if span is not request}
    stages = dict.fromkeys(("embed", "dense", "lexical", "rerank", "gate", "generate"), "question")
    assert parents.items() >= {"question": "POST /api/v1/ask", **stages}.items()
    roots = {span.name for span in spans if not span.parent_span_id}
    assert roots == {"POST /api/v1/documents", "POST /api/v1/ask", "index file"}
    (indexed,) = (span for span in spans if span.name == "index file")
    assert indexed.end_time_unix_nano > indexed.start_time_unix_nano
    values = {one.key: one.value.string_value for span in spans for one in span.attributes}
    assert (values["footnote.status"], values["error.type"]) == ("indexed", "UnknownDocument")
    sent = repr(collector.received).casefold()
    assert "footnote" in sent
    assert [word for word in ("quagga", "graz", "zeerust", "forty") if word in sent] == []


def test_missing_exporter_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkin")
    with pytest.raises(PackageNotInstalled, match=r"“zipkin” \(OTEL_TRACES_EXPORTER"):
        opened(tmp_path)
