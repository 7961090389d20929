"""Fit the answerability model of the gate, which estimates whether a sentence with its neighbours answers a question.

    python -m benchmarks.fit_answerability FOLDER [--passes 2] [--write]

FOLDER contains ``nyt_v1.0.json``, ``new_wiki_v1.0.json``, ``reddit_v1.0.json`` and ``amazon_reviews_v1.0.json``. These
files have 38,000 questions on 7,700 paragraphs, with their answers (Miller, Krauth, Recht and Schmidt, "The effect of
natural distribution shift on question answering models", ICML 2020). They are from ``benchmark_tasks/squad_shifts`` of
the source package bigbench 1.0.0 (Apache-2.0). The set of SQuAD articles in the same folder is not used, because
retrieval is measured on these articles.

The weights of the bundled embedder stay frozen, and each matrix of the encoder gets a low-rank update. The model learns
two tasks: where the answer starts and ends, and whether there is an answer. If there is no answer, its start and end
are at the first token (Rajpurkar, Jia and Liang, "Know what you don't know: Unanswerable questions for SQuAD", ACL
2018). Of the output layer, only the weights of the second task are stored. Metrics are computed on held-out
paragraphs. The training is not deterministic.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from tokenizers import Encoding, Tokenizer
from torch import nn
from torch.nn import functional
from transformers import AutoModel

from benchmarks.answerability_examples import Example, examples
from rag_core.embedding import bundled
from rag_core.embedding.answerability import FITTED
from rag_core.evaluation.intervals import auroc

SETS = ("nyt", "new_wiki", "reddit", "amazon_reviews")
RANK = 16
BATCH = 48
WINDOW = 192
LEARNING_RATE = 1e-3
WARM_UP = 150
REPORT_EVERY = 100
_NEVER = -1e4


@dataclass(frozen=True, slots=True)
class Item:
    """A tokenized example.

    ``ids`` are the token ids of question and text, and ``text_at`` is the position of the text's first token. ``first``
    and ``last`` are the positions of the answer's first and last token; both are 0 if there is no answer.
    """

    ids: list[int]
    text_at: int
    first: int
    last: int
    kind: str


class LowRank(nn.Module):
    """A frozen linear layer with a trainable low-rank update."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.down = nn.Parameter(torch.randn(RANK, layer.in_features) / math.sqrt(layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, RANK))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.layer(states) + (states @ self.down.T.to(states.dtype)) @ self.up.T.to(states.dtype)
        return output


class Reader(nn.Module):
    """A model that returns three logits per token.

    The logits say whether the answer starts at the token, whether the answer ends at the token, and whether there is an
    answer. The last logit is used only at the first token.
    """

    def __init__(self) -> None:
        super().__init__()
        # Eager attention is faster on CPUs with bf16 multiplication.
        self.model = AutoModel.from_pretrained(str(bundled.weights_folder()), attn_implementation="eager")
        self.model.requires_grad_(False).to(torch.bfloat16)
        _adapt(self.model.encoder)
        self.head = nn.Linear(self.model.config.hidden_size, 3)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.head(self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float())
        return output

    def fitted(self) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
        """Return the weights to store, by name; of the head, only the weights of the last logit are stored."""
        kept = {}
        for name, part in self.model.named_modules():
            if isinstance(part, LowRank):
                kept[f"{name}.down"] = part.down.detach().numpy().astype(np.float16)
                kept[f"{name}.up"] = part.up.detach().numpy().astype(np.float16)
        kept["head.weight"] = self.head.weight.detach().numpy()[2].astype(np.float32)
        kept["head.bias"] = self.head.bias.detach().numpy()[2:].astype(np.float32)
        return kept


def _adapt(part: nn.Module) -> None:
    for name, child in part.named_children():
        if isinstance(child, nn.Linear):
            setattr(part, name, LowRank(child))
        else:
            _adapt(child)


def items(examples_to_encode: Sequence[Example]) -> list[Item]:
    """Tokenize the examples, and leave out the examples whose answer is cut off."""
    tokenizer = Tokenizer.from_file(str(bundled.weights_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW, strategy="only_second")
    encodings = tokenizer.encode_batch([(one.question, one.text) for one in examples_to_encode])
    encoded = []
    for example, encoding in zip(examples_to_encode, encodings, strict=True):
        span = _span(example, encoding)
        if span is not None:
            encoded.append(Item(encoding.ids, encoding.sequence_ids.index(1), *span, example.kind))
    return encoded


def _span(example: Example, encoding: Encoding) -> tuple[int, int] | None:
    if example.start < 0:
        return 0, 0
    text_tokens = [at for at, sequence in enumerate(encoding.sequence_ids) if sequence == 1]
    first = [at for at in text_tokens if encoding.offsets[at][0] <= example.start < encoding.offsets[at][1]]
    last = [at for at in text_tokens if encoding.offsets[at][0] < example.end <= encoding.offsets[at][1]]
    return (first[0], last[-1]) if first and last else None


def batches(dataset: Sequence[Item], draw: random.Random) -> Iterator[list[Item]]:
    """Yield every item once, in random batches; the items of a batch have similar lengths."""
    order = draw.sample(range(len(dataset)), len(dataset))
    parts = []
    for begin in range(0, len(order), 40 * BATCH):
        alike = sorted(order[begin : begin + 40 * BATCH], key=lambda at: len(dataset[at].ids))
        parts += [alike[first : first + BATCH] for first in range(0, len(alike), BATCH)]
    draw.shuffle(parts)
    return ([dataset[at] for at in part] for part in parts)


def read(model: Reader, batch: Sequence[Item]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the logits of the answer's start and end, shape (texts, tokens), and of its existence, shape (texts,)."""
    longest = max(len(one.ids) for one in batch)
    ids, mask = torch.zeros(2, len(batch), longest, dtype=torch.long)
    readable = torch.zeros(len(batch), longest, dtype=torch.bool)
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        mask[row, : len(one.ids)] = 1
        readable[row, one.text_at : len(one.ids) - 1] = True
        readable[row, 0] = True
    logits = model(ids, mask)
    begins, ends = (logits[..., at].masked_fill(~readable, _NEVER) for at in (0, 1))
    return begins, ends, logits[:, 0, 2]


def train(model: Reader, dataset: Sequence[Item], passes: float, seed: int = 0) -> None:
    """Train the low-rank updates and the head."""
    draw = random.Random(seed)
    chosen = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(chosen, lr=LEARNING_RATE, weight_decay=0.01)
    steps = int(passes * math.ceil(len(dataset) / BATCH))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / WARM_UP) * max(0.02, 1 - step / steps)
    )
    losses: list[float] = []
    while len(losses) < steps:
        for batch in batches(dataset, draw):
            begins, ends, answers = read(model, batch)
            where = [torch.tensor([getattr(one, name) for one in batch]) for name in ("first", "last")]
            spans = functional.cross_entropy(begins, where[0]) + functional.cross_entropy(ends, where[1])
            has = torch.tensor([float(one.first > 0) for one in batch])
            loss = spans / 2 + functional.binary_cross_entropy_with_logits(answers, has)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call] # torch does not annotate it
            nn.utils.clip_grad_norm_(chosen, 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            if len(losses) % REPORT_EVERY == 0:
                print(f"step {len(losses)} of {steps}: loss {np.mean(losses[-REPORT_EVERY:]):.3f}", flush=True)
            if len(losses) >= steps:
                break


def show(model: Reader, dataset: Sequence[Item]) -> None:
    """Print the AUROC of positive texts against the negative texts of each kind."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    with torch.no_grad():
        for batch in batches(dataset, random.Random(0)):
            for one, score in zip(batch, read(model, batch)[2].tolist(), strict=True):
                by_kind[one.kind].append(score)
    answering = by_kind.pop("answers")
    for kind, scores in sorted(by_kind.items()):
        print(f"{kind:20} {len(scores):5} AUROC {auroc(answering, scores):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passes", type=float, default=2.0)
    parser.add_argument("--write", action="store_true", help="replace the current weights by the result")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    dataset = examples([arguments.folder / f"{name}_v1.0.json" for name in SETS])
    model = Reader().eval()
    train(model, items([one for one in dataset if not one.held_out]), arguments.passes)
    show(model, items([one for one in dataset if one.held_out]))
    if arguments.write:
        save_file(model.fitted(), FITTED)


if __name__ == "__main__":
    main()
