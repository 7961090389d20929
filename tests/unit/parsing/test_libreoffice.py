"""The limits of a conversion by LibreOffice, with a stand-in for its program."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.parsing.libreoffice import ConversionError, convert_to_pdf, find_soffice
from tests.support.office import StandIn, make_stand_in


@pytest.fixture
def soffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    yield make_stand_in(tmp_path, monkeypatch)
    find_soffice.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of PDFs, beside which there is a document."""
    (tmp_path / "report").write_bytes(b"A document.")
    (tmp_path / "pdfs").mkdir()
    return tmp_path / "pdfs"


def convert(folder: Path, timeout_s: float = 20.0) -> bytes:
    """Return the PDF of the document; nothing else stays in the folder."""
    target = folder / "report.pdf"
    try:
        convert_to_pdf(folder.parent / "report", target, timeout_s=timeout_s)
    finally:
        assert set(folder.iterdir()) <= {target}
    return target.read_bytes()


def test_program_gets_a_profile_of_its_own_and_no_key(
    soffice: StandIn, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    soffice.prepare(b"%PDF", f"env > {folder.parent}/env; cat document user/*.xcu > {folder.parent}/seen")
    assert convert(folder) == b"%PDF"
    profile = f"-env:UserInstallation=file://{folder}/.converting-"
    assert profile in soffice.log.read_text()
    environment = (folder.parent / "env").read_text()
    assert "secret" not in environment
    assert f"HOME={folder}/.converting-" in environment
    seen = (folder.parent / "seen").read_text()
    assert seen.startswith("A document.")
    assert 'oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true<' in seen


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("exit 3", r"failed \(exit status 3\); the file may be damaged, or need a password or more than 1,024 MB"),
        ("exit 0", "it made no PDF; the file may be damaged"),
        (f"{sys.executable} -c 'bytes(1_200_000_000)' || exit 4", r"exit status 4"),
        ("head -c 3000000 /dev/zero > other || exit 5", "exit status 5"),
    ],
)
def test_failure_says_why(
    soffice: StandIn, folder: Path, monkeypatch: pytest.MonkeyPatch, commands: str, expected: str
) -> None:
    monkeypatch.setattr("rag_core.parsing.libreoffice._MAX_FILE_MB", 2)
    soffice.prepare(commands=commands)
    with pytest.raises(ConversionError, match=expected):
        convert(folder)


def test_slow_program_is_killed_with_its_children(soffice: StandIn, folder: Path) -> None:
    pid = folder.parent / "pid"
    soffice.prepare(commands=f"sleep 60 & echo $! > {pid}; wait")
    started = time.monotonic()
    with pytest.raises(ConversionError, match=r"^the conversion took longer than 0\.7 s$"):
        convert(folder, 0.7)
    assert time.monotonic() - started < 10
    assert not is_running(int(pid.read_text()))


def test_child_that_outlives_the_program_is_killed(soffice: StandIn, folder: Path) -> None:
    pid = folder.parent / "pid"
    soffice.prepare(b"%PDF", f"sleep 60 & echo $! > {pid}")
    assert convert(folder) == b"%PDF"
    assert not is_running(int(pid.read_text()))


def test_conversion_ends_when_it_is_cancelled(soffice: StandIn, folder: Path) -> None:
    soffice.prepare(commands="sleep 60")
    with pytest.raises(ConversionError, match="Footnote was closed"):
        convert_to_pdf(folder.parent / "report", folder / "a.pdf", cancelled=lambda: soffice.conversions > 0)


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that has ended may wait a moment for its parent."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except (ProcessLookupError, FileNotFoundError):
            return False
        time.sleep(0.05)
    return True
