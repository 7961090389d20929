"""Who may use the API: this computer, and programs with tokens, each in its collections."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rag_core.api.calls import ServedApp
from rag_core.api.routes import build_routes
from rag_core.engine import Engine
from rag_core.parsing.parser import DocumentParser
from rag_core.types.access import RIGHTS
from tests.support.engines import before_call, opened
from tests.support.pdfs import make_pdf, with_attachments

OPEN = {"canal.pdf": "The Lindow canal was dug in 1803. Its nine locks lift boats by 31 metres."}
HIDDEN = {
    "zephyr_merger.pdf": "The Zephyr merger costs 77 million crowns and closes in May.",
    "canal_2.pdf": "The Lindow canal is sold to the Zephyr company for 8 million crowns.",
}
HIDDEN_FILE = make_pdf("The Zephyr vault opens with three keys.")
LETTER = with_attachments(make_pdf("The letter has an attached file."), mine_pdf=HIDDEN_FILE)


def client(engine: Engine, *, host: str = "127.0.0.1", listens_at: str = "localhost", token: str = "") -> TestClient:
    app = Starlette(routes=build_routes(ServedApp(lambda: engine, lambda: listens_at, lambda: "")))
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return TestClient(app, "http://localhost:8501", client=(host, 5000), headers=headers)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("access") / "data") as engine:
        add(engine, OPEN, "open")
        yield engine


def add(engine: Engine, files: dict[str, str], collection: str) -> None:
    for name, text in files.items():
        engine.jobs.wait([engine.documents.submit(name, make_pdf(text), collection=collection).job_id])


@pytest.mark.parametrize(
    ("headers", "where", "status"),
    [
        ({}, {}, 200),
        ({"Host": "127.0.0.1:8501"}, {}, 200),
        ({"Host": "[::1]:8501"}, {"host": "::1"}, 200),
        ({}, {"host": "::ffff:127.0.0.1"}, 200),
        ({"Authorization": "Bearer local"}, {}, 200),
        ({"Origin": "http://localhost:8501", "Sec-Fetch-Site": "same-origin"}, {}, 200),
        # A page of another site, with and without a header of its own, and a name that resolves to this computer.
        ({"Origin": "http://evil.example"}, {}, 403),
        ({"Origin": "null"}, {}, 403),
        ({"Origin": "http://[::1"}, {}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, {}, 403),
        ({"Host": "evil.example:8501"}, {}, 401),
        ({"Host": "evil.example:8501", "Origin": "http://evil.example:8501"}, {}, 401),
        ({"Host": "localhost.evil.example"}, {}, 401),
        ({"Host": "[::1"}, {}, 401),
        # Another computer, itself and through a proxy on this one.
        ({}, {"host": "192.168.1.7"}, 401),
        ({"X-Forwarded-For": "192.168.1.7"}, {}, 401),
        ({"X-Forwarded-Proto": "https"}, {}, 401),
        ({"CF-Connecting-IP": "192.168.1.7"}, {}, 401),
        ({"Authorization": "Bearer wrong"}, {}, 401),
        ({"Authorization": "Basic bG9jYWw6"}, {}, 401),
        # The server listens at other addresses, and there is no token yet.
        ({}, {"listens_at": "0.0.0.0"}, 403),
        ({}, {"listens_at": ""}, 403),
    ],
)
def test_request_without_a_token_is_answered_only_to_this_computer(
    shared: Engine, headers: dict[str, str], where: dict[str, str], status: int
) -> None:
    reply = client(shared, **where).get("/api/v1/documents", headers=headers)
    assert reply.status_code == status, reply.text
    assert "access-control-allow-origin" not in reply.headers
    if status == 403 and where:
        assert "set STREAMLIT_SERVER_ADDRESS to localhost" in reply.json()["detail"]
        assert "token create" in reply.json()["detail"]


def test_token_allows_what_it_was_created_for_until_it_is_revoked(shared: Engine, tmp_path: Path) -> None:
    secret, token = shared.tokens.create("reader", ["read"])
    assert token.used_at is None
    path = shared.settings.data_dir / "footnote.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        assert secret not in "\n".join(connection.iterdump())
    reader = client(shared, host="192.168.1.7", listens_at="0.0.0.0", token=secret)
    # This computer is answered without a token again, because other computers need one.
    assert client(shared, listens_at="0.0.0.0").get("/api/v1/documents").status_code == 200
    (document,) = reader.get("/api/v1/documents").json()["documents"]
    assert shared.tokens.list()[0].used_at is not None
    refused = [
        reader.post("/api/v1/documents", files={"file": ("a.pdf", HIDDEN_FILE)}),
        reader.delete(f"/api/v1/documents/{document['document_id']}"),
        reader.get("/api/v1/tokens"),
        reader.get("/metrics"),
        reader.get("/api/v1/backup"),
        reader.post("/api/v1/tokens", json={"name": "more", "rights": ["manage"]}),
    ]
    assert [one.status_code for one in refused] == [403] * 6
    assert "lacks the right “add”" in refused[0].json()["detail"]
    manager, _ = shared.tokens.create("manager", ["manage"])
    more = {"name": "more", "rights": list(RIGHTS)}
    assert client(shared, token=manager).post("/api/v1/tokens", json=more).status_code == 403
    assert client(shared).delete("/api/v1/tokens/reader").json()["name"] == "reader"
    assert reader.get("/api/v1/documents").status_code == 401
    shared.tokens.revoke("manager")


def test_job_is_cancelled_with_the_right_to_add_to_its_collection(shared: Engine) -> None:
    held = threading.Event()
    callers = {
        name: client(shared, token=shared.tokens.create(name, rights, collections)[0])
        for name, rights, collections in (
            ("reads", ("read",), ["open"]),
            ("elsewhere", ("read", "add"), ["vault"]),
            ("adds", ("read", "add"), ["open"]),
            ("adds everywhere", ("read", "add"), []),
        )
    }

    def cancel(job_id: str, *names: str) -> list[int]:
        return [callers[name].delete(f"/api/v1/jobs/{job_id}").status_code for name in names]

    with before_call(DocumentParser, "parse", lambda: held.wait(30)):
        sent = {"file": ("weir.pdf", make_pdf("The weir is low."))}
        job = callers["adds"].post("/api/v1/documents", files=sent).json()
        assert cancel(job["job_id"], "reads", "elsewhere", "adds") == [403, 404, 200]
        held.set()
        shared.jobs.wait([job["job_id"]])
    ended = callers["adds"].delete(f"/api/v1/jobs/{job['job_id']}").json()
    assert (ended["state"], ended["reason"]) == ("cancelled", "Cancelled before it was indexed.")
    rebuilding = shared.index.rebuild()
    assert cancel(rebuilding.job_id, "adds", "adds everywhere") == [404, 403]
    shared.jobs.wait([rebuilding.job_id])
    shared.documents.delete([ended["document_id"]])
    for name in callers:
        shared.tokens.revoke(name)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Engine, str]]]:
    """Open two libraries: one has only the documents of a collection, the other one hidden documents as well."""
    folder = tmp_path_factory.mktemp("worlds")
    with opened(folder / "alone") as alone, opened(folder / "both") as both:
        add(both, HIDDEN, "vault")
        both.jobs.wait([both.documents.submit("keys.pdf", HIDDEN_FILE, collection="vault").job_id])
        both.conversations.add_message(both.conversations.create().conversation_id, "user", "What is Zephyr?")
        for engine in (alone, both):
            add(engine, OPEN, "open")
        yield [(engine, engine.tokens.create("app", RIGHTS, ["open"])[0]) for engine in (alone, both)]


def find_id(engine: Engine, name: str) -> str:
    return next(one.document_id for one in engine.documents.list() if one.name == name)


def remove_changing(value: Any, document_id: str) -> Any:
    """Return a JSON value without what differs between two libraries with the same documents."""
    if isinstance(value, dict):
        changing = ("timings_ms", "chunk_id", "added_at", "job_id", "seconds", "stage", "done", "total", "remaining_s")
        return {name: remove_changing(one, document_id) for name, one in value.items() if name not in changing}
    if isinstance(value, list):
        return [remove_changing(one, document_id) for one in value]
    return value.replace(document_id, "OWN") if isinstance(value, str) else value


WORDS = st.lists(
    st.sampled_from(
        "Zephyr Zephir merger costs Lindow canal sold company locks crowns which document how many pages "
        "documents are there zephyr_merger.pdf canal.pdf summarize list all page 1 of".split()
    ),
    min_size=1,
    max_size=7,
).map(" ".join)
# Names and ids of documents, collections and jobs: visible ones, hidden ones and others.
NAMES = st.sampled_from(["canal.pdf", "zephyr_merger.pdf", "canal_2.pdf", "nothing.pdf", "HIDDEN", "OWN", "vault"])
COLLECTIONS = st.sampled_from(["open", "vault", "default", "other"])
CALLS = st.one_of(
    st.tuples(
        st.just("POST"),
        st.sampled_from(["search", "ask"]),
        st.fixed_dictionaries(
            {"question": WORDS},
            optional={
                "documents": st.lists(NAMES, max_size=2),
                "collections": st.lists(COLLECTIONS, max_size=2),
                "strategy": st.sampled_from(["plain", "themes", "compare"]),
                "as_of": st.sampled_from(["", "2030-01-01"]),
            },
        ),
    ),
    st.tuples(
        st.sampled_from(["GET", "DELETE"]),
        NAMES.filter("OWN".__ne__).map("documents/{}".format),
        st.none(),
    ),
    st.tuples(st.just("DELETE"), st.just("jobs/JOB"), st.none()),
    st.tuples(st.just("GET"), NAMES.map("documents/{}/pages".format), st.none()),
    st.tuples(st.just("GET"), NAMES.map("documents/{}/outline".format), st.none()),
    st.tuples(
        st.just("GET"),
        NAMES.map("documents/{}/pages/1/picture".format).filter(lambda path: "OWN" not in path),
        st.none(),
    ),
    st.tuples(st.just("GET"), COLLECTIONS.map("documents?collection={}".format), st.none()),
    st.tuples(
        st.just("GET"),
        st.sampled_from(
            [
                "documents",
                "jobs/JOB",
                "status",
                "conversations",
                "tokens",
                "models",
                "backup",
                "export",
                "../../metrics",
            ]
        ),
        st.none(),
    ),
)


@settings(max_examples=60)
@example(call=("POST", "search", {"question": "What does the mergor of the Zephir company cost?"}))
@example(call=("POST", "ask", {"question": "Which documents do you have?"}))
@given(call=CALLS)
def test_token_of_a_collection_sees_nothing_of_others(
    worlds: list[tuple[Engine, str]], call: tuple[str, str, Any]
) -> None:
    method, asked, body = call
    replies = []
    for engine, secret in worlds:
        filled = {
            "HIDDEN": find_id(worlds[1][0], "zephyr_merger.pdf"),
            "OWN": find_id(engine, "canal.pdf"),
            "JOB": next(one.job_id for one in worlds[1][0].jobs.list() if one.name == "zephyr_merger.pdf"),
        }
        sent = body and {**body, "documents": [filled.get(one, one) for one in body.get("documents", ())]}
        path = "/".join(filled.get(part, part) for part in asked.split("/"))
        reply = client(engine, token=secret).request(method, f"/api/v1/{path}", json=sent)
        replies.append((remove_changing(reply.json(), filled["OWN"]), reply.status_code))
    assert replies[0] == replies[1]


@pytest.mark.parametrize("file", [HIDDEN_FILE, LETTER], ids=["file", "attached file"])
def test_hidden_content_is_added_as_a_document_of_its_own(worlds: list[tuple[Engine, str]], file: bytes) -> None:
    replies = []
    for engine, secret in worlds:
        http = client(engine, token=secret)
        job = http.post("/api/v1/documents", files={"file": ("letter.pdf", file)}).json()
        engine.jobs.wait([job["job_id"]])
        engine.jobs.wait([one.job_id for one in engine.jobs.list(active=True)])
        listed = sorted(one["document"] for one in http.get("/api/v1/documents").json()["documents"])
        ended = http.get(f"/api/v1/jobs/{job['job_id']}").json()
        ended["attached"] = list(ended["attached"])
        elsewhere = http.post("/api/v1/documents", files={"file": ("b.pdf", b"")}, data={"collection": "vault"})
        removed = http.delete(f"/api/v1/documents/{job['document_id']}").json()
        replies.append([remove_changing(one, job["document_id"]) for one in (ended, listed, removed["receipts"][0])])
        assert elsewhere.status_code == 403
    assert replies[0] == replies[1]
    assert replies[0][0]["addition"]["status"] == "indexed"
    answer = worlds[1][0].answer("How many keys open the Zephyr vault?", documents=["keys.pdf"])
    assert [one.document for one in answer.citations] == ["keys.pdf"]


def test_document_of_two_collections_stays_in_the_one_that_the_token_cannot_see(shared: Engine) -> None:
    for name, collection in (("own.pdf", "quays"), ("secret.pdf", "vault")):
        text = make_pdf("The quay of Lunde is made of granite.")
        shared.jobs.wait([shared.documents.submit(name, text, collection=collection).job_id])
    document_id = find_id(shared, "own.pdf")
    secret, _ = shared.tokens.create("quays", RIGHTS, ["quays"])
    http = client(shared, token=secret)
    assert http.get("/metrics").status_code == 403
    questions = [{"question": f"How many pages does {name} have?"} for name in ("secret.pdf", "nothing.pdf")]
    hidden, unknown = (http.post("/api/v1/ask", json=one).json()["text"] for one in questions)
    assert hidden == unknown
    (receipt,) = http.delete(f"/api/v1/documents/{document_id}").json()["receipts"]
    assert (receipt["document"], receipt["kept_as"]) == ("own.pdf", "")
    assert http.get(f"/api/v1/documents/{document_id}").status_code == 404
    kept = shared.documents.get(document_id)
    assert (kept.name, kept.collection, kept.aliases) == ("secret.pdf", "vault", ())
    shared.tokens.revoke("quays")
    shared.documents.delete([document_id])
