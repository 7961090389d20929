"""Fit the projection of token vectors for the bundled model.

    python -m benchmarks.fit_projection FOLDER... [--dimension 256] [--out FILE]

The projection consists of the leading eigenvectors of the uncentred second moment of unit token vectors. Of all linear
maps to the given dimension, this projection best preserves inner products, which MaxSim sums. Then a random rotation is
applied. It leaves inner products unchanged and spreads the variance evenly over the axes, so that four bits per number
are enough. (256 numbers of four bits need as much space as 128 numbers of eight bits.)

FOLDER contains text or HTML files that are unrelated to the data on which retrieval is measured. The bundled matrix was
fitted on the Debian packages anarchism 15.3, debian-handbook 11 (English) and gnucash-docs 4.13 (English), and on the
glosses of wordnet-base 3.0.
"""

from __future__ import annotations

import argparse
import html
import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_core.embedding.bundled import BundledEmbedder
from rag_core.embedding.projection import BUNDLED, Projection, rotate_randomly
from rag_core.embedding.transformer import TransformerEmbedder, find_text_token_positions
from rag_core.types.arrays import FloatArray

PARAGRAPHS = 12_000
TAG = re.compile(r"<(script|style).*?</\1>|<[^>]+>", re.S | re.I)


def paragraphs(folder: Path) -> list[str]:
    """Return the paragraphs of 80 to 900 characters in the text and HTML files of a folder."""
    kept = []
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or not re.search(r"\.(html?|txt|md|xml)$|/data\.\w+$", str(file)):
            continue
        text = file.read_text("utf-8", "ignore")
        if file.name.startswith("data."):  # a WordNet file, whose lines have the gloss after a bar
            blocks = [line.split("|", 1)[1] for line in text.splitlines() if "|" in line]
        else:
            blocks = re.split(r"</p>|</li>|</h\d>|\n\s*\n", text)
        for block in blocks:
            plain = " ".join(html.unescape(TAG.sub(" ", block)).split())
            if 80 <= len(plain) <= 900:
                kept.append(plain)
    return kept


def token_vectors(embedder: TransformerEmbedder, texts: Sequence[str]) -> list[FloatArray]:
    """Return the unprojected token vectors of each text up to the model's window, shape (n, dimension) each."""
    encodings = embedder._tokenizer.encode_batch(list(texts))
    for encoding in encodings:
        encoding.truncate(embedder.window)
    _, vectors = embedder._forward([encoding.ids for encoding in encodings])
    return [vectors[row][find_text_token_positions(encoding)] for row, encoding in enumerate(encodings)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--out", type=Path, default=BUNDLED)
    arguments = parser.parse_args()

    shuffle = random.Random(0)
    texts: list[str] = []
    for folder in arguments.folders:
        unique = list(dict.fromkeys(paragraphs(folder)))
        shuffle.shuffle(unique)
        texts += unique[: PARAGRAPHS // len(arguments.folders)]
    embedder = BundledEmbedder()
    texts.sort(key=len)
    moment = np.zeros((embedder.identity.dimension,) * 2, np.float64)
    count = 0
    for first in range(0, len(texts), 32):
        for vectors in token_vectors(embedder, texts[first : first + 32]):
            unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            moment += unit.T @ unit
            count += len(unit)
    values, axes = np.linalg.eigh(moment / count)
    keep = axes[:, ::-1][:, : arguments.dimension]
    np.save(arguments.out, rotate_randomly(keep.astype(np.float32)).astype(np.float16), allow_pickle=False)
    share = values[::-1][: arguments.dimension].sum() / values.sum()
    print(f"{len(texts)} paragraphs, {count} tokens, {share:.3f} of the energy kept, {Projection.bundled().name}")


if __name__ == "__main__":
    main()
