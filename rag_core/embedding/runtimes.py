"""Measure the libraries and precisions that can run the bundled embedder on this machine, and choose the fastest.

The library that is fastest on one processor can take twice as long as another library on a different processor. The
vectors are nearly the same, so an index does not depend on the choice. Questions for which a user waits are always
embedded by OpenVINO in fp32.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol

from rag_core.embedding.bert import BatchBert, Precision, has_native_bf16
from rag_core.system import count_available_cores
from rag_core.types.arrays import FloatArray, Int64Array

log = logging.getLogger(__name__)
# Number of embedded texts after which the runtimes are measured. A measurement takes about as long as these texts.
MEASURED_FROM = 200
# Maximum time of a measurement in seconds.
MEASUREMENT_LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class Runtime:
    """A library that runs the bundled embedder, with its precision and device.

    ``texts_per_second`` is the measured speed for texts of 200 tokens; ``None`` if it was not measured.
    """

    library: Literal["openvino", "torch"]
    precision: Precision
    texts_per_second: float | None = None
    device: Literal["cpu", "cuda"] = "cpu"

    def is_same(self, other: Runtime) -> bool:
        """Return whether two runtimes have the same library, precision and device; their speeds may differ."""
        return replace(self, texts_per_second=None) == replace(other, texts_per_second=None)

    @property
    def name(self) -> str:
        """The library, the precision and the device in words."""
        where = " on the graphics processor" if self.device == "cuda" else ""
        return f"{'OpenVINO' if self.library == 'openvino' else 'torch'} in {self.precision}{where}"

    def describe(self) -> str:
        """Return the name and the speed in words."""
        speed = f", {self.texts_per_second:g} texts a second when measured" if self.texts_per_second else ""
        return f"{self.name}{speed}"


class TransformerEncoder(Protocol):
    """An encoder that computes the hidden states of texts; see `rag_core.embedding.bert.BatchBert`."""

    max_parallel_calls: int

    def states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return the last hidden states of texts."""
        ...


class RuntimeChoice:
    """The choice of the runtime of the bundled embedder.

    If there are several candidates, a separate process measures them after `MEASURED_FROM` texts have been embedded.
    Until then, the default runtime is used.

    Parameters
    ----------
    file : Path or None
        Stores the measured runtimes. Without a file, nothing is measured.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._texts = 0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._closed = False
        self._has_measured = False

    @cached_property
    def current(self) -> Runtime:
        """The runtime in use: the fastest measured one, or the default runtime if none was measured."""
        measured = _read_measured_runtimes(self._file) if self._file and len(list_candidates()) > 1 else []
        return measured[0] if measured else default_runtime()

    def count_texts(self, texts: int, use: Callable[[Runtime], None]) -> None:
        """Count embedded texts, and measure the runtimes once in the background after `MEASURED_FROM` texts.

        Nothing is measured without a file, with only one candidate, or if the speed of the current runtime is known.

        Parameters
        ----------
        texts : int
            Number of texts.
        use : callable
            Called in a background thread with the fastest runtime if it is not the current runtime.
        """
        with self._lock:
            self._texts += texts
            is_known = len(list_candidates()) == 1 or self.current.texts_per_second is not None
            if self._has_measured or is_known or self._file is None or self._texts < MEASURED_FROM:
                return
            self._has_measured = True
        threading.Thread(target=self._measure, args=(self._file, use), name="runtimes", daemon=True).start()

    def close(self) -> None:
        """Stop a running measurement, and prevent further ones."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def _measure(self, file: Path, use: Callable[[Runtime], None]) -> None:
        with self._lock:
            if self._closed:
                return
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rag_core.embedding.measurement"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            )
        try:
            candidates = json.dumps([asdict(one) for one in list_candidates()])
            output, _ = self._process.communicate(candidates, timeout=MEASUREMENT_LIMIT_S)
            measured = [Runtime(**row) for row in json.loads(output)]
            file.write_text(json.dumps({"machine": describe_machine(), "runtimes": [asdict(one) for one in measured]}))
        except (subprocess.TimeoutExpired, OSError, ValueError, TypeError) as error:
            self._process.kill()
            if not self._closed:
                name = self.current.name
                log.warning("The runtimes of the embedder could not be measured (%s); %s is used.", error, name)
            return
        if self._closed:
            return
        if not measured[0].is_same(self.current):
            use(measured[0])
        self.current = measured[0]


def default_runtime() -> Runtime:
    """Return the runtime that is used without a measurement."""
    return Runtime("openvino", "bf16" if has_native_bf16() else "fp32")


def list_candidates() -> list[Runtime]:
    """Return the runtimes that may be the fastest on this machine, the default runtime first.

    On a processor with bf16 and without a graphics processor, only the default is a candidate.
    """
    candidates = [default_runtime()]
    if not has_native_bf16():
        candidates += [Runtime("openvino", "int8"), Runtime("torch", "fp32")]
    if has_gpu():
        candidates.append(Runtime("torch", "fp32", device="cuda"))
    return candidates


@cache
def has_gpu() -> bool:
    """Return whether torch may be able to use an NVIDIA graphics processor, without an import of torch.

    This is the case if torch is not a build for processors only, and the program nvidia-smi is installed.
    """
    return not version("torch").endswith("+cpu") and shutil.which("nvidia-smi") is not None


def load_encoder(runtime: Runtime, folder: Path, changes: Mapping[str, FloatArray] | None = None) -> TransformerEncoder:
    """Return the encoder for a runtime. ``changes`` are added to the weights in ``folder``, by name."""
    if runtime.library == "torch":
        from rag_core.embedding.sentence_transformer import TorchEncoder

        return TorchEncoder(folder, changes, runtime.device)
    return BatchBert(folder, runtime.precision, changes)


def describe_machine() -> dict[str, str]:
    """Return the properties on which the speed of runtimes depends: processor, cores, and versions of libraries."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    processor = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())
    versions = {library: version(library) for library in ("openvino", "torch")}
    gpu = {"gpu": "cuda"} if has_gpu() else {}
    return {"processor": processor, "cores": str(count_available_cores()), **versions, **gpu}


def _read_measured_runtimes(file: Path) -> Sequence[Runtime]:
    """Return the runtimes that were measured on this machine, the fastest first; empty if none were measured."""
    try:
        stored: Any = json.loads(file.read_text())
        return [Runtime(**row) for row in stored["runtimes"]] if stored["machine"] == describe_machine() else []
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("%s cannot be read (%s); the runtimes of the embedder are measured again.", file, error)
        return []
