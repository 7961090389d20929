"""A language model out of a GGUF file, served by llama.cpp inside this process.

The only module that imports ``xllamacpp``, which is an extra, when the model is first needed.
"""

from __future__ import annotations

import importlib.util
import secrets
import threading
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from rag_core.errors import GeneratorUnavailable
from rag_core.settings import Settings
from rag_core.system import available_cores

_MAGIC = b"GGUF"
_ERRORS_ALONE = 1
# Prompts kept for the next question of a conversation, which begins like the one before; llama.cpp keeps 8 GB of them.
_PROMPT_CACHE_MIB = 512


class GgufServer:
    """Serves the file that ``RAG_GGUF`` names to this process, over OpenAI's protocols on the loopback.

    llama.cpp always listens on a port. Other programs of the machine, and pages in its browsers, are
    kept out by a key that is made anew each time and known to this process alone.
    """

    def __init__(self, settings: Settings) -> None:
        assert settings.gguf is not None
        self._path = settings.gguf
        self._settings = settings
        self._starting = threading.Lock()
        self._server: Any = None
        self._key = secrets.token_urlsafe(32)

    def start(self) -> tuple[str, str]:
        """Load the model unless it is loaded; returns base URL and key.

        Raises
        ------
        GeneratorUnavailable
            The file is missing or none that llama.cpp can load, or the package is not installed. The
            next call tries again.
        """
        with self._starting:
            if self._server is None:
                self._server = self._load(self._path)
            return f"{self._server.listening_address}/v1", self._key

    def stop(self) -> None:
        """Free the model's memory; `start` loads it again."""
        with self._starting:
            self._server = None

    def _load(self, path: Path) -> Any:
        if problem := find_gguf_problem(path):
            raise GeneratorUnavailable(problem)
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.model_alias = {self._settings.model}
        params.n_ctx = self._settings.openai_context_tokens
        params.n_parallel = 1
        params.cache_ram_mib = _PROMPT_CACHE_MIB
        params.hostnames = ["127.0.0.1"]
        params.api_keys = [self._key]
        params.cors_origins = "http://127.0.0.1"
        params.ui = params.endpoint_slots = params.endpoint_props = False
        params.offline = True
        params.warmup = False
        params.verbosity = _ERRORS_ALONE
        for threads in (params.cpuparams, params.cpuparams_batch):
            # Its threads wait for each other in busy loops: one too many, and each step takes ten times as long.
            threads.n_threads = self._settings.gguf_threads or max(1, available_cores() - 1)
            threads.poll = 0
        try:
            server = xllamacpp.Server(params)
            self._until_it_works(server.listening_address)
            return server
        except (RuntimeError, OSError, HTTPException) as error:
            raise GeneratorUnavailable(
                f"The model in RAG_GGUF={path} could not be loaded ({str(error).rstrip('.')}). The file may be cut "
                "short, of a kind that this version of xllamacpp does not know, or larger than the free memory; the "
                "log says more. Lower RAG_OPENAI_CONTEXT_TOKENS if memory is short."
            ) from None

    def _until_it_works(self, address: str) -> None:
        """Return once its queue is worked on; this question is answered from there.

        It is said to be ready a moment before, and freed in that moment it waits for ever.
        """
        connection = HTTPConnection(address.removeprefix("http://"), timeout=self._settings.openai_timeout_s)
        connection.request("GET", "/lora-adapters", headers={"Authorization": f"Bearer {self._key}"})
        connection.getresponse().read()
        connection.close()


def find_gguf_problem(path: Path) -> str:
    """What keeps a file from being loaded, in words; empty where nothing is seen without loading it."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        return f"RAG_GGUF={path} cannot be read ({error.strerror}). Correct the path, or unset it."
    if magic != _MAGIC:
        return f"RAG_GGUF={path} is not a GGUF file. Name a model in that format, or unset it."
    if importlib.util.find_spec("xllamacpp") is None:
        return (
            f"RAG_GGUF={path} needs the package xllamacpp, which is not installed. Install it: "
            "pip install -r requirements-gguf.txt"
        )
    return ""
