"""Export of conversations: complete, escaped, without secrets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html import escape as html_escape
from io import BytesIO
from pathlib import Path

import docx
import pypdf
import pytest
from markdown_it import MarkdownIt

from rag_core.answering.export import REMOVED, export_docx, export_markdown, export_pdf
from rag_core.engine import Engine
from rag_core.errors import UnknownConversation
from rag_core.settings import Settings
from rag_core.types.answers import Answer, AnswerState, Citation, Claim
from rag_core.types.cited_tables import CitedTable
from rag_core.types.conversations import Conversation, Message
from rag_core.types.retrieval import Gate, Passage
from rag_core.types.tables import Table, TableCell, TableRow
from tests.support.engines import ASK_BUDGET, BUDGET, open_library, settings_in

NOW = datetime(2025, 3, 1, tzinfo=UTC)
HOSTILE = "<img src=x onerror=alert(1)> ![a](http://evil.example/a.png) # *b* `c` $5|d"
KEY = "sk-secret_value_1"
CONVERSATION = Conversation("c1", "On *bridges*", NOW, NOW, False, ())


def talk(text: str, generator: str = "extractive", **changes: object) -> list[Message]:
    citation = Citation(1, 1, "d", "v", "report_[1].pdf", "9", 3, "iv", HOSTILE, 0, len(HOSTILE))
    fields: dict[str, object] = {
        "question": "And in 2021?",
        "state": AnswerState.ANSWERED,
        "text": text,
        "citations": (citation,),
        "passages": (),
        "gate": Gate("rerank", 0.7, 0.6, True),
        "generator": generator,
        "timings_ms": {},
    }
    answer = Answer(**(fields | changes))  # type: ignore[arg-type]
    return [Message("1", "user", "And in 2021?", NOW), Message("2", "assistant", text, NOW, answer)]


def pdf_text(data: bytes) -> str:
    return " ".join(" ".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(data)).pages).split())


def docx_text(data: bytes) -> str:
    """Return the text of the paragraphs and cells in order."""
    blocks = docx.Document(BytesIO(data)).iter_inner_content()
    cells = (
        [cell.text for row in one.rows for cell in row.cells] if hasattr(one, "rows") else [one.text] for one in blocks
    )
    return " ".join(" ".join(text for texts in cells for text in texts).split())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("exporting") / "data", {"bridge.pdf": [BUDGET]}) as engine:
        yield engine


def build_cited_table(*row: str) -> CitedTable:
    """Return a table with a header and one row, whose last cell is cited."""
    header = TableRow(tuple(TableCell(text, (), column, is_header=True) for column, text in enumerate(("", "2023"))))
    cells = tuple(TableCell(text, ((9 * column, 9 * column + 1),), column) for column, text in enumerate(row))
    return CitedTable(1, "v", 3, Table((header, TableRow(cells)), 1, ((0.0, 1.0),) * 2, unit="(in $)"), (9,))


def exports(settings: Settings, messages: list[Message]) -> tuple[str, str, str]:
    """Return the exported Markdown, and the texts of the exported PDF and Word document."""
    markdown, pdf, word = (
        export(settings, CONVERSATION, messages) for export in (export_markdown, export_pdf, export_docx)
    )
    return str(markdown), pdf_text(bytes(pdf)), docx_text(bytes(word))


MARKS = (
    Claim(0, 15, False, mark="contradicted", source_value="$4", compared_rank=1),
    Claim(21, 32, False, mark="not_found", compared_rank=1),
    Claim(33, 46, True),
)
REFUSED = Passage(1, "9", "d", "v", "a.pdf", 0, "1", 0, 0, 1, "x", "", {})


@pytest.mark.parametrize(
    ("messages", "markdown", "pdf"),
    [
        (
            talk("Sales rose to 5 [1]. Costs fell. *Loss*: none.", "openai:m", statements=MARKS, quotes_start=33),
            "Costs fell. (not found in the sources) \n\n\\*Loss\\*: none.",
            "Sales rose to 5 (differs from the source: $4) [1]. Costs fell. (not found in the sources) *Loss*: none.",
        ),
        (
            talk("It was opened on *3 May* 1931. [1]", short="*3 May* 1931"),
            "**\\*3 May\\* 1931**\n\nIt was",
            "*3 May* 1931 It was opened",
        ),
        (
            talk("**3 May *1931*** · a.pdf\n\nIt was opened then. [1]", short="3 May *1931*"),
            "**3 May \\*1931\\*** · a.pdf",
            "3 May *1931* · a.pdf It was",
        ),
        (
            talk("Мост is 412 metres long [1]."),
            "Мост is 412",
            "???? is 412 metres long",
        ),
        (
            talk("I don't know.", state=AnswerState.ABSTAINED, citations=(), passages=(REFUSED,), stopped=True),
            "*Stopped before the end.*\n\n- [1] a.pdf, page 1 (not cited)",
            "Stopped before the end. [1] a.pdf, page 1 (not cited)",
        ),
        (
            [*talk("No."), Message("3", "assistant", "Stopped before there was an answer.", NOW)],
            "Stopped before there was an answer.",
            "Stopped before there was an answer.",
        ),
        (
            talk("It is 42 [1].", "openai:m", citations=(), stopped=True),
            "*Not checked against the sources.*",
            "Written by m. Stopped before the end. Not checked against the sources.",
        ),
        (
            talk("Sales, 2023: 3,642 [1].", tables=(build_cited_table("Sales", "3,642"),)),
            "page iv · (in \\$)\n\n|  | 2023 |\n| --- | --- |\n| Sales | **3,642** |\n\n- ",
            "page iv · (in $) 2023 Sales 3,642 [1]",
        ),
        (
            talk("**5** · sales.\n\n| Company | Sales |\n|---|---|\n| A \\| B | **5** [1] |", "openai:small"),
            "| Company | Sales |\n| --- | --- |\n| A \\| B | **5** [1] |",
            "5 · sales. Company Sales A | B 5 [1]",
        ),
    ],
    ids=["marks", "short", "value once", "font", "refusal", "no answer", "unchecked", "cited rows", "table"],
)
def test_answer_is_exported(tmp_path: Path, messages: list[Message], markdown: str, pdf: str) -> None:
    exported, text, word = exports(settings_in(tmp_path), messages)
    assert markdown in exported
    assert pdf in text
    assert pdf.replace("????", "Мост") in word
    assert ("The Markdown export contains them" in text) == ("????" in pdf)


def test_added_citation_is_exported_as_added(tmp_path: Path) -> None:
    [question, answered] = talk("Sales rose [1].", "openai:m")
    assert answered.answer is not None
    cited = replace(answered.answer, citations=(replace(answered.answer.citations[0], added=True),))
    for text in exports(settings_in(tmp_path), [question, replace(answered, answer=cited)]):
        assert "citation added, not the model's" in text.replace("\\", "")


URL = "postgresql://user:pass_word@host/db?sslmode=require&application_name=[x]"


@pytest.mark.parametrize("generator", ["extractive", "openai:small"])
def test_secrets_are_removed_but_common_words_stay(tmp_path: Path, generator: str) -> None:
    messages = talk(f"The key is {KEY}, the base {URL}, as **{URL}** says [1].", generator, notices=(KEY,))
    for text in exports(settings_in(tmp_path, openai_api_key=KEY, database_url=URL), messages):
        assert "secret" not in text
        assert "sslmode" not in text
        assert text.replace("\\", "").count(REMOVED) == 3
    settings = settings_in(tmp_path, openai_api_key="none")
    for text in exports(settings, talk("It was none other than Ada Smith, nonetheless [1].", generator)):
        assert "none other than Ada Smith, nonetheless" in text


def test_conversation_is_exported_with_its_sources(library: Engine) -> None:
    conversation_id = library.conversations.create().conversation_id
    library.conversations.add_message(conversation_id, "user", ASK_BUDGET)
    answer = library.answer(ASK_BUDGET)
    library.conversations.add_message(conversation_id, "assistant", answer.text, answer)
    asked = conversation_id, "http://localhost:8501"
    exported = library.conversations.export_markdown(*asked).replace("\\", "")
    word = docx_text(library.conversations.export_docx(*asked))
    link = f"http://localhost:8501/documents?document={answer.citations[0].document_id}&page=1&marked=0-"
    for text in (exported, pdf_text(library.conversations.export_pdf(*asked)), word):
        assert ASK_BUDGET in text
        assert link in "".join(text.split())
        assert f"[1] bridge.pdf, page 1: “{BUDGET}”" in text
    conversations = library.conversations
    for export in (conversations.export_markdown, conversations.export_pdf, conversations.export_docx):
        with pytest.raises(UnknownConversation):
            export("gone")


@pytest.mark.parametrize("generator", ["extractive", "openai:small"])
def test_foreign_markup_is_escaped(tmp_path: Path, generator: str) -> None:
    messages = talk(f"{HOSTILE}\n1. one\n- two [1]", generator, rewritten=f"What of {HOSTILE}?")
    html = MarkdownIt("commonmark", {"html": True}).render(
        export_markdown(settings_in(tmp_path), CONVERSATION, messages)
    )
    assert "<img" not in html
    assert "<a " not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert html.count("<h1>") == html.count("<h2>") == 1
    text = pdf_text(export_pdf(settings_in(tmp_path), CONVERSATION, messages))
    assert "<img src=x onerror=alert(1)>" in text
    assert "report_[1].pdf, page iv" in text
    assert ("Written by small." in text) == (generator != "extractive")
    assert "Searched for: What of" in text


@pytest.mark.parametrize("generator", ["extractive", "openai:small"])
def test_markup_in_cells_is_escaped(tmp_path: Path, generator: str) -> None:
    cell = f"{HOSTILE} **x** [a](http://evil.example)"
    escaped = cell.replace("|", "\\|")
    messages = talk(f"| A |\n|---|\n| {escaped} |", generator, tables=(build_cited_table(cell, "5"),))
    html = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .render(export_markdown(settings_in(tmp_path), CONVERSATION, messages))
    )
    assert "<img" not in html
    assert "<a " not in html
    assert html.count("<table>") == 2
    assert html.count("<tr>") == 4
    assert f"<td>{html_escape(cell, quote=False)}</td>" in html
    assert cell in pdf_text(export_pdf(settings_in(tmp_path), CONVERSATION, messages))


def test_row_higher_than_a_page_is_exported(tmp_path: Path) -> None:
    messages = talk("5 [1]", tables=(build_cited_table("word " * 2000, "5"),))
    assert pdf_text(export_pdf(settings_in(tmp_path), CONVERSATION, messages)).count("word") == 2000
