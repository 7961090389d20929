"""The server of the app, for people and for programs.

It opens the engine and loads the models when it starts, before the first visitor.
"""

# ruff: noqa: E402
from __future__ import annotations

import gc

# The imported modules stay in memory. While they are imported, and after `gc.freeze` below, the garbage collector does
# not look through them.
gc.disable()

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from streamlit import delta_generator

# These are imported here, so that the first visitor does not wait for the modules of the first page.
from pages.chat import asking, cards, connecting, drop, history, welcome  # noqa: F401
from pages.shared import clashes, sidebar, unlock  # noqa: F401
from pages.shared.backend import close_backend, find_base_path, find_host, open_backend, open_engine
from rag_core.api.calls import ServedApp
from rag_core.api.routes import build_routes

gc.freeze()
gc.enable()


@asynccontextmanager
async def serve_engine(_app: st.App) -> AsyncIterator[None]:
    """Open the engine when the server starts, and close it when the server ends."""
    # With its first element, Streamlit checks once whether it runs in a console, and looks at the file of every loaded
    # module for that. The models load thousands of modules, so run this check before the models load.
    delta_generator._maybe_print_use_warning()
    await asyncio.to_thread(open_backend)
    yield
    await asyncio.to_thread(close_backend)


# Streamlit puts the folder of the main script into the module path for each run of a page, and then removes it. A
# module that another thread imports meanwhile may not be found, so let the folder stay.
sys.path.append(str(Path(__file__).parent / "pages"))
# Streamlit lists the scripts in a folder "pages" beside the main script as pages; this one is inside of the folder.
routes = build_routes(ServedApp(open_engine, find_host, find_base_path))
app = st.App("pages/main.py", lifespan=serve_engine, routes=routes)
