"""Files of labelled questions: formats and error messages."""

from __future__ import annotations

import json

import pytest

from rag_core.errors import LabelError
from rag_core.evaluation.label_files import parse_labels
from rag_core.types.evaluation import Label, LabelKind, LabelledPage


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
        ({"page": "3", "state": "stale", "answer": "42"}, LabelledPage("a.pdf", page="3", state="stale")),
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
            "evidence": [
                {"document": "b.pdf", "page_index": 0},
                {"page_index": 2},
                {"document": "c.pdf", "quote": "x", "state": "inadmissible"},
            ],
            "kind": "answerable",
            "answers": ["Eiffel", " "],
            "passage": "ignored",
        }
    )
    assert label == Label(
        "x1",
        "Who?",
        LabelKind.ANSWERABLE,
        (LabelledPage("b.pdf", 0), LabelledPage("a.pdf", 2), LabelledPage("c.pdf", quote="x", state="inadmissible")),
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
        # Halves of surrogate pairs are replaced.
        ({"answer": "x\ud800"}, LabelKind.ANSWERABLE, ("x?",)),
    ],
)
def test_kind_and_answers(row: dict[str, str], kind: LabelKind, answers: tuple[str, ...]) -> None:
    label = parse_row({"question": "q", **row})
    assert (label.kind, label.answers) == (kind, answers)


def test_generated_id_depends_on_question_and_evidence() -> None:
    row = {"question": "q", "document": "a.pdf", "page_index": 3}
    assert (
        parse_row(row).label_id
        == parse_row({**row, "answers": ["x"]}).label_id
        != parse_row({**row, "page_index": 4}).label_id
    )


def test_csv_with_byte_order_mark_quotes_and_empty_cells() -> None:
    data = (
        "\ufeffquestion,document,page_index,page,answers,kind,state\r\n"
        '"Who, then?",a.pdf,3,,Eiffel | Gustave Eiffel,,\r\n'
        ",,,,,,\r\n"
        "When?,a.pdf,,iv,1889,,stale\r\n"
        "What?,,,,,off-corpus,\r\n"
    ).encode()
    who, when, what = parse_labels("labels.csv", data)
    assert (who.question, who.evidence, who.answers) == (
        "Who, then?",
        (LabelledPage("a.pdf", 3),),
        ("Eiffel", "Gustave Eiffel"),
    )
    assert (when.evidence, when.where) == ((LabelledPage("a.pdf", page="iv", state="stale"),), "labels.csv, line 4")
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
        ({"question": "q", "document": "a.pdf", "page": 1, "state": "old"}, "Use one of current, stale, inadmissible"),
        ({"question": "q", "document": "a.pdf", "page": 1, "state": "stale"}, "has neither a page nor an answer"),
        ({"question": "q", "document": "a.pdf", "page": 1, "pseudo": 7}, '"pseudo" is 7'),
        ({"question": "before", "kind": "no answer"}, "the same question is in labels.jsonl, line 1"),
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


@pytest.mark.parametrize(("value", "is_pseudo"), [(True, True), ("true", True), (False, False), (None, False)])
def test_pseudo_questions_are_marked_in_files(value: object, is_pseudo: bool) -> None:
    row = {"question": "q", "document": "a.pdf", "page_index": 0}
    assert parse_row(row if value is None else {**row, "pseudo": value}).is_pseudo is is_pseudo
