"""Public names of the engine and its parts."""

from __future__ import annotations

from rag_core.answering.cards.document_cards import DocumentCards
from rag_core.answering.continuation import Continuations
from rag_core.answering.conversations import Conversations
from rag_core.engine import Engine
from rag_core.evaluation.evaluations import Evaluations
from rag_core.evaluation.labels import Labels
from rag_core.indexing.collections import Collections
from rag_core.indexing.documents import Documents
from rag_core.indexing.index_service import Index
from rag_core.indexing.jobs import Jobs
from rag_core.indexing.snapshots import Snapshots
from rag_core.indexing.transfers import Transfers
from rag_core.indexing.watches import Watches
from rag_core.research.closed_book import ClosedBook
from rag_core.research.explanations import Explanations
from rag_core.research.learning.learning import Learning
from rag_core.research.mixtures import Mixtures
from rag_core.research.snapshot_comparison import SnapshotComparisons
from rag_core.runtime.access_tokens import AccessTokens
from rag_core.runtime.activity import Activity
from rag_core.runtime.background import BackgroundService
from rag_core.runtime.language_models import LanguageModels
from rag_core.runtime.model_downloads import ModelDownloads
from rag_core.runtime.preferences import Preferences
from rag_core.services import Services

NAMES = {
    Engine: "GUIDE_NAME GUIDE_QUESTIONS announce answer ask describe_embedding explain load_search readiness search "
    "status warm_up",
    Services: "close",
    Documents: "add_guide chunks content delete delete_named describe_figures find_descriptions find_ids find_text get "
    "has_name_clash list neighbours outline page pages remove_version rename render_figure render_page render_view "
    "restore_version retry set_tags submit tables title versions",
    DocumentCards: "find is_requested paused request_questions start stop",
    Jobs: "as_completed cancel get list problem wait",
    Index: "differences estimate_seconds outdated_ids rebuild",
    Collections: "list move_documents",
    Snapshots: "create delete index_missing list",
    ClosedBook: "answer",
    Transfers: "export_library import_library",
    SnapshotComparisons: "compare",
    Watches: "add find interval_s list remove start stop sync",
    Conversations: "add_message create delete export_docx export_markdown export_pdf get list messages remove_messages "
    "rename replace_answer set_instructions set_model set_pinned set_scope set_tags",
    Labels: "add confirm_passage find_answers find_pages label_answer list parse_file rate_answer rating remove "
    "withdraw_rating",
    BackgroundService: "cancel close state",
    Evaluations: "advise_threshold check check_release compare gate_scores_plot list list_choices list_methods plots "
    "recent_gate_scores remove run start summarize_context tabulate write_report",
    Learning: "add_pseudo_questions find_problems has_adapter is_on remove remove_pseudo_questions set_on start train "
    "trainings write_pseudo_questions",
    LanguageModels: "active check choice close connect current disconnect endpoint ensure_editable find_generator_name "
    "find_host find_local_servers find_models find_name generator get is_from_environment key_place "
    "key_problem list names offers_environment_key predicts_tokens presets read_key_again require sees_pictures select "
    "settings test usage_totals warm_up",
    ModelDownloads: "cancel close current find_file install_command list pause remove start",
    Preferences: "add_instructions context_budget default_threshold describes_figures figures_problem find_gate gate "
    "hide_model_offer instructions is_model_offered model_verifies quotes_gate quotes_threshold set_context_budget "
    "set_describes_figures set_instructions set_model_verifies set_threshold set_top_k threshold top_k verifier "
    "verifier_problem",
    AccessTokens: "create find list revoke",
    Activity: "count_documents count_jobs observe_question",
    Continuations: "continue_answer",
    Explanations: "evidence_mass explain token_matches weight_passages",
    Mixtures: "compute_example generate mix read_answers score_answers",
}


def test_public_names_are_unchanged() -> None:
    names = {cls: " ".join(sorted(name for name in vars(cls) if not name.startswith("_"))) for cls in NAMES}
    assert names == NAMES
