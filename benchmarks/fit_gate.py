"""Fit the calibration of the gate, which maps retrieval features to the probability that a passage answers a question.

    python -m benchmarks.fit_gate DATA [--near-misses FOLDER ...] [--check OTHER] [--write]

DATA contains ``pdfs/`` and ``questions.jsonl`` with ``question`` and ``kind`` (answerable, adversarial, off-corpus).
The bundled gate was fitted on the 487 questions of ``gate_questions.jsonl``. They were written by hand about texts in
Debian's packages anarchism, debian-handbook, dict-foldoc, dict-jargon and dict-elements, which
``benchmarks.gate_corpus`` converts to PDFs. Adversarial questions have a low weight, because with a full weight the
gate refuses many answerable questions. The metrics are from ten-fold cross-validation. ``--check`` also prints the
metrics of the fitted gate on the questions of the folder OTHER.

The regressions are then rescaled, because few of the questions that they are fitted on are near misses, so that their
probabilities are too high where a document is on the topic but lacks the fact. `SLOPE` was fitted with
``--near-misses``, on one FOLDER for each kind of document; docs/decisions/gate.md names the sets. Rescaling changes
neither the order of passages nor the decisions at the default threshold.

The gate of another embedder is fitted with RAG_EMBEDDER set to its name; ``--write`` then replaces the coefficients for
the multilingual embedder.

The regression after reading is fitted on the scores of the current gate, so run the script twice if the coefficients of
the gate change.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from benchmarks.quality import index_pdfs, read_questions
from rag_core.answering.page_reading import PageReader
from rag_core.embedding.embedder import EmbedderIdentity
from rag_core.engine import Engine
from rag_core.evaluation.intervals import compute_auroc
from rag_core.gate.calibration import (
    CALIBRATION_FILE,
    MAX_ODDS,
    MAX_UNMET,
    MULTILINGUAL_FILE,
    Calibration,
    ReadingCalibration,
    TopicCalibration,
    compute_log_odds,
    load_calibration,
)
from rag_core.runtime.models import LocalModels
from rag_core.runtime.stores import Stores
from rag_core.settings import BUNDLED_EMBEDDER, Settings, load_settings
from rag_core.types.arrays import FloatArray
from rag_core.types.retrieval import SearchResult, to_log_odds

ADVERSARIAL_WEIGHT = 0.05
# Probability after reading that the fit maps to `UNSCALED_THRESHOLD`, so that the scale of the threshold stays the same
# before and after reading.
READING_THRESHOLD = 0.25
DEFAULT_THRESHOLD: float = Settings.model_fields["threshold"].default
# Probability before the rescaling that becomes the default threshold, and the factor of the log-odds.
UNSCALED_THRESHOLD, SLOPE = 0.8, 0.75
KINDS = ("answerable", "off-corpus", "adversarial")


@dataclass(frozen=True, slots=True)
class Sample:
    """The features of a question.

    Attributes
    ----------
    kind : str
    passages : FloatArray, shape (n, 4)
        For each of the first passages the closeness, the topic score, the number of unmet presuppositions, and the
        log-odds of the reading score.
    gate : float
        Score of the gate.
    reading : float
        Highest probability of the answers that the model finds on the pages; 0 if it finds none.
    """

    kind: str
    passages: FloatArray
    gate: float
    reading: float


def collect_samples(data: Path) -> list[Sample]:
    """Return the features of each question."""
    rows = read_questions(data)
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(data_dir=Path(folder) / "data")
        with Engine(settings) as engine:
            index_pdfs(engine, data)
            results = [engine.search(row["question"], top_k=5) for row in rows]
        readings = find_readings(settings, [row["question"] for row in rows], results)
    return [
        Sample(row["kind"], _passage_features(result), result.gate.score, reading)
        for row, result, reading in zip(rows, results, readings, strict=True)
    ]


def find_identity() -> EmbedderIdentity:
    """Return the identity of the embedder of the settings."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(data_dir=Path(folder) / "data")
        models = LocalModels(settings)
        try:
            return models.embedder(settings.embedder).identity
        finally:
            models.close()


def find_readings(settings: Settings, questions: Sequence[str], results: Sequence[SearchResult]) -> list[float]:
    """Return for each question the highest probability of an answer on the pages of its passages."""
    stores, models = Stores(settings), LocalModels(settings)
    try:
        reader = PageReader(stores, models)
        return [
            max((found.probability for found in reader.find_answers(question, result.passages)), default=0.0)
            for question, result in zip(questions, results, strict=True)
        ]
    finally:
        models.close()
        stores.close()


def _passage_features(result: SearchResult) -> FloatArray:
    rows, readings = [], []
    for passage in result.passages:
        scores_of_passage = passage.scores
        if scores_of_passage["answerable"] is not None:
            closeness = ((scores_of_passage["rerank"] or 0.0) + (scores_of_passage["sentence"] or 0.0)) / 2
            rows.append((closeness, scores_of_passage["topic"], min(len(passage.unmet), MAX_UNMET)))
            readings.append(scores_of_passage["reading"])
    return np.column_stack([np.array(rows, np.float32).reshape(-1, 3), compute_log_odds(readings)])


def fit(samples: Sequence[Sample], present: Calibration) -> Calibration:
    """Fit a logistic regression on one passage of each question: the one that the ``present`` gate ranks first."""
    weights = np.array([present.closeness, present.topic, present.unmet, present.reading])
    best = [_choose_passage(one, weights) for one in samples]
    answered = [one.kind == "answerable" for one in samples]
    counted = [ADVERSARIAL_WEIGHT if one.kind == "adversarial" else 1.0 for one in samples]
    model = LogisticRegression(C=1e4, max_iter=5000).fit(np.array(best), answered, sample_weight=counted)
    closeness, topic, unmet, reading = (round(float(value), 2) for value in model.coef_[0])
    intercept = round(float(model.intercept_[0]), 2)
    table_prior = float(np.median([row[3] for row, is_answered in zip(best, answered, strict=True) if is_answered]))
    return replace(
        present,
        intercept=intercept,
        closeness=closeness,
        topic=topic,
        unmet=unmet,
        reading=reading,
        table_prior=round(table_prior, 2),
        on_topic=fit_topic(samples, present.on_topic),
        after_reading=fit_reading(samples),
    )


def _choose_passage(sample: Sample, weights: FloatArray) -> FloatArray:
    """Return the features of the passage with the highest weighted sum."""
    rows = sample.passages
    return rows[int((rows @ weights).argmax())] if len(rows) else np.zeros(4, np.float32)


def fit_topic(samples: Sequence[Sample], present: TopicCalibration) -> TopicCalibration:
    """Fit a logistic regression that predicts from the best passage whether a question is on topic.

    Adversarial questions count as on topic.
    """
    weights = np.array([present.closeness, present.topic, 0.0, present.reading])
    best = [_choose_passage(one, weights) for one in samples]
    on_topic = [one.kind != "off-corpus" for one in samples]
    model = LogisticRegression(C=1e3, max_iter=5000, class_weight="balanced")
    model.fit(np.array(best)[:, [0, 1, 3]], on_topic)
    closeness, topic, reading = (round(float(value), 2) for value in model.coef_[0])
    return TopicCalibration(round(float(model.intercept_[0]), 2), closeness, topic, reading)


def fit_reading(samples: Sequence[Sample]) -> ReadingCalibration:
    """Fit a logistic regression that predicts from the gate and the reading whether a question is answerable.

    The intercept is shifted so that the probability `READING_THRESHOLD` becomes `UNSCALED_THRESHOLD`.
    """
    features = np.column_stack(
        [compute_log_odds([getattr(one, name) for one in samples]) for name in ("gate", "reading")]
    )
    answered = [one.kind == "answerable" for one in samples]
    model = LogisticRegression(C=100, max_iter=2000).fit(features, answered)
    gate, reading = (round(float(value), 2) for value in model.coef_[0])
    shift = to_log_odds(UNSCALED_THRESHOLD, 0) - to_log_odds(READING_THRESHOLD, 0)
    return ReadingCalibration(round(float(model.intercept_[0]) + shift, 2), gate, reading)


def fit_slope(fitted: ReadingCalibration, kinds_of_documents: Sequence[Sequence[Sample]]) -> float:
    """Return the factor of the log-odds after reading that best predicts which questions are answerable.

    Each kind of document has the same weight, and in it answerable and other questions have the same.
    """
    log_odds, answered, counted = [], [], []
    for samples in kinds_of_documents:
        log_odds += [to_log_odds(float(score), 1 / MAX_ODDS) for score in reading_scores(fitted, samples)]
        labels = [one.kind == "answerable" for one in samples]
        answered += labels
        counted += [1 / labels.count(label) for label in labels]
    model = LogisticRegression(C=100).fit(np.array(log_odds)[:, None], answered, sample_weight=counted)
    return float(model.coef_[0][0])


def rescale(fitted: Calibration, slope: float) -> Calibration:
    """Return a calibration whose log-odds are multiplied by ``slope``, around the thresholds."""
    shift = to_log_odds(DEFAULT_THRESHOLD, 0) - slope * to_log_odds(UNSCALED_THRESHOLD, 0)
    after = fitted.after_reading
    return replace(
        fitted,
        intercept=round(shift + slope * fitted.intercept, 3),
        closeness=round(slope * fitted.closeness, 3),
        topic=round(slope * fitted.topic, 3),
        unmet=round(slope * fitted.unmet, 3),
        reading=round(slope * fitted.reading, 3),
        after_reading=ReadingCalibration(
            round(shift + slope * after.intercept, 3), round(slope * after.gate, 3), round(slope * after.reading, 3)
        ),
    )


def reading_scores(fitted: ReadingCalibration, samples: Sequence[Sample]) -> FloatArray:
    """Return for each question the probability after reading."""
    return np.array([fitted.compute_probability(one.gate, one.reading) for one in samples], np.float32)


def topic_scores(fitted: TopicCalibration, samples: Sequence[Sample]) -> FloatArray:
    """Return for each question the highest on-topic probability of a passage."""
    values = [
        max(
            (fitted.compute_probability(float(c), float(c), float(t), float(r)) for c, t, _, r in one.passages),
            default=0.0,
        )
        for one in samples
    ]
    return np.array(values, np.float32)


def scores(fitted: Calibration, samples: Sequence[Sample]) -> FloatArray:
    """Return for each question the highest probability that the gate gives to a passage."""
    values = [max((_probability(fitted, row) for row in one.passages), default=0.0) for one in samples]
    return np.array(values, np.float32)


def _probability(fitted: Calibration, row: FloatArray) -> float:
    closeness, topic, unmet, reading = (float(value) for value in row)
    return fitted.compute_probability(closeness, closeness, topic, reading, int(unmet))


def show(name: str, kinds: Sequence[str], values: FloatArray) -> None:
    """Print the AUROC of answerable against unanswerable questions by kind, and answer rates at some thresholds."""
    by_kind = {kind: values[[one == kind for one in kinds]] for kind in KINDS}
    areas = [
        f"{kind} AUROC {compute_auroc(by_kind['answerable'].tolist(), by_kind[kind].tolist()):.4f}"
        for kind in KINDS[1:]
    ]
    print(f"{name}: {', '.join(areas)}")
    for threshold in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85):
        answered = [f"{kind} {np.mean(by_kind[kind] >= threshold):.3f}" for kind in KINDS]
        print(f"  at {threshold:.2f} answered: {', '.join(answered)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--near-misses", type=Path, nargs="+", default=[], help="fit the slope on these folders")
    parser.add_argument("--check", type=Path)
    parser.add_argument("--write", action="store_true", help="replace the current coefficients")
    arguments = parser.parse_args()
    identity = find_identity()
    present = load_calibration(identity)
    samples = collect_samples(arguments.data)
    kinds = [one.kind for one in samples]
    held_out, topic_held_out, reading_held_out = np.zeros((3, len(kinds)), np.float32)
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(kinds, kinds):
        fold, tested = fit([samples[one] for one in train], present), [samples[one] for one in test]
        held_out[test] = scores(fold, tested)
        topic_held_out[test] = topic_scores(fold.on_topic, tested)
        reading_held_out[test] = reading_scores(fold.after_reading, tested)
    show("cross-validated", kinds, held_out)
    show("on the topic, cross-validated", kinds, topic_held_out)
    show("after reading, cross-validated", kinds, reading_held_out)
    fitted = replace(fit(samples, present), embedder=identity.weights, projection=identity.projection)
    slope = SLOPE
    if arguments.near_misses:
        slope = fit_slope(fitted.after_reading, [collect_samples(folder) for folder in arguments.near_misses])
        print(f"slope {slope:.3f}")
    fitted = rescale(fitted, slope)
    print(json.dumps(asdict(fitted), indent=2))
    if arguments.check:
        others = collect_samples(arguments.check)
        other_kinds = [one.kind for one in others]
        show("on other questions", other_kinds, scores(fitted, others))
        show("on the topic, on other questions", other_kinds, topic_scores(fitted.on_topic, others))
        show("after reading, on other questions", other_kinds, reading_scores(fitted.after_reading, others))
    if arguments.write:
        file = CALIBRATION_FILE if identity.name == BUNDLED_EMBEDDER else MULTILINGUAL_FILE
        file.write_text(json.dumps(asdict(fitted), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
