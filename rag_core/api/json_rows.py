"""Build the JSON objects that commands print and the API returns; the keys of the objects are a public interface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rag_core.indexing.transfers import Import
from rag_core.llm.model_catalogue import CatalogueModel
from rag_core.llm.model_download import build_model_path, is_downloaded
from rag_core.runtime.model_downloads import build_offer
from rag_core.types.access import AccessToken
from rag_core.types.answers import Answer, AnswerState, Citation, strip_markers
from rag_core.types.checks import CheckedStatement
from rag_core.types.conversations import Conversation, Message
from rag_core.types.documents import DeleteReceipt, DocumentInfo, DocumentStatus, OutlineEntry, Page
from rag_core.types.evaluation import Comparison, ContextValue, Label, MethodRow, Metric, ThresholdAdvice
from rag_core.types.figures import FigureDescription
from rag_core.types.jobs import Job, JobState, SyncResult
from rag_core.types.judgements import JudgeReport
from rag_core.types.learning import Training
from rag_core.types.local_time import to_local_time
from rag_core.types.retrieval import Passage, SearchResult
from rag_core.types.snapshots import Snapshot
from rag_core.types.status import ModelCheck
from rag_core.types.tables import Table, TableCell


def build_addition_row(shown: str, job: Job, document: DocumentInfo | None) -> dict[str, Any]:
    """Return the row that ``add`` prints for a file."""
    # If the file could not be indexed, ``document`` is an earlier version with the counts of another file.
    version_id = job.details.get("version_id")
    if document is not None and version_id not in (None, document.version_id):
        document = None
    status = job.result or DocumentStatus.FAILED
    return _build_addition(shown, job.document_id, status, document, job.reason, job.seconds)


def build_refusal_row(shown: str, reason: str) -> dict[str, Any]:
    """Return the row that ``add`` prints for a file that could not be read."""
    return _build_addition(shown, None, DocumentStatus.REJECTED, None, reason, 0.0)


def _build_addition(
    shown: str,
    document_id: str | None,
    status: DocumentStatus,
    document: DocumentInfo | None,
    reason: str,
    seconds: float,
) -> dict[str, Any]:
    counts = ("pages", "chunks", "pages_text", "pages_ocr", "pages_empty", "pages_failed")
    return {
        "file": shown,
        "document_id": document_id,
        "status": status.value,
        **(pick(document, *counts) if document else dict.fromkeys(counts, 0)),
        "reason": reason,
        "seconds": round(seconds, 3),
    }


def build_document_row(document: DocumentInfo, name: str = "") -> dict[str, Any]:
    """Return the row that ``list`` prints for a document, or for its alias ``name``."""
    is_alias = name not in ("", document.name)
    reason = [f"The same file as {document.name}.", document.reason] if is_alias else [document.reason]
    return {
        "document_id": document.document_id,
        "document": name or document.name,
        **pick(document, "collection", "pages", "chunks", "size"),
        "status": document.status.value,
        "reason": " ".join(filter(None, reason)),
        "added_at": document.added_at.isoformat(),
        "embedder": document.embedder,
    }


def build_document_rows(document: DocumentInfo) -> list[dict[str, Any]]:
    """Return the rows that ``list`` prints for a document: one for each of its names."""
    return [build_document_row(document, name) for name in (document.name, *document.aliases)]


def build_job_row(job: Job, document: DocumentInfo | None) -> dict[str, Any]:
    """Return the row of a job; for an ended job of a file, ``addition`` is the row that ``add`` prints for the file."""
    has_ended = job.state not in (JobState.QUEUED, JobState.RUNNING)
    return {
        **pick(job, "job_id", "kind", "name", "document_id"),
        "state": job.state.value,
        **pick(job, "stage", "done", "total", "reason", "remaining_s"),
        "seconds": round(job.seconds, 3),
        "continues": job.details.get("continues"),
        "attached": {name: job_id for job_id, name in job.details.get("attached", {}).items()},
        "addition": build_addition_row(job.name, job, document) if has_ended and job.kind == "index" else None,
    }


def build_conversation_row(conversation: Conversation) -> dict[str, Any]:
    """Return the row of a conversation."""
    row = pick(conversation, "conversation_id", "title", "created_at", "updated_at", "pinned")
    times = {name: row[name].isoformat() for name in ("created_at", "updated_at")}
    return {**row, **times, "tags": list(conversation.tags)}


def build_message_row(message: Message, answer: dict[str, Any] | None) -> dict[str, Any]:
    """Return the row of a message of a conversation, with the row of its answer."""
    return {
        **pick(message, "message_id", "role", "text"),
        "created_at": message.created_at.isoformat(),
        "answer": answer,
    }


def build_token_row(token: AccessToken) -> dict[str, Any]:
    """Return the row that ``token list`` prints for a token."""
    return {
        **pick(token, "token_id", "name"),
        "rights": list(token.caller.rights),
        "collections": list(token.caller.collections),
        "created_at": token.created_at.isoformat(),
        "used_at": token.used_at.isoformat() if token.used_at else None,
    }


def build_page_row(document: str, found: Page, descriptions: Sequence[FigureDescription] = ()) -> dict[str, Any]:
    """Return the row that ``pages`` prints for a page.

    ``descriptions`` are what a model wrote about the figures of the page, and not text of the page.
    """
    return {
        "document": document,
        **pick(found, "page_index", "page_label", "text"),
        "state": found.state.value,
        "reason": found.reason,
        "tables": [_build_table_row(table, found) for table in found.tables],
        "descriptions": _list_descriptions(descriptions),
    }


def build_outline_row(document: str, entry: OutlineEntry) -> dict[str, Any]:
    """Return the row that ``outline`` prints for a section."""
    return {"document": document, **pick(entry, "level", "title", "page_index", "page_label", "page_index_end")}


def _build_table_row(table: Table, found: Page) -> dict[str, Any]:
    """Return the row of a table, with one text and one box for each place in its grid of rows and columns.

    A cell over several columns or rows is repeated in each of them. A box is ``[x0, y0, x1, y1]`` in fractions of the
    page. It is ``None`` for an empty cell, for a header that only an earlier page contains, and for the repetition of a
    cell over several rows.
    """
    return {
        "rows": table.to_grid(),
        "header_rows": table.header_rows,
        "unit": table.unit,
        "title": " ".join(table.caption),
        "sections": [list(row.section) for row in table.rows],
        "first_page": found.page_index if table.first_page is None else table.first_page,
        "boxes": [
            [_find_cell_box(row.cell(column), found) for column in range(len(table.columns))] for row in table.rows
        ],
    }


def _find_cell_box(cell: TableCell | None, found: Page) -> list[float] | None:
    rects = [rect for span in cell.spans for rect in found.boxes.find_overlapping(*span).tolist()] if cell else []
    if not rects:
        return None
    x0, y0, x1, y1 = zip(*rects, strict=True)
    return [round(place, 4) for place in (min(x0), min(y0), max(x1), max(y1))]


def build_deletion_row(receipt: DeleteReceipt) -> dict[str, Any]:
    """Return the row that ``delete`` prints for a document."""
    names = ("document_id", "document", "chunks_removed", "chunks_remaining", "kept_as")
    return {**pick(receipt, *names), "remaining": dict(receipt.remaining)}


def build_search_row(result: SearchResult | Answer, question_id: str | None) -> dict[str, Any]:
    """Return the row that ``search`` prints for a question."""
    return {
        "id": question_id,
        "question": result.question,
        "passages": [_build_passage_row(passage) for passage in result.passages],
        "gate": asdict(result.gate),
        "timings_ms": {name: round(value, 3) for name, value in result.timings_ms.items()},
        "notices": list(result.notices),
        "steps": list(result.steps),
        "usage": asdict(result.usage),
        "as_of": result.as_of,
    }


def build_answer_row(answer: Answer, question_id: str | None) -> dict[str, Any]:
    """Return the row that ``ask`` prints for a question; a refusal has no citations, not even of the closest text."""
    is_refusal = answer.state is AnswerState.ABSTAINED
    return {
        **build_search_row(answer, question_id),
        "state": answer.state.value,
        "text": strip_markers(answer.text) if is_refusal else answer.text,
        "short": answer.short or None,
        "citations": [] if is_refusal else [_build_citation_row(citation) for citation in answer.citations],
        "more": [_build_citation_row(citation) for citation in answer.more],
        "statements": [
            {"text": answer.text[one.start : one.end], **pick(one, "supported", "reason", "mark", "mark_text")}
            for one in answer.statements
        ],
        "generator": answer.generator,
        "strategy": answer.strategy,
    }


def build_check_row(checked: CheckedStatement, statement_id: str, *, with_place: bool) -> dict[str, Any]:
    """Return the row that ``check`` prints for a statement; if not ``with_place``, the citation is the quote alone."""
    cited = checked.citation and (
        _build_citation_row(checked.citation) if with_place else {"quote": checked.citation.quote}
    )
    return {"id": statement_id, **pick(checked, "statement", "verdict", "reason"), "citation": cited}


def build_snapshot_row(one: Snapshot) -> dict[str, Any]:
    """Return the row that ``snapshot`` prints for a snapshot."""
    row = asdict(one)
    return {**row, "as_of": to_local_time(one.as_of).date().isoformat(), "created_at": one.created_at.isoformat()}


def build_import_row(imported: Import) -> dict[str, Any]:
    """Return the row of an import."""
    return {
        "documents": [asdict(one) for one in imported.documents],
        "conversations": imported.conversations,
        "settings": list(imported.settings),
    }


def build_sync_row(sync: SyncResult, ended: Sequence[Job]) -> dict[str, Any]:
    """Return the row that ``watch`` prints for one check of a folder, with the files that could not be indexed."""
    row = asdict(sync)
    row.pop("job_ids")
    bad = (DocumentStatus.FAILED, DocumentStatus.REJECTED)
    refused = [
        {"file": job.name, "status": job.result.value, "reason": job.reason} for job in ended if job.result in bad
    ]
    return {**row, "refused": refused}


def build_metric_row(metric: Metric, configuration: str, pseudo_questions: int = 0) -> dict[str, Any]:
    """Return the row that ``evaluate`` prints for a metric, with the number of pseudo-questions if there are any."""
    interval = asdict(metric.interval)
    first = {"metric": metric.metric, "value": interval.pop("value"), "n": metric.n}
    return {**first, **interval, "configuration": configuration, **_count_pseudo_questions(pseudo_questions)}


def _count_pseudo_questions(number: int) -> dict[str, int]:
    return {"pseudo_questions": number} if number else {}


def build_context_row(found: ContextValue, configuration: str, pseudo_questions: int = 0) -> dict[str, Any]:
    """Return the row that ``evaluate`` prints for the median tokens of the pages in the prompt of a capable model."""
    name = f"median_context_tokens@{found.budget}"
    row = {"metric": name, "value": found.median_tokens, "n": found.share.n, "configuration": configuration}
    return {**row, **_count_pseudo_questions(pseudo_questions)}


def build_advice_row(threshold_advice: ThresholdAdvice, configuration: str) -> dict[str, Any]:
    """Return the row that ``evaluate`` prints for the advised threshold; ``n`` counts unanswerable questions."""
    row = asdict(threshold_advice)
    first = {"metric": "advised_threshold", "value": row.pop("threshold"), "n": row.pop("unanswerable")}
    return {**first, **row, "configuration": configuration}


def build_judge_rows(report: JudgeReport, configuration: str) -> Iterator[dict[str, Any]]:
    """Yield the rows that ``evaluate`` prints for a judge: kappa with each other rater, missing verdicts, and usage.

    The ``value`` of an undefined kappa is ``None``.
    """
    for one in report.agreements:
        counts = {name: value for name, value in asdict(one).items() if name != "raters"}
        row = {"metric": f"kappa, {one.raters}", "value": one.kappa, "n": one.n, "agreement": one.share}
        yield {**row, **counts, "configuration": configuration}
    for metric, count in report.not_judged.items():
        yield {"metric": f"{metric} not judged", "value": count, "n": report.answers, "configuration": configuration}
    usage = asdict(report.usage)
    calls = {"metric": "judge calls", "value": usage.pop("calls"), "n": report.answers}
    more = {"seconds": report.seconds, "judge": report.judge, "self_judged": bool(report.warning)}
    yield {**calls, **usage, **more, "configuration": configuration}


def build_comparison_row(difference: Comparison, configurations: str) -> dict[str, Any]:
    """Return the row that ``evaluate`` prints for the difference in a metric."""
    row = build_metric_row(
        Metric(f"{difference.metric} difference", difference.difference, difference.n), configurations
    )
    return {**row, "p_value": difference.p_value}


def build_method_rows(row: MethodRow, reference: str, pseudo_questions: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the rows that ``evaluate --table`` prints for a method: metrics, costs, and differences from a reference.

    Costs that were not measured are left out.
    """
    for one in row.metrics.values():
        yield build_metric_row(one, row.configuration, pseudo_questions)
    costs = {"median_ms": row.median_ms, "p95_ms": row.p95_ms, "index_bytes": row.index_bytes}
    for name, value in costs.items():
        if value is not None:
            yield {"metric": name, "value": value, "n": row.questions, "configuration": row.configuration}
    for difference in row.differences.values():
        yield build_comparison_row(difference, f"{row.configuration} minus {reference}")


def build_training_metric_rows(trained: Training) -> list[dict[str, Any]]:
    """Return a row of ``train`` for each held-out metric; ``low`` and ``high`` are the interval of the difference."""
    return [
        {
            **pick(one, "stage", "metric", "p_value", "n"),
            "before": one.before.value,
            "after": one.after.value,
            "difference": one.difference.value,
            "low": one.difference.low,
            "high": one.difference.high,
        }
        for one in trained.figures
    ]


def build_training_row(trained: Training) -> dict[str, Any]:
    """Return the last row of ``train``, which says whether the adapter is used, and if not, why."""
    row = asdict(trained)
    del row["figures"], row["created_at"]
    return row


def build_pseudo_question_row(label: Label) -> dict[str, Any]:
    """Return the row that ``pseudo-questions`` prints for a question, in the format of label files."""
    return {
        "id": label.label_id,
        "question": label.question,
        "answers": list(label.answers),
        "evidence": [pick(one, "document", "page_index") for one in label.evidence],
        "pseudo": label.is_pseudo,
    }


def build_catalogue_row(model: CatalogueModel, folder: Path, used: str) -> dict[str, Any]:
    """Return the row that ``model list`` prints for a model; see `build_offer` for ``folder`` and ``used``."""
    offer = build_offer(model, folder, used)
    return {
        **pick(model, "name", "memory_bytes", "licence", "capability", "url", "sha256"),
        "file": str(build_model_path(model, folder)),
        "downloaded": is_downloaded(model, folder),
        **pick(offer, "in_use", "downloaded_bytes"),
        "bytes": offer.size_bytes,
        "fits": not offer.problem,
        "reason": offer.problem,
    }


def build_model_check_row(check: ModelCheck) -> dict[str, Any]:
    """Return the row that ``model test`` prints for a check.

    ``passed`` is null if the check is inconclusive. ``capability`` is null unless the check tests the capability.
    """
    return {"check": check.name, "passed": check.passed, "reason": check.words, "capability": check.capability}


def _build_passage_row(passage: Passage) -> dict[str, Any]:
    names = ("rank", "document", "document_id", "page_index", "page_label", "chunk_id", "text")
    row = {**pick(passage, *names), "scores": dict(passage.scores)}
    if passage.page_index_end != passage.page_index:
        row["page_index_end"] = passage.page_index_end
    if passage.duplicates:
        row["duplicates"] = [pick(one, "document", "page_label") for one in passage.duplicates]
    if passage.hidden:
        row["hidden_on_page"] = passage.hidden
    if passage.descriptions:
        row["descriptions"] = _list_descriptions(passage.descriptions)
    return row


def _list_descriptions(found: Sequence[FigureDescription]) -> list[dict[str, Any]]:
    """Return descriptions of figures, with the spans of the captions in the text of the page."""
    return [pick(one, "start", "end", "text", "model") for one in found]


def _build_citation_row(citation: Citation) -> dict[str, Any]:
    row = pick(citation, "marker", "passage_rank", "document", "page_index", "page_label", "quote", "added")
    return {**row, "cells": citation.cells} if citation.cells else row


def pick(source: object, *names: str) -> dict[str, Any]:
    """Return the named attributes of a value, by name."""
    return {name: getattr(source, name) for name in names}
