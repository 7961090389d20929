"""Language models that can be downloaded, and the progress of setting one up."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rag_core.types.status import Capability, ModelCheck


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A downloadable model of the catalogue, and its state on this machine.

    Attributes
    ----------
    name, licence : str
    size_bytes, memory_bytes : int
        Size of the model's file, and memory that the application needs while it uses the model.
    downloaded_bytes : int
        Number of bytes of the file that are in the data folder already.
    problem : str
        Why the model does not fit the memory or the disk; empty if it does.
    in_use : bool
        Whether the application is connected to the model.
    capability : Capability
        See `rag_core.types.status.Capability`.
    is_recommended : bool
        Whether this is the first model of the catalogue that fits this machine.
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
        """A description of the model's answers for the user."""
        if self.capability == "capable":
            return "It reads whole pages and writes answers in sentences, each with its page."
        return "It reads a few passages and writes short answers, each with its page; it is fast, but less exact."


class SetupStep(str, Enum):
    """The current step of setting up a model, or its outcome."""

    DOWNLOADING = "downloading"
    INSTALLING = "installing"
    TESTING = "testing"
    PACKAGE_MISSING = "package_missing"
    FAILED = "failed"
    CONNECTED = "connected"

    @property
    def is_active(self) -> bool:
        """Whether the setup is in progress."""
        return self in (SetupStep.DOWNLOADING, SetupStep.INSTALLING, SetupStep.TESTING)


@dataclass(frozen=True, slots=True)
class ModelSetup:
    """The progress of setting up a model.

    Attributes
    ----------
    name : str
        Name of the model.
    step : SetupStep
    done, total : int
        Number of downloaded bytes, and of all bytes of the file.
    is_stopping : bool
        Whether the user has stopped the download. It ends when the server sends the next bytes, or at a timeout.
    problem : str
        If the setup failed or a package is missing: what happened, and what to do.
    checks : tuple of ModelCheck
        Results of the test of the connection, if the test failed.
    """

    name: str
    step: SetupStep
    done: int = 0
    total: int = 0
    is_stopping: bool = False
    problem: str = ""
    checks: tuple[ModelCheck, ...] = ()
