"""Token probabilities of the GGUF model that runs in this process."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cached_property
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from rag_core.errors import GeneratorUnavailable
from rag_core.llm.gguf import GgufServer
from rag_core.llm.setting_names import SettingNames
from rag_core.types.marginalization import TokenDistribution

# Number of tokens whose probabilities llama.cpp lists. Their probabilities add up to nearly 1.
LISTED = 256
# Texts that end a short answer, which has one line.
_LINE_ENDS = ("\n", "\n\n")


class GgufCausalModel:
    """Predicts single tokens with the model of a `GgufServer`; it satisfies the protocol `CausalModel`.

    llama.cpp caches its state after each context, so contexts that begin like an earlier one are evaluated quickly.

    Parameters
    ----------
    server : GgufServer
    timeout_s : float
        Longest time for one request in seconds.
    names : SettingNames
        How messages name the settings.
    """

    def __init__(self, server: GgufServer, timeout_s: float, names: SettingNames) -> None:
        self._server = server
        self._timeout_s = timeout_s
        self._names = names

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        """The token with which the model ends a message, and line feeds."""
        encoded = [self.encode(text) for text in _LINE_ENDS]
        return frozenset({self.message_end, *(tokens[0] for tokens in encoded if len(tokens) == 1)})

    @cached_property
    def message_end(self) -> int:
        """The token with which the model ends a message."""
        return self._tokenize(str(self._request("GET", "/props")["eos_token"]), parse_special=True)[-1]

    @cached_property
    def vocabulary_size(self) -> int:
        return int(self._request("GET", "/v1/models")["data"][0]["meta"]["n_vocab"])

    def encode_prompt(self, messages: Sequence[dict[str, str]]) -> tuple[int, ...]:
        """Return the tokens of chat messages in the template of the model, up to the start of the reply."""
        prompt = self._request("POST", "/apply-template", {"messages": list(messages)})["prompt"]
        return self._tokenize(str(prompt), add_special=True, parse_special=True)

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text, in which names of control tokens count as plain text."""
        return self._tokenize(text, parse_special=False)

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens."""
        return str(self._request("POST", "/detokenize", {"tokens": list(tokens)})["content"])

    def predict(self, contexts: Sequence[Sequence[int]]) -> list[TokenDistribution]:
        """Return the distribution of the next token after each context.

        Each distribution lists the `LISTED` most probable tokens. All others have equal shares of the rest.

        Raises
        ------
        GeneratorUnavailable
            The model cannot be loaded, does not reply in time, or refuses a context, such as one that is too long.
        """
        options = {"n_predict": 1, "n_probs": LISTED, "temperature": 0, "cache_prompt": True}
        reply = self._request("POST", "/completion", {"prompt": [list(one) for one in contexts], **options})
        replies = reply if isinstance(reply, list) else [reply]
        return [self._parse_distribution(one["completion_probabilities"][0]["top_logprobs"]) for one in replies]

    def _parse_distribution(self, listed: Sequence[dict[str, Any]]) -> TokenDistribution:
        tokens = np.array([one["id"] for one in listed], np.int32)
        values = np.array([one["logprob"] for one in listed], np.float64)
        unlisted = self.vocabulary_size - len(tokens)
        remaining = 1.0 - float(np.exp(values).sum())
        # Rounding can make the sum of the listed probabilities exceed 1.
        rest = math.log(remaining / unlisted) if unlisted and remaining > 0 else -math.inf
        return TokenDistribution(tokens, values, min(rest, float(values.min())))

    def _tokenize(self, text: str, *, parse_special: bool, add_special: bool = False) -> tuple[int, ...]:
        body = {"content": text, "add_special": add_special, "parse_special": parse_special}
        return tuple(self._request("POST", "/tokenize", body)["tokens"])

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        url, key = self._server.start()
        connection = HTTPConnection(urlsplit(url).netloc, timeout=self._timeout_s)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            response = connection.getresponse()
            status, reply = response.status, json.loads(response.read())
        except (OSError, HTTPException, ValueError) as error:
            raise GeneratorUnavailable(
                f"The language model did not reply ({str(error) or type(error).__name__}). Ask the question again."
            ) from None
        finally:
            connection.close()
        if status != 200:
            reason = str(reply.get("error", {}).get("message", f"status {status}")).rstrip(".")
            raise GeneratorUnavailable(
                f"The language model refused a request ({reason}). If the text is too long for it, raise "
                f"{self._names.context}, or lower RAG_CHUNK_TOKENS and re-index."
            )
        return reply
