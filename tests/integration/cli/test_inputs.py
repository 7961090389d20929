"""Input of the command line: files of questions, damaged archives and unusual file names."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_core.cli import app as cli
from rag_core.cli.sources import read_sources
from tests.support.engines import ASK_BUDGET, BUDGET, PENGUINS, open_library
from tests.support.pdfs import make_pdf


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with one document; tests must not change it."""
    folder = tmp_path_factory.mktemp("cli") / "data"
    with open_library(folder, {"bridge.pdf": [BUDGET]}):
        return folder


class Shell:
    def __init__(self, data: Path, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        self._data, self._patch, self._captured = data, patch, captured

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self._patch.setattr(sys, "argv", ["rag_core", "--data-dir", str(self._data), *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        shown = self._captured.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err


@pytest.fixture
def shell(data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(data, monkeypatch, capsys)


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path / "data", monkeypatch, capsys)


def documents(shell: Shell) -> list[str]:
    return sorted(row["document"] for row in rows(shell("list", "--json")[1]))


def rows(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.split("\n") if line]


def ask(shell: Shell, tmp_path: Path, content: str | bytes, *words: str) -> tuple[int, list[dict[str, Any]], str]:
    file = tmp_path / "questions.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = shell("search", "--questions", str(file), "--json", *words)
    return code, rows(out), err


# Other programs write these characters into JSON without escaping them.
SEPARATORS = json.dumps({"id": 1, "question": f"{ASK_BUDGET}\u2028Please\u0085say."}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        (f"{SEPARATORS}\r\n{SEPARATORS}".encode(), [1, 1]),
        (b'\xef\xbb\xbf\n{"id": "x", "question": "budget"}\n\n', ["x"]),
        (b'{"id": 1, "question": "budget \\ud83d of the Zanzibar bridge"}\n{"id": 2, "question": "budget"}', [1, 2]),
    ],
    ids=["line separators", "byte order mark and blank lines", "half a surrogate pair"],
)
def test_unusual_characters_in_file_of_questions(
    shell: Shell, tmp_path: Path, content: bytes, ids: list[object]
) -> None:
    code, answers, _ = ask(shell, tmp_path, content)
    assert (code, [row["id"] for row in answers]) == (0, ids)


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        '"text"',
        '{"question": "no id"}',
        '{"id": 1}',
        '{"id": 1, "question": null}',
        '{"id": 1, "question": ["a"]}',
        '{"id": 1, "question": "q", "documents": "bridge.pdf"}',
        '{"id": 1, "question": "q", "documents": [1]}',
        '{"id": 1, "question": "q", "documents": {"a": 1}}',
        '{"id": 1, "question": ' + "[" * 100_000,
    ],
)
def test_invalid_line_is_reported_and_no_question_is_asked(shell: Shell, tmp_path: Path, line: str) -> None:
    good = json.dumps({"id": 0, "question": ASK_BUDGET})
    code, answers, err = ask(shell, tmp_path, f"{good}\n{line}\n")
    assert code == cli.WRONG_USE
    assert answers == []
    assert "Line 2 of" in err
    assert "Traceback" not in err


def test_documents_of_a_line_override_those_of_the_command(shell: Shell, tmp_path: Path) -> None:
    lines = [
        {"id": 1, "question": ASK_BUDGET, "documents": ["bridge.pdf"]},
        {"id": 2, "question": ASK_BUDGET},
        {"id": 3, "question": ASK_BUDGET, "documents": None},
    ]
    content = "\n".join(json.dumps(line) for line in lines)
    code, answers, _ = ask(shell, tmp_path, content, "--document", "missing.pdf")
    assert code == cli.SOME_FAILED
    assert ["error" in row for row in answers] == [False, True, True]


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_unreadable_file_of_questions_is_wrong_use(shell: Shell, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "questions.jsonl"
    if content is not None:
        file.write_bytes(content)
    code, out, err = shell("ask", "--questions", str(file), "--json")
    assert (code, out) == (cli.WRONG_USE, "")
    assert "questions.jsonl" in err.replace("\n", "")


NO_NAME = "a document whose name is quite long and which nobody has ever added.pdf"
NO_FOLDER = "/no/such/folder/anywhere/on/this/machine/with/a/name/that/is/longer/than/eighty/characters"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", ASK_BUDGET, "--document", NO_NAME), NO_NAME),
        (("ask", " "), "The question is empty"),
        (("ask",), "QUESTION"),
        (("ask", "one", "--questions", "two"), "--questions"),
        (("search", "x", "--top-k", "0"), "top-k"),
        (("search", "x", "--nonsense"), "--nonsense"),
        (("reindex", "--chunk-tokens", "9999"), "chunk-tokens"),
        (("nonsense",), "nonsense"),
        (("add",), ""),
        (("add", NO_FOLDER), f"'{NO_FOLDER}' does not exist"),
        (("delete", "missing.pdf"), "missing.pdf"),
        ((), "Unknown setting RAG_TRESHOLD."),
    ],
)
def test_wrong_use_is_reported_in_one_line(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    if not words:
        monkeypatch.setenv("RAG_TRESHOLD", "0.5")
        words = ("list", "--json")
    code, out, err = shell(*words)
    assert (code, out) == (cli.WRONG_USE, "")
    assert err.count("\n") == 1
    assert err.strip()
    assert message in err


def zipped(*entries: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def with_damaged_entry(archive: bytes) -> bytes:
    """Overwrite the compressed bytes of the first entry, but not its header."""
    start = 30 + int.from_bytes(archive[26:28], "little") + int.from_bytes(archive[28:30], "little")
    return archive[:start] + b"\xff" * 40 + archive[start + 40 :]


def with_size(archive: bytes, size: int) -> bytes:
    """Change the unpacked size of the first entry in all its records."""
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        actual = file.infolist()[0].file_size
    return archive.replace(actual.to_bytes(4, "little"), size.to_bytes(4, "little"))


def with_password_flag(archive: bytes) -> bytes:
    """Mark the first entry as encrypted."""
    changed = bytearray(archive)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        changed[changed.index(signature) + offset] |= 1
    return bytes(changed)


TWO_PDFS = zipped(("a.pdf", make_pdf(BUDGET)), ("b.pdf", make_pdf(PENGUINS)))


@pytest.mark.parametrize(
    ("archive", "problem"),
    [
        (with_damaged_entry(TWO_PDFS), "cannot be unpacked"),
        (with_password_flag(TWO_PDFS), "cannot be unpacked"),
        *((zipped((name, b""), ("b.pdf", make_pdf(PENGUINS))), "is not a PDF") for name in (".", "..", "./.", "//.")),
    ],
)
def test_unusable_entry_does_not_affect_the_others(tmp_path: Path, archive: bytes, problem: str) -> None:
    (tmp_path / "a.zip").write_bytes(archive)
    bad, good = read_sources([tmp_path / "a.zip"], 1_000_000)
    assert problem in bad.problem
    assert good.data == make_pdf(PENGUINS)


def test_entry_with_wrong_size_is_unpacked_only_to_the_limit(tmp_path: Path) -> None:
    bomb = with_size(zipped(("a.pdf", b"%PDF-1.4" + b"\0" * 5_000_000)), 1000)
    (tmp_path / "a.zip").write_bytes(bomb)
    (source,) = read_sources([tmp_path / "a.zip"], 1_000_000)
    assert source.problem
    assert len(source.data) <= 1_000_001


def test_hostile_archive_is_harmless_and_its_pdfs_are_added(fresh: Shell, tmp_path: Path) -> None:
    inner = zipped(("x.pdf", make_pdf(PENGUINS)))
    bomb = b"%PDF-1.4\n" + b"\0" * 30_000_000
    entries = (
        ("../../../evil.pdf", make_pdf(BUDGET)),
        ("/abs/inner.zip", inner),
        ("bomb.pdf", bomb),
        ("deep/plain.pdf", make_pdf(PENGUINS)),
        ("text.pdf", b"no pdf"),
        ("empty/", b""),
    )
    (tmp_path / "a.zip").write_bytes(zipped(*entries))
    code, out, _ = fresh("add", str(tmp_path / "a.zip"), "--json")
    results = {row["file"].split("a.zip/")[1].lstrip("/"): (row["status"], row["reason"]) for row in rows(out)}
    assert code == cli.SOME_FAILED
    assert results["../../../evil.pdf"] == results["deep/plain.pdf"] == ("indexed", "")
    assert {results[name][0] for name in ("abs/inner.zip", "bomb.pdf", "text.pdf")} == {"rejected"}
    assert len(results) == 5
    assert "archive within a.zip" in results["abs/inner.zip"][1]
    assert "100 times its size in a.zip" in results["bomb.pdf"][1]
    assert documents(fresh) == ["evil.pdf", "plain.pdf", "text.pdf"]
    stored = sum(path.stat().st_size for path in (tmp_path / "data" / "files").rglob("*") if path.is_file())
    assert stored < 100_000
    assert not list(tmp_path.parent.parent.glob("**/evil.pdf"))


@pytest.mark.parametrize("extra", [1, 50_000_000])
def test_too_large_file_is_not_read(tmp_path: Path, extra: int) -> None:
    with (tmp_path / "a.pdf").open("wb") as file:
        file.truncate(1_000_000 + extra)
    (source,) = read_sources([tmp_path / "a.pdf"], 1_000_000)
    assert "a.pdf has 1 MB" in source.problem or "a.pdf has 51 MB" in source.problem
    assert "RAG_MAX_FILE_MB" in source.problem
    assert source.data == b""
    (endless,) = read_sources([Path("/dev/zero")], 1_000_000)
    assert "RAG_MAX_FILE_MB" in endless.problem


def test_archive_entries_that_are_no_pdf_have_problems(tmp_path: Path) -> None:
    (tmp_path / "papers.zip").write_bytes(
        zipped(
            ("C:\\windows\\orchard.PDF", make_pdf(BUDGET)),
            ("notes.dat", b"words"),
            ("bomb.pdf", b"%PDF-1.4" + b"0" * 3_000_000),
        )
    )
    results = {source.name: source for source in read_sources([tmp_path / "papers.zip"], 1_000_000)}
    assert results["orchard.PDF"].data == make_pdf(BUDGET)
    assert "not a PDF" in results["notes.dat"].problem
    assert "unpacks to more than" in results["bomb.pdf"].problem
    assert results["bomb.pdf"].data == b""


def test_files_of_macos_and_lock_files_are_ignored(tmp_path: Path) -> None:
    entries = (
        ("__MACOSX/._a.pdf", b"\0\5\x16\7"),
        (".DS_Store", b"\0"),
        ("a/.DS_Store", b"\0"),
        ("a/~$b.docx", b"\5User"),
        ("a\\~$d.docx", b"\5User"),
        ("a/b.pdf", make_pdf(BUDGET)),
    )
    (tmp_path / "a.zip").write_bytes(zipped(*entries))
    (tmp_path / "._c.pdf").write_bytes(b"\0\5\x16\7")
    (tmp_path / "~$c.docx").write_bytes(b"\5User")
    results = list(read_sources([tmp_path], 1_000_000))
    assert [(source.name, source.problem) for source in results] == [("b.pdf", "")]


@pytest.mark.parametrize("packed", [False, True])
def test_files_of_one_name_in_different_folders_are_kept(fresh: Shell, tmp_path: Path, packed: bool) -> None:
    texts = {"2022/report.pdf": BUDGET, "2023/report.pdf": PENGUINS}
    for place, text in texts.items():
        (tmp_path / "papers" / place).parent.mkdir(parents=True)
        (tmp_path / "papers" / place).write_bytes(make_pdf(text))
    (tmp_path / "papers.zip").write_bytes(zipped(*((place, make_pdf(text)) for place, text in texts.items())))
    path = str(tmp_path / ("papers.zip" if packed else "papers"))
    code, out, _ = fresh("add", path, "--json")
    assert (code, [row["status"] for row in rows(out)]) == (0, ["indexed", "indexed"])
    assert documents(fresh) == ["2022/report.pdf", "2023/report.pdf"]
    _, out, _ = fresh("add", path, "--json")
    assert [row["status"] for row in rows(out)] == ["duplicate", "duplicate"]


def statement(year: int, amount: str) -> bytes:
    return make_pdf(f"Water used in {year}. Amount due on the water statement: {amount} crowns, by January {year + 1}.")


@pytest.mark.parametrize("together", [True, False])
def test_files_of_one_name_in_two_folders_are_two_documents(fresh: Shell, tmp_path: Path, together: bool) -> None:
    for year, amount in {2021: "2,310", 2022: "2,745"}.items():
        (tmp_path / str(year)).mkdir()
        (tmp_path / str(year) / "statement.pdf").write_bytes(statement(year, amount))
    folders = [str(tmp_path / "2021"), str(tmp_path / "2022")]
    for words in [folders] if together else [folders[:1], folders[1:]]:
        assert fresh("add", *words)[0] == 0
    assert documents(fresh) == ["2021/statement.pdf", "2022/statement.pdf"]
    for year, amount in {2021: "2,310", 2022: "2,745"}.items():
        (answer,) = rows(fresh("ask", f"What amount was due on the water statement of {year}?", "--json")[1])
        assert amount in answer["text"]
        assert {citation["document"] for citation in answer["citations"]} == {f"{year}/statement.pdf"}
    (tmp_path / "2022" / "statement.pdf").write_bytes(statement(2022, "2,999"))
    assert fresh("add", folders[1])[0] == 0
    assert documents(fresh) == ["2021/statement.pdf", "2022/statement.pdf"]


def test_later_file_of_same_name_replaces_the_document(fresh: Shell, tmp_path: Path) -> None:
    added = []
    for data in (make_pdf(BUDGET), make_pdf(PENGUINS), b"no pdf"):
        (tmp_path / "a.pdf").write_bytes(data)
        added += rows(fresh("add", str(tmp_path / "a.pdf"), "--json")[1])
    assert documents(fresh) == ["a.pdf"]
    assert [row["status"] for row in added] == ["indexed", "indexed", "rejected"]
    assert not added[0]["reason"]
    assert added[1]["reason"].startswith("It replaces the version of a.pdf added on ")
    assert (added[2]["pages"], added[2]["chunks"]) == (0, 0)


@pytest.mark.parametrize("options", [["--json"], []])
def test_one_line_per_file_also_with_unusual_and_long_names(fresh: Shell, tmp_path: Path, options: list[str]) -> None:
    folder = tmp_path / ("a folder with a long name " * 5).strip()
    folder.mkdir()
    (folder / os.fsdecode(b"f\xfcr.pdf")).write_bytes(make_pdf(BUDGET))
    (folder / "plain.pdf").write_bytes(b"no pdf")
    code, out, err = fresh("add", str(folder), *options)
    assert (code, err) == (cli.SOME_FAILED, "")
    assert len(out.splitlines()) == 2
    assert "plain.pdf" in out
    if options:
        assert {Path(row["file"]).name for row in rows(out)} == {os.fsdecode(b"f\xfcr.pdf"), "plain.pdf"}


def test_folder_without_documents_is_reported(fresh: Shell, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.dat").write_text("text")
    code, out, err = fresh("add", str(tmp_path / "notes"), "--json")
    assert (code, out) == (0, "")
    assert "No document that can be read" in err


def test_rejected_file_of_watched_folder_is_reported_once(fresh: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "good.pdf").write_bytes(make_pdf(BUDGET))
    (folder / "bad.pdf").write_bytes(b"no pdf")
    code, out, _ = fresh("watch", str(folder), "--json")
    (row,) = rows(out)
    assert (code, row["added"]) == (cli.SOME_FAILED, ["bad.pdf", "good.pdf"])
    assert [(file["file"], file["status"]) for file in row["refused"]] == [("bad.pdf", "rejected")]
    assert fresh("watch", str(folder), "--json")[0] == 0, "a rejection is reported once"
    (folder / "worse.pdf").write_bytes(b"no pdf either")
    code, out, _ = fresh("watch", str(folder))
    assert code == cli.SOME_FAILED
    assert "worse.pdf is not a PDF" in out


def test_missing_folder_can_be_unwatched(fresh: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    assert fresh("watch", str(folder))[0] == 0
    folder.rmdir()
    assert fresh("watch", str(folder))[0] == cli.SOME_FAILED
    assert fresh("watch", str(folder), "--remove") == (0, "", "")
    assert fresh("watch", "--json")[1] == ""
    code, _, err = fresh("watch", str(folder), "--remove")
    assert code == cli.WRONG_USE
    assert "is not watched" in err


def test_sources_are_read_lazily(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"1")
    (tmp_path / "b.pdf").write_bytes(b"2")
    files: Iterator[Any] = read_sources([tmp_path], 10)
    assert next(files).data == b"1"
    (tmp_path / "b.pdf").unlink()
    assert "cannot be read" in next(files).problem


def test_links_are_followed_to_files_once_and_reported_otherwise(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    for path in (folder / "plain.pdf", elsewhere / "single.pdf", elsewhere / "deep" / "shelf.pdf"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(path.name.encode())
    for name, target in {
        "linked.pdf": elsewhere / "single.pdf",
        "again.pdf": elsewhere / "single.pdf",
        "twice.pdf": folder / "plain.pdf",
        "gone.pdf": folder / "nowhere.pdf",
        "loop.pdf": folder / "loop.pdf",
        "shelves": elsewhere / "deep",
        "itself": folder,
    }.items():
        (folder / name).symlink_to(target)
    sources = list(read_sources([folder, folder / "plain.pdf"], 1_000_000))
    assert [source.name for source in sources if not source.problem] == ["plain.pdf", "single.pdf"]
    problems = {source.name: source.problem for source in sources if source.problem}
    assert sorted(problems) == ["gone.pdf", "itself", "loop.pdf", "shelves"]
    assert "does not exist" in problems["gone.pdf"]
    assert "Add that folder itself" in problems["shelves"]
    (source,) = read_sources([folder / "linked.pdf"], 1_000_000)
    assert source.data == b"single.pdf"


def test_archive_written_on_windows_has_folders(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for year in ("2021", "2022"):
            entry = zipfile.ZipInfo("x")
            entry.filename = f"{year}\\s.pdf"
            archive.writestr(entry, b"text")
    sources = list(read_sources([tmp_path / "a.zip"], 1_000_000))
    assert [source.name for source in sources] == ["s.pdf", "s.pdf"]
    assert [source.folder.rpartition("/")[2] for source in sources] == ["2021", "2022"]
