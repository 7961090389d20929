"""The format XLSX of Microsoft Excel."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from rag_core.parsing.flow.content import Content
from rag_core.parsing.flow.recognition import is_office_file
from rag_core.parsing.formats.flow import FlowFormat, describe, name_version


class ExcelFormat(FlowFormat):
    """Workbooks: the values that Excel stored; formulas are not computed, and macros do not run."""

    description = describe(
        "XLSX",
        "workbook",
        (".xlsx", ".xlsm"),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    )
    parser_version = name_version("xlsx", 1)

    def recognizes(self, file: BinaryIO) -> bool:
        return is_office_file(file, "xl/workbook.xml")

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        from rag_core.parsing.flow.workbook import read_workbook

        return Content(read_workbook(path, password, max_unpacked))
