"""Fit the answerability model, which estimates whether a short text answers a question, and finds the answer in it.

    python -m benchmarks.fit_answerability SHIFTS_FOLDER PAIRS_FOLDER [--passes 2] [--write]

SHIFTS_FOLDER contains ``nyt_v1.0.json``, ``new_wiki_v1.0.json``, ``reddit_v1.0.json`` and ``amazon_reviews_v1.0.json``.
These files have 38,000 questions on 7,700 paragraphs, with their answers (Miller, Krauth, Recht and Schmidt, "The
effect of natural distribution shift on question answering models", ICML 2020). They are from
``benchmark_tasks/squad_shifts`` of the source package bigbench 1.0.0 (Apache-2.0). The set of SQuAD articles in the
same folder is not used, because retrieval is measured on these articles. PAIRS_FOLDER contains pairs of questions and
texts, and tables; see ``benchmarks.table_examples``.

The weights of the bundled embedder stay frozen, and each matrix of the encoder gets a low-rank update. The model learns
two tasks: where the answer starts and ends, and whether there is an answer. If there is no answer, its start and end
are at the first token (Rajpurkar, Jia and Liang, "Know what you don't know: Unanswerable questions for SQuAD", ACL
2018). An answer whose place is unknown counts only for the second task. Metrics are computed on held-out texts. A GPU
is used if PyTorch finds one. The training is not deterministic.
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

from benchmarks import answerability_examples, table_examples
from benchmarks.answerability_examples import Example
from rag_core.embedding import bundled
from rag_core.embedding.answerability import FITTED, find_span
from rag_core.evaluation.intervals import compute_auroc

SETS = ("nyt", "new_wiki", "reddit", "amazon_reviews")
# Share of the training examples of `SETS` that are used for training, so that tables have more weight.
SHIFTS_USED = 0.5
RANK = 16
BATCH = 64
# Maximum number of tokens. It is higher than that of the model in use, so that no long text of the sets is cut off.
WINDOW = 256
LEARNING_RATE = 1e-3
WARM_UP = 200
REPORT_EVERY = 100
_NEVER = -1e4


@dataclass(frozen=True, slots=True)
class Item:
    """A tokenized example.

    ``ids`` are the token ids of question and text, and ``text_at`` is the position of the text's first token. ``first``
    and ``last`` are the positions of the answer's first and last token: both are 0 if there is no answer, and -1 if its
    place is unknown.
    """

    ids: list[int]
    text_at: int
    first: int
    last: int
    example: Example


class LowRank(nn.Module):  # type: ignore[misc] # torch is not read for its types
    """A frozen linear layer with a trainable low-rank update."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.down = nn.Parameter(torch.randn(RANK, layer.in_features) / math.sqrt(layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, RANK))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.layer(states) + functional.linear(functional.linear(states, self.down), self.up)
        return output


class Reader(nn.Module):  # type: ignore[misc] # as above
    """A model that returns three scores per token.

    The scores say whether the answer starts at the token, whether the answer ends at the token, and whether there is an
    answer. The last score is used only at the first token.
    """

    def __init__(self) -> None:
        super().__init__()
        self.model = AutoModel.from_pretrained(str(bundled.find_weights_folder())).requires_grad_(False)
        _adapt(self.model.encoder)
        self.head = nn.Linear(self.model.config.hidden_size, 3)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        with torch.autocast(ids.device.type, torch.bfloat16):
            states = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
        output: torch.Tensor = self.head(states.float())
        return output

    def fitted(self) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
        """Return the weights to store, by name."""
        kept = {"head.weight": self.head.weight}
        for name, part in self.model.named_modules():
            if isinstance(part, LowRank):
                kept |= {f"{name}.down": part.down, f"{name}.up": part.up}
        halves = {name: value.detach().cpu().numpy().astype(np.float16) for name, value in kept.items()}
        return {**halves, "head.bias": self.head.bias.detach().cpu().numpy()}


def _adapt(part: nn.Module) -> None:
    for name, child in part.named_children():
        if isinstance(child, nn.Linear):
            setattr(part, name, LowRank(child))
        else:
            _adapt(child)


def items(examples_to_encode: Sequence[Example]) -> list[Item]:
    """Tokenize the examples, and leave out those whose answer or whole text is cut off."""
    tokenizer = Tokenizer.from_file(str(bundled.find_weights_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW, strategy="only_second")
    encodings = tokenizer.encode_batch([(one.question, one.text) for one in examples_to_encode])
    encoded = []
    for example, encoding in zip(examples_to_encode, encodings, strict=True):
        text_tokens = [at for at, sequence in enumerate(encoding.sequence_ids) if sequence == 1]
        span = _span(example, encoding, text_tokens)
        if span is not None and text_tokens:
            encoded.append(Item(encoding.ids, text_tokens[0], *span, example))
    return encoded


def _span(example: Example, encoding: Encoding, text_tokens: Sequence[int]) -> tuple[int, int] | None:
    if example.start < 0:
        return (-1, -1) if example.is_answerable else (0, 0)
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
    """Return the scores of the answer's start and end, shape (texts, tokens), and of its existence, shape (texts,)."""
    longest = max(len(one.ids) for one in batch)
    ids, mask = torch.zeros(2, len(batch), longest, dtype=torch.long)
    readable = torch.zeros(len(batch), longest, dtype=torch.bool)
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        mask[row, : len(one.ids)] = 1
        readable[row, one.text_at : len(one.ids) - 1] = True
        readable[row, 0] = True
    device = model.head.weight.device
    scores = model(ids.to(device), mask.to(device))
    begins, ends = (scores[..., at].masked_fill(~readable.to(device), _NEVER) for at in (0, 1))
    return begins, ends, scores[:, 0, 2]


def compute_loss(model: Reader, batch: Sequence[Item]) -> torch.Tensor:
    """Return the loss of both tasks; only items with a known span, or without an answer, count for the first task."""
    begins, ends, answers = read(model, batch)
    first, last = (torch.tensor([getattr(one, name) for one in batch]).to(begins.device) for name in ("first", "last"))
    spans = functional.cross_entropy(begins, first, ignore_index=-1, reduction="sum")
    spans = spans + functional.cross_entropy(ends, last, ignore_index=-1, reduction="sum")
    is_answerable = torch.tensor([float(one.example.is_answerable) for one in batch]).to(begins.device)
    has_answer = functional.binary_cross_entropy_with_logits(answers, is_answerable)
    return spans / (2 * (first >= 0).sum().clamp(min=1)) + has_answer


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
            loss = compute_loss(model, batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(chosen, 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            if len(losses) % REPORT_EVERY == 0:
                print(f"step {len(losses)} of {steps}: loss {np.mean(losses[-REPORT_EVERY:]):.3f}", flush=True)
            if len(losses) >= steps:
                break


def show(model: Reader, dataset: Sequence[Item]) -> None:
    """Print the AUROC of answerable texts against each kind of negative texts, and the share of exactly found answers.

    Both are printed for each source of examples.
    """
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    exact: dict[str, list[bool]] = defaultdict(list)
    with torch.no_grad():
        for batch in batches(dataset, random.Random(0)):
            begins, ends, answers = (values.cpu().numpy() for values in read(model, batch))
            for item, begin, end, answer in zip(batch, begins, ends, answers, strict=True):
                scores[item.example.source][item.example.kind].append(float(answer))
                if item.first > 0:
                    text = slice(item.text_at, len(item.ids) - 1)
                    first, last, _ = find_span(np.stack([begin[text], end[text]], axis=1))
                    exact[item.example.source].append(
                        (first, last) == (item.first - text.start, item.last - text.start)
                    )
    for source, by_kind in sorted(scores.items()):
        answering = by_kind.pop("answers", [])
        for kind, values in sorted(by_kind.items()):
            if answering:
                print(f"{source:28} {kind:20} {len(values):5} AUROC {compute_auroc(answering, values):.3f}")
        if exact[source]:
            print(f"{source:28} {'exactly found':20} {len(exact[source]):5} share {np.mean(exact[source]):.3f}")


def load_examples(shifts_folder: Path, pairs_folder: Path) -> list[Example]:
    """Return the examples of all sets, with `SHIFTS_USED` of the training examples of `SETS`."""
    draw = random.Random(0)
    shifts = answerability_examples.examples([shifts_folder / f"{name}_v1.0.json" for name in SETS])
    used = [one for one in shifts if one.held_out or draw.random() < SHIFTS_USED]
    return used + table_examples.examples(pairs_folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shifts_folder", type=Path)
    parser.add_argument("pairs_folder", type=Path)
    parser.add_argument("--passes", type=float, default=2.0)
    parser.add_argument("--write", action="store_true", help="replace the current weights by the result")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    dataset = load_examples(arguments.shifts_folder, arguments.pairs_folder)
    model = Reader().eval().to("cuda" if torch.cuda.is_available() else "cpu")
    train(model, items([one for one in dataset if not one.held_out]), arguments.passes)
    show(model, items([one for one in dataset if one.held_out]))
    if arguments.write:
        save_file(model.fitted(), FITTED)


if __name__ == "__main__":
    main()
