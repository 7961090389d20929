"""``python -m rag_core``: see ``python -m rag_core --help``."""

import os
import sys
from pathlib import Path


def _open_closed_streams() -> None:
    """Open the null device for each standard stream that is closed.

    Call it before any file is opened: otherwise a file, such as the database, gets the free descriptor, and C
    libraries and child processes write their output into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 # open until the process ends
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _run() -> None:
    _open_closed_streams()
    try:
        from rag_core.cli.app import main
    except KeyboardInterrupt:  # imports take seconds, and Python would print a traceback
        sys.exit("Stopped.")
    main()


if __name__ == "__main__":
    _run()
