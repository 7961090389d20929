"""Fit the calibration of the gate, which maps retrieval features to the probability that a passage answers a question.

    python -m benchmarks.fit_gate DATA [--check OTHER] [--write]

DATA contains ``pdfs/`` and ``questions.jsonl`` with ``question`` and ``kind`` (answerable, adversarial, off-corpus).
The bundled gate was fitted on the 487 questions of ``gate_questions.jsonl``. They were written by hand about texts in
Debian's packages anarchism, debian-handbook, dict-foldoc, dict-jargon and dict-elements, which
``benchmarks.gate_corpus`` converts to PDFs. Adversarial questions have a low weight, because with a full weight the
gate refuses many answerable questions. The metrics are from ten-fold cross-validation. ``--check`` also prints the
metrics of the fitted gate on the questions of the folder OTHER.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality import index_pdfs, read_questions
from rag_core.embedding.bundled import BundledEmbedder
from rag_core.engine import Engine
from rag_core.evaluation.intervals import auroc
from rag_core.gate.calibration import (
    CALIBRATION_FILE,
    MAX_UNMET,
    Calibration,
    TopicCalibration,
    compute_log_odds,
    load_calibration,
)
from rag_core.settings import load_settings
from rag_core.types import FloatArray

ADVERSARIAL_WEIGHT = 0.05
KINDS = ("answerable", "off-corpus", "adversarial")


def collect_features(data: Path) -> tuple[list[str], list[FloatArray]]:
    """Return the kind of each question, and the features of its first passages, an array of shape (n, 4).

    The four features are the closeness, the topic score, the number of unmet presuppositions, and the log-odds of the
    reading score.
    """
    rows = read_questions(data)
    kinds, features = [], []
    with tempfile.TemporaryDirectory() as folder, Engine(load_settings(data_dir=Path(folder) / "data")) as engine:
        index_pdfs(engine, data)
        for row in rows:
            rows_of_question, readings = [], []
            for passage in engine.search(row["question"], top_k=5).passages:
                scores_of_passage = passage.scores
                if scores_of_passage["answerable"] is not None:
                    closeness = ((scores_of_passage["rerank"] or 0.0) + (scores_of_passage["sentence"] or 0.0)) / 2
                    rows_of_question.append((closeness, scores_of_passage["topic"], min(len(passage.unmet), MAX_UNMET)))
                    readings.append(scores_of_passage["reading"])
            kinds.append(row["kind"])
            features.append(
                np.column_stack([np.array(rows_of_question, np.float32).reshape(-1, 3), compute_log_odds(readings)])
            )
    return kinds, features


def fit(kinds: Sequence[str], features: Sequence[FloatArray]) -> Calibration:
    """Fit a logistic regression on one passage of each question: the one that the current gate ranks first."""
    present = load_calibration()
    weights = np.array([present.closeness, present.topic, present.unmet, present.reading])
    best = []
    for rows in features:
        best.append(rows[int((rows @ weights).argmax())] if len(rows) else np.zeros(4))
    answered = [kind == "answerable" for kind in kinds]
    counted = [ADVERSARIAL_WEIGHT if kind == "adversarial" else 1.0 for kind in kinds]
    model = LogisticRegression(C=1e4, max_iter=5000).fit(np.array(best), answered, sample_weight=counted)
    closeness, topic, unmet, reading = (round(float(value), 2) for value in model.coef_[0])
    intercept = round(float(model.intercept_[0]), 2)
    topics = fit_topic(kinds, features)
    table_prior = float(np.median([row[3] for row, kind in zip(best, kinds, strict=True) if kind == "answerable"]))
    return replace(
        present,
        intercept=intercept,
        closeness=closeness,
        topic=topic,
        unmet=unmet,
        reading=reading,
        table_prior=round(table_prior, 2),
        on_topic=topics,
    )


def fit_topic(kinds: Sequence[str], features: Sequence[FloatArray]) -> TopicCalibration:
    """Fit a logistic regression that predicts from the best passage whether a question is on topic.

    Adversarial questions count as on topic.
    """
    present = load_calibration().on_topic
    weights = np.array([present.closeness, present.topic, 0.0, present.reading])
    best = [rows[int((rows @ weights).argmax())] if len(rows) else np.zeros(4) for rows in features]
    on_topic = [kind != "off-corpus" for kind in kinds]
    model = LogisticRegression(C=1e3, max_iter=5000, class_weight="balanced")
    model.fit(np.array(best)[:, [0, 1, 3]], on_topic)
    closeness, topic, reading = (round(float(value), 2) for value in model.coef_[0])
    return TopicCalibration(round(float(model.intercept_[0]), 2), closeness, topic, reading)


def topic_scores(fitted: TopicCalibration, features: Sequence[FloatArray]) -> FloatArray:
    """Return for each question the highest on-topic probability of a passage."""
    values = [
        max((fitted.probability(float(c), float(c), float(t), float(r)) for c, t, _, r in rows), default=0.0)
        for rows in features
    ]
    return np.array(values, np.float32)


def scores(fitted: Calibration, features: Sequence[FloatArray]) -> FloatArray:
    """Return for each question the highest probability that the gate gives to a passage."""
    values = [max((_probability(fitted, row) for row in rows), default=0.0) for rows in features]
    return np.array(values, np.float32)


def _probability(fitted: Calibration, row: FloatArray) -> float:
    closeness, topic, unmet, reading = (float(value) for value in row)
    return fitted.probability(closeness, closeness, topic, int(unmet), reading)


def show(name: str, kinds: Sequence[str], values: FloatArray) -> None:
    """Print the AUROC of answerable against unanswerable questions by kind, and answer rates at some thresholds."""
    by_kind = {kind: values[[one == kind for one in kinds]] for kind in KINDS}
    areas = [f"{kind} AUROC {auroc(by_kind['answerable'].tolist(), by_kind[kind].tolist()):.4f}" for kind in KINDS[1:]]
    print(f"{name}: {', '.join(areas)}")
    for threshold in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85):
        answered = [f"{kind} {np.mean(by_kind[kind] >= threshold):.3f}" for kind in KINDS]
        print(f"  at {threshold:.2f} answered: {', '.join(answered)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--write", action="store_true", help="replace the current coefficients")
    arguments = parser.parse_args()
    kinds, features = collect_features(arguments.data)
    held_out, topic_held_out = np.zeros(len(kinds), np.float32), np.zeros(len(kinds), np.float32)
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(kinds, kinds):
        fold = fit([kinds[one] for one in train], [features[one] for one in train])
        held_out[test] = scores(fold, [features[one] for one in test])
        topic_held_out[test] = topic_scores(fold.on_topic, [features[one] for one in test])
    show("cross-validated", kinds, held_out)
    show("on the topic, cross-validated", kinds, topic_held_out)
    identity = BundledEmbedder().identity
    fitted = replace(fit(kinds, features), embedder=identity.weights, projection=identity.projection)
    print(json.dumps(asdict(fitted), indent=2))
    if arguments.check:
        others, other_features = collect_features(arguments.check)
        show("on other questions", others, scores(fitted, other_features))
        show("on the topic, on other questions", others, topic_scores(fitted.on_topic, other_features))
    if arguments.write:
        CALIBRATION_FILE.write_text(json.dumps(asdict(fitted), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
