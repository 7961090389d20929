"""Hostile text of models and documents is shown as plain text, marks and citations only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from pages.shared.blocks import build_quoted_text
from pages.shared.markdown import parse_markdown
from pages.shared.nodes import build_marked_text
from rag_core.engine import Engine
from rag_core.types.answers import Claim
from tests.support.app import ALLOWED, OpenPage, kinds, plain_text, settle, texts
from tests.support.attacks import HIDDEN, HIDDEN_ORDER, INSTRUCTIONS, RENDERED
from tests.support.drawn_pdfs import make
from tests.support.engines import ASK_BUDGET, BUDGET, add_document

ATTACKS = RENDERED | INSTRUCTIONS
# Characters that Markdown replaces by formatting: emphasis, lists, fences, tables.
FORMS = re.compile(r"[\s*_`~#>|:+.()\d-]|html|mermaid")
ALL_KINDS = ALLOWED | {"doubt", "verdict"}


def doubted(text: str, start: int, end: int) -> Claim:
    return Claim(start, end, False, mark="contradicted", source_value="5 <b>", compared_rank=1)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_markup_of_a_model_is_shown_literally(attack: str) -> None:
    nodes = parse_markdown(f"It is 88 m tall [1]. {attack}", {1})
    assert kinds(nodes) <= ALLOWED
    assert FORMS.sub("", plain_text(nodes)) == FORMS.sub("", f"It is 88 m tall [1]. {attack}")


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_marked_markup_of_a_model_is_shown_literally(attack: str) -> None:
    text = f"It is 88 m tall [1]. {attack}"
    nodes = parse_markdown(text, {1}, [doubted(text, 21, len(text))])
    assert kinds(nodes) <= ALL_KINDS
    shown = plain_text(nodes).replace("differs from the source: 5 <b>", "")
    assert FORMS.sub("", shown) == FORMS.sub("", text).translate({0x2E22: 0x231C, 0x2E23: 0x231D})


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_document_is_quoted_literally(attack: str) -> None:
    squeezed = re.sub(r"\s", "", attack)
    shown = plain_text(build_quoted_text(attack, {1}, [Claim(0, len(attack), True)]))
    assert re.sub(r"\s", "", shown).replace("[", "") == squeezed.replace("\ufdd0", "").replace("[", "")
    assert plain_text(build_marked_text(attack, [(1, 4)])) == attack


def test_brackets_in_a_document_are_not_citations() -> None:
    text = "As shown in [1], sales fell. [1]"
    nodes = build_quoted_text(text, {1}, [Claim(0, 28, True)])
    assert [node["t"] for node in nodes[0]["c"]] == ["text", "cite"]
    assert plain_text(nodes) == text


def test_claim_is_marked_across_its_emphasis() -> None:
    text = "Sales rose [1]. **Costs** fell by *5* too. Fine."
    nodes = parse_markdown(text, {1}, [Claim(0, 10, True), doubted(text, 18, 42)])
    assert doubts(nodes) == "Costs fell by 5 too."
    (note,) = [node for node in leaves(nodes) if node["t"] == "verdict"]
    assert note == {"t": "verdict", "s": "differs from the source: 5 <b>", "n": 1}


@given(st.text(max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_marks_produce_only_known_nodes(text: str, first: int, second: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    assert kinds(parse_markdown(text, {1}, [doubted(text, start, end)])) <= ALL_KINDS


def leaves(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [leaf for node in nodes for leaf in (leaves(node["c"]) if "c" in node else [node])]


def doubts(nodes: list[dict[str, Any]]) -> str:
    return "".join(node["s"] for node in leaves(nodes) if node["t"] == "doubt")


def test_hidden_text_is_reported_with_its_passage(open_page: OpenPage, engine: Engine, tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, BUDGET)
        HIDDEN["white"](canvas)

    add_document(engine, "bridge.pdf", make(tmp_path / "bridge.pdf", draw).read_bytes())
    app = open_page()
    app.chat_input[0].set_value(ASK_BUDGET).run()
    settle(app, lambda page: "a reader cannot see" in texts(page))
    assert "text hidden on its page contains text that reads like instructions" in texts(app)
    assert HIDDEN_ORDER.rstrip(".") in texts(app)
