"""``python -m rag_core``: see ``python -m rag_core --help``."""

from rag_core.cli.app import main

if __name__ == "__main__":
    main()
