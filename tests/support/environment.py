"""Environment variables that make tests independent of the machine."""

from __future__ import annotations

# Hugging Face's servers, the keyring and an Ollama of this machine are kept away. Port 9 discards what it gets. With a
# context length, endpoints that play a script are not asked for theirs.
INDEPENDENT = {
    "HF_HUB_OFFLINE": "1",
    "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    "OLLAMA_HOST": "127.0.0.1:9",
    "RAG_OPENAI_CONTEXT_TOKENS": "8192",
}
# Constants of `rag_core.runtime.warm_up`, so that the models see few lengths of text. Each length takes time when the
# application starts, and saves little in a test.
WARM_UP = {"QUESTION_LENGTHS": (6, 7), "PASSAGE_LENGTHS": (20, 21)}
