"""One frozen settings object, read from ``RAG_…`` variables, ``.env`` and nothing else."""

from rag_core.settings.fields import BUNDLED_EMBEDDER, PREFIX, Settings
from rag_core.settings.loading import load_settings

__all__ = ["BUNDLED_EMBEDDER", "PREFIX", "Settings", "load_settings"]
