"""Record which processes start, and where Python code of theirs connects to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Python imports a module of this name at the start of every process whose PYTHONPATH contains its folder. The path of
# the log is part of the source, since parser processes do not inherit other variables.
_SITECUSTOMIZE = """
import json, os, sys

_file = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

def _write(event, *values):
    line = json.dumps([os.getpid(), event, *values], default=str) + "\\n"
    os.write(_file, line.encode())

def _hook(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        _write(event, arguments[1])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        _write(event, arguments[0])
    elif event == "subprocess.Popen":
        _write(event, arguments[0], list(map(str, arguments[1])))
    elif event in ("os.system", "os.exec", "os.posix_spawn"):
        _write(event, arguments[0])

_write("start", sys.orig_argv)
sys.addaudithook(_hook)
"""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class NetworkGuard:
    """A folder for PYTHONPATH and the log of the processes that were started with it."""

    folder: Path

    @classmethod
    def install(cls, folder: Path) -> NetworkGuard:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(_SITECUSTOMIZE.format(log=str(folder / "log")), "utf-8")
        return cls(folder)

    def events(self, *names: str) -> list[list[object]]:
        """Return the values of the events with these names, in order."""
        lines = (self.folder / "log").read_text("utf-8").splitlines()
        return [values for _, name, *values in map(json.loads, lines) if name in names]

    def started(self) -> list[str]:
        """Return the command line of each Python process."""
        return [" ".join(map(str, arguments)) for (arguments,) in self.events("start")]

    def programs(self) -> set[str]:
        """Return the programs that the processes have started."""
        started = self.events("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
        return {str(program) for program, *_ in started}

    def hosts(self) -> set[str]:
        """Return the names that were looked up, and the addresses that data was sent to, without loopback."""
        looked_up = {str(host) for (host,) in self.events("socket.getaddrinfo", "socket.gethostbyname")}
        return (looked_up | {host for host, _ in self.connections()}) - {*LOOPBACK, "None", ""}

    def connections(self) -> set[tuple[str, int]]:
        """Return the hosts and ports of all connections and datagrams."""
        sent = [one for (one,) in self.events("socket.connect", "socket.sendto", "socket.sendmsg")]
        # Other addresses are paths of UNIX sockets.
        return {(str(one[0]), int(one[1])) for one in sent if isinstance(one, Sequence) and not isinstance(one, str)}
