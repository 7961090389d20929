"""How messages name the settings of a language model: as environment variables, or as the fields of the form."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SettingNames:
    """The names of the settings of a connection, where the user can change them.

    Attributes
    ----------
    key, address, context : str
        The API key, the base URL and the context length.
    use_chat : str
        What to do in order to use Chat Completions.
    unset_file : str
        What to do in order to use no GGUF file.
    """

    key: str
    address: str
    context: str
    use_chat: str
    unset_file: str
    _address_value: str
    _model_value: str
    _file_value: str
    _context_value: str

    def show_address(self, url: object) -> str:
        """Return the base URL with its name."""
        return self._address_value.format(url)

    def show_model(self, name: object) -> str:
        """Return the name of a model at an endpoint with the name of the setting."""
        return self._model_value.format(name)

    def show_file(self, path: object) -> str:
        """Return the path of a GGUF file with its name."""
        return self._file_value.format(path)

    def show_context(self, tokens: int) -> str:
        """Return the context length with its name."""
        return self._context_value.format(tokens)


ENVIRONMENT_NAMES = SettingNames(
    key="OPENAI_API_KEY",
    address="RAG_OPENAI_BASE_URL",
    context="RAG_OPENAI_CONTEXT_TOKENS",
    use_chat="set RAG_OPENAI_API=chat",
    unset_file="unset it",
    _address_value="RAG_OPENAI_BASE_URL={}",
    _model_value="RAG_OPENAI_MODEL={}",
    _file_value="RAG_GGUF={}",
    _context_value="RAG_OPENAI_CONTEXT_TOKENS={}",
)
FORM_NAMES = SettingNames(
    key="the API key on the Admin page",
    address="the address on the Admin page",
    context="Context length on the Admin page",
    use_chat="choose Chat Completions on the Admin page",
    unset_file="choose another model on the Admin page",
    _address_value="{}",
    _model_value="model {}",
    _file_value="the file {}",
    _context_value="the context length of {:,} tokens on the Admin page",
)


def start_sentence(words: str) -> str:
    """Return words with a capital letter at the start."""
    return words[:1].upper() + words[1:]
