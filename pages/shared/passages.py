"""The passages of an answer, each in an expander, and links to the pages that it cites."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages.shared.evidence import (
    consists_of_pages,
    find_citations,
    find_quotes,
    has_many_passages,
    list_first_passages,
    name_sources,
)
from pages.shared.nodes import Node, build_text_node
from pages.shared.page_text import Tables, build_passage, build_quote_excerpts, load_tables
from pages.shared.richtext import show_richtext
from pages.shared.scores import build_score_bars
from pages.shared.text import escape_markdown
from pages.shared.translation import _, ngettext, translate_message
from rag_core.engine import Engine
from rag_core.types.answers import Answer, AnswerState
from rag_core.types.retrieval import Passage

# Maximum number of near-duplicates of a passage that are listed.
_LISTED_COPIES = 5
# Maximum number of characters of invisible text that are shown.
_HIDDEN_SHOWN = 300
# Maximum number of links below an answer.
_LINKED = 6


def show_passages(
    engine: Engine, answer: Answer, *, key: str, on_open: Callable[[int], None], on_confirm: Callable[[int], None]
) -> None:
    """List the passages of an answer, best first. If there are many, the passages that are not cited are collapsed.

    ``on_open`` is called with the rank of a passage that the reader opens, and ``on_confirm`` with the rank of a
    passage that the reader marks as right.
    """
    if not answer.passages:
        return
    listed = list_first_passages(answer) if has_many_passages(answer) else answer.passages
    others = [one for one in answer.passages if one not in listed]
    tables = load_tables(engine, listed)
    with st.container(gap="xsmall"):
        for passage in listed:
            with st.expander(_build_label(answer, passage), key=f"{key}_{passage.rank}"):
                _show_passage(
                    answer, passage, tables, key=f"{key}_{passage.rank}", on_open=on_open, on_confirm=on_confirm
                )
        if others:
            with st.expander(
                _describe_others(answer, len(others), is_more=bool(listed)), type="compact", key=f"{key}_more"
            ):
                blocks, sources = _build_page_list(others), name_sources(answer)
                show_richtext(blocks, key=f"{key}_others", sources=sources, on_cite=on_open, small=True)


def _describe_others(answer: Answer, number: int, *, is_more: bool) -> str:
    """Return how many passages or pages were read beyond those that are listed."""
    if consists_of_pages(answer):
        if is_more:
            return ngettext("{number} more page was read", "{number} more pages were read", number)
        return ngettext("{number} page was read", "{number} pages were read", number)
    if is_more:
        return ngettext("{number} more passage was read", "{number} more passages were read", number)
    return ngettext("{number} passage was read", "{number} passages were read", number)


def link_sources(answer: Answer, *, key: str, on_open: Callable[[int], None]) -> None:
    """Show the cited passages of an answer, or the closest ones of a refusal, as links in one line.

    Excerpts have their source above them, so they need no links.
    """
    passages = [] if answer.consists_of_excerpts else list_first_passages(answer)
    if not passages:
        return
    nodes: list[Node] = [build_text_node(_("Closest:") if answer.state is AnswerState.ABSTAINED else _("Sources:"))]
    for one in passages[:_LINKED]:
        place = answer.find_cells(one.rank) or _("p. {page}", page=one.page_label)
        nodes += [build_text_node(" "), {"t": "cite", "n": one.rank, "s": f"{one.document} · {place}"}]
    if len(passages) > _LINKED:
        nodes.append(build_text_node(_(" and {number} more below", number=len(passages) - _LINKED)))
    show_richtext([{"t": "p", "c": nodes}], key=key, sources=name_sources(answer), on_cite=on_open, small=True)


def _build_page_list(passages: Sequence[Passage]) -> list[Node]:
    """Return a bullet list with an item for each document. An item has a button with the page of each passage."""
    items: dict[str, list[Node]] = {}
    for one in passages:
        nodes = items.setdefault(one.document, [build_text_node(one.document)])
        nodes += [build_text_node(" "), {"t": "cite", "n": one.rank, "s": _("p. {page}", page=one.page_label)}]
    return [{"t": "ul", "c": [{"t": "li", "c": nodes} for nodes in items.values()]}]


def _show_passage(
    answer: Answer,
    passage: Passage,
    tables: Tables,
    *,
    key: str,
    on_open: Callable[[int], None],
    on_confirm: Callable[[int], None],
) -> None:
    show_injection_warning(passage)
    show_hidden_text(passage)
    show_duplicates(passage)
    show_unmet(passage)
    quotes = find_quotes(answer, passage)
    if has_many_passages(answer):
        blocks = build_quote_excerpts(passage, tables, quotes)
    else:
        scores = build_score_bars(passage, answer.passages, answer.gate)
        blocks = [*build_passage(passage, tables, quotes), scores]
    show_richtext(
        blocks,
        key=f"{key}_text",
        small=True,
    )
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("Open source"),
            icon=":material/description:",
            key=f"{key}_open",
            on_click=on_open,
            args=[passage.rank],
        )
        st.button(
            _("Mark as right"),
            icon=":material/check:",
            type="tertiary",
            key=f"{key}_right",
            help=_("Add the question with this page to your test set (Evaluate)."),
            on_click=on_confirm,
            args=[passage.rank],
        )


def show_injection_warning(passage: Passage) -> None:
    """Show a warning if a passage contains text that reads like instructions to a model."""
    if passage.instructions:
        which = _("This passage or text hidden on its page") if passage.hidden else _("This passage")
        st.warning(
            _(
                "{which} contains text that reads like instructions to a model. It is shown unchanged, and is "
                "not sent to models.",
                which=which,
            ),
            icon=":material/gpp_maybe:",
        )


def show_hidden_text(passage: Passage) -> None:
    """Show the invisible text of the passage's page, if there is any."""
    if passage.hidden:
        shown = f"{passage.hidden[:_HIDDEN_SHOWN]}…" if len(passage.hidden) > _HIDDEN_SHOWN else passage.hidden
        st.caption(
            _(
                ":material/visibility_off: Its page also contains text that a reader cannot see. Search and "
                "answers leave it out: “{shown}”",
                shown=escape_markdown(shown),
            )
        )


def show_duplicates(passage: Passage) -> None:
    """List the pages of near-duplicate passages, which the search left out of its result."""
    if passage.duplicates:
        places = [f"{one.document} {_('p. {page}', page=one.page_label)}" for one in passage.duplicates]
        words = _("Also in {places}", places=", ".join(places[:_LISTED_COPIES]))
        if (left := len(places) - _LISTED_COPIES) > 0:
            words += " " + ngettext("and {number} more place", "and {number} more places", left)
        st.caption(escape_markdown(words))


def show_unmet(passage: Passage) -> None:
    """Show which assumptions of the question the passage does not support, if there are any."""
    if passage.unmet:
        st.caption(
            _(
                ":material/rule: Does not match the question: {unmet}.",
                unmet=escape_markdown("; ".join(map(translate_message, passage.unmet))),
            )
        )


def _build_label(answer: Answer, passage: Passage) -> str:
    parts = [
        f"{escape_markdown(f'[{passage.rank}]')} {escape_markdown(passage.document)}",
        _("p. {page}", page=escape_markdown(passage.page_label)),
    ]
    if answer.state is AnswerState.ANSWERED and not answer.stopped and not has_many_passages(answer):
        parts.append(_("cited") if find_citations(answer, passage) else _("not cited"))
    return " · ".join(parts)
