"""Describe the API in the OpenAPI format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from rag_core.api import rows
from rag_core.api.calls import Endpoint
from rag_core.api.problems import PROBLEM_TYPE

_REFERENCE = "#/components/schemas/{model}"
_FILES = ("image/png", "application/zip")
_FILE = {"type": "string", "format": "binary"}


def describe_api(endpoints: Sequence[Endpoint], base: str) -> dict[str, Any]:
    """Return the OpenAPI document of the endpoints below the path ``base``."""
    models = [getattr(rows, one.row) for one in endpoints if one.row] + [rows.ProblemRow]
    bodies = [one.body for one in endpoints if one.body is not None]
    modes: list[tuple[type[BaseModel], JsonSchemaMode]] = [(model, "serialization") for model in models]
    modes += [(body, "validation") for body in bodies]
    components = models_json_schema(modes, ref_template=_REFERENCE)[1]["$defs"]
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        row = {"$ref": _REFERENCE.format(model=one.row)} if one.row else {"type": "object"}
        path = re.sub(r":\w+}", "}", one.path)
        paths.setdefault(path, {})[one.method.lower()] = _describe_endpoint(one, path, row, components)
    problem = {
        "description": "The request was not answered.",
        "content": {PROBLEM_TYPE: {"schema": {"$ref": _REFERENCE.format(model="ProblemRow")}}},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Footnote",
            "version": "1",
            "description": "Answers from your documents, with the page behind each sentence. "
            "Requests from this computer need no token.",
        },
        "servers": [{"url": base}],
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {"Problem": problem},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _describe_endpoint(one: Endpoint, path: str, row: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    kinds = dict(re.findall(r"{(\w+):(\w+)}", one.path))
    parameters: list[dict[str, Any]] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if kinds.get(name) == "int" else "string"},
        }
        for name in re.findall(r"{(\w+)}", path)
    ]
    query = one.query.model_json_schema()
    for name, schema in query.get("properties", {}).items():
        parameters.append({"name": name, "in": "query", "required": False, "schema": schema})
    if one.takes_file:
        parameters.append({"name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string"}})
    content = {
        kind: {"schema": row if kind == "application/json" else _FILE if kind in _FILES else {"type": "string"}}
        for kind in one.media_types
    }
    status = "202" if one.takes_file else "200"
    described: dict[str, Any] = {
        "summary": one.summary,
        "description": f"Needs the right “{one.right}”.",
        "operationId": one.run.__name__.strip("_"),
        "parameters": parameters,
        "responses": {
            status: {"description": one.summary, "content": content},
            "default": {"$ref": "#/components/responses/Problem"},
        },
    }
    if one.body is not None:
        sent: dict[str, Any] = {"$ref": _REFERENCE.format(model=one.body.__name__)}
        kind = "application/json"
        if one.takes_file:
            form = components[one.body.__name__]
            properties = {"file": _FILE, **form["properties"]}
            sent, kind = {**form, "properties": properties, "required": ["file"]}, "multipart/form-data"
        described["requestBody"] = {"required": True, "content": {kind: {"schema": sent}}}
    return described
