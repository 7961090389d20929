"""The formats of Microsoft Office, which are zip archives of XML."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, ClassVar

from rag_core.parsing.flow.content import Block, Content
from rag_core.parsing.flow.recognition import is_office_file
from rag_core.parsing.formats.flow import FlowFormat


class OfficeFormat(FlowFormat):
    """A format of Office; ``main_part`` is the part that only files of this format contain."""

    main_part: ClassVar[str]

    def recognizes(self, file: BinaryIO) -> bool:
        return is_office_file(file, self.main_part)

    def read(self, path: Path, password: str | None, max_unpacked: int | None) -> Content:
        return Content(self.read_blocks(path, password, max_unpacked))

    @abstractmethod
    def read_blocks(self, path: Path, password: str | None, max_unpacked: int | None) -> Sequence[Block]:
        """Return the blocks of a file; see `FlowFormat.read`."""
