"""Convert values to the JSON objects that the commands print; their keys are a public contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rag_core.types import (
    Answer,
    Citation,
    Comparison,
    DeleteReceipt,
    DocumentInfo,
    DocumentStatus,
    Job,
    Metric,
    Page,
    Passage,
    SearchResult,
    Status,
    SyncResult,
    ThresholdAdvice,
    WatchedFolder,
)


def added(shown: str, job: Job, document: DocumentInfo | None) -> dict[str, Any]:
    """Return the row of a file for ``add``."""
    # If the new version failed, the document still has an earlier one, whose counts are not the file's.
    version_id = job.details.get("version_id")
    if document is not None and version_id not in (None, document.version_id):
        document = None
    counts = ("pages", "chunks", "pages_text", "pages_ocr", "pages_empty", "pages_failed")
    return {
        "file": shown,
        "document_id": job.document_id,
        "status": (job.result or DocumentStatus.FAILED).value,
        **{name: getattr(document, name) if document else 0 for name in counts},
        "reason": job.reason,
        "seconds": round(job.seconds, 3),
    }


def refused(shown: str, reason: str) -> dict[str, Any]:
    """Return the row of a file that could not be read, for ``add``."""
    zeros = dict.fromkeys(("pages", "chunks", "pages_text", "pages_ocr", "pages_empty", "pages_failed"), 0)
    return {
        "file": shown,
        "document_id": None,
        "status": DocumentStatus.REJECTED.value,
        **zeros,
        "reason": reason,
        "seconds": 0.0,
    }


def listed(document: DocumentInfo) -> dict[str, Any]:
    """Return the row of a document for ``list``."""
    return {
        "document_id": document.document_id,
        "document": document.name,
        "collection": document.collection,
        "pages": document.pages,
        "chunks": document.chunks,
        "size": document.size,
        "status": document.status.value,
        "reason": document.reason,
        "added_at": document.added_at.isoformat(),
        "embedder": document.embedder,
    }


def page(document: str, found: Page) -> dict[str, Any]:
    """The line of one page of ``pages``; ``tables`` is empty, because the cells of tables are not stored."""
    return {
        "document": document,
        "page_index": found.page_index,
        "page_label": found.page_label,
        "text": found.text,
        "state": found.state.value,
        "reason": found.reason,
        "tables": [],
    }


def deleted(receipt: DeleteReceipt) -> dict[str, Any]:
    """Return the row of a document for ``delete``."""
    return {
        "document_id": receipt.document_id,
        "document": receipt.document,
        "chunks_removed": receipt.chunks_removed,
        "chunks_remaining": receipt.chunks_remaining,
        "remaining": dict(receipt.remaining),
    }


def searched(result: SearchResult | Answer, question_id: str | None) -> dict[str, Any]:
    """Return the row of a question for ``search``."""
    return {
        "id": question_id,
        "question": result.question,
        "passages": [_passage(passage) for passage in result.passages],
        "gate": asdict(result.gate),
        "timings_ms": {name: round(value, 3) for name, value in result.timings_ms.items()},
        "notices": list(result.notices),
        "steps": list(result.steps),
        "usage": asdict(result.usage),
    }


def answered(answer: Answer, question_id: str | None) -> dict[str, Any]:
    """Return the row of a question for ``ask``."""
    return {
        **searched(answer, question_id),
        "state": answer.state.value,
        "text": answer.text,
        "short": answer.short,
        "citations": [_citation(citation) for citation in answer.citations],
        "statements": [
            {
                "text": answer.text[one.start : one.end],
                "supported": one.supported,
                "reason": one.reason,
                "mark": one.mark,
                "mark_text": one.mark_text,
            }
            for one in answer.statements
        ],
        "generator": answer.generator,
        "strategy": answer.strategy,
    }


def watched(watch: WatchedFolder) -> dict[str, Any]:
    """Return the row of a folder for ``watch``."""
    return asdict(watch)


def synced(sync: SyncResult, ended: Sequence[Job]) -> dict[str, Any]:
    """Return the row of one check of a folder, with the files that its jobs could not index."""
    row = asdict(sync)
    row.pop("job_ids")
    bad = (DocumentStatus.FAILED, DocumentStatus.REJECTED)
    refused = [
        {"file": job.name, "status": job.result.value, "reason": job.reason} for job in ended if job.result in bad
    ]
    return {**row, "refused": refused}


def figure(metric: Metric, configuration: str) -> dict[str, Any]:
    """Return the row of a metric for ``evaluate``."""
    value = asdict(metric.interval)
    return {
        "metric": metric.metric,
        "value": value.pop("value"),
        "n": metric.n,
        **value,
        "configuration": configuration,
    }


def advice(threshold_advice: ThresholdAdvice, configuration: str) -> dict[str, Any]:
    """Return the row of the advised threshold; ``n`` is the number of unanswerable questions."""
    row = asdict(threshold_advice)
    first = {"metric": "advised_threshold", "value": row.pop("threshold"), "n": row.pop("unanswerable")}
    return {**first, **row, "configuration": configuration}


def comparison(difference: Comparison, configurations: str) -> dict[str, Any]:
    """Return the row of the difference in a metric."""
    row = figure(Metric(f"{difference.metric} difference", difference.difference, difference.n), configurations)
    return {**row, "p_value": difference.p_value}


def status(current: Status) -> dict[str, Any]:
    """Return the object for ``status``."""
    return asdict(current)


def _passage(passage: Passage) -> dict[str, Any]:
    row: dict[str, Any] = {
        "rank": passage.rank,
        "document": passage.document,
        "document_id": passage.document_id,
        "page_index": passage.page_index,
        "page_label": passage.page_label,
        "chunk_id": passage.chunk_id,
        "text": passage.text,
        "scores": dict(passage.scores),
    }
    if passage.page_index_end != passage.page_index:
        row["page_index_end"] = passage.page_index_end
    if passage.duplicates:
        row["duplicates"] = [{"document": one.document, "page_label": one.page_label} for one in passage.duplicates]
    if passage.hidden:
        row["hidden_on_page"] = passage.hidden
    return row


def _citation(citation: Citation) -> dict[str, Any]:
    names = ("marker", "passage_rank", "document", "page_index", "page_label", "quote", "added")
    return {name: getattr(citation, name) for name in names}
