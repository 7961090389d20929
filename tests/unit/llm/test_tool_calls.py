"""Calls of tools: how they are put together from a stream, found in a text, and checked."""

from __future__ import annotations

import pytest

from rag_core.llm.tool_calls import (
    CallPiece,
    Tool,
    ToolArgumentError,
    ToolCall,
    build_call_message,
    build_call_schema,
    build_result_message,
    find_written_call,
    join_call_pieces,
    parse_arguments,
    write_as_text,
)

LOOK_UP = Tool("look_up", "Look up values.", {"row": "The row.", "page": "The page.", "passages": "Numbers."}, ("row",))


def call(arguments: str) -> ToolCall:
    return ToolCall("call_1", "look_up", arguments)


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        (
            [(0, "a", "search", '{"que'), (1, "b", "finish", ""), (0, "", "", 'ry": 1}'), (1, "b", "", "{}")],
            [("a", "search", '{"query": 1}'), ("b", "finish", "{}")],
        ),
        ([(0, "a", "search", "{}"), (0, "b", "finish", "{}")], [("a", "search", "{}"), ("b", "finish", "{}")]),
        ([(0, "", "search", "{}"), (1, "", "", "{}")], [("call_1", "search", "{}")]),
    ],
    ids=["by their index", "another id at the same index", "without id or name"],
)
def test_pieces_of_calls_are_joined(pieces: list[tuple[int, str, str, str]], calls: list[tuple[str, str, str]]) -> None:
    assert join_call_pieces([CallPiece(*one) for one in pieces]) == tuple(ToolCall(*one) for one in calls)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('```json\n{"name": "look_up", "arguments": {"row": "Net sales"}}\n```', '{"row": "Net sales"}'),
        ('I call {"name": "look_up", "parameters": {"row": "x"}} now.', '{"row": "x"}'),
        ('For {this}, {"row": 1}: {"name": "look_up", "arguments": {"row": "x"}}', '{"row": "x"}'),
    ],
)
def test_call_written_as_text_is_found(text: str, arguments: str) -> None:
    assert find_written_call(text, [LOOK_UP]) == (call(arguments),)


@pytest.mark.parametrize(
    "text", ["", "Net sales were 5.", '{"name": "delete_all", "arguments": {}}', '{"name": "look_up"}', "{" * 5000]
)
def test_other_text_is_no_call(text: str) -> None:
    assert find_written_call(text, [LOOK_UP]) == ()


def test_arguments_are_parsed_and_unknown_ones_ignored() -> None:
    given = '{"row": "  Net \\n sales ", "page": 57, "passages": [1, 2], "path": "/etc/passwd"}'
    assert parse_arguments(call(given), LOOK_UP) == {"row": "Net sales", "page": "57", "passages": [1, 2]}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ('{"row": "Net sa', "not a JSON object"),
        ('["row"]', "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("", "needs a value for row"),
        ('{"row": ""}', "needs a value for row"),
        ('{"row": {"a": 1}}', "row of look_up must be a text"),
        ('{"row": true}', "row of look_up must be a text"),
        ('{"row": "x", "passages": ["1"]}', "must be a list of whole numbers"),
        ('{"row": "' + "x" * 301 + '"}', "longer than 300 characters"),
    ],
)
def test_wrong_arguments_are_explained(arguments: str, problem: str) -> None:
    with pytest.raises(ToolArgumentError, match=problem):
        parse_arguments(call(arguments), LOOK_UP)


def test_schema_describes_the_parameters() -> None:
    schema = LOOK_UP.schema
    assert schema["required"] == ["row"]
    assert schema["properties"]["row"] == {"type": "string", "description": "The row."}
    assert schema["properties"]["passages"]["items"] == {"type": "integer"}
    assert build_call_schema([LOOK_UP])["anyOf"][0]["properties"] == {"name": {"const": "look_up"}, "arguments": schema}


def test_conversation_is_written_as_text() -> None:
    messages = [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Question"},
        build_call_message("", [call('{"row": "Net sales"}')]),
        build_result_message(call(""), "c1 = 5"),
    ]
    system, *others = write_as_text(messages, [LOOK_UP])
    assert system["content"].startswith("Rules.")
    assert "- look_up(row: The row, page: optional, The page, " in system["content"]
    assert others == [
        {"role": "user", "content": "Question"},
        {"role": "assistant", "content": '{"name": "look_up", "arguments": {"row": "Net sales"}}'},
        {"role": "user", "content": "Result:\nc1 = 5"},
    ]
