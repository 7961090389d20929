"""Files of labelled questions: formats and error messages."""

from __future__ import annotations

import json

import pytest

from rag_core.errors import LabelError
from rag_core.evaluation.label_files import parse_labels
from rag_core.types import Label, LabelKind, LabelledPage


def lines(*rows: object) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def parse_row(row: object) -> Label:
    (label,) = parse_labels("labels.jsonl", lines(row))
    return label


@pytest.mark.parametrize(
    ("row", "page"),
    [
        ({"page_index": 3}, LabelledPage("a.pdf", 3)),
        ({"page": 57}, LabelledPage("a.pdf", page="57")),
        ({"page": "iv"}, LabelledPage("a.pdf", page="iv")),
        ({"quote": "forty men"}, LabelledPage("a.pdf", quote="forty men")),
        ({"evidence": "forty men"}, LabelledPage("a.pdf", quote="forty men")),
    ],
)
def test_evidence_is_page_index_page_label_or_quote(row: dict[str, object], page: LabelledPage) -> None:
    assert parse_row({"question": "q", "document": "a.pdf", **row}).evidence == (page,)


def test_label_with_list_of_evidence_and_kind() -> None:
    label = parse_row(
        {
            "id": "x1",
            "question": " Who? ",
            "document": "a.pdf",
            "evidence": [{"document": "b.pdf", "page_index": 0}, {"page_index": 2}],
            "kind": "answerable",
            "answers": ["Eiffel", " "],
            "passage": "ignored",
        }
    )
    assert label == Label(
        "x1",
        "Who?",
        LabelKind.ANSWERABLE,
        (LabelledPage("b.pdf", 0), LabelledPage("a.pdf", 2)),
        ("Eiffel",),
        "labels.jsonl, line 1",
    )
    unanswerable = parse_row(
        {"id": 7, "question": "q", "document": None, "evidence": [], "kind": "off-corpus", "answers": []}
    )
    assert (unanswerable.label_id, unanswerable.kind, unanswerable.evidence) == ("7", LabelKind.OFF_CORPUS, ())


@pytest.mark.parametrize(
    ("row", "kind", "answers"),
    [
        ({"kind": "no answer"}, LabelKind.NO_ANSWER, ()),
        ({"answer": "No answer"}, LabelKind.NO_ANSWER, ()),
        ({"kind": "adversarial", "answer": "x"}, LabelKind.ADVERSARIAL, ()),
        ({"answer": "42"}, LabelKind.ANSWERABLE, ("42",)),
    ],
)
def test_kind_and_answers(row: dict[str, str], kind: LabelKind, answers: tuple[str, ...]) -> None:
    label = parse_row({"question": "q", **row})
    assert (label.kind, label.answers) == (kind, answers)


def test_pages_may_be_stale_or_inadmissible() -> None:
    label = parse_row(
        {
            "question": "q",
            "document": "new.pdf",
            "evidence": [
                {"page_index": 0},
                {"document": "old.pdf", "page": "3", "state": "stale"},
                {"document": "forum.pdf", "quote": "forty", "state": "inadmissible"},
            ],
        }
    )
    assert label.evidence == (
        LabelledPage("new.pdf", 0),
        LabelledPage("old.pdf", page="3", state="stale"),
        LabelledPage("forum.pdf", quote="forty", state="inadmissible"),
    )
    (row,) = parse_labels("l.csv", b"question,document,page,state,answer\nq,old.pdf,3,stale,42\n")
    assert row.evidence == (LabelledPage("old.pdf", page="3", state="stale"),)
    with pytest.raises(LabelError, match='line 1: "state" is "old"\\. Use one of current, stale, inadmissible'):
        parse_row({"question": "q", "document": "a.pdf", "page": 1, "state": "old"})
    with pytest.raises(LabelError, match="has neither a page nor an answer"):
        parse_row({"question": "q", "document": "a.pdf", "page": 1, "state": "stale"})


def test_generated_id_depends_on_question_and_evidence() -> None:
    row = {"question": "q", "document": "a.pdf", "page_index": 3}
    assert (
        parse_row(row).label_id
        == parse_row({**row, "answers": ["x"]}).label_id
        != parse_row({**row, "page_index": 4}).label_id
    )


def test_csv_with_byte_order_mark_quotes_and_empty_cells() -> None:
    data = (
        "\ufeffquestion,document,page_index,page,answers,kind\r\n"
        '"Who, then?",a.pdf,3,,Eiffel | Gustave Eiffel,\r\n'
        ",,,,,\r\n"
        "When?,a.pdf,,iv,,\r\n"
        "What?,,,,,off-corpus\r\n"
    ).encode()
    who, when, what = parse_labels("labels.csv", data)
    assert (who.question, who.evidence, who.answers) == (
        "Who, then?",
        (LabelledPage("a.pdf", 3),),
        ("Eiffel", "Gustave Eiffel"),
    )
    assert (when.evidence, when.where) == ((LabelledPage("a.pdf", page="iv"),), "labels.csv, line 4")
    assert what.kind is LabelKind.OFF_CORPUS


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv_with_other_delimiters_and_line_ends(delimiter: str, end: str) -> None:
    rows = [["Question", " document", "PAGE ", "answers"], ['"Who, then; what?"', " a.pdf", " iv ", '"1,749 | x;y"']]
    data = end.join(delimiter.join(row) for row in rows).encode("utf-8-sig")
    (label,) = parse_labels("labels.csv", data)
    assert (label.question, label.evidence, label.answers) == (
        "Who, then; what?",
        (LabelledPage("a.pdf", page="iv"),),
        ("1,749", "x;y"),
    )


def test_delimiter_is_detected_from_the_header() -> None:
    (label,) = parse_labels("labels.csv", b"question;kind\nWho, then?;no answer\n")
    assert label.question == "Who, then?"
    with pytest.raises(LabelError, match="neither a page"):
        parse_labels("labels.csv", b"question\nWho?\n")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": " "}, 'no "question"'),
        ({"question": 3}, 'no "question"'),
        ({"question": "q"}, "neither a page"),
        ({"question": "q", "kind": "hard"}, '"kind" is "hard"'),
        ({"question": "q", "answers": [3]}, '"answers" is neither'),
        ({"question": "q", "page_index": 3}, "names no document"),
        ({"question": "q", "document": "a.pdf", "page_index": -1}, "the first page is 0"),
        ({"question": "q", "document": "a.pdf", "page_index": 1.5}, "the first page is 0"),
        ({"question": "q", "document": "a.pdf", "page_index": True}, "the first page is 0"),
        ({"question": "q", "document": "a.pdf", "page_index": "x"}, "the first page is 0"),
        ({"question": "q", "document": "a.pdf", "page_index": float("inf")}, "the first page is 0"),
        ({"question": "q", "document": "a.pdf", "page_index": float("nan")}, "the first page is 0"),
        ({"question": "q", "document": "a.pdf", "page_index": 10**400}, "the first page is 0"),
        ({"question": "q", "document": "a.pdf", "evidence": [{}]}, "names no page of a.pdf"),
        ({"question": "q", "document": "a.pdf", "evidence": [3]}, '"evidence" is neither'),
        ({"question": "q", "document": "a.pdf", "evidence": 3}, '"evidence" is neither'),
        ([1], "not a JSON object"),
    ],
)
def test_invalid_row_is_rejected_with_file_and_line(row: object, message: str) -> None:
    valid = {"question": "before", "kind": "no answer"}
    with pytest.raises(LabelError) as raised:
        parse_labels("labels.jsonl", lines(valid, row))
    assert "labels.jsonl, line 2" in str(raised.value)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", b"\xff\xfe", "a.jsonl is not UTF-8"),
        ("a.jsonl", b" \n\n", "a.jsonl contains no labelled question"),
        ("a.jsonl", b"{broken", "a.jsonl, line 1 is not JSON"),
        ("a.jsonl", b'{"question":' + b"[" * 100_000, "a.jsonl, line 1 is not JSON"),
        ("a.csv", b"id,answer\n1,2\n", 'a.csv, line 1 has no column "question"'),
        ("a.csv", b"question,answer\nq,1,2\n", "a.csv, line 2 has more cells"),
        ("a.csv", b'question,answer\nq,"' + b"x" * 200_000, "is not CSV"),
    ],
)
def test_unreadable_file_is_rejected(name: str, data: bytes, message: str) -> None:
    with pytest.raises(LabelError, match="a\\.") as raised:
        parse_labels(name, data)
    assert message in str(raised.value)


def test_lone_surrogates_are_replaced() -> None:
    label = parse_row({"id": "\ud800", "question": "q \udfff", "answer": "x\ud800"})
    assert (label.label_id, label.question, label.answers) == ("?", "q ?", ("x?",))


def test_duplicate_question_is_rejected() -> None:
    row = {"id": "x", "question": "q", "answer": "a"}
    with pytest.raises(LabelError, match=r"line 2: the same question is in labels\.jsonl, line 1"):
        parse_labels("labels.jsonl", lines(row, row))


@pytest.mark.parametrize(("value", "is_pseudo"), [(True, True), ("true", True), (False, False), (None, False)])
def test_pseudo_questions_are_marked_in_files(value: object, is_pseudo: bool) -> None:
    row = {"question": "q", "document": "a.pdf", "page_index": 0}
    assert parse_row(row if value is None else {**row, "pseudo": value}).is_pseudo is is_pseudo


def test_wrong_mark_of_a_pseudo_question_is_refused() -> None:
    with pytest.raises(LabelError, match='line 1: "pseudo" is 7'):
        parse_row({"question": "q", "document": "a.pdf", "page_index": 0, "pseudo": 7})
