"""Parse labelled questions from JSON lines or CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rag_core.errors import LabelError
from rag_core.types.evaluation import EVIDENCE_STATES, EvidenceState, Label, LabelKind, LabelledPage

NO_ANSWER = "no answer"
# Separates the answers in one cell of a CSV file.
SEPARATOR = "|"
# Possible separators of cells.
DELIMITERS = (",", ";", "\t")

Row = Mapping[str, Any]


def parse_labels(name: str, data: bytes) -> list[Label]:
    """Parse a file of labelled questions.

    A row contains ``question``, and a page, an answer or a kind:

    - The page that answers the question: ``document``, and one of ``page_index`` (from 0), ``page`` (as printed) and
      ``quote`` (words on the page). ``evidence`` may be a quote instead or, in JSON lines, a list of several pages as
      objects with these keys.
    - ``answers`` or ``answer``: the expected answers. In CSV, ``|`` separates several answers.
    - ``kind``: ``answerable``, ``no answer``, ``off-corpus`` or ``adversarial``.
    - ``state`` of a page: ``current``, ``stale`` or ``inadmissible``. Only current pages answer the question.
    - ``id``: identifies the question across files and runs.
    - ``pseudo``: true if the question was made from a sentence of the document.

    Parameters
    ----------
    name : str
        The file's name. A file whose name ends in ``.csv`` is parsed as CSV with a header, any other file as JSON
        lines. CSV cells are separated by the one of comma, semicolon and tab that is most frequent in the header.
    data : bytes
        The content of the file in UTF-8, with or without a byte order mark.

    Raises
    ------
    LabelError
        The message names the file and the line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LabelError(f"{name} is not UTF-8 text. Save it as UTF-8.") from None
    rows = _parse_csv_rows(name, text) if PurePath(name).suffix.lower() == ".csv" else _parse_json_rows(name, text)
    labels = [_parse_label(row, where) for row, where in rows]
    if not labels:
        raise LabelError(f"{name} contains no labelled question. Write one JSON object per line, or CSV with a header.")
    seen: dict[str, str] = {}
    for label in labels:
        if label.label_id in seen:
            raise LabelError(f"{label.where}: the same question is in {seen[label.label_id]}. Remove one of them.")
        seen[label.label_id] = label.where
    return labels


def _parse_json_rows(name: str, text: str) -> Iterator[tuple[Row, str]]:
    # Split only at line feeds: a JSON string may contain other line separators, such as U+2028.
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{name}, line {number}"
        if not line.strip():
            continue
        try:
            # Replace unpaired surrogates, which escapes in JSON can produce and UTF-8 cannot encode.
            row = json.loads(json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise LabelError(f"{where} is not JSON ({error}). Write one JSON object per line.") from None
        if not isinstance(row, dict):
            raise LabelError(f"{where} is not a JSON object. Write one JSON object per line.")
        yield row, where


def _parse_csv_rows(name: str, text: str) -> Iterator[tuple[Row, str]]:
    header = io.StringIO(text, newline=None).readline()
    # Spreadsheet programs separate cells with semicolons in locales with a decimal comma.
    delimiter = max(DELIMITERS, key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or []]
        if "question" not in reader.fieldnames:
            raise LabelError(f'{name}, line 1 has no column "question". Write the column names on the first line.')
        for row in reader:
            where = f"{name}, line {reader.line_num}"
            if None in row:
                raise LabelError(
                    f"{where} has more cells than the first line. Put quotes around cells that contain {delimiter!r}."
                )
            cells: dict[str, Any] = {key: value.strip() for key, value in row.items() if value and value.strip()}
            if "answers" in cells:
                cells["answers"] = [one.strip() for one in cells["answers"].split(SEPARATOR) if one.strip()]
            if cells:
                yield cells, where
    except csv.Error as error:
        raise LabelError(f"{name}, line {reader.line_num} is not CSV ({error}).") from None


def _parse_label(row: Row, where: str) -> Label:
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise LabelError(f'{where} has no "question". Add the text of the question.')
    answers = _parse_answers(row, where)
    evidence = tuple(_parse_all_evidence(row, where))
    kind = _parse_kind(row, where, answers)
    if kind is not LabelKind.ANSWERABLE:
        answers = ()
    elif not answers and not any(one.state == "current" for one in evidence):
        raise LabelError(
            f'{where} has neither a page nor an answer. Add "document" with "page_index", "page" or "quote", or add '
            f'"answers"; or add "kind": "{NO_ANSWER}" if the documents do not answer the question.'
        )
    return Label(
        label_id=str(row.get("id") or _hash_label(question, evidence)),
        question=question.strip(),
        kind=kind,
        evidence=evidence if kind is LabelKind.ANSWERABLE else (),
        answers=answers,
        where=where,
        is_pseudo=_parse_is_pseudo(row, where),
    )


def _hash_label(question: str, evidence: Sequence[LabelledPage]) -> str:
    """Return an id for a label whose row has none.

    The same question with the same current pages always gets the same id.
    """
    content = json.dumps(
        [question, [(one.document, one.page_index, one.page, one.quote) for one in evidence if one.state == "current"]]
    )
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _parse_kind(row: Row, where: str, answers: Sequence[str]) -> LabelKind:
    kind_name = row.get("kind")
    if kind_name is None:
        return LabelKind.NO_ANSWER if [one.casefold() for one in answers] == [NO_ANSWER] else LabelKind.ANSWERABLE
    try:
        return LabelKind(kind_name)
    except ValueError:
        known = ", ".join(kind.value for kind in LabelKind)
        raise LabelError(f'{where}: "kind" is {json.dumps(kind_name)}. Use one of {known}.') from None


def _parse_is_pseudo(row: Row, where: str) -> bool:
    value = row.get("pseudo")
    if value is None or str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    raise LabelError(f'{where}: "pseudo" is {json.dumps(value)}. Use true or false.')


def _parse_answers(row: Row, where: str) -> tuple[str, ...]:
    answers = row.get("answers")
    if answers is None:
        answers = row.get("answer")
    listed = [answers] if isinstance(answers, str) else [] if answers is None else answers
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise LabelError(f'{where}: "answers" is neither a string nor a list of strings.')
    return tuple(one.strip() for one in listed if one.strip())


def _parse_all_evidence(row: Row, where: str) -> Iterator[LabelledPage]:
    listed = row.get("evidence")
    if listed is None:
        listed = [row] if any(row.get(key) is not None for key in ("page_index", "page", "quote")) else []
    if isinstance(listed, str):
        listed = [{"quote": listed}]
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise LabelError(f'{where}: "evidence" is neither a quote nor a list of objects with "document" and a page.')
    for one in listed:
        yield _parse_evidence({"document": row.get("document"), **one}, where)


def _parse_evidence(one: Row, where: str) -> LabelledPage:
    document, index, page, quote = (one.get(key) for key in ("document", "page_index", "page", "quote"))
    if not isinstance(document, str) or not document:
        raise LabelError(f'{where} names no document. Add "document" with its name in the library.')
    state = _parse_state(one.get("state"), where)
    if index is not None:
        try:
            # int() accepts True and 3.7, which are not page indexes.
            if isinstance(index, bool) or int(index) != float(index) or int(index) < 0:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise LabelError(
                f'{where}: "page_index" is {json.dumps(index)}. Use a whole number; the first page is 0.'
            ) from None
        return LabelledPage(document, page_index=int(index), state=state)
    if page is not None and str(page).strip():
        return LabelledPage(document, page=str(page).strip(), state=state)
    if isinstance(quote, str) and quote.strip():
        return LabelledPage(document, quote=quote.strip(), state=state)
    raise LabelError(f'{where} names no page of {document}. Add "page_index" (from 0), "page" (as printed) or "quote".')


def _parse_state(value: object, where: str) -> EvidenceState:
    named = "current" if value is None else value
    for state in EVIDENCE_STATES:
        if named == state:
            return state
    raise LabelError(f'{where}: "state" is {json.dumps(value)}. Use one of {", ".join(EVIDENCE_STATES)}.')
