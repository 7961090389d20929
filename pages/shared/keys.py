"""The keys of Streamlit's session state, and the parameters of the page's address.

A reload empties the session state, so the session state contains only what may be lost. The engine stores
conversations, scopes, jobs and settings, and the address contains the id of the conversation.
"""

from __future__ import annotations

# Parameters of the address.
CONVERSATION_PARAM = "c"
DOCUMENT_PARAM = "d"
ADMIN_PARAM = "part"
THEME_PARAM = "theme"
LAB_DOCUMENT_PARAM = "document"
LAB_COLLECTION_PARAM = "collection"
# The part of the Settings page with the form that connects a language model, which is also the key of its container.
ADMIN_MODEL = "language_model"
# The key of a widget, which is also the name of a parameter of the address.
LAB_QUESTION = "question"

# Keys of the session state.
PAGE = "page"
CONVERSATION = "conversation"
MENU = "conversation_menu"
TAG = "conversation_tag"
EDITOR = "question_editor"
SCOPE = "scope"
AS_OF = "as_of"
SOURCE = "source"
SOURCE_PAGE = "source_page"
SOURCE_ZOOM = "source_zoom"
OPEN_PDF = "open_pdf"
DIALOG_OPEN = "dialog_open"
PROBLEM = "problem"
RECENT_JOBS = "recent_jobs"
CLASHES = "clashes"
COLLECTION = "upload_collection"
UPLOADER = "uploader"
UPLOADER_ROUND = "uploader_round"
SELECTED = "selected_documents"
RECEIPTS = "delete_receipts"
EARLIER = "show_earlier"
THEME_ENTITY = "theme_entity"
THEME_MODEL_USE = "theme_model_use"
LAB_ANSWERS = "lab_answers"
LAB_COLLECTIONS = "lab_collections"
LAB_DOCUMENTS = "lab_documents"
LAB_EXPLANATION = "lab_explanation"
LAB_MARGINAL = "lab_marginal"
LAB_MARKED = "lab_marked"
LAB_OPEN = "lab_open"
LAB_RIGHT = "lab_right"
LAB_ANSWER = "lab_shown_answer"
LAB_CLOSED_BOOK = "lab_closed_book"
LAB_SNAPSHOTS = "lab_snapshots"
ASK = "ask"
STRATEGY = "strategy"
WRITER = "writer"
WRITER_POPOVER = "writer_popover"
INSTRUCTIONS_POPOVER = "instructions_popover"
LISTED_MODELS = "listed_models"
PSEUDO_PROBLEM = "pseudo_problem"
EVALUATION_PROBLEM = "evaluation_problem"
TRAINING_PROBLEM = "training_problem"
