"""Start the application as ``streamlit run app.py`` does, but load the models for few lengths of text."""

from __future__ import annotations

import sys

from streamlit.web.cli import main

from rag_core.runtime import warm_up

# Each length takes time when the application starts, and saves little in a test.
warm_up.QUESTION_LENGTHS = (6, 7)
warm_up.PASSAGE_LENGTHS = (20, 21)

if __name__ == "__main__":
    main(["run", "app.py", *sys.argv[1:]])
