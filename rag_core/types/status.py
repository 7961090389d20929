"""The state of the installation and of its models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_core.types.chunks import Fingerprint
from rag_core.types.formatting import format_count
from rag_core.types.usage import UsageTotal

# What the way to a model's answer relies on. ``small``: a few short passages and simple rules. ``capable``: whole
# pages, the format of the citations, and the language of the question.
Capability = Literal["small", "capable"]


def describe_outdated(number: int) -> str:
    """Return how many documents an older version of the parser has parsed, and why they should be re-indexed."""
    return (
        f"{format_count(number, 'document was', 'documents were')} parsed by an older version of Footnote. This "
        "version reads their pages differently."
    )


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The result of one of the checks with which the connection to a language model is tested.

    ``passed`` is ``None`` if the check is inconclusive. ``words`` describes the result; if the check failed, it also
    says what to do. ``capability`` is the result of the check of the model's capability, and ``sees_pictures`` that of
    the check with a picture; other checks have none.
    """

    name: str
    passed: bool | None
    words: str
    capability: Capability | None = None
    sees_pictures: bool | None = None


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A connection to a language model, without its API key.

    Attributes
    ----------
    preset : str
        ``id`` of a preset of `rag_core.llm.presets`.
    base_url, model, api : str
        Address of the endpoint, name of the model there, and ``chat`` or ``responses``.
    gguf : str
        Path of a GGUF file that runs in this process instead.
    context_tokens : int, optional
        Most tokens of prompt and answer together; by default the value of the settings.
    context_reported : bool
        Whether ``context_tokens`` follows from what the endpoint reports, and was not entered.
    capability : str
        The capability that the user chose; empty if it is to be found out.
    tested_capability : Capability, optional
        The result of the test of the connection, if it was tested.
    """

    preset: str
    base_url: str = ""
    model: str = ""
    api: str = "chat"
    gguf: str = ""
    context_tokens: int | None = None
    context_reported: bool = False
    capability: Literal["", "small", "capable"] = ""
    tested_capability: Capability | None = None


@dataclass(frozen=True, slots=True)
class ModelHost:
    """The server that a model's address means.

    ``name`` is the host, with its port if the address has one. ``is_this_machine`` is true for loopback addresses.
    """

    name: str
    is_this_machine: bool


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the local models are ready for searches.

    If they are not, ``label`` says what is being loaded. If loading failed, ``label`` says what could not be loaded and
    ``error`` says why.
    """

    ready: bool
    label: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the whole installation, for the Settings page and the ``status`` command.

    ``problems`` contains one text per problem. ``notices`` contains texts about what could be improved although
    everything works. ``counts`` contains the numbers of documents, pages, chunks and conversations. ``stores`` contains
    the number of entries in each store that answered, and ``reachable`` says which stores answered. ``built_with``
    describes the active index, ``configured`` an index that would be built with the current settings. ``usage``
    contains the total usage of language models since the data folder was created.
    """

    healthy: bool
    problems: Sequence[str]
    counts: Mapping[str, int]
    stores: Mapping[str, int]
    reachable: Mapping[str, bool]
    built_with: Fingerprint | None
    configured: Fingerprint | None
    disk_bytes: Mapping[str, int]
    data_dir: str
    threshold: float
    generator: str
    versions: Mapping[str, str]
    usage: Sequence[UsageTotal] = ()
    notices: Sequence[str] = ()
