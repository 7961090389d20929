"""Texts and numbers as the pages show them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.shared.blocks import build_answer_blocks, build_quoted_text
from pages.shared.evidence import list_first_passages
from pages.shared.markdown import parse_markdown
from pages.shared.nodes import build_marked_text
from pages.shared.scores import format_score, format_threshold
from pages.shared.text import (
    escape_markdown,
    format_duration,
    format_interval,
    truncate,
)
from rag_core.types.answer_markup import remove_formatting
from rag_core.types.answers import CLOSEST_PASSAGES, REFUSAL, Answer, AnswerState, Claim
from rag_core.types.evaluation import Interval
from rag_core.types.formatting import format_size
from rag_core.types.retrieval import Gate
from tests.support.app import ALLOWED, kinds, plain_text
from tests.support.passages import passage


@given(st.text())
def test_any_answer_becomes_known_nodes_only(text: str) -> None:
    assert kinds(parse_markdown(text, {1, 2})) <= ALLOWED


@given(st.text(alphabet=st.characters() | st.sampled_from("*|-\n")))
def test_quote_keeps_every_character(text: str) -> None:
    quote = " ".join(text.split())
    shown = plain_text(build_quoted_text(f"{quote} [1]", {1}, [Claim(0, len(quote), True)], [text]))
    assert re.sub(r"\s+", "", shown) == re.sub(r"\s+", "", f"{quote}[1]")


@given(st.text(), st.lists(st.tuples(st.integers(-5, 50), st.integers(-5, 50))))
def test_marks_change_no_character(text: str, spans: list[tuple[int, int]]) -> None:
    assert plain_text(build_marked_text(text, spans)) == text


@pytest.mark.parametrize(
    "text",
    [
        "![x](http://e.example/a.png)",
        "[more](http://e.example)",
        "<img src=x>",
        "$a_b$",
        r"\(x^2\)",
        "&lt;b&gt;",
        "<http://e.example>",
    ],
)
def test_active_markup_is_shown_literally(text: str) -> None:
    assert plain_text(parse_markdown(f"See {text} there.", set())) == f"See {text} there."


def test_only_known_numbers_become_citations() -> None:
    nodes = parse_markdown("As said [1][3] and [x].", {1})[0]["c"]
    assert [node["t"] for node in nodes] == ["text", "cite", "text"]
    assert plain_text(nodes) == "As said [1][3] and [x]."


@pytest.mark.parametrize(
    ("text", "short", "bold"),
    [
        ("$860 million · assets = 860 [1]", "$860 million", "$860 million"),
        ("**$860 million** · assets = 860 [1]", "$860 million", "$860 million"),
        ("Assets 860 million [1]", "$860 million", None),
        ("Assets 860 [1]", "", None),
    ],
)
def test_value_with_which_an_answer_opens_is_bold(text: str, short: str, bold: str | None) -> None:
    answer = Answer(
        "Q?", AnswerState.ANSWERED, text, (), (), Gate("rerank", 1.0, 0.5, True), "extractive", {}, short=short
    )
    first = build_answer_blocks(answer, {1})[0]["c"][0]
    assert (first["c"][0]["s"] if first["t"] == "b" else None) == bold
    assert plain_text(build_answer_blocks(answer, {1})) == remove_formatting(text)


@pytest.mark.parametrize(
    ("text", "bold"),
    [
        ("Assets were $860 million [1]. $860 million is a lot.", ["$860 million"]),
        ("- cash: $860 million [1]\n- debt", ["$860 million"]),
        ("Assets were **$860 million** [1].", ["$860 million"]),
        ("Assets were $861 million [1].", []),
    ],
)
def test_value_is_bold_once_in_the_text_of_a_model(text: str, bold: list[str]) -> None:
    answer = Answer("Q?", AnswerState.ANSWERED, text, (), (), Gate("rerank", 1.0, 0.5, True), "openai:model", {})
    blocks = build_answer_blocks(replace(answer, short="$860 million"), {1})
    assert [plain_text([node]) for node in nodes_of(blocks, "b")] == bold
    assert plain_text(blocks) == plain_text(build_answer_blocks(answer, {1}))


def nodes_of(nodes: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [one for node in nodes for one in ([node] if node["t"] == kind else nodes_of(node.get("c", []), kind))]


def test_citations_in_lists_and_tables_but_not_in_code() -> None:
    text = "- one [1]\n\n| a |\n| - |\n| two [2] |\n\n`x[1]`"
    assert kinds(parse_markdown(text, {1, 2})) >= {"ul", "table", "code", "cite"}
    assert plain_text(parse_markdown("`x[1]`", {1})) == "x[1]"
    assert "cite" not in kinds(parse_markdown("`x[1]`", {1}))


@given(st.text(alphabet=st.characters(codec="ascii", exclude_categories=["Cc"])))
def test_label_shows_every_character(text: str) -> None:
    unescaped = re.sub(r"\\(.)", r"\1", escape_markdown(text)).replace("\u2060", "")
    assert unescaped == " ".join(text.split())


@pytest.mark.parametrize("text", [":material/home:", "www.example.com", "http://e.example", "a -> b", "a@b.example"])
def test_links_and_directives_in_labels_are_broken(text: str) -> None:
    assert "\u2060" in escape_markdown(text)


def test_sizes_durations_and_scores() -> None:
    sizes = [format_size(number) for number in (0, 812, 1400, 2_500_000, 123_000_000)]
    assert sizes == ["0 B", "812 B", "1.4 kB", "2.5 MB", "123 MB"]
    assert [format_duration(seconds) for seconds in (0.04, 0.24, 45, 180, 7200)] == [
        "40 ms",
        "0.2 s",
        "45 s",
        "3 min",
        "2.0 h",
    ]
    assert [format_score("rerank", 0.744), format_score("rrf", 0.0328), format_score("bm25", None)] == [
        "0.74",
        "0.033",
        "–",
    ]


@pytest.mark.parametrize(
    ("threshold", "shown"), [(0.8, "0.80"), (0.0, "0.00"), (1.0, "1.00"), (0.997, "0.997"), (0.99912, "0.9991")]
)
def test_scores_have_as_many_decimals_as_the_threshold(threshold: float, shown: str) -> None:
    gate = Gate("answerable", threshold, threshold, True)
    assert format_threshold(threshold) == format_score(gate.score_name, gate.score, gate.decimals) == shown


@pytest.mark.parametrize(("text", "short"), [("abcd", "abcd"), ("abcdef", "abc…"), ("日本語", "日…"), ("", "")])
def test_long_title_is_shortened(text: str, short: str) -> None:
    assert truncate(text, 4) == short


def test_interval_follows_its_value() -> None:
    assert format_interval(Interval(0.8, 0.75, 0.85)) == "0.800 (0.750 to 0.850)"
    assert format_interval(Interval(0.05, -0.1, 0.2), sign="+") == "+0.050 (-0.100 to +0.200)"


def test_refusal_lists_the_passages_that_it_names() -> None:
    passages = tuple(
        passage(page_index=0, start=0, rank=rank, document=f"{name}.pdf", page_label=label, scores={"rerank": 1 / rank})
        for rank, (name, label) in enumerate((("pier", "1"), ("dam", "12"), ("dam", "1"), ("mill; annex", "iv")), 1)
    )
    named = Answer(
        "Q?",
        AnswerState.ABSTAINED,
        CLOSEST_PASSAGES.format(pages="mill; annex.pdf, page iv; dam.pdf, page 1; gone.pdf, page 2"),
        (),
        passages,
        Gate("rerank", 0.1, 0.5, False),
        "extractive",
        {},
    )
    assert [one.rank for one in list_first_passages(named)] == [4, 3]
    assert [one.rank for one in list_first_passages(replace(named, text=REFUSAL))] == [1, 2, 3]
