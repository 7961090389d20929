"""The frame of every page: the product's name and the links to the pages in the sidebar."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.shared.current import build_chat_address, follow_history, get_current_id, keep_conversation
from pages.shared.translation import _

CHAT = st.Page("chat/page.py", title=_("Chat"), icon=":material/forum:", default=True)
PAGES = [
    CHAT,
    st.Page("documents/page.py", title=_("Documents"), icon=":material/library_books:", url_path="documents"),
    st.Page("admin/page.py", title=_("Settings"), icon=":material/settings:", url_path="admin"),
]
ADVANCED = [
    st.Page("check/page.py", title=_("Check a text"), icon=":material/rule:", url_path="check"),
    st.Page("lab/page.py", title=_("Lab"), icon=":material/experiment:", url_path="lab"),
    st.Page("evaluate/page.py", title=_("Evaluate"), icon=":material/fact_check:", url_path="evaluate"),
    st.Page("themes/page.py", title=_("Themes"), icon=":material/hub:", url_path="themes"),
    st.Page("snapshots/page.py", title=_("Snapshots"), icon=":material/history:", url_path="snapshots"),
]
FOLDER = Path(__file__).parent


def open_chat() -> None:
    """Redirect ``/chat`` to the chat, which has the address ``/`` because it is the default page."""
    st.switch_page(CHAT, query_params=st.query_params.to_dict())


follow_history()
# Set a local icon before calling st.navigation. Otherwise the browser tab shows the Material icon of the page,
# which the browser fetches from a server on the internet. A title set here would alternate with the title of the page.
st.set_page_config(page_icon=str(FOLDER / "shared/icon.png"))
HIDDEN = st.Page(open_chat, title=_("Chat"), url_path="chat")
# Streamlit's own menu shows every section open at first, so the sidebar has links instead.
page = st.navigation([*PAGES, *ADVANCED, HIDDEN], position="hidden")
st.set_page_config(page_title=f"{page.title} · Footnote", layout="centered" if page is CHAT else "wide")
st.html(FOLDER / "shared/app.css")
if page not in (CHAT, HIDDEN):
    keep_conversation()
# If the link lacked the conversation, the chat page would add it to the address, as a step of the browser's history.
chat_address = build_chat_address(get_current_id())
with st.sidebar, st.container(gap="xxsmall", key="navigation"):
    st.markdown("**Footnote**")
    for one in PAGES:
        st.page_link(one, query_params=chat_address if one is CHAT else {})
    with st.expander(_("Advanced"), type="compact", expanded=page in ADVANCED), st.container(gap="xxsmall"):
        for one in ADVANCED:
            st.page_link(one)
page.run()
