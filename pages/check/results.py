"""The sentences of a checked text, each with what the documents say about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.shared import keys
from pages.shared.current import open_source
from pages.shared.nodes import Node, build_marked_text, build_text_node
from pages.shared.richtext import show_richtext
from pages.shared.text import escape_markdown, get_reader_zone, name_page
from pages.shared.translation import N_, _, format_number, translate_message
from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.checks import VERDICT_WORDS, CheckedStatement, Verdict
from rag_core.types.local_time import get_today
from rag_core.types.retrieval import Gate
from rag_core.types.usage import Usage

# Signs that differ in form, so that no colour is needed to tell the results apart.
_SIGNS: dict[Verdict, str] = {"supported": "✓", "contradicted": "≠", "not_supported": "∅", "unsure": "?"}
_ALL = "all"
# Number of sentences per component. After a new result, the browser draws only the last component again.
_TOGETHER = 50
_UNSURE = N_(
    "Unsure: a source is close, but neither supports the sentence nor differs from it with certainty. In an answer, "
    "such a sentence has no mark."
)


def show_results(engine: Engine, checked: Sequence[CheckedStatement]) -> None:
    """Show how many sentences have each result, and list the sentences that have the chosen result."""
    counts = Counter[str](one.verdict for one in checked)
    labels = {_ALL: _("All {number}", number=len(checked))}
    labels |= {
        verdict: f"{_SIGNS[verdict]} {translate_message(words)} {format_number(counts[verdict])}"
        for verdict, words in VERDICT_WORDS.items()
    }
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.pills(
            _("Sentences to show"),
            list(labels),
            default=_ALL,
            required=True,
            format_func=labels.__getitem__,
            key=keys.CHECK_ONLY,
        )
        _show_export(engine, checked)
    if counts["unsure"]:
        st.caption(_(_UNSURE))
    usage = sum((one.usage for one in checked), Usage())
    if usage.calls:
        st.caption(_("Judged by the language model: {usage}", usage=usage.label))
    for notice in dict.fromkeys(notice for one in checked for notice in one.notices):
        st.warning(escape_markdown(translate_message(notice)), icon=":material/warning:")
    shown = [(number, one) for number, one in enumerate(checked, 1) if chosen in (_ALL, one.verdict)]
    if not shown:
        st.caption(_("No sentence has this result."))
    for part, numbered in enumerate(_split_batches(shown)):
        show_richtext(
            [node for number, one in numbered for node in _build_nodes(number, one)],
            key=f"check_results_{part}",
            sources={number: _name_source(one) for number, one in numbered if one.citation},
            on_cite=partial(_open_citation, checked),
        )


def build_answers(checked: Sequence[CheckedStatement]) -> dict[str, Answer]:
    """Return each sentence with a citation as an answer, from which `show_source` can open the source.

    The key of an answer is the id that names it in the address.
    """
    return {
        _build_id(number): Answer(
            question=one.statement,
            state=AnswerState.ANSWERED,
            text=f"{one.statement} [{one.citation.marker}]",
            citations=(replace(one.citation, added=False),),
            # The scores say how well the passage was found, and not how well it supports the sentence.
            passages=(replace(one.passage, scores={}),),
            gate=Gate("", 0.0, 0.0, answerable=True),
            generator="extractive",
            timings_ms={},
        )
        for number, one in enumerate(checked, 1)
        if one.citation and one.passage
    }


def _split_batches(shown: list[tuple[int, CheckedStatement]]) -> Iterator[list[tuple[int, CheckedStatement]]]:
    for start in range(0, len(shown), _TOGETHER):
        yield shown[start : start + _TOGETHER]


def _build_nodes(number: int, one: CheckedStatement) -> Iterator[Node]:
    """Yield a paragraph with the sentence and its result, and a quote of the source if the sentence has a citation."""
    mark = {"t": "verdict", "s": f"{_SIGNS[one.verdict]} {translate_message(one.words)}"}
    yield {"t": "p", "c": [build_text_node(f"{number}. {' '.join(one.statement.split())} "), mark]}
    if one.citation:
        quote = [node for block in build_marked_text(" ".join(one.citation.quote.split()), ()) for node in block["c"]]
        cite = {
            "t": "cite",
            "n": number,
            "s": name_page(one.citation.document, one.citation.page_label),
        }
        yield {"t": "quote", "c": [*quote, build_text_node(" "), cite]}


def _name_source(one: CheckedStatement) -> str:
    return (
        _("{document}, page {page}", document=one.citation.document, page=one.citation.page_label)
        if one.citation
        else ""
    )


def _build_id(number: int) -> str:
    return f"check{number}"


def _open_citation(checked: Sequence[CheckedStatement], number: int) -> None:
    if citation := checked[number - 1].citation:
        open_source(_build_id(number), citation.marker)


def _show_export(engine: Engine, checked: Sequence[CheckedStatement]) -> None:
    name = _("Check of a text {date}", date=get_today(get_reader_zone()).isoformat())
    with st.popover(_("Export"), icon=":material/download:", key="check_export"):
        st.caption(_("All checked sentences with their sources"))
        for label, create, suffix, mime in (
            ("Markdown", engine.checker.export_markdown, "md", "text/markdown"),
            ("CSV", engine.checker.export_csv, "csv", "text/csv"),
            ("PDF", engine.checker.export_pdf, "pdf", "application/pdf"),
        ):
            st.download_button(
                label,
                # Pass a function, so that the file is created only when the reader clicks the button.
                data=partial(create, checked),
                file_name=f"{name}.{suffix}",
                mime=mime,
                key=f"check_{suffix}",
                on_click="ignore",
            )
