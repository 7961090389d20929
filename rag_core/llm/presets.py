"""The kinds of servers and files from which a language model can be connected."""

from __future__ import annotations

from dataclasses import dataclass

from rag_core.llm.request import DEFAULT_BASE_URL

_ANTHROPIC = "https://api.anthropic.com/v1"
_GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
_OPENROUTER = "https://openrouter.ai/api/v1"


@dataclass(frozen=True, slots=True)
class ModelPreset:
    """A kind of server, or a GGUF file.

    Attributes
    ----------
    id, name : str
        The name in the database, and the name for users.
    base_url : str
        Usual base URL; empty if it differs for each account, and for a file.
    example : str
        Example of an address or path that a user types.
    needs_key : bool
        Whether the server refuses every request without an API key.
    list_path : str
        Path of the list of models below the server's root, for the search for servers on this machine; empty for a kind
        of server that is not searched for.
    is_file : bool
        Whether the model is a file that runs in this process.
    context_tokens : int
        Context of the host's models, if the host does not report it; 0 if it is unknown.
    """

    id: str
    name: str
    base_url: str = ""
    example: str = ""
    needs_key: bool = False
    list_path: str = ""
    is_file: bool = False
    context_tokens: int = 0


PRESETS = (
    ModelPreset("openai", "OpenAI", DEFAULT_BASE_URL, DEFAULT_BASE_URL, needs_key=True, context_tokens=128_000),
    ModelPreset("azure", "Azure OpenAI", "", "https://NAME.openai.azure.com", needs_key=True, context_tokens=128_000),
    ModelPreset("anthropic", "Anthropic", _ANTHROPIC, _ANTHROPIC, needs_key=True, context_tokens=200_000),
    ModelPreset("google", "Google", _GOOGLE, _GOOGLE, needs_key=True, context_tokens=1_000_000),
    ModelPreset("openrouter", "OpenRouter", _OPENROUTER, _OPENROUTER, needs_key=True),
    ModelPreset("ollama", "Ollama", "http://localhost:11434/v1", "localhost:11434", list_path="/api/tags"),
    ModelPreset("lmstudio", "LM Studio", "http://localhost:1234/v1", "localhost:1234", list_path="/v1/models"),
    ModelPreset("vllm", "vLLM", "http://localhost:8000/v1", "localhost:8000"),
    ModelPreset("llamacpp", "llama.cpp server", "http://localhost:8080/v1", "localhost:8080"),
    ModelPreset("compatible", "Any OpenAI-compatible endpoint", "", "https://models.example.com/v1"),
    ModelPreset("gguf", "GGUF file", "", "~/models/qwen3-4b.gguf", is_file=True),
)
