"""Tables are stored with their pages, deleted with them, and read again for an older library."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import delete

from rag_core.engine import Engine
from rag_core.store import migrate
from rag_core.store.schema import page_tables
from rag_core.types.jobs import JobState
from tests.support.drawn_pdfs import PROSE, SALES, lines, make, rows
from tests.support.engines import add_document, opened, read_by_older_parser, rebuild_index
from tests.support.old_schema import undo_to


def sales_pdf(folder: Path) -> bytes:
    """Return a PDF whose second page contains a table."""

    def second(canvas) -> None:
        lines("Sales (in millions)", top=640)(canvas)
        rows(*SALES, top=620)(canvas)

    return make(folder / "sales.pdf", lines(*PROSE), second).read_bytes()


def index_sales(engine: Engine, folder: Path) -> str:
    document_id = add_document(engine, "sales.pdf", sales_pdf(folder)).document_id
    assert document_id is not None
    return document_id


def version_of(engine: Engine, document_id: str) -> str:
    return engine._stores.documents.document(document_id).version_id


def test_tables_are_read_back_for_many_pages_at_once(engine: Engine, tmp_path: Path) -> None:
    document_id = index_sales(engine, tmp_path)
    version_id = version_of(engine, document_id)
    library = engine._stores.documents
    found = library.tables([(version_id, index) for index in range(2000)] + [("other", 1)])
    assert list(found) == [(version_id, 1)]
    (table,) = found[version_id, 1]
    assert table.to_grid()[1] == ["Net sales", "3,642", "3,507"]
    assert table.unit == "(in millions)"
    page = library.page(version_id, 1)
    assert page is not None
    assert page.tables == library.pages(version_id, with_layout=True)[1].tables == (table,)
    assert library.pages(version_id)[1].tables == ()
    assert library.tables([]) == {}


def test_cells_have_boxes_on_their_page(engine: Engine, tmp_path: Path) -> None:
    document_id = index_sales(engine, tmp_path)
    page = engine.documents.page(document_id, 1)
    cell = page.tables[0].body[1].cells[2]
    ((start, end),) = cell.spans
    assert page.text[start:end] == cell.text == "2,862"
    ((x0, y0, x1, y1),) = page.boxes.find_overlapping(start, end).tolist()
    assert 370 < x0 * page.width < x1 * page.width < 411
    assert y0 * page.height < page.height - 592 < y1 * page.height


def test_tables_are_deleted_with_their_document(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document_id = index_sales(engine, tmp_path)
        engine.documents.delete([document_id])
    with closing(sqlite3.connect(tmp_path / "data" / "footnote.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM page_tables").fetchone() == (0,)


def test_library_of_an_older_parser_gets_tables_without_new_embeddings(engine: Engine, tmp_path: Path) -> None:
    document_id = index_sales(engine, tmp_path)
    with engine._stores.database.begin() as connection:
        connection.execute(delete(page_tables))
    read_by_older_parser(engine, document_id)
    assert engine.index.outdated_ids() == [document_id]
    job = rebuild_index(engine)
    assert job.state is JobState.DONE
    assert job.details["embeddings_computed"] == 0
    assert len(engine.documents.page(document_id, 1).tables) == 1


def test_tables_are_kept_if_only_the_chunks_change(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document_id = index_sales(engine, tmp_path)
        before = engine.documents.page(document_id, 1).tables
    with opened(tmp_path / "data", chunk_tokens=64) as engine:
        assert rebuild_index(engine).state is JobState.DONE
        assert engine.documents.page(document_id, 1).tables == before != ()


def test_database_of_the_former_schema_is_updated(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as engine:
        document_id = index_sales(engine, tmp_path)
    with closing(sqlite3.connect(tmp_path / "data" / "footnote.sqlite")) as database:
        for statement in undo_to("0005"):
            database.execute(statement)
        database.execute("UPDATE alembic_version SET version_num = '0005'")
        database.commit()
    with opened(tmp_path / "data") as engine:
        assert engine.documents.page(document_id, 1).tables == ()
        read_by_older_parser(engine, document_id)
        assert rebuild_index(engine).state is JobState.DONE
        assert len(engine.documents.page(document_id, 1).tables) == 1
    assert migrate.HEAD > "0005"
