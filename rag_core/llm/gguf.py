"""Run a language model from a GGUF file with llama.cpp inside this process.

Only this module imports the optional package ``xllamacpp``, and it does so only when the model is first needed.
"""

from __future__ import annotations

import importlib.util
import secrets
import shlex
import subprocess
import sys
import threading
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from rag_core.errors import DataFolderUnwritable, GeneratorUnavailable, PackageNotInstalled
from rag_core.llm.context_length import DEFAULT_CONTEXT_TOKENS
from rag_core.llm.setting_names import ENVIRONMENT_NAMES, SettingNames, start_sentence
from rag_core.settings import Settings
from rag_core.system import count_available_cores

_INSTALL = [*(sys.executable, "-m", "pip", "install", "-r"), str(Path(__file__).parents[2] / "requirements-gguf.txt")]
GGUF_INSTALL_COMMAND = shlex.join(_INSTALL)
# The first bytes of every GGUF file.
_MAGIC = b"GGUF"
# The verbosity of llama.cpp at which it logs only errors.
_ERRORS_ONLY = 1
# Size of llama.cpp's prompt cache. It saves time because the prompts of a conversation begin alike; llama.cpp's default
# takes several GB.
_PROMPT_CACHE_MIB = 512


class GgufServer:
    """Serves the model in a GGUF file to this process, with OpenAI's API on a loopback port.

    The server of llama.cpp always listens on a port. It requires a random key that only this process knows, so that
    other programs and web pages cannot use it.
    """

    def __init__(self, settings: Settings, names: SettingNames = ENVIRONMENT_NAMES) -> None:
        assert settings.gguf is not None
        self._names = names
        self._path = settings.gguf
        self._settings = settings
        self._lock = threading.Lock()
        self._server: Any = None
        self._key = secrets.token_urlsafe(32)

    def start(self) -> tuple[str, str]:
        """Load the model if it is not loaded, and return the base URL and the key of the server.

        Raises
        ------
        GeneratorUnavailable
            The file is missing, llama.cpp cannot load it, or the package is not installed. The next
            call tries again.
        """
        with self._lock:
            if self._server is None:
                self._server = self._load(self._path)
            return f"{self._server.listening_address}/v1", self._key

    def stop(self) -> None:
        """Free the model's memory; `start` loads it again."""
        with self._lock:
            self._server = None

    def _load(self, path: Path) -> Any:
        if problem := find_gguf_problem(path, self._names):
            raise GeneratorUnavailable(problem)
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.model_alias = {self._settings.model}
        params.n_ctx = self._settings.openai_context_tokens or DEFAULT_CONTEXT_TOKENS
        params.n_parallel = 1
        params.cache_ram_mib = _PROMPT_CACHE_MIB
        params.hostnames = ["127.0.0.1"]
        params.api_keys = [self._key]
        params.cors_origins = "http://127.0.0.1"
        params.ui = params.endpoint_slots = params.endpoint_props = False
        params.offline = True
        params.warmup = False
        params.verbosity = _ERRORS_ONLY
        for threads in (params.cpuparams, params.cpuparams_batch):
            # llama.cpp's threads wait for each other in busy loops, so a thread without a free core slows down all
            # others. Leave one core free for other work.
            threads.n_threads = max(1, count_available_cores() - 1)
            threads.poll = 0
        try:
            server = xllamacpp.Server(params)
            self._wait_until_ready(server.listening_address)
            return server
        except (RuntimeError, OSError, HTTPException) as error:
            file = self._names.file_value.format(path)
            raise GeneratorUnavailable(
                f"The model in {file} could not be loaded ({str(error).rstrip('.')}). The file may be incomplete, in a "
                "format that this version of xllamacpp does not support, or too large for the free memory; see the "
                f"log. Lower {self._names.context} to use less memory."
            ) from None

    def _wait_until_ready(self, address: str) -> None:
        """Send a request that the server queues, and wait for the response.

        llama.cpp reports that it is ready shortly before it processes its queue. If the server is freed in between, it
        hangs.
        """
        connection = HTTPConnection(address.removeprefix("http://"), timeout=self._settings.openai_timeout_s)
        connection.request("GET", "/lora-adapters", headers={"Authorization": f"Bearer {self._key}"})
        connection.getresponse().read()
        connection.close()


def find_gguf_problem(path: Path, names: SettingNames = ENVIRONMENT_NAMES) -> str:
    """Return why a file cannot be loaded; empty if no problem is found. The check does not load the model."""
    file_name = start_sentence(names.file_value.format(path))
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        return f"{file_name} cannot be read ({error.strerror}). Correct the path, or {names.unset_file}."
    if magic != _MAGIC:
        return f"{file_name} is not a GGUF file. Correct the path, or {names.unset_file}."
    if not is_gguf_installed():
        return f"{file_name} needs the package xllamacpp, which is not installed. Install it: {GGUF_INSTALL_COMMAND}"
    return ""


def is_gguf_installed() -> bool:
    """Return whether the optional package that runs GGUF files is installed."""
    # pip may have installed it after this process listed the folders of packages.
    importlib.invalidate_caches()
    return importlib.util.find_spec("xllamacpp") is not None


def install_gguf(output: Path) -> None:
    """Install the optional package that runs GGUF files.

    Parameters
    ----------
    output : Path
        File that is overwritten with the output of pip.

    Raises
    ------
    PackageNotInstalled
        pip failed, or this process does not find the package.
    DataFolderUnwritable
        ``output`` cannot be written.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("wb") as file:
            # In a separate session, pip is not interrupted by Ctrl+C, which could leave half of the package.
            done = subprocess.run(  # noqa: S603 # the arguments are constants
                _INSTALL, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
            )
    except OSError as error:
        raise DataFolderUnwritable(
            f"{output} cannot be written ({error.strerror or error}). Give write access or free some space, or install "
            f"the package xllamacpp in a terminal: {GGUF_INSTALL_COMMAND}"
        ) from None
    if done.returncode:
        reason = _find_pip_error(output.read_text("utf-8", errors="replace"))
        raise PackageNotInstalled(
            f"The package xllamacpp could not be installed ({reason}). All output of pip is in {output}. Install it in "
            f"a terminal: {GGUF_INSTALL_COMMAND}"
        )
    if not is_gguf_installed():
        raise PackageNotInstalled(
            "The package xllamacpp was installed in a folder that this process does not search. Restart Footnote."
        )


def _find_pip_error(output: str) -> str:
    """Return the last error in the output of pip, or the last line if there is no error."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["pip printed nothing"]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines)[-1].rstrip(".")
