"""Read the arguments of ``add``: files, folders and zip archives, one file at a time."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rag_core.parsing.formats.accepted import ACCEPTED
from rag_core.types.formats import is_lock_file

# Largest factor by which a zip entry may grow when it is unpacked. Files of most formats are compressed already, so an
# entry that grows more is probably a zip bomb.
MAX_RATIO = 100
# Number of unpacked bytes below which an entry may grow by any factor.
MIN_SUSPICIOUS_BYTES = 10_000_000
_READ_ENDINGS = (*ACCEPTED.suffixes, ".zip")


@dataclass(frozen=True, slots=True)
class Source:
    """A file to index, or the problem that prevents reading it.

    Attributes
    ----------
    shown : str
        The path for display.
    name : str
    data : bytes
    problem : str
        Empty if the file was read.
    folder : str
        The full path of the folder, or of the archive and the folders in it.
    """

    shown: str
    name: str
    data: bytes = b""
    problem: str = ""
    folder: str = ""


def read_sources(paths: Sequence[Path], max_bytes: int) -> Iterator[Source]:
    """Yield the files of the paths, each file once.

    - In a folder and its subfolders, files of accepted formats and archives are read, sorted by path. A file that is
      itself one of the paths is read whatever its format is.
    - In a folder, links are read after the other files. A link to a file is followed, unless the file is read anyway. A
      link to a folder or to nothing is a problem.
    - In an archive, files are sorted by path, and a file of another format is a problem. The name of a file does not
      contain the folders within the archive.

    Parameters
    ----------
    paths : sequence of Path
    max_bytes : int
        Larger files are not read, and larger entries of archives are not unpacked.
    """
    seen: set[Path] = set()
    for path in paths:
        if path.is_dir():
            files, problems = _list_folder(path)
            yield from problems
        else:
            files = [path]
        for file in files:
            if (target := file.resolve()) not in seen:
                seen.add(target)
                is_archive = file.suffix.lower() == ".zip"
                yield from _unpack_archive(file, max_bytes) if is_archive else [_read_file(file, max_bytes)]


def _list_folder(folder: Path) -> tuple[list[Path], list[Source]]:
    """Return the files and archives below a folder, and a problem for each link to a folder or to nothing."""
    files, linked, problems = [], [], []
    for path in sorted(folder.rglob("*")):
        if _is_left_out(path.name):
            continue
        is_wanted = path.suffix.lower() in _READ_ENDINGS
        if not path.is_symlink():
            files += [path] if is_wanted and path.is_file() else []
        elif path.is_dir():
            reason = f"{path} is a link to the folder {path.resolve()}, which is not followed. Add that folder itself."
            problems.append(Source(str(path), path.name, problem=reason))
        elif is_wanted and path.is_file():
            target = path.resolve()
            # Use the name of the link if the target has no known ending, as in stores that name files by their content.
            linked.append(target if target.suffix.lower() in _READ_ENDINGS else path)
        elif is_wanted:
            reason = f"{path} is a link to {path.readlink()}, which does not exist."
            problems.append(Source(str(path), path.name, problem=reason))
    return [*files, *linked], problems


def _read_file(path: Path, max_bytes: int) -> Source:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            # Limit the read: a device file may report the size 0 and never end.
            data = b"" if size > max_bytes else file.read(max_bytes + 1)
    except OSError as error:
        return Source(str(path), path.name, problem=f"{path} cannot be read ({error.strerror}).")
    size = max(size, len(data))
    if size <= max_bytes:
        return Source(str(path), path.name, data, folder=path.resolve().parent.as_posix())
    limit = f"{max_bytes / 1e6:.0f} MB"
    problem = f"{path.name} has {size / 1e6:.0f} MB; the limit is {limit}. Split it, or raise RAG_MAX_FILE_MB."
    return Source(str(path), path.name, problem=problem)


def _unpack_archive(path: Path, max_bytes: int) -> Iterator[Source]:
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in sorted(archive.infolist(), key=lambda one: one.filename):
                if not entry.is_dir() and not _is_left_out(entry.filename):
                    yield _read_entry(path, archive, entry, max_bytes)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        yield Source(str(path), path.name, problem=f"{path.name} is not a zip archive that can be read ({error}).")


def _read_entry(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, max_bytes: int) -> Source:
    inner = PurePosixPath(entry.filename.replace("\\", "/"))
    name = inner.name or entry.filename
    shown = f"{path}/{entry.filename}"
    if name.lower().endswith(".zip"):
        return Source(shown, name, problem=f"{name} is an archive within {path.name}. Unpack it and add its files.")
    if not ACCEPTED.has_suffix(name):
        return Source(shown, name, problem=f"{name} is not a {ACCEPTED.names} file. Export it as a PDF.")
    limit = f"{max_bytes / 1e6:.0f} MB"
    too_large = f"{name} unpacks to more than {limit}. Split it, or raise RAG_MAX_FILE_MB."
    if entry.file_size > max_bytes:
        return Source(shown, name, problem=too_large)
    if entry.file_size > max(MAX_RATIO * entry.compress_size, MIN_SUSPICIOUS_BYTES):
        problem = f"{name} unpacks to more than {MAX_RATIO} times its size in {path.name}, like a zip bomb."
        return Source(shown, name, problem=f"{problem} If you trust it, unpack it and add it as a file.")
    try:
        with archive.open(entry) as stream:
            # Limit the read: an entry can be larger than the size in its header.
            data = stream.read(max_bytes + 1)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, OSError, EOFError, ValueError) as error:
        return Source(shown, name, problem=f"{name} cannot be unpacked from {path.name} ({error}).")
    if len(data) > max_bytes:
        return Source(shown, name, problem=too_large)
    return Source(shown, name, data, folder=f"{path.resolve().as_posix()}/{inner.parent}")


def _is_left_out(name: str) -> bool:
    """Return whether a file is no document of the user: metadata of macOS, or the lock file of an Office program."""
    path = PurePosixPath(name.replace("\\", "/"))
    is_of_macos = "__MACOSX" in path.parts or path.name.startswith("._") or path.name == ".DS_Store"
    return is_of_macos or is_lock_file(path.name)
