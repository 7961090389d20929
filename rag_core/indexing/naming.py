"""Give each file a name that is unique in its collection, and decide which document the file belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from rag_core.indexing.attached_files import MARK, folder_of_attachments
from rag_core.runtime.stores import Stores
from rag_core.store.document_names import DocumentName
from rag_core.types.documents import SameName


class Naming:
    """Choose and change the names of documents.

    The name of a document is the name of its file. Documents of the same name from several folders are named with the
    folders that distinguish them.
    """

    def __init__(self, stores: Stores) -> None:
        self._names = stores.names
        self._jobs = stores.jobs

    def find_replaced(self, name: str, collection: str, folder: str, on_same_name: SameName) -> tuple[str | None, str]:
        """Return the document that a file replaces, if any, and the name of the file's document.

        A file replaces the document of the same name from the same folder, or one of an earlier version, whose folder
        is unknown. An upload in the browser replaces the document of that name from any folder, because the user is
        asked. If the replaced document has another name as well, it keeps its content under that name, and the file
        becomes a new document.
        """
        namesakes = self._names.find_namesakes(name, collection)
        candidates = [one for one in namesakes if one.folder == folder]
        candidates += [one for one in namesakes if one.name == name and (not folder or one.folder is None)]
        if candidates and on_same_name == "replace":
            replaced = candidates[0]
            if self._remove_one_of_several(replaced):
                return None, replaced.name
            self._names.set_folder(replaced.document_id, folder)
            return replaced.document_id, replaced.name
        return None, self._choose_name(name, collection, folder, namesakes)

    def add_alias(self, document_id: str, name: str, collection: str, folder: str) -> str:
        """Give a document a further name; return that name, or "" if the document has a name for this path."""
        for one in self._names.names(document_id):
            is_same_folder = one.folder == folder or not one.folder or not folder
            if one.collection == collection and PurePosixPath(one.name).name == name and is_same_folder:
                return ""
        namesakes = self._names.find_namesakes(name, collection)
        chosen = self._choose_name(name, collection, folder, namesakes)
        self._names.add_alias(document_id, chosen, collection, folder)
        return chosen

    def find_attached(self, document_id: str) -> list[DocumentName]:
        """Return the names of the documents that are attached to a document, and of those attached to them."""
        return [
            attached
            for one in self._names.names(document_id)
            for attached in self._names.find_in_folder(folder_of_attachments(one.folder, one.name), one.collection)
        ]

    def remove_path(self, document_id: str, name: str, folder: str) -> bool:
        """Remove the name of a file that no longer exists; return false if it is the only name of its document."""
        for one in self._names.names(document_id):
            if one.folder == folder and PurePosixPath(one.name).name == name:
                return self._remove_one_of_several(one)
        return False

    def remove_name(self, document_id: str, name: str) -> str:
        """Remove one of several names of a document and return the first of the others; "" if it has no other."""
        names = self._names.names(document_id)
        former = next((one for one in names if one.name == name), None)
        if former is None or not self._remove_one_of_several(former):
            return ""
        return self._names.names(document_id)[0].name

    def _remove_one_of_several(self, former: DocumentName) -> bool:
        """Remove a name if its document has other names, and return whether it has."""
        others = [one for one in self._names.names(former.document_id) if one.alias_id != former.alias_id]
        if not others:
            return False
        if former.alias_id:
            self._names.remove_alias(former.alias_id)
        else:
            self._names.promote_alias(others[0])
        first = self._names.names(former.document_id)[0]
        file_name = PurePosixPath(first.name).name
        if len(self._names.find_namesakes(file_name, first.collection)) == 1:
            self._names.rename(first, file_name)
        # Searches also find a document by its name, so a renamed document must be indexed again.
        if former.alias_id is None or first.name != file_name:
            self._index_again(former)
        return True

    def _choose_name(self, name: str, collection: str, folder: str, namesakes: Sequence[DocumentName]) -> str:
        """Return a free name for a file; add folders to the names of other documents that would be ambiguous."""
        if not namesakes:
            return name
        if not folder or any(one.folder == folder for one in namesakes):
            return self._add_number(name, collection)
        folders = [one.folder for one in namesakes if one.folder]
        for one in namesakes:
            if not one.folder:
                continue
            others = [folder, *(other for other in folders if other != one.folder)]
            qualified = _qualify(name, one.folder, others)
            if qualified.count("/") > one.name.count("/"):
                self._names.rename(one, qualified)
                if one.alias_id is None:
                    self._index_again(one)
        return _qualify(name, folder, folders)

    def _index_again(self, former: DocumentName) -> None:
        details = {"document_ids": [former.document_id], "changes": {}}
        self._jobs.add("reindex", former.name, details=details)

    def _add_number(self, name: str, collection: str) -> str:
        path = PurePosixPath(name)
        number = 2
        while self._names.find(f"{path.stem} ({number}){path.suffix}", collection):
            number += 1
        return f"{path.stem} ({number}){path.suffix}"


def _qualify(name: str, folder: str, others: Sequence[str]) -> str:
    """Return a file name with as many of its folders as distinguish it from files of the same name in ``others``.

    >>> _qualify("statement.pdf", "/bank/2021", ["/bank/2022"])
    '2021/statement.pdf'
    """
    parts = PurePosixPath(folder).parts
    for count in range(1, len(parts)):
        end = parts[-count:]
        if all(PurePosixPath(other).parts[-count:] != end for other in others):
            return "/".join([*(part.removesuffix(MARK) for part in end), name])
    return f"{folder}/{name}"
