"""The choice of the runtime of the bundled embedder on processors without bf16."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path

import pytest

from rag_core.embedding import runtimes
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.runtimes import Runtime, RuntimeChoice, describe_machine

TEXTS = ["The harbour master records each ship that arrives after dusk.", "Net sales grew by 4.5 % to 1,204 million."]
FP32 = Runtime("openvino", "fp32")


@pytest.fixture(autouse=True)
def _no_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "has_native_bf16", lambda: False)


def store(file: Path, machine: dict[str, str], *measured: dict[str, object]) -> None:
    file.write_text(json.dumps({"machine": machine, "runtimes": measured}))


def test_many_texts_start_a_measurement_that_the_next_start_reads(tmp_path: Path) -> None:
    file, changed = tmp_path / "runtime.json", threading.Event()
    choice = RuntimeChoice(file)
    assert choice.current == FP32
    choice.count_texts(runtimes.MEASURED_FROM - 1, lambda runtime: changed.set())
    assert not [thread for thread in threading.enumerate() if thread.name == "runtimes"]
    choice.count_texts(1, lambda runtime: changed.set())
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "runtimes"]
    thread.join()
    measured = [Runtime(**row) for row in json.loads(file.read_text())["runtimes"]]
    speeds = [one.texts_per_second or 0 for one in measured]
    assert speeds == sorted(speeds, reverse=True)
    assert {("openvino", "fp32"), ("torch", "fp32")} <= {(one.library, one.precision) for one in measured}
    assert choice.current.precision == RuntimeChoice(file).current.precision == measured[0].precision
    assert changed.is_set() == (not choice.current.is_same(FP32))


@pytest.mark.parametrize("runtime", [Runtime("torch", "fp32"), Runtime("openvino", "int8")])
def test_every_runtime_gives_nearly_the_same_vectors(runtime: Runtime) -> None:
    embedder, exact = BundledEmbedder(runtime), BundledEmbedder(FP32)
    before = [embedding.dense for embedding in exact.embed(TEXTS)]
    for actual, expected in zip(embedder.embed(TEXTS), before, strict=True):
        assert actual.dense @ expected == pytest.approx(1, abs=1e-5 if runtime.precision == "fp32" else 0.01)


@pytest.mark.parametrize(
    ("machine", "stored", "expected"),
    [
        ({}, {"library": "torch", "precision": "fp32", "texts_per_second": 9.5}, Runtime("torch", "fp32", 9.5)),
        ({"processor": "another"}, {"library": "torch", "precision": "fp32"}, FP32),
        ({}, {"library": "torch", "cores": 8}, FP32),
    ],
    ids=["same machine", "another processor", "unknown field"],
)
def test_stored_choice_is_used_on_the_same_machine(
    tmp_path: Path, machine: dict[str, str], stored: dict[str, object], expected: Runtime
) -> None:
    store(tmp_path / "runtime.json", describe_machine() | machine, stored)
    assert RuntimeChoice(tmp_path / "runtime.json").current == expected


@pytest.mark.parametrize(
    ("has_bf16", "has_gpu", "names"),
    [
        (True, False, ["OpenVINO in bf16"]),
        (True, True, ["OpenVINO in bf16", "torch in fp32 on the graphics processor"]),
        (False, False, ["OpenVINO in fp32", "OpenVINO in int8", "torch in fp32"]),
    ],
)
def test_candidates_depend_on_the_processors(
    has_bf16: bool, has_gpu: bool, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtimes, "has_native_bf16", lambda: has_bf16)
    monkeypatch.setattr(runtimes, "has_gpu", lambda: has_gpu)
    assert [one.name for one in runtimes.list_candidates()] == names


def test_measured_graphics_processor_is_used_beside_a_processor_with_bf16(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtimes, "has_native_bf16", lambda: True)
    stored = {"library": "torch", "precision": "fp32", "texts_per_second": 900.0, "device": "cuda"}
    store(tmp_path / "runtime.json", describe_machine() | {"gpu": "cuda"}, stored)
    assert RuntimeChoice(tmp_path / "runtime.json").current == Runtime("openvino", "bf16")
    monkeypatch.setattr(runtimes, "has_gpu", lambda: True)
    assert RuntimeChoice(tmp_path / "runtime.json").current == Runtime("torch", "fp32", 900.0, "cuda")


def test_unreadable_choice_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "runtime.json").write_text("{")
    with caplog.at_level(logging.WARNING):
        assert RuntimeChoice(tmp_path / "runtime.json").current == FP32
    assert "are measured again" in caplog.text


def test_closed_choice_measures_nothing(tmp_path: Path) -> None:
    choice = RuntimeChoice(tmp_path / "runtime.json")
    assert choice.current == FP32
    choice.close()
    choice.count_texts(runtimes.MEASURED_FROM, pytest.fail)
    for thread in threading.enumerate():
        if thread.name == "runtimes":
            thread.join()
    assert not (tmp_path / "runtime.json").exists()
