"""The language models: their selection, connection tests, usage, and the connections that all questions share."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal

from rag_core.errors import ModelListMissing, SettingsError, StoreError
from rag_core.llm.addresses import (
    LocalServer,
    find_base_url,
    find_host,
    find_local_servers,
    find_presets,
    is_openai_address,
)
from rag_core.llm.context_length import DEFAULT_CONTEXT_TOKENS, MAX_REPORTED_TOKENS, ask_context_length
from rag_core.llm.generator import LanguageModel
from rag_core.llm.presets import ModelPreset
from rag_core.llm.pricing import apply_price, load_prices
from rag_core.llm.request import DEFAULT_BASE_URL, redact_url
from rag_core.llm.setting_names import ENVIRONMENT_NAMES, FORM_NAMES, SettingNames
from rag_core.runtime.model_connection import (
    CONNECTION,
    apply_choice,
    build_profile,
    explain_missing_model,
    find_gguf_file,
    read_context_budget,
    require_accepted_key,
    sets_model,
)
from rag_core.runtime.stores import Stores
from rag_core.settings import Settings
from rag_core.store.model_keys import KeyPlace
from rag_core.types.status import ModelCheck, ModelChoice, ModelHost
from rag_core.types.usage import Usage, UsageTotal

log = logging.getLogger(__name__)
# Name of the preference that stores the selected model of the endpoint.
_MODEL = "model"
# Name of the preference that stores whether models see pictures, as tests found, by endpoint and model.
_SEES_PICTURES = "models_see_pictures"


class LanguageModels:
    """The language models that write answers.

    A `LanguageModel` is created when its model is first needed. All questions share it, because it keeps the connection
    to the endpoint and remembers what the endpoint supports. The usage of every request is stored.

    Settings of the environment that name a model or an endpoint have priority over the stored connection. A key alone
    has no priority, because ``OPENAI_API_KEY`` is often set for other programs. It is used for OpenAI's own address if
    no other key is entered.

    Parameters
    ----------
    settings : Settings
    stores : Stores

    Raises
    ------
    SettingsError
        The table of prices is not valid.
    """

    def __init__(self, settings: Settings, stores: Stores) -> None:
        self._from_environment = settings
        self._stores = stores
        self._connecting = threading.RLock()
        self._generators: dict[str, LanguageModel] = {}
        self._connected: Settings | None = None
        self._key_problem = ""
        self._prices = load_prices(settings.price_table)

    @property
    def presets(self) -> tuple[ModelPreset, ...]:
        """The kinds of servers and files from which a model can be connected."""
        return find_presets()

    @property
    def is_from_environment(self) -> bool:
        """Whether the environment sets a model or an endpoint, so that the stored connection is not used."""
        return sets_model(self._from_environment)

    @property
    def names(self) -> SettingNames:
        """How messages name the settings of the connection."""
        return ENVIRONMENT_NAMES if self.is_from_environment else FORM_NAMES

    @property
    def key_problem(self) -> str:
        """Why the stored API key cannot be read, and what to do; empty if there is no problem."""
        return self._key_problem if self.settings is not self._from_environment else ""

    def read_key_again(self) -> None:
        """Forget all models and the stored API key, so that the key is read again when it is next needed.

        Call this method, for example, after the keyring was unlocked.
        """
        # Do not close the replaced models, which running questions may use. Their connections are closed when the last
        # of these questions ends.
        with self._connecting:
            self._generators = {}
            self._connected = None

    def offers_environment_key(self, address: str) -> bool:
        """Return whether a connection to this address uses the key of the environment if no key is entered."""
        return bool(self._find_environment_key(address))

    @property
    def choice(self) -> ModelChoice | None:
        """The stored connection; ``None`` if there is none or if the environment has priority."""
        return ModelChoice(**stored["choice"]) if (stored := self._stored_connection) else None

    @property
    def key_place(self) -> KeyPlace | Literal[""]:
        """Where the stored API key is: ``keyring``, ``file``, or empty if the connection has no key."""
        place: KeyPlace | Literal[""] = stored["key_place"] if (stored := self._stored_connection) else ""
        return place

    @property
    def _stored_connection(self) -> Any:
        return None if self.is_from_environment else self._stores.preferences.get(CONNECTION)

    @property
    def settings(self) -> Settings:
        """The settings of the environment, changed by the stored connection if there is one.

        If the stored key cannot be read, `key_problem` says why.
        """
        with self._connecting:
            if self._connected is None:
                choice = self.choice
                self._connected = self._connect_stored(choice) if choice else self._from_environment
            return self._connected

    @property
    def current(self) -> str:
        """Name of the model in use: the model selected on the Settings page, or else the model of the settings.

        Empty if no model is selected or set.
        """
        if self.settings.gguf:
            return self.settings.model
        return str(self._stores.preferences.get(_MODEL) or self.settings.model)

    @property
    def predicts_tokens(self) -> bool:
        """Whether the model in use is a GGUF file, which gives the probabilities of single tokens."""
        return self.settings.gguf is not None

    @property
    def endpoint(self) -> str:
        """URL of the endpoint without secrets, or path of the GGUF file; empty if no model and no URL is set."""
        settings = self.settings
        if settings.gguf:
            return str(settings.gguf)
        if not (settings.openai_base_url or self.current):
            return ""
        return redact_url(settings.openai_base_url or DEFAULT_BASE_URL)

    @property
    def generator(self) -> str:
        """What writes answers: ``openai:MODEL``, ``gguf:FILE``, or ``extractive`` if answers are quotes."""
        return self.find_generator_name(None)

    def list(self) -> list[str]:
        """Return the sorted names of the models that the endpoint lists; may raise `GeneratorError`."""
        return self.get(self.current).models()

    def select(self, name: str | None) -> None:
        """Store the name of the endpoint's model to use from now on; ``None`` restores the model of the settings."""
        self._stores.preferences.set(_MODEL, name)

    def find_local_servers(self) -> tuple[LocalServer, ...]:
        """Return the model servers that run on this machine at their usual addresses, with their models."""
        return find_local_servers()

    def find_host(self, address: str) -> ModelHost | None:
        """Return the server at an address without sending a request; ``None`` if the address is invalid."""
        return find_host(address)

    def find_models(self, choice: ModelChoice, key: str | None = None) -> tuple[ModelChoice, Sequence[str]]:
        """Return ``choice`` with the base URL at which the endpoint answers, and the sorted names of its models.

        Nothing is stored. If the endpoint does not list its models, no names are returned, but a model can be used by
        its name. See `connect` for ``key``. May raise `GeneratorError` or `SettingsError`.
        """
        found, secret = self._resolve(choice, key)
        with closing(LanguageModel(self._apply_connection(found, secret), names=FORM_NAMES)) as model:
            try:
                return found, model.models()
            except ModelListMissing:
                return found, ()

    def check(self, choice: ModelChoice, key: str | None = None) -> Iterator[ModelCheck]:
        """Test a connection without storing it, and yield the result of each check as soon as it is known.

        The usage of the test and whether the model sees pictures are stored. See `connect` for ``key``. May raise
        `GeneratorError` or `SettingsError`.
        """
        found, secret = self._resolve(choice, key)
        settings = apply_price(self._apply_connection(found, secret), self._prices)
        if not settings.model:
            raise SettingsError("No model is chosen. Choose or type the name of a model.")
        record = partial(self._record_usage, settings.generator_name)
        with closing(LanguageModel(settings, names=FORM_NAMES, on_usage=record)) as model:
            yield from self._record_sight(settings, model.test_connection())

    def connect(self, choice: ModelChoice, key: str | None = None) -> None:
        """Store a connection, and use it for all questions from now on. Running questions keep their model.

        Parameters
        ----------
        choice : ModelChoice
            Its base URL can be any address that `rag_core.llm.addresses.build_base_urls` accepts.
        key : str, optional
            API key; ``None`` keeps the stored key if the base URL is unchanged.

        Raises
        ------
        SettingsError
            The environment sets a model, the choice names no model, or the address or the key is invalid.
        GeneratorError
            No endpoint answers at the address, it refuses the key, or the GGUF file cannot be used.
        StoreError
            The key or the connection cannot be stored.
        """
        self.ensure_editable()
        found, secret = self._resolve(choice, key)
        if not found.gguf and not found.model:
            raise SettingsError("No model is chosen. Choose or type the name of a model.")
        if not found.gguf:
            require_accepted_key(self._apply_connection(found, secret))
        found = self._add_reported_context(found, secret)
        # Remove the old connection first, so that the new key is never sent to the old endpoint if a later step fails.
        self._stores.preferences.set(CONNECTION, None)
        try:
            place = self._stores.model_keys.set(secret) if secret else ""
            if not secret:
                self._stores.model_keys.remove()
            self._stores.preferences.set(CONNECTION, {"choice": asdict(found), "key_place": place})
        finally:
            self._reload_connection()

    def ensure_editable(self) -> None:
        """Raise `SettingsError` if the environment sets a model, so that no connection can be stored."""
        if self.is_from_environment:
            raise SettingsError("The environment sets the language model. Unset RAG_OPENAI_… and RAG_GGUF first.")

    def disconnect(self) -> None:
        """Remove the stored connection and its key; answers are quotes from now on. May raise `StoreError`."""
        self._stores.preferences.set(CONNECTION, None)
        try:
            self._stores.model_keys.remove()
        finally:
            self._reload_connection()

    def test(self, name: str | None = None) -> Iterator[ModelCheck]:
        """Test a model with small requests, and yield the result of each check as soon as it is known.

        Whether the model sees pictures is stored. ``name`` is a model of the endpoint, by default the model in use.
        Raise `SettingsError` if no model is in use.
        """
        model = self.get(name) if name else self.require("A test of the connection")
        return self._record_sight(self._apply_model(name or self.current), model.test_connection())

    @property
    def sees_pictures(self) -> bool | None:
        """Whether the model in use sees pictures, as a test found; ``None`` if it was not tested."""
        key = _build_sight_key(self._apply_model(self.current))
        found: bool | None = (self._stores.preferences.get(_SEES_PICTURES) or {}).get(key)
        return found

    def _record_sight(self, settings: Settings, checks: Iterator[ModelCheck]) -> Iterator[ModelCheck]:
        """Yield the checks of a model, and store whether the model sees pictures."""
        for check in checks:
            if check.sees_pictures is not None and not self._stores.is_read_only:
                known = self._stores.preferences.get(_SEES_PICTURES) or {}
                changed = {**known, _build_sight_key(settings): check.sees_pictures}
                self._stores.preferences.set(_SEES_PICTURES, changed)
            yield check

    def usage_totals(self, since: datetime | None = None) -> Sequence[UsageTotal]:
        """Return the usage since a time, or in total if ``since`` is ``None``, for each model and currency."""
        return self._stores.usage.totals(since)

    def find_name(self, model: str | None) -> str:
        """Return the name of the model that writes answers; empty if answers are quotes.

        Parameters
        ----------
        model : str, optional
            The name of a model of the endpoint, ``None`` for the model in use, or an empty text for quotes. If a GGUF
            file is connected, every name stands for its model. If nothing is connected, every name stands for quotes.
        """
        if model is None or (model and self.settings.gguf):
            return self.current
        return model if self.endpoint else ""

    def find_generator_name(self, model: str | None) -> str:
        """Return what `Answer.generator` says if this model writes the answer; see `find_name` for ``model``."""
        return self._apply_model(self.find_name(model)).generator_name

    def active(self, model: str | None = None) -> LanguageModel | None:
        """Return a model; ``None`` if answers are quotes. See `find_name` for ``model``."""
        name = self.find_name(model)
        return self.get(name) if name else None

    def require(self, purpose: str, model: str | None = None, alternative: str = "") -> LanguageModel:
        """Return a model; raise `SettingsError` if answers are quotes.

        See `find_name` for ``model``, and `explain_missing_model` for ``purpose`` and ``alternative``.
        """
        if (generator := self.active(model)) is None:
            raise SettingsError(explain_missing_model(purpose, alternative, quotes_only=model == ""))
        return generator

    def get(self, model: str) -> LanguageModel:
        """Return a model by its name, without asking the endpoint whether this model exists."""
        with self._connecting:
            if model not in self._generators:
                settings = self._apply_model(model)
                self._generators[model] = LanguageModel(
                    settings,
                    names=self.names,
                    key_problem=self.key_problem,
                    profile=build_profile(settings, self.choice),
                    find_budget=lambda: read_context_budget(self._from_environment, self._stores.preferences),
                    on_usage=partial(self._record_usage, settings.generator_name),
                )
            return self._generators[model]

    def warm_up(self) -> None:
        """Load the GGUF model, or connect to the endpoint; may raise `GeneratorError`."""
        generator = self.active()
        if generator is not None:
            generator.warm_up()

    def close(self) -> None:
        """Close all connections."""
        with self._connecting:
            generators, self._generators = list(self._generators.values()), {}
        for generator in generators:
            generator.close()

    def _resolve(self, choice: ModelChoice, key: str | None) -> tuple[ModelChoice, str]:
        """Return a connection with the path or the base URL that works, and the key that was entered or is stored.

        The key is empty if none was entered or stored, even if the key of the environment is used.

        May raise `StoreError` if the stored key is needed and cannot be read.
        """
        if choice.gguf:
            return replace(choice, gguf=str(find_gguf_file(choice.gguf)), base_url="", model=""), ""
        stored = self.choice
        # Send a stored key only to the endpoint for which it was entered.
        keeps_key = stored is not None and key is None and choice.base_url.strip() == stored.base_url
        secret = self._read_key() if keeps_key else (key or "").strip()
        used = secret or self._find_environment_key(choice.base_url)
        return replace(choice, base_url=find_base_url(choice.base_url, used), gguf=""), secret

    def _add_reported_context(self, choice: ModelChoice, key: str) -> ModelChoice:
        """Return the connection with the context length that its endpoint reports.

        Return it unchanged if the user entered a length, or if it names a GGUF file.
        """
        if choice.gguf or (choice.context_tokens and not choice.context_reported):
            return choice
        assumed = self._from_environment.openai_context_tokens or DEFAULT_CONTEXT_TOKENS
        used = key or self._find_environment_key(choice.base_url)
        found = ask_context_length(choice.base_url, choice.model, used).limit(assumed)
        tokens = None if found is None else min(found, max(assumed, MAX_REPORTED_TOKENS))
        return replace(choice, context_tokens=tokens, context_reported=tokens is not None)

    def _find_environment_key(self, address: str) -> str:
        """Return the key of the environment for OpenAI's own address.

        Return an empty text for other addresses, and if the environment sets a model or an endpoint.
        """
        key = self._from_environment.openai_api_key
        if key is None or self.is_from_environment or not is_openai_address(address):
            return ""
        return key.get_secret_value().strip()

    def _connect_stored(self, choice: ModelChoice) -> Settings:
        key, self._key_problem = "", ""
        try:
            key = self._read_key()
        except StoreError as error:
            log.warning("the API key could not be read: %s", error)
            self._key_problem = str(error)
        return self._apply_connection(choice, key)

    def _apply_connection(self, choice: ModelChoice, key: str) -> Settings:
        key = key or self._find_environment_key(choice.base_url)
        return apply_choice(self._from_environment, choice, key)

    def _read_key(self) -> str:
        """Return the stored key, or an empty text if the connection has no key; may raise `StoreError`."""
        place = self.key_place
        return self._stores.model_keys.get(place) if place else ""

    def _reload_connection(self) -> None:
        self._stores.preferences.set(_MODEL, None)
        self.read_key_again()

    def _apply_model(self, model: str) -> Settings:
        settings = self.settings
        if settings.gguf:
            return settings
        return apply_price(settings.model_copy(update={"openai_model": model}), self._prices)

    def _record_usage(self, name: str, usage: Usage) -> None:
        try:
            self._stores.usage.add(name, usage)
        except StoreError as error:
            # Only log the error: if it were raised, a complete answer would be lost.
            log.warning("the usage could not be stored: %s", error)


def _build_sight_key(settings: Settings) -> str:
    """Return the key of a model in the preference ``models_see_pictures``: its endpoint, without secrets, and name."""
    return f"{redact_url(settings.openai_base_url or DEFAULT_BASE_URL)} {settings.model}"
