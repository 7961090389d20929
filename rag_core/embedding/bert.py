"""Run BERT models with OpenVINO. The graphs are built from the weights, without torch or a conversion tool."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from rag_core.types.arrays import FloatArray, Int64Array

Precision: TypeAlias = Literal["fp32", "bf16", "int8"]

# OpenVINO reports each import to Google Analytics if its telemetry package is installed. With this entry, Python treats
# the package as missing.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
# The length of inputs in tokens is rounded up to a multiple of this number, because OpenVINO needs extra time for each
# new length.
LENGTH_STEP = 8
# Number of components of a hidden state that share a scale in int8.
_QUANTIZATION_GROUP = 64


class QuestionBert:
    """The encoder of a BERT model, compiled for questions on the CPU.

    Parameters
    ----------
    folder : Path
        Folder with ``config.json`` and ``model.safetensors`` in the format of transformers.
    """

    def __init__(self, folder: Path) -> None:
        import openvino

        graph = _build_model(_Weights(folder))
        core = openvino.Core()
        # Questions have a separate model, so that they do not wait for texts that are being indexed. It uses fp32,
        # because a rounding error in the vectors of a question changes the scores of all passages.
        exact = _create_compile_options("fp32")
        self._model = core.compile_model(graph, "CPU", {**exact, "PERFORMANCE_HINT": "LATENCY"})
        # The model for low priority uses one core and a fast precision, so that it does not slow down other questions.
        fast = _create_compile_options("bf16" if has_native_bf16() else "fp32")
        one_core = {**fast, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": 1}
        self._low_priority_model = core.compile_model(graph, "CPU", one_core)

    def states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return the last hidden states of one question, on all cores and in fp32; see `BatchBert.states`."""
        return _infer(self._model, ids, mask)

    def low_priority_states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return the last hidden states of one question, on one core and possibly in bf16."""
        return _infer(self._low_priority_model, ids, mask)


class BatchBert:
    """The encoder of a BERT model, compiled for batches of texts on the CPU.

    Parameters
    ----------
    folder : Path
        Folder with ``config.json`` and ``model.safetensors`` in the format of transformers.
    precision : {"fp32", "bf16", "int8"}
        In int8, the weights of linear layers, and the hidden states that are multiplied by them, are rounded to 8 bits.
    changes : mapping of str to FloatArray, optional
        Arrays that are added to the weights with the same names.

    Attributes
    ----------
    max_parallel_calls : int
        Maximum number of calls of `states` that run in parallel. Further calls wait.
    """

    def __init__(self, folder: Path, precision: Precision, changes: Mapping[str, FloatArray] | None = None) -> None:
        import openvino
        from threadpoolctl import ThreadpoolController

        # Limit NumPy to one thread, because its threads would occupy the cores for a while after each matrix product.
        ThreadpoolController().select(internal_api="openblas").limit(limits=1)
        weights = (_Int8Weights if precision == "int8" else _Weights)(folder, changes)
        # Each call uses one core. If it used several cores, they would wait for the slowest core at each layer.
        options = {**_create_compile_options(precision), "PERFORMANCE_HINT": "THROUGHPUT"}
        self._model = openvino.Core().compile_model(_build_model(weights), "CPU", options)
        self.max_parallel_calls = int(self._model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))

    def states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return the last hidden states of texts, shape (texts, tokens, dimension).

        ``ids`` and ``mask`` have the shape (texts, tokens). ``mask`` is 1 for tokens and 0 for padding.
        """
        return _infer(self._model, ids, mask)


def _infer(compiled: Any, ids: Int64Array, mask: Int64Array) -> FloatArray:
    # Each call creates a request, because requests are not thread-safe. This takes little time.
    output: FloatArray = compiled.create_infer_request().infer([ids, mask])[0]
    return output


def read_arrays(file: Path) -> dict[str, FloatArray]:
    """Return the arrays of a safetensors file by name, with the dtypes in which they are stored."""
    from safetensors.numpy import load_file

    weights: dict[str, FloatArray] = load_file(file)
    return weights


def write_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name into a safetensors file in the format of transformers."""
    from safetensors.numpy import save_file

    save_file(dict(arrays), file, metadata={"format": "pt"})


@cache
def has_native_bf16() -> bool:
    """Return whether the processor supports bf16, which is then its fastest precision."""
    import openvino

    return "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


def _create_compile_options(precision: Precision) -> dict[str, Any]:
    """Return OpenVINO's options for a precision, which are the same for questions and for batches of texts."""
    return {
        "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32",
        # By default, OpenVINO quantizes hidden states only on some processors.
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": str(_QUANTIZATION_GROUP if precision == "int8" else 0),
        # By default, OpenVINO pins the threads of each model to the first cores. Two models would then share these
        # cores while other cores are idle.
        "ENABLE_CPU_PINNING": False,
    }


class _Weights:
    """The weights of a model in ``folder``, from which methods create nodes of an OpenVINO graph.

    ``changes`` are arrays that are added to the weights with the same names. The names of weights are those of current
    versions of transformers, without the prefix ``bert.``.
    """

    def __init__(self, folder: Path, changes: Mapping[str, FloatArray] | None = None) -> None:
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        arrays = read_arrays(folder / "model.safetensors")
        self._arrays = {_build_current_name(name): array for name, array in arrays.items()}
        for name, change in (changes or {}).items():
            self._arrays[name] = self._arrays[name] + change
        self._tables: dict[str, Any] = {}

    def __getitem__(self, name: str) -> FloatArray:
        return self._arrays[name]

    def gather_rows(self, name: str, indices: Any) -> Any:
        """Return a graph node for the rows of a weight at ``indices``. The graph contains each weight only once."""
        from openvino import opset13 as ops

        if name not in self._tables:
            self._tables[name] = ops.constant(self[name])
        return ops.gather(self._tables[name], indices, _constant(0))

    def apply_linear(self, states: Any, name: str) -> Any:
        """Return a graph node for the output of a linear layer."""
        from openvino import opset13 as ops

        product = ops.matmul(states, self._build_matrix(f"{name}.weight"), False, True)
        return ops.add(product, ops.constant(self[f"{name}.bias"]))

    def _build_matrix(self, name: str) -> Any:
        """Return a graph node for the weight of a linear layer."""
        from openvino import opset13 as ops

        return ops.constant(self[name])

    def normalize(self, states: Any, name: str) -> Any:
        """Return a graph node for the output of a layer normalization."""
        from openvino import opset13 as ops

        centred = ops.mvn(states, _constant([-1]), True, self.config["layer_norm_eps"], "inside_sqrt")
        scaled = ops.multiply(centred, ops.constant(self[f"{name}.weight"]))
        return ops.add(scaled, ops.constant(self[f"{name}.bias"]))


class _Int8Weights(_Weights):
    """The weights of a model. The weights of linear layers are in int8, with a scale for each row."""

    def _build_matrix(self, name: str) -> Any:
        from openvino import opset13 as ops

        scales = (np.abs(self[name]).max(axis=1, keepdims=True) / 127).astype(np.float32)
        rounded = ops.constant(np.round(self[name] / scales).astype(np.int8))
        return ops.multiply(ops.convert(rounded, "f32"), ops.constant(scales))


def _build_current_name(name: str) -> str:
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _constant(values: Any, dtype: type = np.int64) -> Any:
    from openvino import opset13 as ops

    return ops.constant(np.asarray(values, dtype))


def _build_attention_bias(mask: Any) -> Any:
    """Return a graph node for the attention bias: 0 for tokens, and a large negative number for padding."""
    from openvino import opset13 as ops

    is_token = ops.convert(mask, "f32")
    return ops.multiply(ops.subtract(_constant(1.0, np.float32), is_token), _constant(-1e9, np.float32))


def _build_model(weights: _Weights) -> Any:
    """Return an OpenVINO model that maps ``input_ids`` and ``attention_mask`` to the last hidden states.

    The graph is the encoder of Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of deep bidirectional transformers
    for language understanding", NAACL 2019, with absolute positions and one token type.
    """
    import openvino
    from openvino import opset13 as ops

    config = weights.config
    heads, dimension = config["num_attention_heads"], config["hidden_size"]

    def split_heads(states: Any) -> Any:
        split = ops.reshape(states, _constant([0, 0, heads, dimension // heads]), True)
        return ops.transpose(split, _constant([0, 2, 1, 3]))

    def embed(indices: Any, name: str) -> Any:
        return weights.gather_rows(f"embeddings.{name}.weight", indices)

    ids = ops.parameter([-1, -1], np.int64, "input_ids")
    mask = ops.parameter([-1, -1], np.int64, "attention_mask")
    length = ops.gather(ops.shape_of(ids), _constant(1), _constant(0))
    positions = ops.range(_constant(0), length, _constant(1), output_type="i64")
    # All tokens have the first token type.
    types = ops.constant(weights["embeddings.token_type_embeddings.weight"][0])
    summed = ops.add(ops.add(embed(ids, "word_embeddings"), types), embed(positions, "position_embeddings"))
    states = weights.normalize(summed, "embeddings.LayerNorm")
    bias = ops.unsqueeze(_build_attention_bias(mask), _constant([1, 2]))
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            split_heads(weights.apply_linear(states, f"{name}.attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        attended = ops.transpose(ops.scaled_dot_product_attention(query, key, value, bias), _constant([0, 2, 1, 3]))
        joined = ops.reshape(attended, _constant([0, 0, dimension]), True)
        states = weights.normalize(
            ops.add(weights.apply_linear(joined, f"{name}.attention.output.dense"), states),
            f"{name}.attention.output.LayerNorm",
        )
        widened = ops.gelu(weights.apply_linear(states, f"{name}.intermediate.dense"), "erf")
        states = weights.normalize(
            ops.add(weights.apply_linear(widened, f"{name}.output.dense"), states), f"{name}.output.LayerNorm"
        )
    return openvino.Model([states], [ids, mask], "bert")
