"""The API of the running app: documents, questions, conversations, errors and limits."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from pydantic import BaseModel

from rag_core.api import rows
from rag_core.api.endpoints import ENDPOINTS
from rag_core.api.json_rows import build_answer_row, build_document_rows, build_page_row, build_search_row
from tests.support.api import ServedApp
from tests.support.cli import HARBOUR, QUESTION
from tests.support.engines import opened
from tests.support.pdfs import make_pdf
from tests.support.servers import complete

LIGHTHOUSE = "What colour is the lighthouse?"
ANSWER = "The harbour of Brennick was dredged in 1931 [1]."
# Values that differ between two runs of the same question.
CHANGING = {"timings_ms", "usage", "scores", "gate", "link"}


def find(app: ServedApp, name: str) -> dict[str, Any]:
    return next(one for one in app.http.get("documents").json()["documents"] if one["document"] == name)


def without(value: Any, names: set[str]) -> Any:
    """Return a JSON value without the fields with these names, at any depth."""
    if isinstance(value, dict):
        return {name: without(one, names) for name, one in value.items() if name not in names}
    return [without(one, names) for one in value] if isinstance(value, list) else value


def read_events(response: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            yield name, json.loads(line[6:])


def test_rows_are_those_of_the_command_line_and_of_the_openapi_document(app: ServedApp, tmp_path: Path) -> None:
    question = {"question": QUESTION, "model": "quotes"}
    document = find(app, "harbour.pdf")
    path = f"documents/{document['document_id']}"
    received = {
        "DocumentsRow": app.http.get("documents").json(),
        "DocumentRow": app.http.get(path).json(),
        "PagesRow": app.http.get(f"{path}/pages").json(),
        "OutlineRow": app.http.get(f"{path}/outline").json(),
        "SearchRow": app.http.post("search", json={"question": QUESTION}).json(),
        "AnswerRow": app.http.post("ask", json=question).json(),
        "ModelsRow": app.http.get("models").json(),
        "ConversationsRow": app.http.get("conversations").json(),
        "ProblemRow": app.http.get("documents/none").json(),
    }
    for name, row in received.items():
        model: type[BaseModel] = getattr(rows, name)
        model.model_validate(row)
    described = app.http.get("openapi.json").json()
    schemas = described["components"]["schemas"]
    assert received.keys() <= schemas.keys()
    assert {(path, method) for path, ways in described["paths"].items() for method in ways} == {
        (re.sub(":(int|path)", "", one.path), one.method.lower()) for one in ENDPOINTS
    }

    # A copy of the data folder, because the running app has locked the folder itself.
    shutil.copytree(app.folder, tmp_path / "data", ignore=shutil.ignore_patterns("*.lock", ".*"))
    with opened(tmp_path / "data") as engine:
        listed = [row for one in engine.documents.list() for row in build_document_rows(one)]
        pages = engine.documents.pages(document["document_id"], with_layout=True)
        expected = {
            "DocumentsRow": {"documents": listed, "next_cursor": None},
            "PagesRow": {"pages": [build_page_row("harbour.pdf", one) for one in pages], "page_count": len(pages)},
            "SearchRow": build_search_row(engine.search(QUESTION), None),
            "AnswerRow": build_answer_row(engine.answer(QUESTION, model=""), None),
        }
    for name, row in expected.items():
        assert without(received[name], CHANGING) == without(json.loads(json.dumps(row)), CHANGING), name


def test_document_is_added_once_read_drawn_and_deleted(app: ServedApp) -> None:
    data = make_pdf("The mill of Osterby grinds rye.", "Its wheel was renewed in 1974.")
    jobs = [app.upload("mill.pdf", data, key="mill-1").json()["job_id"] for _ in range(2)]
    assert jobs[0] == jobs[1]
    job = app.wait(jobs[0])
    rows.JobRow.model_validate(job)
    assert (job["addition"]["status"], job["addition"]["pages"]) == ("indexed", 2)
    other = app.upload("mill.pdf", HARBOUR, key="mill-1")
    assert (other.status_code, "was used for another file" in other.json()["detail"]) == (422, True)
    assert app.add("again.pdf", data)["addition"]["status"] == "duplicate"
    path = f"documents/{job['document_id']}"
    (page,) = app.http.get(f"{path}/pages", params={"first": 2}).json()["pages"]
    assert (page["text"], page["page_label"]) == ("Its wheel was renewed in 1974.", "2")
    assert page["link"] == f"{app.address}/documents?document={job['document_id']}&page=2"
    plain, marked = (
        Image.open(io.BytesIO(app.http.get(f"{path}/pages/2/picture", params=params).content))
        for params in ({}, {"start": 0, "end": 30})
    )
    assert plain.size == marked.size
    assert plain.tobytes() != marked.tobytes()
    (receipt,) = app.http.delete(path).json()["receipts"]
    assert (receipt["chunks_removed"], receipt["chunks_remaining"]) == (2, 0)
    assert app.http.get(path).status_code == 404


def test_list_is_read_in_parts_while_documents_come(app: ServedApp) -> None:
    first = app.http.get("documents", params={"limit": 1}).json()
    job = app.add("quay.pdf", make_pdf("The quay of Lunde is made of granite."), collection="quays")
    second = app.http.get("documents", params={"limit": 1, "cursor": first["next_cursor"]}).json()
    names = [part["documents"][0]["document"] for part in (first, second)]
    assert (names, second["next_cursor"]) == (["orchard.pdf", "harbour.pdf"], None)
    (only,) = app.http.get("documents", params={"collection": "quays"}).json()["documents"]
    assert only["document"] == "quay.pdf"
    app.http.delete(f"documents/{job['document_id']}")


def test_answer_of_a_model_is_streamed_with_stages_text_and_marks(app: ServedApp) -> None:
    app.play(complete("The harbour of Brennick was dredged ", "in 1931 [1]. It closed in 1988."))
    with app.http.stream(
        "POST", "ask", json={"question": QUESTION}, headers={"Accept": "text/event-stream"}
    ) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = list(read_events(response))
    kinds = [name for name, _ in events]
    assert kinds.index("stage") < kinds.index("passages") < kinds.index("text")
    assert "".join(row["text"] for name, row in events if name == "text").startswith(ANSWER)
    name, answer = events[-1]
    rows.AnswerRow.model_validate(answer)
    assert (name, answer["generator"], answer["state"]) == ("answer", "openai:small", "answered")
    assert answer["citations"][0]["quote"] in HARBOUR_TEXT
    assert "&page=1&marked=0-" in answer["citations"][0]["link"]
    assert [one["mark"] for one in answer["statements"]] == ["", "not_found"]


HARBOUR_TEXT = "The harbour of Brennick was dredged in 1931 by forty men."


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_client_that_leaves_frees_the_call_of_the_model(app: ServedApp, accept: str) -> None:
    started = app.write_until_client_leaves()
    # A client of the whole answer leaves after a moment, and a client of the events at the first piece of text.
    with (
        suppress(httpx.ReadTimeout),
        app.http.stream("POST", "ask", json={"question": QUESTION}, headers={"Accept": accept}, timeout=3) as response,
    ):
        next(name for name, _ in read_events(response) if name == "text")
    assert started[0].closed_by_client.wait(30)


NAIVE_CURSOR = base64.urlsafe_b64encode(b'["2030-01-01T00:00:00", "x"]').decode()
FORM = {"Content-Type": "multipart/form-data; boundary=x"}


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "words"),
    [
        ("GET", "nowhere", {}, 404, "There is no address GET /api/v1/nowhere"),
        ("PUT", "documents/none", {}, 405, "/api/v1/documents/none takes DELETE, GET, not PUT."),
        ("POST", "tokens", {"json": {"name": "\0", "rights": ["read"]}}, 422, "its name is empty"),
        ("GET", "documents/none", {}, 404, "no longer in the library"),
        ("GET", "jobs/none", {}, 404, "no longer listed"),
        ("GET", "conversations/none", {}, 404, "no longer stored"),
        ("GET", "documents?cursor=x", {}, 422, "This cursor is invalid"),
        ("GET", f"documents?cursor={NAIVE_CURSOR}", {}, 422, "This cursor is invalid"),
        ("GET", "documents/HARBOUR/pages/99999999999999999999/picture", {}, 404, "its last page is 2"),
        ("POST", "documents", {"content": b"no form", "headers": FORM}, 400, "The form cannot be read"),
        ("POST", "documents", {"content": b"", "headers": {"Content-Type": "multipart/form-data"}}, 400, "boundary"),
        ("DELETE", "tokens/a%2Fb", {}, 422, "No token is named “a/b”"),
        ("GET", "documents?limit=0", {}, 422, "limit: Input should be greater than or equal to 1"),
        ("POST", "ask", {"json": {"question": " "}}, 422, "The question is empty"),
        ("POST", "ask", {"json": {"question": "x", "documents": ["no.pdf"]}}, 404, "No document is named 'no.pdf'"),
        ("POST", "ask", {"json": {"question": "x", "strategy": "magic"}}, 422, "magic"),
        ("POST", "ask", {"json": {"question": "x", "topk": 3}}, 422, "topk: Extra inputs are not permitted"),
        ("POST", "ask", {"content": b"[" * 100_000}, 422, "JSON"),
        ("POST", "ask", {"content": b" " * 4_100_000}, 413, "more than 4 MB"),
        ("POST", "documents", {"files": {"other": ("a.pdf", b"")}}, 422, "The form has no file"),
        ("POST", "documents", {"files": {"file": ("a.pdf", bytes(6_500_000))}}, 413, "more than 6 MB"),
    ],
)
def test_problem_says_what_is_wrong(
    app: ServedApp, method: str, path: str, sent: dict[str, Any], status: int, words: str
) -> None:
    path = path.replace("HARBOUR", find(app, "harbour.pdf")["document_id"])
    reply = app.http.request(method, path, **sent)
    problem = reply.json()
    rows.ProblemRow.model_validate(problem)
    assert reply.headers["content-type"] == "application/problem+json"
    assert (reply.status_code, problem["status"]) == (status, status), problem
    assert words in problem["detail"]


def test_ten_clients_ask_while_two_upload(app: ServedApp) -> None:
    def ask(number: int) -> list[str]:
        question = (QUESTION, LIGHTHOUSE)[number % 2]
        answer = app.http.post("ask", json={"question": question, "model": "quotes"}).json()
        return [one["document"] for one in answer["citations"]]

    def upload(number: int) -> list[dict[str, Any]]:
        names = [f"note {number}-{place}" for place in range(3)]
        return [app.add(f"{name}.pdf", make_pdf(f"The {name} says that ferry {number} is late.")) for name in names]

    with ThreadPoolExecutor(12) as threads:
        uploads = [threads.submit(upload, number) for number in range(2)]
        answers = [threads.submit(ask, number) for number in range(20)]
        assert all("harbour.pdf" in one.result() for one in answers)
        jobs = [job for one in uploads for job in one.result()]
    assert [job["addition"]["status"] for job in jobs] == ["indexed"] * 6
    for job in jobs:
        app.http.delete(f"documents/{job['document_id']}")


def test_health_and_pages_are_served_beside_the_api(app: ServedApp) -> None:
    assert httpx.get(f"{app.address}/healthz", trust_env=False).json() == {"status": "ok"}
    assert httpx.get(f"{app.address}/readyz", trust_env=False).json()["ready"] is True
    assert "<title>" in httpx.get(f"{app.address}/documents", trust_env=False).text
    assert app.http.get("status").json()["healthy"] is True


def test_figures_count_requests_questions_documents_and_jobs_without_their_text(app: ServedApp) -> None:
    def read() -> dict[str, float]:
        reply = httpx.get(f"{app.address}/metrics", trust_env=False)
        assert "quaggas" not in reply.text
        rows = [line.rsplit(" ", 1) for line in reply.text.splitlines() if line.startswith("footnote_")]
        return {name: float(value) for name, value in rows}

    def ask() -> str:
        asked = app.http.post(
            "ask", json={"question": "Where do quaggas live?", "model": "quotes"}, headers={"X-Request-ID": "abc-1"}
        )
        assert asked.json()["state"] == "abstained"
        return asked.headers["X-Request-ID"]

    assert (ask(), len(app.http.get("documents/quaggas").headers["X-Request-ID"])) == ("abc-1", 32)
    before = read()
    ask()
    after = read()
    asked = 'footnote_request_seconds_count{method="POST",path="/api/v1/ask",status="200"}'
    refused = 'footnote_question_seconds_count{outcome="refused"}'
    assert (after[asked] - before[asked], after[refused] - before[refused]) == (1, 1)
    unknown = 'footnote_request_seconds_count{method="GET",path="/api/v1/documents/{document_id}",status="404"}'
    assert after[unknown] >= 1
    assert after['footnote_library{kind="documents"}'] >= 2
    assert after['footnote_jobs{state="done"}'] >= 2
    proxied = httpx.get(f"{app.address}/metrics", headers={"X-Forwarded-For": "1.2.3.4"}, trust_env=False)
    assert proxied.status_code == 401
