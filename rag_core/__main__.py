"""``python -m rag_core``: see ``python -m rag_core --help``."""

import os
import sys
from pathlib import Path


def _open_closed_streams() -> None:
    """Open the null device in place of each standard stream that the program was started without.

    Before anything else opens a file: it would be given the number that is free, and what C libraries and child
    processes write to standard output or error would then end in it, in a database among others.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 # for as long as the process runs
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def _run() -> None:
    _open_closed_streams()
    try:
        from rag_core.cli.app import main
    except KeyboardInterrupt:  # the imports take seconds, and nothing above them tells of it in words
        sys.exit("Stopped.")
    main()


if __name__ == "__main__":
    _run()
