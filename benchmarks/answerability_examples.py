"""Create training examples for the answerability model from sets of questions in SQuAD's format.

An example is a question and a text of the kind that the gate reads: a sentence with its neighbours. A positive text
contains the answer. A negative text is of one of three kinds:

- sentences of the same paragraph that do not contain the answer;
- sentences of another paragraph that shares words with the question;
- the positive text, after a name, number, opposite or other word was replaced in the question or in the text.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_core.text.sentences import find_sentence_spans

SOURCE = "SQuADShifts"
# One of this many paragraphs is held out for validation.
HELD_OUT = 25
SAME_PARAGRAPH, OTHER_PARAGRAPH, CHANGED = 0.6, 0.35, 0.75
# Share of positive texts in which one or two words are replaced. Otherwise only negative texts would contain words
# that do not fit the text, and the model would learn to recognize such words.
REPLACED = 0.35
# Number of other paragraphs that are considered, namely those that share the most words with the question.
NEAREST = 6
_WORD = re.compile(r"[^\W_]+")
_LONG_WORD = re.compile(r"\b[a-z]{4,}\b")
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’.-]+(?: [A-Z][\w'’.-]+)*")
_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
_SUFFIXES = ("ing", "ed", "tion", "ment", "ly", "ity", "er", "ies", "es", "s")
_STOPWORDS = frozenset(
    "a an the of in on at to for from by with and or is was were are be been did do does what which who whom whose "
    "when where why how many much that this it its as not he she they his her their you your i my we our has have "
    "had can could would should will there if than then so about into over up out".split()
)
_PAIRS = (
    "first last, before after, increase decrease, increased decreased, largest smallest, most least, more fewer, "
    "more less, highest lowest, high low, north south, east west, northern southern, eastern western, won lost, "
    "win lose, start end, started ended, began ended, begin end, old new, older younger, oldest youngest, "
    "early late, earlier later, male female, men women, man woman, he she, his her, him her, father mother, "
    "husband wife, son daughter, brother sister, boy girl, boyfriend girlfriend, buy sell, bought sold, open close, "
    "opened closed, arrive leave, arrived left, love hate, like dislike, likes dislikes, good bad, best worst, "
    "better worse, major minor, majority minority, maximum minimum, always never, allowed forbidden, legal illegal, "
    "above below, over under, inside outside, in outside, with without, large small, larger smaller, long short, "
    "longer shorter, longest shortest, big small, many few, easy difficult, hot cold, fast slow, rich poor, "
    "strong weak, support oppose, supported opposed, accept reject, accepted rejected, agree disagree, "
    "include exclude, included excluded, gain lose, gained lost, up down, upper lower, left right, public private, "
    "internal external, positive negative, true false, present absent, alive dead, born died, married divorced, "
    "hired fired, created destroyed, built demolished, joined left, often rarely, common rare, same different, "
    "parent child, teacher student, city country, state city, day night, morning evening, summer winter, "
    "spring autumn, advantage disadvantage, cause prevent, causes prevents, reason result, rise fall, rose fell, "
    "add remove, added removed, domestic foreign, ancient modern, simple complex, free paid, cheap expensive, "
    "heavy light, wet dry, deep shallow, wide narrow, happy sad, safe dangerous, friend enemy, victory defeat, "
    "war peace, attack defend, attacked defended"
)
# Names, numbers and opposites are this many times as likely to be replaced as other words.
_TELLING = 3.0


@dataclass(frozen=True, slots=True)
class Example:
    """A question and a text.

    ``start`` and ``end`` are those of the answer in the text; -1 if there is no answer or its place is unknown.
    ``kind`` is "answers" or the kind of the negative text, and ``source`` is the set of questions.
    """

    question: str
    text: str
    start: int
    end: int
    kind: str
    held_out: bool
    source: str
    is_answerable: bool


def examples(files: Sequence[Path], seed: int = 0) -> list[Example]:
    """Return the examples of all files, shuffled."""
    draw = random.Random(seed)
    result: list[Example] = []
    for file in files:
        articles = json.loads(file.read_text("utf-8"))["data"]
        source = _Source(
            [(one["title"], each["context"], each["qas"]) for one in articles for each in one["paragraphs"]]
        )
        result += source.examples(draw)
    draw.shuffle(result)
    return result


class _Source:
    """The paragraphs of one file, each with the title of its article and its questions."""

    def __init__(self, paragraphs: Sequence[tuple[str, str, Sequence[Mapping[str, Any]]]]) -> None:
        self._paragraphs = paragraphs
        self._sentences = [find_sentence_spans(text) for _, text, _ in paragraphs]
        self._having: dict[str, list[int]] = defaultdict(list)
        for number, (_, text, _) in enumerate(paragraphs):
            for word in set(_words(text)):
                self._having[word].append(number)
        self._idf = {word: math.log(len(paragraphs) / len(where)) for word, where in self._having.items()}
        question_texts = [str(one["question"]) for _, _, questions in paragraphs for one in questions]
        alike: dict[str, dict[str, None]] = defaultdict(dict)
        for question in question_texts:
            for word in _words(question):
                if word not in _STOPWORDS and word in self._idf:
                    alike[_suffix(word)][word] = None
        self._alike = {suffix: list(words) for suffix, words in alike.items()}
        self._names = [name[0].rstrip(".?") for question in question_texts for name in _NAME.finditer(question)]
        # Whether there are several articles. If so, paragraphs of the same article are preferred for negative texts,
        # because they are harder to tell from the positive text.
        self._titled = len({title for title, _, _ in paragraphs}) > 1

    def examples(self, draw: random.Random) -> Iterator[Example]:
        for number, (_, text, questions) in enumerate(self._paragraphs):
            held_out = sum(map(ord, text[:200])) % HELD_OUT == 0
            for one in questions:
                question = " ".join(one["question"].split())
                counted = Counter((answer["text"], answer["answer_start"]) for answer in one["answers"])
                if len(question) < 10 or not counted:
                    continue
                (answer, start), _ = min(counted.items(), key=lambda pair: (-pair[1], len(pair[0][0])))
                if not answer.strip() or text[start : start + len(answer)] != answer:
                    continue
                for fields in self._of(number, question, answer, start, one["answers"], draw):
                    yield Example(*fields, held_out, SOURCE, fields[-1] == "answers")

    def _of(
        self,
        number: int,
        question: str,
        answer: str,
        start: int,
        answers: Sequence[Mapping[str, Any]],
        draw: random.Random,
    ) -> Iterator[tuple[str, str, int, int, str]]:
        text, spans = self._paragraphs[number][1], self._sentences[number]
        end = start + len(answer)
        answer_sentences = [at for at, (first, last) in enumerate(spans) if first < end and last > start]
        if not answer_sentences:
            return
        excluded = {
            at
            for at, (first, last) in enumerate(spans)
            for each in answers
            if first < each["answer_start"] + len(each["text"]) and last > each["answer_start"]
        }
        first = max(0, answer_sentences[0] - draw.choice((0, 1, 1, 1, 2)))
        last = min(len(spans), answer_sentences[-1] + 1 + draw.choice((0, 1, 1, 1, 2)))
        begin = spans[first][0]
        around = text[begin : spans[last - 1][1]]
        keys = {word for word in _words(question) if word not in _STOPWORDS}
        yield (question, *self._with_words_replaced(around, start - begin, end - begin, keys, draw), "answers")
        same_paragraph = self._beside(number, excluded, keys)
        if same_paragraph and draw.random() < SAME_PARAGRAPH:
            yield (
                question,
                same_paragraph[0] if draw.random() < 0.8 else draw.choice(same_paragraph),
                -1,
                -1,
                "same paragraph",
            )
        if keys and draw.random() < OTHER_PARAGRAPH and (other := self._elsewhere(number, keys, answer, draw)):
            yield question, other, -1, -1, "other paragraph"
        if draw.random() < CHANGED and (changed := self._changed(question, around, answer, draw)):
            yield changed[0], changed[1], -1, -1, changed[2]

    def _with_words_replaced(
        self, text: str, start: int, end: int, keys: set[str], draw: random.Random
    ) -> tuple[str, int, int]:
        """Return the text and the offsets of the answer, in some cases after replacing one or two words.

        Words of the question and of the answer are not replaced.
        """
        if draw.random() >= REPLACED:
            return text, start, end
        free = [
            one
            for one in _LONG_WORD.finditer(text)
            if (one.end() <= start or one.start() >= end) and one[0] not in keys and one[0] not in _STOPWORDS
        ]
        chosen = draw.sample(free, min(len(free), draw.choice((1, 2))))
        for one in sorted(chosen, key=lambda match: -match.start()):
            if alike := self._alike.get(_suffix(one[0])):
                other = draw.choice(alike)
                text = text[: one.start()] + other + text[one.end() :]
                if one.end() <= start:
                    start, end = start + len(other) - len(one[0]), end + len(other) - len(one[0])
        return text, start, end

    def _beside(self, number: int, excluded: set[int], keys: set[str]) -> list[str]:
        """Return texts from the paragraph that contain no answer sentence, those most similar to the question first."""
        text, spans = self._paragraphs[number][1], self._sentences[number]
        candidates = []
        for at in range(len(spans)):
            if at not in excluded:
                first = at - 1 if at and at - 1 not in excluded else at
                last = at + 1 if at + 1 < len(spans) and at + 1 not in excluded else at
                passage = text[spans[first][0] : spans[last][1]]
                candidates.append((self._shared(passage, keys), spans[first][0], passage))
        return [passage for _, _, passage in sorted(candidates, reverse=True)]

    def _elsewhere(self, number: int, keys: set[str], answer: str, draw: random.Random) -> str:
        """Return a text from another paragraph that shares words with the question but does not contain the answer.

        Return an empty string if there is no such paragraph.
        """
        title = self._paragraphs[number][0]
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(keys & self._idf.keys()):
            if len(self._having[word]) < 0.3 * len(self._paragraphs):
                for other in self._having[word]:
                    near = 1.5 if self._titled and self._paragraphs[other][0] == title else 1.0
                    scores[other] += self._idf[word] * near
        scores.pop(number, None)
        best = sorted(scores, key=lambda one: -scores[one])[:NEAREST]
        silent = [one for one in best if answer.lower() not in self._paragraphs[one][1].lower()]
        if not silent:
            return ""
        chosen = silent[0] if draw.random() < 0.6 else draw.choice(silent)
        text, spans = self._paragraphs[chosen][1], self._sentences[chosen]
        parts = [text[spans[max(0, at - 1)][0] : spans[min(len(spans), at + 2) - 1][1]] for at in range(len(spans))]
        return max(parts, key=lambda part: self._shared(part, keys))

    def _shared(self, text: str, keys: set[str]) -> float:
        return sum(self._idf.get(word, 0.0) for word in keys & set(_words(text)))

    def _changed(self, question: str, text: str, answer: str, draw: random.Random) -> tuple[str, str, str] | None:
        """Make a replacement in the question or in the text; return question, text, and the kind of replacement.

        Return ``None`` if no replacement is possible.
        """
        replacements = [*self._replacements(question, text, draw)]
        if not replacements:
            return None
        (start, end), other, kind, _ = draw.choices(replacements, [weight for *_, weight in replacements])[0]
        pattern = re.compile(rf"\b{re.escape(question[start:end])}\b", re.IGNORECASE)
        if draw.random() < 0.5 and pattern.search(text) and not pattern.search(answer):
            replaced = pattern.sub(lambda match: other.capitalize() if match[0][0].isupper() else other, text)
            return question, replaced, f"{kind} in text"
        return question[:start] + other + question[end:], text, kind

    def _replacements(
        self, question: str, text: str, draw: random.Random
    ) -> Iterator[tuple[tuple[int, int], str, str, float]]:
        """Yield possible replacements: the span in the question, the new text, the kind, and the weight."""
        text_words = set(_words(text))
        for word in re.finditer(r"\b[\w'’-]+", question):
            if opposites := _OPPOSITES.get(word[0].lower()):
                other = draw.choice(opposites)
                if other not in text_words or word[0].lower() in text_words:
                    yield word.span(), other, "opposite", _TELLING
        for number in _NUMBER.finditer(question):
            value = int(re.sub(r"\D", "", number[0]))
            steps = (-20, -10, -3, -2, -1, 1, 2, 3, 5, 10, 20) if value > 20 else (1, 2, 3, 4)
            other = str(value + draw.choice(steps))
            if other not in text_words:
                yield number.span(), other, "number", _TELLING
        for name in _NAME.finditer(question):
            name_text = name[0].rstrip(".?")
            others = [draw.choice(self._names) for _ in range(4)]
            if strange := [one for one in others if one != name_text and one.lower() not in text.lower()]:
                yield (name.start(), name.start() + len(name_text)), strange[0], "name", _TELLING
        for word in _LONG_WORD.finditer(question):
            if word[0] in text_words and word[0] not in _STOPWORDS and (alike := self._alike.get(_suffix(word[0]))):
                others = [draw.choice(alike) for _ in range(5)]
                if strange := [one for one in others if one != word[0] and one not in text_words]:
                    yield word.span(), strange[0], "word", 1.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _suffix(word: str) -> str:
    """Return the suffix of a word, which serves as a rough word class."""
    return next((one for one in _SUFFIXES if word.endswith(one)), "" if len(word) > 3 else "short")


def _opposites() -> dict[str, list[str]]:
    opposites: dict[str, list[str]] = defaultdict(list)
    for pair in _PAIRS.split(", "):
        one, other = pair.split()
        opposites[one].append(other)
        opposites[other].append(one)
    return dict(opposites)


_OPPOSITES = _opposites()
