"""The outline of a document from the headings of its pages, or from one heading of each page of an old library."""

from __future__ import annotations

from rag_core.text.outline import build_outline
from rag_core.types.documents import Heading, PageHeading


def pages(*headings: str) -> list[PageHeading]:
    return [PageHeading(index, f"p{index + 1}", heading) for index, heading in enumerate(headings)]


def summarize(*headings: str) -> list[tuple[int, str, int, int]]:
    return [(one.level, one.title, one.page_index, one.page_index_end) for one in build_outline(pages(*headings))]


def test_pages_with_the_same_heading_are_one_entry() -> None:
    assert summarize("Risks", "Risks", "RISKS", "Outlook") == [(0, "Risks", 0, 2), (0, "Outlook", 3, 3)]


def test_paths_become_levels() -> None:
    assert summarize("Part I › Business", "Part I › Business", "Part I › Risks", "Part II › Markets") == [
        (0, "Part I", 0, 2),
        (1, "Business", 0, 1),
        (1, "Risks", 2, 2),
        (0, "Part II", 3, 3),
        (1, "Markets", 3, 3),
    ]


def test_page_without_heading_and_table_heads_belong_to_the_section_before() -> None:
    assert summarize("", "Balance sheet", "", "In millions", "Notes › (in thousands)") == [
        (0, "Balance sheet", 1, 3),
        (0, "Notes", 4, 4),
    ]


def test_all_headings_of_a_page_are_listed() -> None:
    paths = [("Rules", "Rules › Fees", "Rules › Fees › Boats"), (), ("Rules › Ice", "Annex", "Annex")]
    headings = [tuple(Heading(9 * place, 9, path) for place, path in enumerate(some)) for some in paths]
    found = build_outline([PageHeading(page, "", "Fees", some) for page, some in enumerate(headings)])
    assert [(one.level, one.title, one.page_index, one.page_index_end) for one in found] == [
        (0, "Rules", 0, 1),
        (1, "Fees", 0, 1),
        (2, "Boats", 0, 1),
        (1, "Ice", 2, 2),
        (0, "Annex", 2, 2),
        (0, "Annex", 2, 2),
    ]


def test_remark_about_the_scale_is_no_part_of_a_title() -> None:
    assert summarize("Income (in millions)") == [(0, "Income", 0, 0)]


def test_entry_has_the_label_of_its_page() -> None:
    assert [one.page_label for one in build_outline(pages("", "Business"))] == ["p2"]


def test_document_without_headings_has_no_outline() -> None:
    assert build_outline(pages("", "")) == []
    assert build_outline([]) == []
