"""Give each file a name that is unique in its collection, and decide which document the file belongs to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from pathlib import PurePosixPath

from rag_core.errors import CollectionError
from rag_core.indexing.attached_files import FOLDER_MARK, build_attachment_folder
from rag_core.runtime.stores import Stores
from rag_core.store.document_names import DocumentName
from rag_core.store.file_names import clean_name, normalize_name


class Naming:
    """Choose and change the names of documents.

    The name of a document is the name of its file. If files from several folders have the same name, the names of
    their documents contain the folders in which the paths differ, as in "2021/statement.pdf".
    """

    def __init__(self, stores: Stores) -> None:
        self._names = stores.names
        self._jobs = stores.jobs

    def find_replaced(self, name: str, collection: str, folder: str) -> DocumentName | None:
        """Return the document name that a new file takes over from a stored file; ``None`` if it replaces no file.

        A file replaces a stored file with the same file name in the same collection if both are from the same folder.
        If no folders were added to the document name, a file also replaces the stored file if

        - the folder of the stored file is unknown, because an earlier release added the file, or
        - the new file has no folder, because it was uploaded in the browser, where the user agrees to the replacement.
        """
        namesakes = self._names.find_namesakes(name, collection)
        candidates = [one for one in namesakes if one.folder == folder]
        candidates += [one for one in namesakes if one.name == name and (not folder or one.folder is None)]
        return candidates[0] if candidates else None

    def find_name_of_file(self, document_id: str, name: str, folder: str | None) -> DocumentName | None:
        """Return the document name of the file ``name`` in ``folder``; ``None`` if the document has no such name.

        A name with an unknown folder is taken for a name of this file.
        """
        return next((one for one in self._names.names(document_id) if _is_name_of_file(one, name, folder)), None)

    def set_folder(self, name: DocumentName, folder: str) -> None:
        """Store the folder of the file with a document's first name; do nothing if ``name`` is an alias."""
        if name.alias_id is None and name.folder != folder:
            self._names.set_folder(name.document_id, folder)

    def add_alias(self, document_id: str, name: str, collection: str, folder: str) -> str:
        """Add an alias for a file to the document that has the content of the file, and return the alias.

        Return "" if the document has a name for this file already: a name in the same collection with the same file
        name and folder. If one of the two folders is empty or unknown, they count as the same.
        """
        for one in self._names.names(document_id):
            is_same_folder = one.folder == folder or not one.folder or not folder
            if one.collection == collection and PurePosixPath(one.name).name == name and is_same_folder:
                return ""
        chosen = self.choose_name(name, collection, folder)
        self._names.add_alias(document_id, chosen, collection, folder)
        return chosen

    def find_attached(self, document_id: str, collections: Sequence[str] = ()) -> list[DocumentName]:
        """Return the names of the files that are attached directly to a document.

        With ``collections``, return only names in these collections.
        """
        attached = []
        for one in self._names.names(document_id):
            if collections and one.collection not in collections:
                continue
            parent = build_attachment_folder(one.folder, one.name)
            for other in self._names.find_in_folder(parent, one.collection):
                subfolders = PurePosixPath((other.folder or "")[len(parent) :]).parts
                if not any(part.endswith(FOLDER_MARK) for part in subfolders):
                    attached.append(other)
        return attached

    def rename(self, document_id: str, name: str) -> str:
        """Change the name that answers show; see `Documents.rename`."""
        first = self._names.names(document_id)[0]
        suffix = PurePosixPath(first.name).suffix
        wanted = clean_name(name.strip())
        if wanted.casefold().endswith(suffix.casefold()):
            wanted = wanted[: len(wanted) - len(suffix)].rstrip(". ")
        if not name.strip() or not wanted:
            raise CollectionError(f"{first.name} was not renamed, because the new name is empty. Enter a name.")
        wanted = normalize_name(f"{wanted}{suffix}")
        if wanted == first.name:
            return wanted
        if self._names.find(wanted, first.collection):
            raise CollectionError(f"{first.name} was not renamed, because {wanted} exists already. Enter another name.")
        self._names.rename(first, wanted)
        self._queue_reindex(first._replace(name=wanted))
        return wanted

    def remove_name(self, document_id: str, name: str) -> str:
        """Remove a name of a document, and return the first remaining name.

        Return "" and change nothing if the document does not have the name or has no other name.
        """
        former = next((one for one in self._names.names(document_id) if one.name == name), None)
        if former is None or not self.release(former):
            return ""
        return self._names.names(document_id)[0].name

    def release(self, former: DocumentName) -> bool:
        """Remove a name of a document; return false, and keep the name, if the document has no other name.

        - If the document does not have the name any more, return true.
        - If the first name is removed, the oldest alias becomes the first name.
        - If the first name no longer needs folders to be unique, they are removed from it.
        - If the first name was removed or contained folders, a re-index of the document is queued.
        """
        names = self._names.names(former.document_id)
        file_name = PurePosixPath(former.name).name
        same = [one for one in names if _is_name_of_file(one, file_name, former.folder)]
        current = next((one for one in same if one.collection == former.collection), None)
        if current is None:
            return True
        others = [one for one in names if one != current]
        if not others:
            return False
        if current.alias_id:
            self._names.remove_alias(current.alias_id)
        else:
            self._names.promote_alias(others[0])
        first = self._names.names(former.document_id)[0]
        file_name = PurePosixPath(first.name).name
        if len(self._names.find_namesakes(file_name, first.collection)) == 1:
            self._names.rename(first, file_name)
        # Searches also find a document by its name, so a renamed document must be indexed again.
        if current.alias_id is None or first.name != file_name:
            self._queue_reindex(current)
        return True

    def choose_name(self, name: str, collection: str, folder: str) -> str:
        """Return a free document name for a file.

        - If the file name is free, it is returned.
        - If files in other folders have this name, folders are added to their document names, which are changed, and to
          the returned name.
        - If the file has no folder, or a file in the same folder has this name, a number is added to the returned name.
        """
        namesakes = self._names.find_namesakes(name, collection)
        if not namesakes:
            return name
        if not folder or any(one.folder == folder for one in namesakes):
            return self._add_number(name, collection)
        folders = {one.folder for one in namesakes if one.folder}
        for one in namesakes:
            if not one.folder:
                continue
            qualified = _add_folders(name, one.folder, (folders | {folder}) - {one.folder})
            if qualified.count("/") > one.name.count("/"):
                self._names.rename(one, qualified)
                if one.alias_id is None:
                    self._queue_reindex(one)
        return _add_folders(name, folder, folders)

    def _queue_reindex(self, former: DocumentName) -> None:
        details = {"document_ids": [former.document_id], "changes": {}, "renamed": True}
        self._jobs.add("reindex", former.name, details=details)

    def _add_number(self, name: str, collection: str) -> str:
        path = PurePosixPath(name)
        numbered = (f"{path.stem} ({number}){path.suffix}" for number in count(2))
        return next(one for one in numbered if not self._names.find(one, collection))


def _is_name_of_file(document_name: DocumentName, name: str, folder: str | None) -> bool:
    # The folder is None if an earlier release added the document.
    return document_name.folder in (None, folder or "") and PurePosixPath(document_name.name).name == name


def _add_folders(name: str, folder: str, others: Collection[str]) -> str:
    """Return a file name with as few folders before it as distinguish it from the same name in other folders.

    >>> _add_folders("statement.pdf", "/bank/2021", ["/bank/2022"])
    '2021/statement.pdf'
    """
    parts = PurePosixPath(folder).parts
    for depth in range(1, len(parts)):
        end = parts[-depth:]
        if all(PurePosixPath(other).parts[-depth:] != end for other in others):
            return "/".join([*(part.removesuffix(FOLDER_MARK) for part in end), name])
    return f"{folder}/{name}"
