"""Run the command line with ``python -m rag_core``; the option ``--help`` lists the commands."""

import gc
import os
import sys
from pathlib import Path


def _open_closed_streams() -> None:
    """Open the null device for each standard stream that is closed.

    Call this function before any file is opened. Otherwise, the next file that is opened, such as the database, gets
    the descriptor of the closed stream, and C libraries and child processes write their output into that file.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 # stays open until the process ends
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _run() -> None:
    _open_closed_streams()
    # The objects of imported modules stay until the process ends, so that garbage collections need not check them.
    gc.disable()
    try:
        from rag_core.cli.app import main
    except KeyboardInterrupt:  # do not print a traceback after Ctrl-C during the imports, which are slow
        sys.exit("Stopped.")
    gc.freeze()
    gc.enable()
    main()


if __name__ == "__main__":
    _run()
