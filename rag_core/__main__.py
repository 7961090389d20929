"""``python -m rag_core``: see ``python -m rag_core --help``."""

import sys


def _run() -> None:
    try:
        from rag_core.cli.app import main
    except KeyboardInterrupt:  # the imports take seconds, and nothing above them tells of it in words
        sys.exit("Stopped.")
    main()


if __name__ == "__main__":
    _run()
