"""BERT as an OpenVINO graph, built from its weights alone: neither torch nor a conversion is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from rag_core.types import FloatArray, Int64Array


class Bert:
    """The encoder of a BERT model, ready to run on the processor.

    Parameters
    ----------
    folder : Path
        Holds ``config.json`` and ``model.safetensors`` as transformers writes them.
    precision : {"auto", "fp32", "bf16"}
        ``auto`` takes bf16 where the processor multiplies it natively.

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
        native = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        bf16 = precision == "bf16" or (precision == "auto" and native)
        graph = _graph(folder)
        self.dimension = int(graph.output(0).partial_shape[2].get_length())
        hints = {"INFERENCE_PRECISION_HINT": "bf16" if bf16 else "f32"}
        # Many texts: a core a call. With all cores on one call they wait for one another at each layer,
        # and as long as pages are read beside it for the core that reading holds up.
        self._many = core.compile_model(graph, "CPU", {**hints, "PERFORMANCE_HINT": "THROUGHPUT"})
        self.at_once = int(self._many.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        # A question alone: all cores on it, and no queue behind what is being indexed.
        self._one = core.compile_model(graph, "CPU", {**hints, "PERFORMANCE_HINT": "LATENCY"})

    def states(self, ids: Int64Array, mask: Int64Array) -> FloatArray:
        """Last hidden states, shape (texts, tokens, dimension), for ids and mask of shape (texts, tokens)."""
        compiled = self._one if len(ids) == 1 else self._many
        # A request of its own for each call: one is not safe to share between threads, and making it
        # takes microseconds.
        made: FloatArray = compiled.create_infer_request().infer([ids, mask])[0]
        return made


def _graph(folder: Path) -> Any:
    """The model from ``input_ids`` and ``attention_mask`` to its last hidden states.

    Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of deep bidirectional transformers for
    language understanding", NAACL 2019, with absolute positions and one token type.
    """
    import openvino
    from openvino import opset13 as ops
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    weights = load_file(folder / "model.safetensors")
    heads, dimension = config["num_attention_heads"], config["hidden_size"]

    def constant(values: Any, dtype: type = np.int64) -> Any:
        return ops.constant(np.asarray(values, dtype))

    def linear(states: Any, name: str) -> Any:
        product = ops.matmul(states, ops.constant(weights[f"{name}.weight"]), False, True)
        return ops.add(product, ops.constant(weights[f"{name}.bias"]))

    def normalized(states: Any, name: str) -> Any:
        centred = ops.mvn(states, constant([-1]), True, config["layer_norm_eps"], "inside_sqrt")
        scaled = ops.multiply(centred, ops.constant(weights[f"{name}.weight"]))
        return ops.add(scaled, ops.constant(weights[f"{name}.bias"]))

    def by_head(states: Any) -> Any:
        split = ops.reshape(states, constant([0, 0, heads, dimension // heads]), True)
        return ops.transpose(split, constant([0, 2, 1, 3]))

    def embedded(indices: Any, name: str) -> Any:
        return ops.gather(ops.constant(weights[f"embeddings.{name}.weight"]), indices, constant(0))

    ids = ops.parameter([-1, -1], np.int64, "input_ids")
    mask = ops.parameter([-1, -1], np.int64, "attention_mask")
    length = ops.gather(ops.shape_of(ids), constant(1), constant(0))
    positions = ops.range(constant(0), length, constant(1), output_type="i64")
    # All tokens of a text are of the first type.
    types = ops.constant(weights["embeddings.token_type_embeddings.weight"][0])
    summed = ops.add(ops.add(embedded(ids, "word_embeddings"), types), embedded(positions, "position_embeddings"))
    states = normalized(summed, "embeddings.LayerNorm")
    seen = ops.convert(mask, "f32")
    hidden = ops.multiply(ops.subtract(constant(1.0, np.float32), seen), constant(-1e9, np.float32))
    bias = ops.unsqueeze(hidden, constant([1, 2]))
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            by_head(linear(states, f"{name}.attention.self.{part}")) for part in ("query", "key", "value")
        )
        attended = ops.transpose(ops.scaled_dot_product_attention(query, key, value, bias), constant([0, 2, 1, 3]))
        joined = ops.reshape(attended, constant([0, 0, dimension]), True)
        states = normalized(
            ops.add(linear(joined, f"{name}.attention.output.dense"), states), f"{name}.attention.output.LayerNorm"
        )
        widened = ops.gelu(linear(states, f"{name}.intermediate.dense"), "erf")
        states = normalized(ops.add(linear(widened, f"{name}.output.dense"), states), f"{name}.output.LayerNorm")
    return openvino.Model([states], [ids, mask], "bert")
