"""The state of the installation and of its models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.types.chunks import Fingerprint
from rag_core.types.usage import UsageTotal


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """One thing that a test of the model looked at.

    ``passed`` is ``None`` where it could not be told; ``words`` says what was found and, where it did
    not pass, what to do.
    """

    name: str
    passed: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """How far the models are: ``ready``, or ``label`` says what is warming up, or ``error`` why not."""

    ready: bool
    label: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the whole installation, for Admin and ``status``.

    ``counts`` holds documents, versions, pages, chunks, and the same chunks counted in each store
    under ``stores``; ``problems`` is empty when healthy, else one plain sentence each. ``usage`` is
    that of language models since the data folder was made.
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
