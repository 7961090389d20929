"""Start the application as ``streamlit run app.py`` does, but load the models for few lengths of text."""

from __future__ import annotations

import sys

from streamlit.web.cli import main

from rag_core.runtime import warm_up
from tests.support.environment import WARM_UP

if __name__ == "__main__":
    vars(warm_up).update(WARM_UP)
    main(["run", "app.py", *sys.argv[1:]])
