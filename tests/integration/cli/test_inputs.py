"""What people hand over: damaged archives, odd names, files of questions from other programs."""

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
from rag_core.cli.sources import sources
from tests.support.engines import ASK_BUDGET, BUDGET, PENGUINS, indexed, opened
from tests.support.pdfs import make_pdf


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one document; no test may change it."""
    folder = tmp_path_factory.mktemp("cli") / "data"
    with opened(folder) as engine:
        indexed(engine, "bridge.pdf", BUDGET)
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


# questions


def ask(shell: Shell, tmp_path: Path, content: str | bytes, *words: str) -> tuple[int, list[dict[str, Any]], str]:
    file = tmp_path / "questions.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = shell("search", "--questions", str(file), "--json", *words)
    return code, rows(out), err


def test_line_ends_inside_a_question_are_part_of_it(shell: Shell, tmp_path: Path) -> None:
    """Such as other programs leave in JSON without escaping them."""
    question = f"{ASK_BUDGET}\u2028Please\u0085say."
    lines = [json.dumps({"id": number, "question": question}, ensure_ascii=False) for number in (1, 2)]
    code, found, _ = ask(shell, tmp_path, "\r\n".join(lines))
    assert code == 0
    assert [row["id"] for row in found] == [1, 2]


def test_a_byte_order_mark_and_empty_lines_do_no_harm(shell: Shell, tmp_path: Path) -> None:
    line = json.dumps({"id": "x", "question": ASK_BUDGET})
    code, found, _ = ask(shell, tmp_path, b"\xef\xbb\xbf\n" + line.encode() + b"\n\n")
    assert (code, [row["id"] for row in found]) == (0, ["x"])


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
def test_a_line_that_is_no_question_is_named_and_nothing_is_asked(shell: Shell, tmp_path: Path, line: str) -> None:
    good = json.dumps({"id": 0, "question": ASK_BUDGET})
    code, found, err = ask(shell, tmp_path, f"{good}\n{line}\n")
    assert code == cli.WRONG_USE
    assert found == []
    assert "Line 2 of" in err
    assert "Traceback" not in err


def test_half_a_surrogate_pair_in_a_question_is_survived(shell: Shell, tmp_path: Path) -> None:
    lines = ['{"id": 1, "question": "budget \\ud83d of the Zanzibar bridge"}', '{"id": 2, "question": "budget"}']
    code, found, _ = ask(shell, tmp_path, "\n".join(lines))
    assert (code, [row["id"] for row in found]) == (0, [1, 2])


def test_the_documents_of_a_line_win_over_those_of_the_command(shell: Shell, tmp_path: Path) -> None:
    lines = [
        {"id": 1, "question": ASK_BUDGET, "documents": ["bridge.pdf"]},
        {"id": 2, "question": ASK_BUDGET},
        {"id": 3, "question": ASK_BUDGET, "documents": None},
    ]
    content = "\n".join(json.dumps(line) for line in lines)
    code, found, _ = ask(shell, tmp_path, content, "--document", "missing.pdf")
    assert code == cli.SOME_FAILED
    assert ["error" in row for row in found] == [False, True, True]


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_file_of_questions_that_cannot_be_read_is_wrong_use(
    shell: Shell, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "questions.jsonl"
    if content is not None:
        file.write_bytes(content)
    code, out, err = shell("ask", "--questions", str(file), "--json")
    assert (code, out) == (cli.WRONG_USE, "")
    assert "questions.jsonl" in err.replace("\n", "")


# errors


@pytest.mark.parametrize(
    "words",
    [
        ("ask", ASK_BUDGET, "--document", "a document whose name is quite long and which nobody has ever added.pdf"),
        ("ask", " "),
        ("ask",),
        ("ask", "one", "--questions", "two"),
        ("search", "x", "--top-k", "0"),
        ("search", "x", "--nonsense"),
        ("nonsense",),
        ("add",),
        ("delete", "missing.pdf"),
        ("add", "/no/such/folder/anywhere/on/this/machine/with/a/name/that/is/longer/than/eighty/characters"),
    ],
)
def test_wrong_use_is_told_in_one_line(shell: Shell, words: tuple[str, ...]) -> None:
    code, out, err = shell(*words)
    assert (code, out) == (cli.WRONG_USE, "")
    assert err.count("\n") == 1
    assert err.strip()


def test_a_wrong_setting_is_told_in_one_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TRESHOLD", "0.5")
    code, out, err = shell("list", "--json")
    assert (code, out) == (cli.WRONG_USE, "")
    assert err.startswith("Unknown setting RAG_TRESHOLD.")
    assert err.count("\n") == 1


def test_help_is_no_error(shell: Shell) -> None:
    code, out, err = shell("--help")
    assert (code, err) == (0, "")
    for command in ("add", "list", "delete", "search", "ask", "reindex", "status"):
        assert command in out


# files


def zipped(*entries: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def spoilt(archive: bytes) -> bytes:
    """The first entry's compressed bytes overwritten, its place and length left."""
    start = 30 + int.from_bytes(archive[26:28], "little") + int.from_bytes(archive[28:30], "little")
    return archive[:start] + b"\xff" * 40 + archive[start + 40 :]


def lying(archive: bytes, size: int) -> bytes:
    """Every record of an entry's unpacked size set to another."""
    with zipfile.ZipFile(io.BytesIO(archive)) as one:
        real = one.infolist()[0].file_size
    return archive.replace(real.to_bytes(4, "little"), size.to_bytes(4, "little"))


def test_a_damaged_entry_is_refused_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(spoilt(zipped(("a.pdf", make_pdf(BUDGET)), ("b.pdf", make_pdf(PENGUINS)))))
    bad, good = sources([tmp_path / "a.zip"], 1_000_000)
    assert "cannot be unpacked" in bad.problem
    assert good.data == make_pdf(PENGUINS)


def test_an_entry_that_lies_about_its_size_is_not_unpacked_beyond_the_limit(tmp_path: Path) -> None:
    bomb = lying(zipped(("a.pdf", b"%PDF-1.4" + b"\0" * 5_000_000)), 1000)
    (tmp_path / "a.zip").write_bytes(bomb)
    (source,) = sources([tmp_path / "a.zip"], 1_000_000)
    assert source.problem
    assert len(source.data) <= 1_000_001


def test_an_archive_of_bombs_paths_and_archives_does_no_harm_and_its_pdf_is_added(fresh: Shell, tmp_path: Path) -> None:
    inner = zipped(("x.pdf", make_pdf(PENGUINS)))
    bomb = b"%PDF-1.4\n" + b"\0" * 30_000_000
    entries = (("../../../evil.pdf", make_pdf(BUDGET)), ("/abs/inner.zip", inner), ("bomb.pdf", bomb))
    (tmp_path / "a.zip").write_bytes(zipped(*entries))
    code, out, _ = fresh("add", str(tmp_path / "a.zip"), "--json")
    found = {row["file"].rsplit("/", 1)[-1]: (row["status"], row["reason"]) for row in rows(out)}
    assert code == cli.SOME_FAILED
    assert found["evil.pdf"] == ("indexed", "")
    assert found["inner.zip"][0] == "rejected"
    assert "archive within a.zip" in found["inner.zip"][1]
    assert found["bomb.pdf"][0] == "rejected"
    assert "100 times its size in a.zip" in found["bomb.pdf"][1]
    _, listed, _ = fresh("list", "--json")
    assert [row["document"] for row in rows(listed)] == ["evil.pdf"]
    kept = sum(path.stat().st_size for path in (tmp_path / "data" / "files").rglob("*") if path.is_file())
    assert kept < 100_000
    assert not list(tmp_path.parent.parent.glob("**/evil.pdf"))


@pytest.mark.parametrize("extra", [1, 50_000_000])
def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, extra: int) -> None:
    with (tmp_path / "a.pdf").open("wb") as file:
        file.truncate(1_000_000 + extra)
    (source,) = sources([tmp_path / "a.pdf"], 1_000_000)
    assert "a.pdf has 1 MB" in source.problem or "a.pdf has 51 MB" in source.problem
    assert "RAG_MAX_FILE_MB" in source.problem
    assert source.data == b""


def test_a_device_that_never_ends_is_read_no_further_than_the_limit() -> None:
    (source,) = sources([Path("/dev/zero")], 1_000_000)
    assert "RAG_MAX_FILE_MB" in source.problem


def test_an_entry_behind_a_password_is_refused(tmp_path: Path) -> None:
    archive = bytearray(zipped(("a.pdf", make_pdf(BUDGET))))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.index(mark) + flags] |= 1
    (tmp_path / "a.zip").write_bytes(bytes(archive))
    (source,) = sources([tmp_path / "a.zip"], 1_000_000)
    assert "cannot be unpacked" in source.problem


@pytest.mark.parametrize("name", [".", "..", "./.", "//."])
def test_an_entry_named_like_a_folder_is_refused_and_the_others_go_on(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.zip").write_bytes(zipped((name, b""), ("b.pdf", make_pdf(BUDGET))))
    bad, good = sources([tmp_path / "a.zip"], 1_000_000)
    assert "is not a PDF" in bad.problem
    assert good.data == make_pdf(BUDGET)


def test_what_a_mac_puts_beside_files_is_passed_over(tmp_path: Path) -> None:
    entries = (
        ("__MACOSX/._a.pdf", b"\0\5\x16\7"),
        (".DS_Store", b"\0"),
        ("a/.DS_Store", b"\0"),
        ("a/b.pdf", make_pdf(BUDGET)),
    )
    (tmp_path / "a.zip").write_bytes(zipped(*entries))
    (tmp_path / "._c.pdf").write_bytes(b"\0\5\x16\7")
    found = list(sources([tmp_path], 1_000_000))
    assert [(source.name, source.problem) for source in found] == [("b.pdf", "")]


def test_an_archive_of_many_is_added_and_reported_each_under_its_place(fresh: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(
        zipped(
            ("../../x.pdf", make_pdf(BUDGET)), ("deep/y.pdf", make_pdf(PENGUINS)), ("z.pdf", b"no pdf"), ("empty/", b"")
        )
    )
    code, out, _ = fresh("add", str(tmp_path / "a.zip"), "--json")
    found = {row["file"].split("a.zip/")[1]: row["status"] for row in rows(out)}
    assert code == cli.SOME_FAILED
    assert found == {"../../x.pdf": "indexed", "deep/y.pdf": "indexed", "z.pdf": "rejected"}
    assert not list(tmp_path.parent.rglob("x.pdf"))


def test_a_rejected_replacement_is_not_reported_with_the_counts_of_what_stays(fresh: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(make_pdf(BUDGET))
    assert fresh("add", str(tmp_path / "a.pdf"))[0] == 0
    (tmp_path / "a.pdf").write_bytes(b"no pdf")
    code, out, _ = fresh("add", str(tmp_path / "a.pdf"), "--json")
    (row,) = rows(out)
    assert (code, row["status"], row["pages"], row["chunks"]) == (cli.SOME_FAILED, "rejected", 0, 0)


@pytest.mark.parametrize("packed", [False, True])
def test_files_of_one_name_in_several_folders_are_several_documents(fresh: Shell, tmp_path: Path, packed: bool) -> None:
    texts = {"2022/report.pdf": BUDGET, "2023/report.pdf": PENGUINS}
    for place, text in texts.items():
        (tmp_path / "papers" / place).parent.mkdir(parents=True)
        (tmp_path / "papers" / place).write_bytes(make_pdf(text))
    (tmp_path / "papers.zip").write_bytes(zipped(*((place, make_pdf(text)) for place, text in texts.items())))
    given = str(tmp_path / ("papers.zip" if packed else "papers"))
    code, out, _ = fresh("add", given, "--json")
    assert (code, [row["status"] for row in rows(out)]) == (0, ["indexed", "indexed"])
    assert documents(fresh) == ["report (2).pdf", "report.pdf"]
    _, out, _ = fresh("add", given, "--json")
    assert [row["status"] for row in rows(out)] == ["duplicate", "duplicate"]


def test_a_later_file_of_the_same_name_takes_the_former_s_place(fresh: Shell, tmp_path: Path) -> None:
    for text in (BUDGET, PENGUINS):
        (tmp_path / "a.pdf").write_bytes(make_pdf(text))
        assert fresh("add", str(tmp_path / "a.pdf"))[0] == 0
    assert documents(fresh) == ["a.pdf"]


@pytest.mark.parametrize("options", [["--json"], []])
def test_names_that_are_not_utf_8_are_added_and_shown(fresh: Shell, tmp_path: Path, options: list[str]) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / os.fsdecode(b"f\xfcr.pdf")).write_bytes(make_pdf(BUDGET))
    (folder / "plain.pdf").write_bytes(make_pdf(PENGUINS))
    code, out, err = fresh("add", str(folder), *options)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 2
    assert "plain.pdf" in out
    if options:
        assert {Path(row["file"]).name for row in rows(out)} == {os.fsdecode(b"f\xfcr.pdf"), "plain.pdf"}


def test_a_line_a_file_however_long_its_name(fresh: Shell, tmp_path: Path) -> None:
    folder = tmp_path / ("a folder with a long name " * 5).strip()
    folder.mkdir()
    (folder / "one.pdf").write_bytes(make_pdf(BUDGET))
    (folder / "two.pdf").write_bytes(b"no pdf")
    _, out, _ = fresh("add", str(folder))
    assert len(out.splitlines()) == 2


def test_a_folder_without_pdfs_is_said_to_hold_none(fresh: Shell, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("text")
    code, out, err = fresh("add", str(tmp_path / "notes"), "--json")
    assert (code, out) == (0, "")
    assert "No PDF" in err


@pytest.mark.parametrize("options", [["--json"], []])
def test_a_watched_file_that_is_refused_is_told(fresh: Shell, tmp_path: Path, options: list[str]) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "good.pdf").write_bytes(make_pdf(BUDGET))
    (folder / "bad.pdf").write_bytes(b"no pdf")
    code, out, _ = fresh("watch", str(folder), *options)
    assert code == cli.SOME_FAILED
    assert "bad.pdf is not a PDF" in out
    if options:
        (row,) = rows(out)
        assert row["added"] == ["bad.pdf", "good.pdf"]
        assert [(one["file"], one["status"]) for one in row["refused"]] == [("bad.pdf", "rejected")]
    assert fresh("watch", str(folder), *options)[0] == 0, "told once"


def test_a_folder_that_is_gone_can_be_watched_no_longer(fresh: Shell, tmp_path: Path) -> None:
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


def test_nothing_is_read_until_it_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"1")
    (tmp_path / "b.pdf").write_bytes(b"2")
    given: Iterator[Any] = sources([tmp_path], 10)
    assert next(given).data == b"1"
    (tmp_path / "b.pdf").unlink()
    assert "cannot be read" in next(given).problem
