"""The format XLSX of Microsoft Excel."""

from __future__ import annotations

from pathlib import Path

from rag_core.parsing.flow.content import Content
from rag_core.parsing.formats.flow import build_parser_version, describe
from rag_core.parsing.formats.office import OfficeFormat


class ExcelFormat(OfficeFormat):
    """Workbooks: the values that Excel stored; formulas are not computed, and macros do not run."""

    description = describe(
        "XLSX",
        "workbook",
        (".xlsx", ".xlsm"),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        is_office=True,
    )
    parser_version = build_parser_version("xlsx", 3)
    main_part = "xl/workbook.xml"

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.workbook import read_workbook

        return read_workbook(path, password, max_unpacked)
