"""Models that can be downloaded, and the steps from the download to the use of one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rag_core.types.status import Capability, ModelCheck


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A model of the catalogue, and its state on this machine.

    Attributes
    ----------
    name, licence : str
    size_bytes, memory_bytes : int
        Size of the file, and memory that the application needs with the model.
    downloaded_bytes : int
        Number of bytes that are in the data folder.
    problem : str
        Why the memory or the disk is too small; empty if the model fits.
    in_use : bool
        Whether the stored connection uses the model.
    capability : Capability
    is_recommended : bool
        Whether it is the first model of the catalogue that fits this machine.
    """

    name: str
    licence: str
    size_bytes: int
    memory_bytes: int
    downloaded_bytes: int
    problem: str
    in_use: bool
    capability: Capability
    is_recommended: bool = False

    @property
    def benefit(self) -> str:
        """What answers with the model are like."""
        if self.capability == "capable":
            return "It reads whole pages and writes answers in sentences, each with its page."
        return "It reads a few passages and writes short answers, each with its page; it is fast, but less exact."


class SetupStep(str, Enum):
    """What is being done to use a model, or how that ended."""

    DOWNLOADING = "downloading"
    INSTALLING = "installing"
    TESTING = "testing"
    PACKAGE_MISSING = "package_missing"
    FAILED = "failed"
    CONNECTED = "connected"

    @property
    def is_active(self) -> bool:
        """Whether work is in progress."""
        return self in (SetupStep.DOWNLOADING, SetupStep.INSTALLING, SetupStep.TESTING)


@dataclass(frozen=True, slots=True)
class ModelSetup:
    """How far the setup of a model is.

    Attributes
    ----------
    name : str
    step : SetupStep
    done, total : int
        Downloaded bytes, and size of the file.
    is_stopping : bool
        Whether the download stops as soon as the server sends more bytes or the time for it is over.
    problem : str
        If the setup failed or the package is missing: what happened, and what to do.
    checks : tuple of ModelCheck
        Results of the test, if it failed.
    """

    name: str
    step: SetupStep
    done: int = 0
    total: int = 0
    is_stopping: bool = False
    problem: str = ""
    checks: tuple[ModelCheck, ...] = ()
