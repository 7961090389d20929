"""The state of the installation and of its models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_core.types.chunks import Fingerprint
from rag_core.types.formatting import format_count
from rag_core.types.usage import UsageTotal

# What a language model is given. ``small``: a few short passages and simple rules. ``capable``: whole pages, with rules
# about the format of citations and the language of the answer.
Capability = Literal["small", "capable"]


def describe_outdated(number: int) -> str:
    """Return the message that ``number`` documents were parsed by an older version of Footnote."""
    return (
        f"{format_count(number, 'document was', 'documents were')} parsed by an older version of Footnote. This "
        "version reads their pages differently."
    )


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The result of one check in the test of the connection to a language model.

    ``passed`` is ``None`` if the check is inconclusive. ``words`` describes the result, and what to do if the check
    failed. ``capability`` is the result of the capability check, and ``sees_pictures`` that of the check with a
    picture; both are ``None`` for other checks.
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
        Address of the endpoint, name of the model there, and the kind of API: ``chat`` or ``responses``.
    gguf : str
        Path of the GGUF file of a model that runs in this process; empty for a model of an endpoint.
    context_tokens : int, optional
        Maximum number of tokens of prompt and answer together; by default the value of the settings.
    context_reported : bool
        Whether ``context_tokens`` was derived from a report of the endpoint, and not entered by the user.
    capability : str
        The capability that the user chose; empty if the test of the connection determines it.
    tested_capability : Capability, optional
        The capability that the test of the connection determined.
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
    """The server of a model's endpoint.

    ``name`` is the host, followed by the port if the address contains one. ``is_this_machine`` is true for loopback
    addresses.
    """

    name: str
    is_this_machine: bool


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the local models are ready for searches.

    While models are being loaded, ``label`` says which. If loading failed, ``label`` says what could not be loaded and
    ``error`` says why.
    """

    ready: bool
    label: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the whole installation.

    Attributes
    ----------
    healthy : bool
        Whether there are no ``problems``.
    problems : sequence of str
        Descriptions of the problems.
    counts : mapping of str to int
        Numbers of documents, pages, chunks and conversations.
    stores : mapping of str to int
        Number of entries in each store that answered.
    reachable : mapping of str to bool
        Whether each store answered.
    built_with : Fingerprint or None
        Models and parameters of the active index; ``None`` if there is no index.
    configured : Fingerprint or None
        Models and parameters of an index that would be built with the current settings.
    disk_bytes : mapping of str to int
        Disk usage of each part of the data folder.
    threshold : float
        Threshold of the gate.
    generator : str
        Name of the generator that writes answers.
    versions : mapping of str to str
        Versions of the application and its libraries.
    usage : sequence of UsageTotal
        Total usage of language models since the data folder was created.
    notices : sequence of str
        Suggestions for improvements, which are no problems.
    libreoffice : str
        Path of LibreOffice, which draws pages of Office documents; empty if it is not installed.
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
    libreoffice: str = ""
