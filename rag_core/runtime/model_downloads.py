"""Download a model of the catalogue, install what it needs, test it and use it, in the background."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rag_core.errors import (
    DownloadCancelled,
    ModelDownloadError,
    ModelNotDownloaded,
    PackageNotInstalled,
    RagError,
    SettingsError,
)
from rag_core.llm.gguf import GGUF_INSTALL_COMMAND, install_gguf, is_gguf_installed
from rag_core.llm.model_catalogue import CatalogueModel, find_model, load_catalogue
from rag_core.llm.model_download import (
    build_model_path,
    count_partial_bytes,
    download_model,
    find_capacity_problem,
    is_downloaded,
    remove_model,
)
from rag_core.runtime.language_models import LanguageModels
from rag_core.settings import Settings
from rag_core.types.model_setup import ModelOffer, ModelSetup, SetupStep
from rag_core.types.status import ModelCheck, ModelChoice

# Maximum time in seconds to wait for the background thread when the engine is closed. If pip or a server takes longer,
# the thread ends later without using the stores.
_CLOSE_S = 5.0


class ModelDownloads:
    """Sets up models of the catalogue, one at a time, for all sessions. All methods are thread-safe.

    A setup runs in a background thread. It downloads the model, installs the package that runs GGUF files if users want
    this, tests the model and connects it. The downloaded part of a file stays in the data folder until the download is
    continued or removed.

    Parameters
    ----------
    settings : Settings
    models : LanguageModels
    """

    def __init__(self, settings: Settings, models: LanguageModels) -> None:
        self._catalogue = settings.model_catalogue
        self._folder = settings.data_dir / "models"
        self._models = models
        self._lock = threading.RLock()
        self._setup: ModelSetup | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._removes_file = False

    @property
    def current(self) -> ModelSetup | None:
        """The running setup, or the last setup with its result.

        ``None`` before the first setup, and after it was paused or cancelled, or its file was removed.
        """
        return self._setup

    @property
    def install_command(self) -> str:
        """The command that installs the package that runs GGUF files."""
        return GGUF_INSTALL_COMMAND

    def list(self) -> Sequence[ModelOffer]:
        """Return the models of the catalogue in order, but first the recommended one, which is the first that fits.

        May raise `SettingsError`.
        """
        choice = self._models.choice
        used = choice.gguf if choice else ""
        offers = [build_offer(model, self._folder, used) for model in load_catalogue(self._catalogue)]
        fitting = next((one for one in offers if not one.problem), None)
        rest = [one for one in offers if one is not fitting]
        return [*([replace(fitting, is_recommended=True)] if fitting else []), *rest]

    def find_file(self, name: str) -> Path:
        """Return the path of a downloaded model.

        Raises
        ------
        UnknownModel, SettingsError
        ModelNotDownloaded
            The file is not, or not completely, in the data folder.
        """
        model = find_model(name, self._catalogue)
        if not is_downloaded(model, self._folder):
            raise ModelNotDownloaded(f"{name} is not downloaded. Download it first: model add {name}.")
        return build_model_path(model, self._folder)

    def start(self, name: str, *, install: bool = False) -> None:
        """Start or continue the setup of a model; do nothing if this model is being set up already.

        Errors in the background thread are not raised; the ``problem`` of `current` states them.

        Parameters
        ----------
        name : str
        install : bool
            Whether to install the package that runs GGUF files if it is missing. If it is not installed, or if the
            installation fails, the setup ends with `SetupStep.PACKAGE_MISSING`.

        Raises
        ------
        UnknownModel
        SettingsError
            The environment sets a model, or the catalogue is invalid.
        ModelDownloadError
            Another model is being set up, or the download of this one is about to stop.
        """
        self._models.ensure_editable()
        model = find_model(name, self._catalogue)
        with self._lock:
            setup = self._setup
            if setup and setup.step.is_active:
                if setup.name != name:
                    raise ModelDownloadError(f"{setup.name} is being set up. Wait until that ends, or pause it.")
                if setup.is_stopping:
                    raise ModelDownloadError(f"The download of {name} is about to stop. Continue it in a moment.")
                return
            self._stop.clear()
            self._removes_file = False
            done = build_offer(model, self._folder).downloaded_bytes
            self._setup = ModelSetup(name, SetupStep.DOWNLOADING, done, model.size_bytes)
            # The process does not wait for a daemon thread. The next download continues where this download stopped.
            self._thread = threading.Thread(target=self._run, args=(model, install), name="model-setup", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Stop the download, and keep the downloaded part; do nothing if no model is being downloaded."""
        self._stop_download(remove=False)

    def cancel(self) -> None:
        """Stop the download, and remove the downloaded part; do nothing if no model is being downloaded."""
        self._stop_download(remove=True)

    def remove(self, name: str) -> None:
        """Remove the file of a model, or the part of the file that was downloaded.

        Raises
        ------
        UnknownModel, DataFolderUnwritable
        SettingsError
            The model is in use, or the catalogue is invalid.
        ModelDownloadError
            The model is being set up.
        """
        model = find_model(name, self._catalogue)
        with self._lock:
            if self._setup and self._setup.name == name:
                if self._setup.step.is_active:
                    raise ModelDownloadError(f"{name} is being set up. Wait until that ends, or cancel it.")
                self._setup = None
            choice = self._models.choice
            if choice and build_offer(model, self._folder, choice.gguf).in_use:
                raise SettingsError(f"{name} is in use. Disconnect it before you remove its file.")
            remove_model(model, self._folder)

    def close(self) -> None:
        """Stop the download, and keep the downloaded part, which the next call of `start` completes."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_CLOSE_S)

    def _stop_download(self, *, remove: bool) -> None:
        with self._lock:
            if self._setup and self._setup.step is SetupStep.DOWNLOADING:
                self._removes_file = self._removes_file or remove
                self._stop.set()
                self._setup = replace(self._setup, is_stopping=True)

    def _run(self, model: CatalogueModel, install: bool) -> None:
        try:
            try:
                self._set_up(model, install)
            except DownloadCancelled:
                self._finish_stop(model)
        except RagError as error:
            step = SetupStep.PACKAGE_MISSING if isinstance(error, PackageNotInstalled) else SetupStep.FAILED
            self._advance(step, problem=str(error))
        except BaseException:
            problem = "An internal error ended the setup. See the log of the app, and try again."
            self._advance(SetupStep.FAILED, problem=problem)
            raise

    def _set_up(self, model: CatalogueModel, install: bool) -> None:
        path = download_model(
            model, self._folder, on_progress=self._show_progress, is_cancelled=self._stop.is_set
        ).absolute()
        self._check_stop()
        if not is_gguf_installed():
            if not install:
                raise PackageNotInstalled(
                    "The file is downloaded. The package xllamacpp, which runs it, is not installed. Install it: "
                    f"{GGUF_INSTALL_COMMAND}"
                )
            self._advance(SetupStep.INSTALLING)
            install_gguf(self._folder / "install.log")
            self._check_stop()
        self._advance(SetupStep.TESTING)
        choice = ModelChoice("gguf", gguf=str(path))
        checks = tuple(self._models.check(choice))
        self._check_stop()
        if any(check.passed is False for check in checks):
            problem = f"{model.name} did not pass the test, so it is not used. Try again, or choose another model."
            self._advance(SetupStep.FAILED, problem=problem, checks=checks)
            return
        self._models.connect(choice)
        self._models.warm_up()
        self._advance(SetupStep.CONNECTED)

    def _show_progress(self, done: int, total: int) -> None:
        with self._lock:
            if self._setup:
                self._setup = replace(self._setup, done=done, total=total)

    def _advance(self, step: SetupStep, problem: str = "", checks: tuple[ModelCheck, ...] = ()) -> None:
        with self._lock:
            if self._setup:
                self._setup = replace(self._setup, step=step, is_stopping=False, problem=problem, checks=checks)

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise DownloadCancelled("The setup was stopped.")

    def _finish_stop(self, model: CatalogueModel) -> None:
        with self._lock:
            if self._removes_file:
                remove_model(model, self._folder)
            self._setup = None


def build_offer(model: CatalogueModel, folder: Path, used: str = "") -> ModelOffer:
    """Return a model of the catalogue with the state of its download.

    ``folder`` contains the downloaded files, and ``used`` is the path of the GGUF file in use, if any.
    """
    return ModelOffer(
        name=model.name,
        licence=model.licence,
        size_bytes=model.size_bytes,
        memory_bytes=model.memory_bytes,
        downloaded_bytes=model.size_bytes if is_downloaded(model, folder) else count_partial_bytes(model, folder),
        problem=find_capacity_problem(model, folder),
        in_use=used == str(build_model_path(model, folder)),
        capability=model.capability,
    )
