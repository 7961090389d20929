"""Errors as problem details (RFC 9457), with the message that a page would show."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from rag_core import errors

_log = logging.getLogger(__name__)
PROBLEM_TYPE = "application/problem+json"
# The id of the request that is being answered, for logs.
request_id: ContextVar[str] = ContextVar("request_id", default="")
# The status of each error; the first class that fits counts, so branches follow their members.
_STATUSES: tuple[tuple[type[errors.RagError], int], ...] = (
    (errors.UnknownDocument, 404),
    (errors.UnknownConversation, 404),
    (errors.UnknownModel, 404),
    (errors.TokenError, 422),
    (errors.DocumentError, 422),
    (errors.CollectionError, 422),
    (errors.SnapshotError, 422),
    (errors.QuestionError, 422),
    (errors.BackupError, 422),
    (errors.SettingsError, 422),
    (errors.DataFolderUnwritable, 507),
    (errors.GeneratorRateLimited, 503),
    (errors.GeneratorTimeout, 504),
    (errors.GeneratorError, 502),
)
UNAVAILABLE = 503


def find_status(error: Exception) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, errors.RequestError):
        return error.status
    if isinstance(error, ValidationError):
        return 422
    if isinstance(error, errors.RagError):
        return next((status for kind, status in _STATUSES if isinstance(error, kind)), UNAVAILABLE)
    return 500


def build_problem(error: Exception) -> dict[str, Any]:
    """Return the problem details of an error; an unexpected error is logged, and its message names its type."""
    status = find_status(error)
    if isinstance(error, ValidationError):
        places = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors(include_url=False)]
        detail = "; ".join(f"{place}: {words}" if place else words for place, words in places)
    elif isinstance(error, errors.RagError):
        detail = str(error)
    else:
        _log.error("Unexpected error in request %s", request_id.get(), exc_info=error)
        detail = f"Something went wrong ({type(error).__name__}). See the log of the app for details."
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": type(error).__name__}
