"""A whole session with each client: add a document, wait, ask, open the cited page, delete it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import openai
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support.api import ServedApp
from tests.support.cli import ROOT
from tests.support.environment import INDEPENDENT
from tests.support.event_loop import run_coroutine
from tests.support.pdfs import make_pdf
from tests.support.servers import complete

FACT = "The observatory of Skagen was founded in 1874 by two sisters."
ASKED = "When was the observatory of Skagen founded?"


def curl(app: ServedApp, path: str, *options: str) -> Any:
    command = ["curl", "--silent", "--show-error", "--noproxy", "*", *options, f"{app.address}/api/v1/{path}"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def ask_with_curl(app: ServedApp) -> str:
    sent = json.dumps({"question": ASKED})
    answer = curl(app, "ask", "--json", sent)
    return "\n".join([answer["text"], *(one["link"] for one in answer["citations"])])


def ask_with_openai(app: ServedApp) -> str:
    with openai.OpenAI(base_url=f"{app.address}/v1", api_key="local", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": ASKED}]
        return client.chat.completions.create(model="footnote", messages=messages).choices[0].message.content or ""


def ask_with_mcp(app: ServedApp, *, stdio: bool = False) -> str:
    variables = {**os.environ, **INDEPENDENT, "RAG_DATA_DIR": str(app.folder)}
    command = StdioServerParameters(command=sys.executable, args=["-m", "rag_core", "mcp"], env=variables, cwd=ROOT)

    async def ask() -> str:
        async with Client(stdio_client(command) if stdio else f"{app.address}/mcp") as client:
            result = await client.call_tool("ask", {"question": ASKED})
        return str(result.content[0].text)

    return run_coroutine(ask())


def test_document_is_added_asked_about_opened_and_deleted(app: ServedApp, tmp_path: Path) -> None:
    app.play(complete("It was founded in 1874 [1]."))
    file = tmp_path / "observatory.pdf"
    file.write_bytes(make_pdf(FACT))
    job = curl(app, "documents", "--form", f"file=@{file}")
    while job["state"] in ("queued", "running"):
        job = curl(app, f"jobs/{job['job_id']}")
    assert job["addition"]["status"] == "indexed"
    path = f"documents/{job['document_id']}"
    ways = (ask_with_curl, ask_with_openai, ask_with_mcp)
    for text in (*(ask(app) for ask in ways), ask_with_mcp(app, stdio=True)):
        assert "1874 [1]" in text, text
        page = rf"{re.escape(app.address)}/documents\?document={job['document_id']}&page=1[^\s)]*"
        (link, *_) = re.findall(page, text)
        assert httpx.get(link, trust_env=False).status_code == 200
    assert curl(app, f"{path}/pages")["pages"][0]["text"] == FACT
    assert curl(app, path, "--request", "DELETE")["receipts"][0]["chunks_remaining"] == 0
    for ask in ways:
        assert job["document_id"] not in ask(app)
