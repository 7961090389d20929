"""Endpoints that back up, export and import the library, for callers who may manage all collections."""

from __future__ import annotations

import io

from starlette.responses import Response

from rag_core.api import json_rows
from rag_core.api.access import require_all_collections
from rag_core.api.calls import Body, Call, Download, Endpoint, build_json_response
from rag_core.store.backups import check_database_is_local, stream_backup


class ImportForm(Body):
    """The form of an import; its field `file` is the export."""


def _send_backup(call: Call) -> Response:
    require_all_collections(call.caller, "A backup needs")
    check_database_is_local(call.engine.settings)
    return Download(stream_backup(call.engine.settings), call.stopping, "footnote-backup.zip")


def _send_export(call: Call) -> Response:
    require_all_collections(call.caller, "An export needs")
    return Download(call.engine.transfers.export_library(), call.stopping, "footnote-export.zip")


def _import(call: Call) -> Response:
    require_all_collections(call.caller, "An import needs")
    assert call.file is not None
    imported = call.engine.transfers.import_library(io.BytesIO(call.file[1]))
    return build_json_response(json_rows.build_import_row(imported), 202)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/backup",
        "manage",
        "Download a backup of the whole library, for the command restore",
        _send_backup,
        media_types=("application/zip",),
    ),
    Endpoint(
        "GET",
        "/export",
        "manage",
        "Download the documents, conversations and settings as one file",
        _send_export,
        media_types=("application/zip",),
    ),
    Endpoint(
        "POST",
        "/import",
        "manage",
        "Add the content of an export; the reply has the jobs that index its documents",
        _import,
        "ImportRow",
        body=ImportForm,
        takes_file=True,
    ),
)
