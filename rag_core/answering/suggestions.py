"""Suggest further questions that the documents answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence

from rag_core.answering.search import Searcher
from rag_core.text.dates import MONTHS
from rag_core.text.grammar import FUNCTION_WORDS
from rag_core.text.noun_phrases import Phrase, find_content_words, find_names
from rag_core.types import Answer, AnswerState, Passage, Scope, Stage
from rag_core.types.chunks import HEADING_SEPARATOR
from rag_core.types.retrieval import Timer

LABEL = "Looking for further questions"
MAX_SUGGESTIONS = 3
# Maximum number of questions to check; each check needs a search.
MOST_TRIES = 6
HEADING_WORDS = 8
# Minimum number of occurrences of a name; the documents say little about a name that occurs once.
TIMES_NAMED = 2

_WITHIN_SENTENCE = re.compile(r"[a-z,]\s+\Z")
_LOWER_CASE = re.compile(r"\s([a-z][\w-]*)")


def suggest_questions(searcher: Searcher, answer: Answer, scope: Scope) -> Generator[Stage, None, tuple[str, ...]]:
    """Return up to three questions about topics in the answer's passages that the user has not asked about.

    Topics are the headings of passages that pass the gate, and names that occur several times in these passages. A
    question is suggested only if the passages of its search pass the gate.
    """
    if answer.state is not AnswerState.ANSWERED or answer.stopped:
        return ()
    known = {word.lower() for word in find_content_words(f"{answer.question} {answer.rewritten}")}
    suggested: list[str] = []
    passing = [one for one in answer.passages if searcher.decide_on_quotes([one]).answerable]
    for tries, question in enumerate(find_topic_questions(passing, known)):
        if len(suggested) == MAX_SUGGESTIONS or tries == MOST_TRIES:
            break
        # At this event, the caller can close the generator, so that the next search does not run.
        yield Stage("suggest", LABEL)
        result = searcher.search(searcher.build_query(question, scope), Timer()).result
        if searcher.decide_on_quotes(result.passages).answerable:
            suggested.append(question)
    return tuple(suggested)


def find_topic_questions(passages: Sequence[Passage], known: set[str]) -> Iterator[str]:
    """Yield questions about headings, then about recurring names; skip topics whose words are all ``known``.

    Apart from the topic, the questions contain only stop words, so that a search finds passages about the topic.
    """
    known = known | {
        word.lower() for passage in passages for word in find_content_words(re.sub(r"[._]", " ", passage.document))
    }
    used: set[str] = set()
    candidates = [(topic, f"What is in “{topic}”?") for topic in _find_headings(passages)]
    candidates += [
        (topic, f"Who or what is {topic}?") for topic in _find_recurring_names([one.text for one in passages])
    ]
    for topic, question in candidates:
        words = {word.lower() for word in find_content_words(topic)}
        if not words or words <= known or words <= used or len(topic.split()) > HEADING_WORDS:
            continue
        used |= words
        yield question


def _find_headings(passages: Sequence[Passage]) -> list[str]:
    """Return the innermost heading of each passage, except uninformative headings such as "Overview" and "Part II"."""
    headings = (" ".join(passage.heading.split(HEADING_SEPARATOR)[-1].split()).strip(" .:") for passage in passages)
    return [one for one in headings if sum(len(word) > 2 and word.isalpha() for word in find_content_words(one)) > 1]


def _find_recurring_names(texts: Sequence[str]) -> list[str]:
    """Return the names that occur more than once; names of several words come first."""
    common = {word for text in texts for word in find_content_words(text) if word.islower()}
    names = (" ".join(one.text.split()) for text in texts for one in find_names(text) if _is_specific_name(text, one))
    times = Counter(filter(_contains_word, names))
    recurring = [name for name, number in times.most_common() if number >= TIMES_NAMED]
    recurring = [name for name in recurring if not {word.lower() for word in find_content_words(name)} <= common]
    return sorted(recurring, key=lambda name: len(find_content_words(name)) == 1)


def _is_specific_name(text: str, name: Phrase) -> bool:
    """Return whether a capitalized phrase is the name of one thing.

    A phrase of several words is always taken as such a name. A single word may have a capital letter for other reasons:
    it begins a sentence, it is a term or a people after an article ("the Company", "the Canadians"), it is an adjective
    before a noun ("British troops"), or it is a month.
    """
    if len(find_content_words(name.text)) > 1:
        return True
    if " " in name.text or name.text.lower() in MONTHS:
        return False
    within = _WITHIN_SENTENCE.search(text, 0, name.start)
    following = _LOWER_CASE.match(text, name.end)
    return within is not None and (following is None or following[1] in FUNCTION_WORDS)


def _contains_word(name: str) -> bool:
    """Return whether a name contains a word of three or more letters, which a symbol of a formula does not."""
    return name[0].isalpha() and any(len(word) > 2 and word.isalpha() for word in find_content_words(name))
