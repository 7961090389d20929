"""Tools that a language model can call: their description, the calls in its replies, and the results.

Conversations with tools are lists of messages of the Chat Completions API. `rag_core.llm.openai_apis` converts them for
the Responses API. A model whose endpoint has no tools gets the same conversation as text, and writes each call in JSON.
The arguments of calls are untrusted, so `parse_arguments` checks them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_core.llm.json_replies import build_object_schema, find_objects

# Most characters of a text in the arguments of a call, and most numbers of a list, which only the JSON schema limits.
_LONGEST_ARGUMENT = 300
_MAX_ITEMS = 10
_TEXT_RULES = """\
The tools:
{tools}
Reply with one call in JSON and nothing else: {{"name": "…", "arguments": {{…}}}}. You then get its result."""


class ToolArgumentError(ValueError):
    """The arguments of a call cannot be used. The message is for the model, which can call the tool again."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model can call.

    Attributes
    ----------
    name, description : str
    parameters : mapping of str to str
        The meaning of each parameter by its name. Arguments are texts, or lists of whole numbers if the name of the
        parameter ends in "s".
    required : tuple of str
        The names of the parameters without which the tool cannot run.
    """

    name: str
    description: str
    parameters: Mapping[str, str]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        described = {
            name: {**_build_parameter_schema(name), "description": meaning} for name, meaning in self.parameters.items()
        }
        return build_object_schema(described, self.required)

    def describe(self, parameter: str) -> str:
        """Return the name and the meaning of a parameter in words."""
        optional = "" if parameter in self.required else "optional, "
        return f"{parameter}: {optional}{self.parameters[parameter].rstrip('.')}"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; ``arguments`` is the JSON text that the model wrote."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a call in a stream; ``index`` is the position of the call in the reply."""

    index: int
    call_id: str
    name: str
    arguments: str


def join_call_pieces(pieces: Sequence[CallPiece]) -> tuple[ToolCall, ...]:
    """Join the pieces of calls in a stream to whole calls; calls without a name are left out.

    A piece with another id at the same index begins another call, because some servers give all calls the same index.
    Calls without an id get one.
    """
    calls: list[ToolCall] = []
    indexes: list[int] = []
    for piece in pieces:
        position = next((at for at in reversed(range(len(calls))) if indexes[at] == piece.index), None)
        if position is None or (piece.call_id and calls[position].call_id not in ("", piece.call_id)):
            calls.append(ToolCall(piece.call_id, piece.name, piece.arguments))
            indexes.append(piece.index)
        else:
            begun = calls[position]
            calls[position] = ToolCall(
                begun.call_id or piece.call_id, begun.name + piece.name, begun.arguments + piece.arguments
            )
    return tuple(
        ToolCall(one.call_id or f"call_{number}", one.name, one.arguments)
        for number, one in enumerate(calls, 1)
        if one.name
    )


def find_written_call(text: str, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """Return the first call of a tool that a text contains as JSON, in a tuple; empty if the text contains none.

    >>> find_written_call('{"name": "finish", "arguments": {}}', [Tool("finish", "", {})])
    (ToolCall(call_id='call_1', name='finish', arguments='{}'),)
    """
    for written in find_objects(text):
        arguments = written.get("arguments", written.get("parameters"))
        if written.get("name") in [tool.name for tool in tools] and isinstance(arguments, dict):
            return (ToolCall("call_1", written["name"], json.dumps(arguments)),)
    return ()


def write_as_text(messages: Sequence[dict[str, Any]], tools: Sequence[Tool]) -> list[dict[str, str]]:
    """Return a conversation without tools: system messages describe them, and calls and results become plain text.

    If a message has several calls, only the first one is kept.
    """
    described = "\n".join(
        f"- {one.name}({', '.join(map(one.describe, one.parameters))}): {one.description}" for one in tools
    )
    written: list[dict[str, str]] = []
    for message in messages:
        role, text = message["role"], message["content"]
        if role == "system":
            text = f"{text}\n\n{_TEXT_RULES.format(tools=described)}"
        for call in message.get("tool_calls", ())[:1]:
            text = f'{{"name": "{call["function"]["name"]}", "arguments": {call["function"]["arguments"]}}}'
        if role == "tool":
            role, text = "user", f"Result:\n{text}"
        written.append({"role": role, "content": text})
    return written


def build_call_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """Return the JSON schema of a call that is written as text."""
    return {"anyOf": [build_object_schema({"name": {"const": tool.name}, "arguments": tool.schema}) for tool in tools]}


def parse_arguments(call: ToolCall, tool: Tool) -> dict[str, Any]:
    """Return the arguments of a call; ignore arguments for which the tool has no parameter.

    Raises
    ------
    ToolArgumentError
        The arguments are not a JSON object, a required one is missing or empty, or one has a wrong type.
    """
    try:
        given = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise ToolArgumentError(f"The arguments of {tool.name} are not a JSON object.")
    arguments: dict[str, Any] = {}
    for name in tool.parameters:
        value = given.get(name)
        if value is None or value == "":
            continue
        arguments[name] = (
            _parse_numbers(tool, name, value) if _is_list_parameter(name) else _parse_text(tool, name, value)
        )
    if missing := [name for name in tool.required if name not in arguments]:
        raise ToolArgumentError(f"The request needs a value for {', '.join(missing)}.")
    return arguments


def build_call_message(text: str, calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return the message of the model that contains its calls."""
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {"id": one.call_id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in calls
        ],
    }


def build_result_message(call: ToolCall, text: str) -> dict[str, Any]:
    """Return the message with the result of a call."""
    return {"role": "tool", "tool_call_id": call.call_id, "content": text}


def _is_list_parameter(name: str) -> bool:
    return name.endswith("s")


def _build_parameter_schema(name: str) -> dict[str, Any]:
    return (
        {"type": "array", "items": {"type": "integer"}, "maxItems": _MAX_ITEMS}
        if _is_list_parameter(name)
        else {"type": "string"}
    )


def _parse_text(tool: Tool, name: str, value: object) -> str:
    # Models often write a page or a value as a number.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ToolArgumentError(f"{name} of {tool.name} must be a text.")
    text = " ".join(str(value).split())
    if len(text) > _LONGEST_ARGUMENT:
        raise ToolArgumentError(f"{name} of {tool.name} is longer than {_LONGEST_ARGUMENT} characters.")
    return text


def _parse_numbers(tool: Tool, name: str, value: object) -> list[int]:
    if not isinstance(value, list) or not all(type(one) is int for one in value):
        raise ToolArgumentError(f"{name} of {tool.name} must be a list of whole numbers.")
    return value
