"""BERT as OpenVINO graphs, built from its weights alone: neither torch nor a conversion is needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.types import FloatArray, Int64Array

# OpenVINO prepares itself anew for each length it has not met, which takes milliseconds: with lengths
# in steps it meets few (15 % more texts a second, and 2.6 in place of 6.5 ms for a question).
LENGTH_STEP = 8


class Bert:
    """The encoder of a BERT model, ready to run on the processor.

    Parameters
    ----------
    folder : Path
        Holds ``config.json`` and ``model.safetensors`` as transformers writes them.
    precision : {"auto", "fp32", "bf16"}
        Of many texts. ``auto`` takes bf16 where the processor multiplies it natively.

    Attributes
    ----------
    dimension : int
        Of a token's state.
    at_once : int
        How many calls of `states` with several texts run side by side; more wait.
    """

    def __init__(self, folder: Path, precision: str) -> None:
        import openvino
        from threadpoolctl import ThreadpoolController

        # NumPy's threads go on spinning for a while after each product, in the way of inference: on 2
        # cores, with one such product a batch, 47 texts a second against 88 where NumPy has one thread.
        ThreadpoolController().select(internal_api="openblas").limit(limits=1)
        core = openvino.Core()
        graph = _last_states(_Weights(folder))
        self.dimension = int(graph.output(0).partial_shape[2].get_length())
        hints = _hints(core, precision)
        # Many texts: a core a call. With all cores on one call they wait for one another at each layer,
        # and as long as pages are read beside it for the core that reading holds up.
        self._many = core.compile_model(graph, "CPU", {**hints, "PERFORMANCE_HINT": "THROUGHPUT"})
        self.at_once = int(self._many.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        # A question: all cores on it, and no queue behind what is being indexed. In fp32, since its rounding is in
        # each of its scores: with passages in bf16, 300 questions then find the right page at the rank at which all in
        # fp32 does, where questions in bf16 exchange passages of like scores.
        exact = _hints(core, "fp32")
        self._question = core.compile_model(graph, "CPU", {**exact, "PERFORMANCE_HINT": "LATENCY"})
        # One core, and as exact as texts are: 137 questions, 44 of them with such a text beside them, took 31.2 ms in
        # the middle, and 32.8 where both were embedded alike.
        one_core = {**hints, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": 1}
        self._low_priority = core.compile_model(graph, "CPU", one_core)

    def states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Last hidden states, shape (texts, tokens, dimension), for ids and mask of shape (texts, tokens)."""
        return _first_output(self._many, ids, mask)

    def question_states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """The same for one text that somebody waits for."""
        return _first_output(self._question, ids, mask)

    def low_priority_states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """The same for one text that is embedded at the same time as a question."""
        return _first_output(self._low_priority, ids, mask)


class ScoringBert:
    """A BERT model with a number for each text, made from the state of its first token; ready to run on the processor.

    Parameters
    ----------
    folder : Path
        Holds ``config.json`` and ``model.safetensors`` as transformers writes them.
    changes : mapping of str to FloatArray
        What is added to weights, by their names.
    head : FloatArray, shape (dimension,)
        What the state of the first token is multiplied by.
    precision : {"auto", "fp32", "bf16"}
        See `Bert`.
    """

    def __init__(self, folder: Path, changes: Mapping[str, FloatArray], head: FloatArray, precision: str) -> None:
        import openvino

        core = openvino.Core()
        # A text a core: no core waits for another at each layer.
        hints = {**_hints(core, precision), "PERFORMANCE_HINT": "THROUGHPUT"}
        self._compiled = core.compile_model(_scores(_Weights(folder, changes), head), "CPU", hints)
        self.at_once = int(self._compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))

    def scores(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """A number for each text, shape (texts,), for ids and mask of shape (texts, tokens)."""
        return _first_output(self._compiled, ids, mask)


def _first_output(compiled: Any, ids: Int64Array, mask: Int64Array) -> FloatArray:
    # A request of its own for each call: one is not safe to share between threads, and making it takes microseconds.
    made: FloatArray = compiled.create_infer_request().infer([ids, mask])[0]
    return made


def arrays(file: Path) -> dict[str, FloatArray]:
    """What a file of safetensors holds, by name, as it is stored."""
    from safetensors.numpy import load_file

    held: dict[str, FloatArray] = load_file(file)
    return held


def _hints(core: Any, precision: str) -> dict[str, Any]:
    """What every model is compiled with."""
    native = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    arithmetic = "bf16" if precision == "bf16" or (precision == "auto" and native) else "f32"
    # Left to itself, OpenVINO ties the threads of each model to the first cores, and with them whoever calls: two
    # models that run side by side then share a core while another idles (a question 13 ms beside another, 6 alone
    # and 6 beside another where none is tied).
    return {"INFERENCE_PRECISION_HINT": arithmetic, "ENABLE_CPU_PINNING": False}


class _Weights:
    """A model's weights by the names that transformers gives them now, without the ``bert.`` before them.

    To those of them that ``changes`` names something is added.
    """

    def __init__(self, folder: Path, changes: Mapping[str, FloatArray] | None = None) -> None:
        self.config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._arrays = {_present_name(name): array for name, array in arrays(folder / "model.safetensors").items()}
        for name, change in (changes or {}).items():
            self._arrays[name] = self._arrays[name] + change
        self._tables: dict[str, Any] = {}

    def __getitem__(self, name: str) -> FloatArray:
        return self._arrays[name]

    def rows(self, name: str, indices: Any) -> Any:
        """The rows of a weight that indices name; however often it is asked for them, the graph holds it once."""
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


def _present_name(name: str) -> str:
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def _constant(values: Any, dtype: type = np.int64) -> Any:
    from openvino import opset13 as ops

    return ops.constant(np.asarray(values, dtype))


def _last_states(weights: _Weights) -> Any:
    """The model from ``input_ids`` and ``attention_mask`` to its last hidden states."""
    import openvino

    ids, mask, states = _encoder(weights)
    return openvino.Model([states], [ids, mask], "bert")


def _scores(weights: _Weights, head: FloatArray) -> Any:
    """The model from ``input_ids`` and ``attention_mask`` to a number for each text."""
    import openvino
    from openvino import opset13 as ops

    # Of the last layer the first token's state alone is made: a tenth less time, and the same numbers.
    ids, mask, firsts = _encoder(weights, wanted=1)
    scores = ops.matmul(ops.squeeze(firsts, _constant([1])), ops.constant(head), False, False)
    return openvino.Model([scores], [ids, mask], "scoring_bert")


def _unseen(mask: Any) -> Any:
    """What is added to scores of tokens that are none: nothing to the others."""
    from openvino import opset13 as ops

    seen = ops.convert(mask, "f32")
    return ops.multiply(ops.subtract(_constant(1.0, np.float32), seen), _constant(-1e9, np.float32))


def _encoder(weights: _Weights, wanted: int | None = None) -> tuple[Any, Any, Any]:
    """The parameters ``input_ids`` and ``attention_mask``, and the last hidden states made from them.

    Of each text those of the first ``wanted`` tokens, or of all.

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
    # All tokens of a text are of the first type.
    types = ops.constant(weights["embeddings.token_type_embeddings.weight"][0])
    summed = ops.add(ops.add(embedded(ids, "word_embeddings"), types), embedded(positions, "position_embeddings"))
    states = weights.normalized(summed, "embeddings.LayerNorm")
    bias = ops.unsqueeze(_unseen(mask), _constant([1, 2]))
    layers = config["num_hidden_layers"]
    for layer in range(layers):
        name = f"encoder.layer.{layer}"
        key, value = (by_head(weights.linear(states, f"{name}.attention.self.{part}")) for part in ("key", "value"))
        if wanted is not None and layer == layers - 1:
            states = ops.slice(states, _constant([0]), _constant([wanted]), _constant([1]), _constant([1]))
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
