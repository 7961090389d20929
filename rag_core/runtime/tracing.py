"""Export traces of requests, questions and indexed files, if the standard variables of OpenTelemetry are set.

``OTEL_EXPORTER_OTLP_ENDPOINT`` names the collector. Spans contain no text of questions and documents, and no messages
of errors, which may quote such text.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from contextvars import copy_context
from importlib import metadata
from typing import Any, Literal

from rag_core.errors import PackageNotInstalled, SettingsError
from rag_core.types.answers import Answer, AskEvent, Stage
from rag_core.types.retrieval import Timer

# The group of entry points in which packages register exporters, and the names of the exporters there by protocol.
_EXPORTER_GROUP = "opentelemetry_traces_exporter"
_EXPORTER_NAMES = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
# Maximum time in seconds for the export of the last spans.
_STOP_S = 3
# The provider of the spans of this process; ``None`` while tracing is off.
_provider: Any = None
Kind = Literal["INTERNAL", "SERVER"]


def start_tracing() -> None:
    """Start to export spans if the variables of OpenTelemetry name an exporter or a collector.

    Raises
    ------
    PackageNotInstalled
        The environment names an exporter that is not installed.
    SettingsError
        A variable has a value that OpenTelemetry does not accept.
    """
    global _provider
    names = _list_exporters()
    if not names or _provider is not None:
        return
    exporters = [_load_exporter(name) for name in names]
    try:
        from opentelemetry import propagate  # noqa: F401 - reads OTEL_PROPAGATORS
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        # The environment can set another name of the service.
        resource = Resource.create({"service.name": "footnote"}).merge(OTELResourceDetector().detect())
        # If this were OpenTelemetry's global provider, libraries would add spans with texts of documents.
        provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        for exporter in exporters:
            provider.add_span_processor(BatchSpanProcessor(exporter()))
    except (ValueError, TypeError, KeyError) as error:
        raise SettingsError(
            f"A variable of OpenTelemetry (OTEL_…) has a value that is not accepted: {error}. Correct it, or set "
            "OTEL_SDK_DISABLED to true."
        ) from error
    _provider = provider
    Timer.open_span = _open_stage


def stop_tracing() -> None:
    """Export the remaining spans, for at most `_STOP_S` seconds, and stop exporting."""
    global _provider
    provider, _provider = _provider, None
    if provider is not None:
        stopping = threading.Thread(target=provider.shutdown, daemon=True)
        stopping.start()
        stopping.join(_STOP_S)


def _list_exporters() -> list[str]:
    if os.environ.get("OTEL_SDK_DISABLED", "").casefold() == "true":
        return []
    default = "otlp" if any(map(os.environ.get, _ENDPOINTS)) else "none"
    names = (os.environ.get("OTEL_TRACES_EXPORTER") or default).split(",")
    return [name.strip() for name in names if name.strip() not in ("", "none")]


def _load_exporter(name: str) -> Any:
    """Return the class of the exporter with a name from ``OTEL_TRACES_EXPORTER``."""
    known = name
    if name == "otlp":
        name = next(filter(None, map(os.environ.get, _PROTOCOLS)), "grpc")
        known = _EXPORTER_NAMES.get(name, name)
    for entry in metadata.entry_points(group=_EXPORTER_GROUP, name=known):
        return entry.load()
    version = metadata.version("opentelemetry-sdk")
    raise PackageNotInstalled(
        f"Traces cannot be exported by “{name}” (OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_PROTOCOL), because its "
        f"package is not installed. For http/protobuf: pip install opentelemetry-exporter-otlp-proto-http=={version}. "
        "Or set the protocol to grpc, or OTEL_SDK_DISABLED to true."
    )


@contextmanager
def open_span(
    name: str, *, kind: Kind = "INTERNAL", headers: Mapping[str, str] | None = None, **attributes: str
) -> Iterator[dict[str, Any]]:
    """Open a span below the current span or, with ``headers``, below the span that these headers of a request name.

    Yield a dictionary, to which further attributes of the span can be added. If an error is raised, its type becomes an
    attribute.
    """
    added: dict[str, Any] = dict(attributes)
    if _provider is None:
        yield added
        return
    from opentelemetry import propagate, trace

    parent = propagate.extract(headers) if headers is not None else None
    span = _provider.get_tracer("footnote").start_span(name, parent, trace.SpanKind[kind])
    try:
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield added
    except Exception as error:
        added["error.type"] = type(error).__name__
        raise
    finally:
        span.set_attributes(added)
        if "error.type" in added:
            span.set_status(trace.StatusCode.ERROR)
        span.end()


def _open_stage(name: str) -> AbstractContextManager[object]:
    """Open a span for a stage if a span is open already; background work, such as an evaluation, opens none."""
    from opentelemetry import trace

    return open_span(name) if trace.get_current_span().get_span_context().is_valid else nullcontext()


def add_span(name: str, started_ns: int, **attributes: str | int) -> None:
    """Add a span without a parent that started at ``started_ns``, as in `time.time_ns`, and ends now."""
    if _provider is not None:
        _provider.get_tracer("footnote").start_span(name, attributes=attributes, start_time=started_ns).end()


def trace_question(events: Generator[AskEvent, None, None]) -> Generator[AskEvent, None, None]:
    """Yield the events of an answer inside a span for the question, below which its stages open spans."""
    if _provider is None:
        yield from events
        return
    # The generator runs in a separate context. Otherwise, spans of its caller would become children of its spans.
    context, steps = copy_context(), _trace_steps(events)
    try:
        while (event := context.run(next, steps, None)) is not None:
            yield event
    finally:
        context.run(steps.close)


def _trace_steps(events: Generator[AskEvent, None, None]) -> Generator[AskEvent, None, None]:
    with open_span("question") as added, closing(events), ExitStack() as writing:
        is_writing = False
        for event in events:
            if isinstance(event, Answer):
                added["footnote.state"] = event.state.value
            if isinstance(event, Stage) and event.name == "generate" and is_writing is event.done:
                is_writing = not event.done
                if is_writing:
                    writing.enter_context(open_span("generate"))
                else:
                    writing.close()
            yield event
