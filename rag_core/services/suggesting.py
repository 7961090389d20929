"""Questions that the documents answer as well, offered after an answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from rag_core.answering.phrases import content, names
from rag_core.retrieval import Timer
from rag_core.services.searching import Searching
from rag_core.types import Answer, AnswerState, Passage

MOST = 3
# Each try is a search, which the reader waits for.
MOST_TRIES = 6
HEADING_WORDS = 8
# A name said once may be a passing one; a reader learns little from asking about it.
TIMES_NAMED = 2


def follow_ups(searching: Searching, answer: Answer, documents: Sequence[str] | None) -> tuple[str, ...]:
    """Up to three questions about what the passages that pass the gate speak of beside the answer.

    They are asked about headings of those passages and about names that recur in them, and each was
    tried: its search passes the gate, with a passage on that very thing in front.
    """
    if answer.state is not AnswerState.ANSWERED or answer.stopped:
        return ()
    known = {word.lower() for word in content(f"{answer.question} {answer.rewritten}")}
    good: list[str] = []
    gate = answer.gate
    fitting = [one for one in answer.passages if (one.scores.get(gate.score_name) or 0.0) >= gate.threshold]
    for tries, (topic, question) in enumerate(_topics(fitting, known)):
        if len(good) == MOST or tries == MOST_TRIES:
            break
        found = searching.search(searching.query(question, documents), Timer()).result
        if found.gate.answerable and _is_about(found.passages[0], topic):
            good.append(question)
    return tuple(good)


def _topics(passages: Sequence[Passage], known: set[str]) -> Iterator[tuple[str, str]]:
    """Headings, then recurring names, each once, that say something which was not asked, with a question.

    The question has stop words alone beside the topic, so that it is the topic that is searched for.
    """
    known = known | {word.lower() for passage in passages for word in content(re.sub(r"[._]", " ", passage.document))}
    headings = [" ".join(passage.heading.split(" › ")[-1].split()).strip(" .:") for passage in passages]
    said = (" ".join(one.text.split()) for passage in passages for one in names(passage.text))
    named = Counter(name for name in said if name[0].isalpha())
    recurring = [name for name, times in named.most_common() if times >= TIMES_NAMED]
    # Of several words first: a full name says more than "Arab" or "NSF".
    recurring.sort(key=lambda name: len(content(name)) == 1)
    told: set[str] = set()
    forms = [(topic, f"What is in “{topic}”?") for topic in headings]
    forms += [(topic, f"Who or what is {topic}?") for topic in recurring]
    for topic, question in forms:
        words = {word.lower() for word in content(topic)}
        if not words or words <= known or words <= told or len(topic.split()) > HEADING_WORDS:
            continue
        told |= words
        yield topic, question


def _is_about(passage: Passage, topic: str) -> bool:
    said = f"{passage.heading} {passage.text}".lower()
    return all(word.lower() in said for word in content(topic))
