"""Convert an Office document to PDF with LibreOffice, in a process with limited time, memory and access."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from rag_core.parsing.workers.process import inherit_environment

TIMEOUT_S = 120.0
_MEMORY_MB = 1024
_MAX_FILE_MB = 500
_POLL_S = 0.05
# Prefix of the temporary folder of a conversion, which contains a copy of the document.
TEMPORARY = ".converting-"
# Do not load anything outside the document, and do not run macros. Parts of LibreOffice that ignore the first setting
# send their requests to a proxy that does not exist.
_SETTINGS = {
    "Common/Security/Scripting": {
        "BlockUntrustedRefererLinks": "true",
        "DisableMacrosExecution": "true",
        "MacroSecurityLevel": "3",
        "DisableActiveContent": "true",
    },
    "Inet/Settings": {
        "ooInetProxyType": "2",
        "ooInetNoProxy": "",
        **{f"ooInet{kind}ProxyName": "127.0.0.1" for kind in ("HTTP", "HTTPS", "FTP")},
        **{f"ooInet{kind}ProxyPort": "9" for kind in ("HTTP", "HTTPS", "FTP")},
    },
}
# Limits on each process of the conversion: data and address space in kilobytes, written files in blocks of 512 bytes,
# processor time in seconds, and no memory dumps. The processor time ends the process even if this process was killed.
# macOS refuses some limits.
_LIMITED = 'ulimit -d $0; ulimit -v $(($0 * 4)); ulimit -f $1; ulimit -t $2; ulimit -c 0; shift 2; exec "$@"'


class ConversionError(Exception):
    """A document cannot be converted; the message is the reason, which can follow "LibreOffice does not show it: "."""


@cache
def find_soffice() -> str:
    """Return the path of LibreOffice's program; empty if it is not installed, and on Windows."""
    return (shutil.which("soffice") or "") if os.name == "posix" else ""


def convert_to_pdf(
    source: Path, target: Path, *, timeout_s: float = TIMEOUT_S, cancelled: Callable[[], bool] = lambda: False
) -> None:
    """Convert a document to PDF with LibreOffice, and write the PDF to ``target``.

    The profile and a copy of the document are in a temporary folder beside ``target``. The file ``target`` appears only
    when it is complete. LibreOffice recognizes the format by the content.

    Raises
    ------
    ConversionError
        LibreOffice failed or took too long, or ``cancelled`` returned true.
    """
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=target.parent) as name:
        folder = Path(name)
        shutil.copyfile(source, folder / "document")
        _write_profile(folder / "user")
        _run(folder, timeout_s, cancelled)
        made = folder / "document.pdf"
        if not made.is_file() or not made.stat().st_size:
            raise ConversionError("it made no PDF; the file may be damaged")
        made.replace(target)


def _write_profile(folder: Path) -> None:
    items = "".join(
        f'<item oor:path="/org.openoffice.{"Office." if path.startswith("Common") else ""}{path}">'
        f'<prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
        for path, values in _SETTINGS.items()
        for name, value in values.items()
    )
    folder.mkdir()
    (folder / "registrymodifications.xcu").write_text(
        f'<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">{items}'
        "</oor:items>",
        "utf-8",
    )


def _run(folder: Path, timeout_s: float, cancelled: Callable[[], bool]) -> None:
    """Run LibreOffice in a folder until it ends or the time is over; then kill the processes that are left."""
    limits = (_MEMORY_MB * 1024, _MAX_FILE_MB * 2048, int(4 * timeout_s))
    options = (
        f"-env:UserInstallation={folder.absolute().as_uri()}",
        "--headless",
        "--norestore",
        "--convert-to",
        "pdf",
    )
    process = subprocess.Popen(  # noqa: S603 - the program on the path, without names from the document
        ["/bin/sh", "-c", _LIMITED, *map(str, limits), find_soffice(), *options, "--outdir", ".", "document"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=inherit_environment() | {"HOME": str(folder), "TMPDIR": str(folder)},
        cwd=folder,
        start_new_session=True,
    )
    deadline = time.monotonic() + timeout_s
    try:
        while process.poll() is None:
            if cancelled():
                raise ConversionError("Footnote was closed")
            if time.monotonic() > deadline:
                raise ConversionError(f"the conversion took longer than {timeout_s:g} s")
            time.sleep(_POLL_S)
        if process.returncode:
            raise ConversionError(
                f"the conversion failed (exit status {process.returncode}); the file may be damaged, or need a "
                f"password or more than {_MEMORY_MB:,} MB"
            )
    finally:
        _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children, which may run longer than the process."""
    with suppress(ProcessLookupError):  # all of them have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
