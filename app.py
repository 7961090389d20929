"""The Streamlit app: ask your PDFs, and see the page that each sentence of an answer comes from."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.shared.coldstart import settle_cold_start

CHAT = st.Page("pages/chat/page.py", title="Chat", icon=":material/forum:", default=True)
PAGES = {
    "": [
        CHAT,
        st.Page("pages/documents/page.py", title="Documents", icon=":material/library_books:", url_path="documents"),
        st.Page("pages/admin/page.py", title="Admin", icon=":material/monitoring:", url_path="admin"),
    ],
    "Advanced": [
        st.Page("pages/check/page.py", title="Check a text", icon=":material/rule:", url_path="check"),
        st.Page("pages/themes/page.py", title="Themes", icon=":material/hub:", url_path="themes"),
        st.Page("pages/evaluate/page.py", title="Evaluate", icon=":material/fact_check:", url_path="evaluate"),
        st.Page("pages/lab/page.py", title="Lab", icon=":material/experiment:", url_path="lab"),
    ],
}


def open_chat() -> None:
    """Show the chat under its name as well: the default page has the address ``/``."""
    st.switch_page(CHAT, query_params=st.query_params.to_dict())


# Set a local icon before calling st.navigation. Otherwise the browser tab shows the Material icon of the page,
# which the browser fetches from a server on the internet. A title set here would alternate with the title of the page.
st.set_page_config(page_icon="pages/shared/icon.png")
HIDDEN = st.Page(open_chat, title="Chat", url_path="chat", visibility="hidden")
page = st.navigation({**PAGES, "": [*PAGES[""], HIDDEN]})
st.set_page_config(page_title=f"{page.title} · Footnote", layout="centered" if page is CHAT else "wide")
st.html(Path(__file__).parent / "pages/shared/app.css")
settle_cold_start()
page.run()
