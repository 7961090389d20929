"""The state of the installation and of its models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.types.chunks import Fingerprint
from rag_core.types.usage import UsageTotal


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """One check of a model's connection test.

    ``passed`` is ``None`` if the check is inconclusive; ``words`` describes the result and, after a failure, what
    to do.
    """

    name: str
    passed: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the models are ready; if not, ``label`` names what is warming up, or ``error`` the problem."""

    ready: bool
    label: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the whole installation, for the Admin page and the ``status`` command.

    ``counts`` contains the numbers of documents, versions, pages and chunks, ``stores`` the number of chunks in each
    store. ``problems`` has one sentence per problem. ``usage`` sums the use of language models since the data folder
    was created.
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
