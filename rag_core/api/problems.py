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
# The errors of each HTTP status. An error has the first status whose classes it belongs to, so base classes come after
# their derived classes.
_ERRORS: dict[int, tuple[type[errors.RagError], ...]] = {
    404: (errors.UnknownDocument, errors.UnknownConversation, errors.UnknownModel),
    422: (
        *(errors.TokenError, errors.DocumentError, errors.CollectionError, errors.SnapshotError),
        *(errors.QuestionError, errors.BackupError, errors.SettingsError),
    ),
    507: (errors.DataFolderUnwritable,),
    503: (errors.GeneratorRateLimited,),
    504: (errors.GeneratorTimeout,),
    502: (errors.GeneratorError,),
}
# The status of all errors of Footnote that `_ERRORS` does not contain.
UNAVAILABLE = 503


def find_status(error: Exception) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, errors.RequestError):
        return error.status
    if isinstance(error, ValidationError):
        return 422
    if isinstance(error, errors.RagError):
        return next((status for status, kinds in _ERRORS.items() if isinstance(error, kinds)), UNAVAILABLE)
    return 500


def build_problem(error: Exception) -> dict[str, Any]:
    """Return the problem details of an error. An unexpected error is logged, and the details contain only its type."""
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
