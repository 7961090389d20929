"""BERT as OpenVINO graphs, built directly from its weights without torch or a conversion tool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.types import FloatArray, Int64Array

# Lengths are rounded up to steps, because OpenVINO needs milliseconds to prepare for each new length.
LENGTH_STEP = 8


class Bert:
    """The encoder of a BERT model, compiled for the CPU.

    Parameters
    ----------
    folder : Path
        Contains ``config.json`` and ``model.safetensors`` in the format of transformers.
    precision : {"auto", "fp32", "bf16"}
        For batches of texts. ``auto`` uses bf16 if the processor multiplies it natively.

    Attributes
    ----------
    dimension : int
        Length of a token's state.
    max_parallel_calls : int
        How many calls of `states` run in parallel; more calls wait.
    """

    def __init__(self, folder: Path, precision: str) -> None:
        import openvino
        from threadpoolctl import ThreadpoolController

        # NumPy's threads spin for a while after each product and take cores away from inference.
        ThreadpoolController().select(internal_api="openblas").limit(limits=1)
        core = openvino.Core()
        graph = _last_states(_Weights(folder))
        self.dimension = int(graph.output(0).partial_shape[2].get_length())
        hints = _compile_options(core, precision)
        # Batches of texts: one core per call, because cores that share a call wait for one another at each layer,
        # and for the core that parses pages at the same time.
        self._batch_model = core.compile_model(graph, "CPU", {**hints, "PERFORMANCE_HINT": "THROUGHPUT"})
        self.max_parallel_calls = int(self._batch_model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        # A question: all cores, and no queue behind texts that are being indexed. In fp32, because its rounding error
        # affects every score and can swap passages with similar scores.
        exact = _compile_options(core, "fp32")
        self._question_model = core.compile_model(graph, "CPU", {**exact, "PERFORMANCE_HINT": "LATENCY"})
        # One core and the precision of texts, so that a question embedded at the same time is not slowed down.
        one_core = {**hints, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": 1}
        self._low_priority_model = core.compile_model(graph, "CPU", one_core)

    def states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return last hidden states, shape (texts, tokens, dimension), for ids and mask of shape (texts, tokens)."""
        return _first_output(self._batch_model, ids, mask)

    def question_states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return the same for one text that a user waits for."""
        return _first_output(self._question_model, ids, mask)

    def low_priority_states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return the same for one text that is embedded at the same time as a question."""
        return _first_output(self._low_priority_model, ids, mask)


class ScoringBert:
    """A BERT model that computes one score per text from the state of its first token, compiled for the CPU.

    Parameters
    ----------
    folder : Path
        Contains ``config.json`` and ``model.safetensors`` in the format of transformers.
    changes : mapping of str to FloatArray
        Arrays that are added to the weights of these names.
    head : FloatArray, shape (dimension,)
        Weights of the score.
    precision : {"auto", "fp32", "bf16"}
        See `Bert`.
    """

    def __init__(self, folder: Path, changes: Mapping[str, FloatArray], head: FloatArray, precision: str) -> None:
        import openvino

        core = openvino.Core()
        # One core per text, so that cores do not wait for one another at each layer.
        hints = {**_compile_options(core, precision), "PERFORMANCE_HINT": "THROUGHPUT"}
        self._compiled = core.compile_model(_scores(_Weights(folder, changes), head), "CPU", hints)
        self.max_parallel_calls = int(self._compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))

    def scores(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Return a score for each text, shape (texts,), for ids and mask of shape (texts, tokens)."""
        return _first_output(self._compiled, ids, mask)


def _first_output(compiled: Any, ids: Int64Array, mask: Int64Array) -> FloatArray:
    # A new request for each call, because requests are not thread-safe and cheap to create.
    output: FloatArray = compiled.create_infer_request().infer([ids, mask])[0]
    return output


def arrays(file: Path) -> dict[str, FloatArray]:
    """Return the arrays of a safetensors file by name, in their stored type."""
    from safetensors.numpy import load_file

    weights: dict[str, FloatArray] = load_file(file)
    return weights


def _compile_options(core: Any, precision: str) -> dict[str, Any]:
    """Return the compile options that all models share."""
    native = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    arithmetic = "bf16" if precision == "bf16" or (precision == "auto" and native) else "f32"
    # By default, OpenVINO pins the threads of each model, and the calling thread, to the first cores: two models
    # that run at the same time would then share a core while another one idles.
    return {"INFERENCE_PRECISION_HINT": arithmetic, "ENABLE_CPU_PINNING": False}


class _Weights:
    """A model's weights plus ``changes``, by the names in current transformers without the prefix ``bert.``."""

    def __init__(self, folder: Path, changes: Mapping[str, FloatArray] | None = None) -> None:
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._arrays = {_current_name(name): array for name, array in arrays(folder / "model.safetensors").items()}
        for name, change in (changes or {}).items():
            self._arrays[name] = self._arrays[name] + change
        self._tables: dict[str, Any] = {}

    def __getitem__(self, name: str) -> FloatArray:
        return self._arrays[name]

    def rows(self, name: str, indices: Any) -> Any:
        """Return the rows of a weight at these indices; the graph contains each weight only once."""
        from openvino import opset13 as ops

        if name not in self._tables:
            self._tables[name] = ops.constant(self[name])
        return ops.gather(self._tables[name], indices, _constant(0))

    def linear(self, states: Any, name: str) -> Any:
        from openvino import opset13 as ops

        product = ops.matmul(states, ops.constant(self[f"{name}.weight"]), False, True)
        return ops.add(product, ops.constant(self[f"{name}.bias"]))

    def normalized(self, states: Any, name: str) -> Any:
        from openvino import opset13 as ops

        centred = ops.mvn(states, _constant([-1]), True, self.config["layer_norm_eps"], "inside_sqrt")
        scaled = ops.multiply(centred, ops.constant(self[f"{name}.weight"]))
        return ops.add(scaled, ops.constant(self[f"{name}.bias"]))


def _current_name(name: str) -> str:
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _constant(values: Any, dtype: type = np.int64) -> Any:
    from openvino import opset13 as ops

    return ops.constant(np.asarray(values, dtype))


def _last_states(weights: _Weights) -> Any:
    """Return the model from ``input_ids`` and ``attention_mask`` to the last hidden states."""
    import openvino

    ids, mask, states = _encoder(weights)
    return openvino.Model([states], [ids, mask], "bert")


def _scores(weights: _Weights, head: FloatArray) -> Any:
    """Return the model from ``input_ids`` and ``attention_mask`` to one score per text."""
    import openvino
    from openvino import opset13 as ops

    # The last layer computes only the first token's state, which is faster and does not change the scores.
    ids, mask, firsts = _encoder(weights, token_count=1)
    scores = ops.matmul(ops.squeeze(firsts, _constant([1])), ops.constant(head), False, False)
    return openvino.Model([scores], [ids, mask], "scoring_bert")


def _unseen(mask: Any) -> Any:
    """Return the attention bias: a large negative number for padding, 0 for tokens."""
    from openvino import opset13 as ops

    is_token = ops.convert(mask, "f32")
    return ops.multiply(ops.subtract(_constant(1.0, np.float32), is_token), _constant(-1e9, np.float32))


def _encoder(weights: _Weights, token_count: int | None = None) -> tuple[Any, Any, Any]:
    """Return the parameters ``input_ids`` and ``attention_mask``, and the last hidden states.

    The states are those of the first ``token_count`` tokens of each text, or of all tokens.

    Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of deep bidirectional transformers for
    language understanding", NAACL 2019, with absolute positions and one token type.
    """
    from openvino import opset13 as ops

    config = weights.config
    heads, dimension = config["num_attention_heads"], config["hidden_size"]

    def by_head(states: Any) -> Any:
        split = ops.reshape(states, _constant([0, 0, heads, dimension // heads]), True)
        return ops.transpose(split, _constant([0, 2, 1, 3]))

    def embedded(indices: Any, name: str) -> Any:
        return weights.rows(f"embeddings.{name}.weight", indices)

    ids = ops.parameter([-1, -1], np.int64, "input_ids")
    mask = ops.parameter([-1, -1], np.int64, "attention_mask")
    length = ops.gather(ops.shape_of(ids), _constant(1), _constant(0))
    positions = ops.range(_constant(0), length, _constant(1), output_type="i64")
    # All tokens of a text have the first type.
    types = ops.constant(weights["embeddings.token_type_embeddings.weight"][0])
    summed = ops.add(ops.add(embedded(ids, "word_embeddings"), types), embedded(positions, "position_embeddings"))
    states = weights.normalized(summed, "embeddings.LayerNorm")
    bias = ops.unsqueeze(_unseen(mask), _constant([1, 2]))
    layers = config["num_hidden_layers"]
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        key, value = (by_head(weights.linear(states, f"{name}.attention.self.{part}")) for part in ("key", "value"))
        if token_count is not None and layer == layers - 1:
            states = ops.slice(states, _constant([0]), _constant([token_count]), _constant([1]), _constant([1]))
        query = by_head(weights.linear(states, f"{name}.attention.self.query"))
        attended = ops.transpose(ops.scaled_dot_product_attention(query, key, value, bias), _constant([0, 2, 1, 3]))
        joined = ops.reshape(attended, _constant([0, 0, dimension]), True)
        states = weights.normalized(
            ops.add(weights.linear(joined, f"{name}.attention.output.dense"), states),
            f"{name}.attention.output.LayerNorm",
        )
        widened = ops.gelu(weights.linear(states, f"{name}.intermediate.dense"), "erf")
        states = weights.normalized(
            ops.add(weights.linear(widened, f"{name}.output.dense"), states), f"{name}.output.LayerNorm"
        )
    return ids, mask, states
