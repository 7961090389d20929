"""The formats of Microsoft Office, which are zip archives of XML."""

from __future__ import annotations

from typing import BinaryIO, ClassVar

from rag_core.parsing.flow.recognition import is_office_file
from rag_core.parsing.formats.flow import FlowFormat


class OfficeFormat(FlowFormat):
    """A format of Office; ``main_part`` is the name of a part that only files of this format contain."""

    main_part: ClassVar[str]

    def recognizes(self, file: BinaryIO) -> bool:
        return is_office_file(file, self.main_part)
