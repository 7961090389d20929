"""Files of labelled questions: what may stand in them, and what is told of the rest."""

from __future__ import annotations

import json

import pytest

from rag_core.errors import LabelError
from rag_core.evaluation.label_files import parse_labels
from rag_core.types import Label, LabelKind, LabelledPage


def lines(*rows: object) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def one(row: object) -> Label:
    (label,) = parse_labels("labels.jsonl", lines(row))
    return label


def test_evidence_may_be_an_index_a_printed_page_or_a_quote() -> None:
    assert one({"question": "q", "document": "a.pdf", "page_index": 3}).evidence == (LabelledPage("a.pdf", 3),)
    assert one({"question": "q", "document": "a.pdf", "page": 57}).evidence == (LabelledPage("a.pdf", page="57"),)
    assert one({"question": "q", "document": "a.pdf", "page": "iv"}).evidence == (LabelledPage("a.pdf", page="iv"),)
    quoted = (LabelledPage("a.pdf", quote="forty men"),)
    assert one({"question": "q", "document": "a.pdf", "quote": "forty men"}).evidence == quoted
    assert one({"question": "q", "document": "a.pdf", "evidence": "forty men"}).evidence == quoted


def test_the_shape_with_a_list_of_evidence_and_a_kind() -> None:
    label = one(
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
    refused = one({"id": 7, "question": "q", "document": None, "evidence": [], "kind": "off-corpus", "answers": []})
    assert (refused.label_id, refused.kind, refused.evidence) == ("7", LabelKind.OFF_CORPUS, ())


def test_no_answer_is_a_kind_or_an_answer() -> None:
    assert one({"question": "q", "kind": "no answer"}).kind is LabelKind.NO_ANSWER
    label = one({"question": "q", "answer": "No answer"})
    assert (label.kind, label.answers) == (LabelKind.NO_ANSWER, ())
    assert one({"question": "q", "kind": "adversarial", "answer": "x"}).answers == ()


def test_an_answer_alone_is_enough() -> None:
    assert one({"question": "q", "answer": "42"}).answers == ("42",)


def test_a_question_without_an_id_has_the_same_one_each_time() -> None:
    row = {"question": "q", "document": "a.pdf", "page_index": 3}
    assert one(row).label_id == one({**row, "answers": ["x"]}).label_id != one({**row, "page_index": 4}).label_id


def test_csv_with_a_byte_order_mark_quotes_and_empty_cells() -> None:
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
def test_csv_as_spreadsheets_of_other_countries_write_it(delimiter: str, end: str) -> None:
    rows = [["Question", " document", "PAGE ", "answers"], ['"Who, then; what?"', " a.pdf", " iv ", '"1,749 | x;y"']]
    data = end.join(delimiter.join(row) for row in rows).encode("utf-8-sig")
    (label,) = parse_labels("labels.csv", data)
    assert (label.question, label.evidence, label.answers) == (
        "Who, then; what?",
        (LabelledPage("a.pdf", page="iv"),),
        ("1,749", "x;y"),
    )


def test_a_question_alone_in_its_column_needs_no_delimiter() -> None:
    (label,) = parse_labels("labels.csv", b"question;kind\nWho, then?;no answer\n")
    assert label.question == "Who, then?"
    with pytest.raises(LabelError, match="neither a page"):
        parse_labels("labels.csv", b"question\nWho?\n")


@pytest.mark.parametrize(
    ("row", "says"),
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
def test_what_is_wrong_is_told_with_file_and_line(row: object, says: str) -> None:
    good = {"question": "before", "kind": "no answer"}
    with pytest.raises(LabelError) as told:
        parse_labels("labels.jsonl", lines(good, row))
    assert "labels.jsonl, line 2" in str(told.value)
    assert says in str(told.value)


@pytest.mark.parametrize(
    ("name", "data", "says"),
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
def test_a_file_that_cannot_be_read_is_told(name: str, data: bytes, says: str) -> None:
    with pytest.raises(LabelError, match="a\\.") as told:
        parse_labels(name, data)
    assert says in str(told.value)


def test_half_characters_are_replaced_for_nothing_could_show_or_write_them() -> None:
    label = one({"id": "\ud800", "question": "q \udfff", "answer": "x\ud800"})
    assert (label.label_id, label.question, label.answers) == ("?", "q ?", ("x?",))


def test_a_question_may_stand_in_a_file_once() -> None:
    row = {"id": "x", "question": "q", "answer": "a"}
    with pytest.raises(LabelError, match=r"line 2: the same question is in labels\.jsonl, line 1"):
        parse_labels("labels.jsonl", lines(row, row))
