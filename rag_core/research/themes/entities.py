"""Find the entities of a document and the statements that mention them, without a language model.

Entities are names, which begin with capital letters, and terms: words in lower case that follow each other more often
than by chance. Statements are sentences and rows of tables. Two entities are linked if a statement mentions both.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rag_core.research.themes.definitions import defines_term, find_short_names
from rag_core.text.dates import MONTHS
from rag_core.text.grammar import ARTICLES, FUNCTION_WORDS, Token, split_tokens
from rag_core.text.injection import contains_instructions
from rag_core.text.numbers import SCALES
from rag_core.text.proper_names import Phrase, find_names
from rag_core.text.sentences import find_sentence_spans
from rag_core.text.words import ALPHANUMERIC, STOP_WORDS, find_lemma
from rag_core.types.chunks import PAGE_BREAK, ChunkRow
from rag_core.types.tables import Table, TableRow
from rag_core.types.themes import DocumentEntities, Entity, EntityKind, Statement, StatementKind

# Version of these rules. A change makes the builder read all documents again.
ENTITY_RULES = "text 2"
# Fewest statements of a document that mention a name, and a term. A rarer entity connects nothing.
_MIN_NAME, _MIN_TERM = 2, 3
# Lowest normalized pointwise mutual information of the words of a term; see Bouma, "Normalized (pointwise) mutual
# information in collocation extraction", GSCL 2009.
_MIN_NPMI = 0.35
# Fewest different words before a term and after it. "check mark" is no term if it occurs only in "indicate by check
# mark". Feng et al., "Accessor variety criteria for Chinese word extraction", Computational Linguistics 30(1), 2004.
_MIN_VARIETY = 2
# Most words of a term and of a name.
_TERM_WORDS, _NAME_WORDS = 3, 6
# Most entities of a document, where those with the most mentions are kept, and most entities of one statement.
_MAX_ENTITIES, _MAX_IN_STATEMENT = 1500, 12
# Fewest words of a statement.
_MIN_STATEMENT_WORDS = 4
# Words at the end of a phrase that names a period, such as "first quarter" and "three years".
_PERIOD = frozenset(word + ending for word in "year quarter month week day".split() for ending in ("", "s"))
_LEGAL_FORM = frozenset("inc corp corporation co company ltd limited plc llc lp sa ag nv gmbh".split())
_CALENDAR = frozenset([*MONTHS, *"monday tuesday wednesday thursday friday saturday sunday".split()])
# Words before the number of a part of a document, as in "Note 5", and abbreviations before amounts.
_PART = frozenset(
    f"{word}{ending}"
    for word in "see refer item note table part page section exhibit figure chapter article appendix schedule".split()
    for ending in ("", "s")
) | {"no", "usd", "eur"}


@dataclass(slots=True)
class _Sentence:
    """A sentence or a row of a table that may become a statement.

    ``start`` and ``end`` are offsets in the text of the chunk. ``mentions`` contains the keys of the mentioned entities
    in order. A row of a table has no tokens.
    """

    chunk_id: int
    start: int
    end: int
    text: str
    kind: StatementKind
    tokens: list[Token]
    names: list[Phrase]
    mentions: dict[str, None] = field(default_factory=dict)


def build_entity_key(text: str) -> str:
    """Return the key that all forms of an entity share: the lemmas of its words without article and legal form.

    >>> build_entity_key("the Supply Chains"), build_entity_key("Acme Corp.")
    ('suppli chain', 'acm')
    """
    words = [word.casefold() for word in ALPHANUMERIC.findall(text)]
    if words and words[0] in ("the", "a", "an"):
        words = words[1:]
    while len(words) > 1 and words[-1] in _LEGAL_FORM:
        words = words[:-1]
    return " ".join(map(find_lemma, words))


def extract_entities(
    rows: Sequence[ChunkRow], tables: Mapping[int, Sequence[Table]], names: Collection[str] | None = None
) -> DocumentEntities:
    """Return the entities of a version of a document and the statements that mention them.

    Parameters
    ----------
    rows : sequence of ChunkRow
        All chunks of the version in order.
    tables : mapping of int to sequence of Table
        The tables of the version by page index.
    names : collection of str, optional
        The names of the entities that a language model has found. By default, rules find the entities.
    """
    sentences = [*_read_sentences(rows, tables), *_read_table_rows(rows, tables)]
    forms: dict[str, Counter[str]] = {}
    kinds: dict[str, EntityKind] = {}

    def mention(sentence: _Sentence, text: str, kind: EntityKind) -> None:
        if key := build_entity_key(text):
            sentence.mentions[key] = None
            forms.setdefault(key, Counter())[" ".join(text.split())] += 1
            # A key that occurs both as a term and as a name is a term that titles write with capitals.
            kinds[key] = "term" if kind == "term" else kinds.get(key, kind)

    if names is None:
        ordinary_words = _find_ordinary_words(sentences)
        terms = _find_terms(sentences, ordinary_words)
        for sentence in sentences:
            for name in _trim_names(sentence):
                if is_entity_name(name, ordinary_words):
                    mention(sentence, name, "name")
            for term in _find_mentioned_terms(sentence, terms, ordinary_words):
                mention(sentence, term, "term")
    elif names:
        longest_first = sorted(names, key=lambda name: (-len(name), name))
        written = (r"\s+".join(map(re.escape, name.split())) for name in longest_first)
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(written)})(?!\w)", re.IGNORECASE)
        for sentence in sentences:
            for match in pattern.finditer(sentence.text):
                mention(sentence, match[0], "term" if match[0].islower() else "name")
    short_names = _find_short_names(sentences, forms)
    counts = Counter(short_names.get(key, key) for one in sentences for key in one.mentions)
    kept = [
        key
        for key, count in counts.most_common()
        if count >= (_MIN_TERM if names is None and kinds.get(key) == "term" else _MIN_NAME) and key in forms
    ][:_MAX_ENTITIES]
    positions = {key: position for position, key in enumerate(kept)}
    entities = tuple(Entity(key, forms[key].most_common(1)[0][0], kinds[key], counts[key]) for key in kept)
    statements = []
    for one in sentences:
        found = {positions[full] for key in one.mentions if (full := short_names.get(key, key)) in positions}
        if found:
            mentioned = tuple(sorted(found)[:_MAX_IN_STATEMENT])
            statements.append(Statement(one.chunk_id, one.start, one.end, one.kind, mentioned))
    return DocumentEntities(entities, tuple(statements))


def is_entity_name(name: str, ordinary_words: frozenset[str] = frozenset()) -> bool:
    """Return whether a name can be an entity; dates, numbers of sections and ordinary words cannot be entities."""
    words = [word.casefold() for word in ALPHANUMERIC.findall(name.removeprefix("the "))]
    if not words or len(words) > _NAME_WORDS or words[0] in _PART:
        return False
    letters = [word for word in words if word.isalpha()]
    if any(map(str.isdigit, words)) and not set(MONTHS).isdisjoint(letters):
        return False
    if sum(map(len, letters)) < 2 or all(word in _CALENDAR or word in FUNCTION_WORDS for word in letters):
        return False
    return len(words) > 1 or words[0] not in ordinary_words | _LEGAL_FORM


def _read_sentences(rows: Sequence[ChunkRow], tables: Mapping[int, Sequence[Table]]) -> Iterator[_Sentence]:
    """Yield the sentences outside tables, without short ones and without instructions to a model.

    Chunks overlap, so sentences that an earlier chunk contains are left out.
    """
    covered: dict[int, int] = {}
    for row in rows:
        inside = [(one.start - row.start, one.end - row.start) for one in tables.get(row.page_index, ())]
        text = row.text.partition(PAGE_BREAK)[0]
        for start, end in find_sentence_spans(text):
            if row.start + start < covered.get(row.page_index, 0):
                continue
            covered[row.page_index] = row.start + end
            if any(first < end and start < last for first, last in inside):
                continue
            words = text[start:end]
            if len(words.split()) >= _MIN_STATEMENT_WORDS and not contains_instructions(words):
                kind: StatementKind = "definition" if defines_term(words) else "sentence"
                yield _Sentence(row.id, start, end, words, kind, split_tokens(words), find_names(words))


def _read_table_rows(rows: Sequence[ChunkRow], tables: Mapping[int, Sequence[Table]]) -> Iterator[_Sentence]:
    """Yield the rows of tables that have a label and further cells.

    The label of a row and the headings of its sections are the names from which its entities are taken.
    """
    by_page: dict[int, list[ChunkRow]] = {}
    for row in rows:
        by_page.setdefault(row.page_index, []).append(row)
    for page_index, found in tables.items():
        for table in found:
            for table_row in table.body:
                if table_row.is_section or len(table_row.cells) < 2 or not table_row.label:
                    continue
                cells = [one for one in table_row.cells if one.spans]
                start, end = min(one.start for one in cells), max(one.end for one in cells)
                on_page = by_page.get(page_index, ())
                chunk = next((one for one in on_page if one.start <= start and end <= _find_page_end(one)), None)
                if chunk is not None:
                    yield _build_row_statement(table_row, chunk, start - chunk.start, end - chunk.start)


def _build_row_statement(row: TableRow, chunk: ChunkRow, start: int, end: int) -> _Sentence:
    labels = [" ".join(one.split()) for one in (*row.section, row.label)]
    # A label counts as a name even in lower case.
    names = [Phrase(one, 0, 0) for one in labels if len(one.split()) > 1]
    return _Sentence(chunk.id, start, end, chunk.text[start:end], "row", [], names)


def _find_page_end(row: ChunkRow) -> int:
    """Return the offset, in the text of the first page of a chunk, at which the chunk ends or the next page begins."""
    return row.start + len(row.text.partition(PAGE_BREAK)[0])


def _trim_names(sentence: _Sentence) -> Iterator[str]:
    """Yield the names of a sentence without articles, and without a label such as "Name:" on the next line."""
    for name in sentence.names:
        text = name.text.removeprefix("the ")
        following = sentence.text[name.end : name.end + 1]
        if following == ":" and "\n" in text:
            text = text.rpartition("\n")[0].rstrip()
        # Add the last full stop of an abbreviation such as "U.S.".
        yield text + "." if following == "." and "." in text.rpartition(" ")[2] else text


def _find_ordinary_words(sentences: Sequence[_Sentence]) -> frozenset[str]:
    """Return the capitalized words that are no names on their own.

    These are words

    - whose count in lower case is at least a quarter of their count with a capital letter,
    - that occur with a capital letter only at the beginning of sentences, such as "However",
    - that mostly precede a number, such as "Form" in "Form 10-K", and
    - that always precede the same word, such as "Indicate" in "Indicate by check mark".
    """
    lower: Counter[str] = Counter()
    upper: Counter[str] = Counter()
    for token in (token for one in sentences for token in one.tokens):
        (lower if token.text[0].islower() else upper)[token.word] += 1
    ordinary = {word for word, count in lower.items() if 4 * count >= upper[word]}
    begins = {one.tokens[0].word for one in sentences if one.tokens}
    within = {token.word for one in sentences for token in one.tokens[1:] if token.text[0].isupper()}
    pairs = [pair for one in sentences for pair in pairwise(one.tokens) if pair[0].text[0].isupper()]
    counted = Counter(token.word for token, after in pairs if any(map(str.isdigit, after.text)))
    numbering = {word for word, count in counted.items() if 2 * count > lower[word] + upper[word]}
    following: dict[str, set[str]] = {}
    for token, after in pairs:
        following.setdefault(token.word, set()).add(after.text)
    fixed = {
        word
        for word, others in following.items()
        if upper[word] >= _MIN_TERM and len(others) == 1 and max(others).islower()
    }
    return frozenset(ordinary | numbering | fixed | (begins - within))


def _find_runs(sentence: _Sentence, ordinary_words: frozenset[str]) -> Iterator[tuple[int, list[Token]]]:
    """Yield the runs of content words in lower case, separated only by white space, with the position of the first.

    The first word of a sentence may have a capital letter if it is an ordinary word.
    """
    run: list[Token] = []
    for position, token in enumerate(sentence.tokens):
        before = sentence.tokens[position - 1] if position else None
        joined = before is not None and sentence.text[before.end : token.start].isspace()
        is_lower = token.text.islower() or (before is None and token.word in ordinary_words)
        is_content = token.text.isalpha() and is_lower and not token.is_function_word
        is_content = is_content and token.word not in STOP_WORDS | _PART | SCALES.keys() and len(token.word) > 2
        if run and not (joined and is_content):
            yield position - len(run), run
            run = []
        if is_content:
            run.append(token)
    if run:
        yield len(sentence.tokens) - len(run), run


def _find_terms(sentences: Sequence[_Sentence], ordinary_words: frozenset[str]) -> frozenset[tuple[str, ...]]:
    """Return the terms of the document, each as the lemmas of its words."""
    runs = [(one, *run) for one in sentences for run in _find_runs(one, ordinary_words)]
    words = Counter(find_lemma(token.word) for _, _, run in runs for token in run)
    # A term does not begin or end with a participle such as "increased", has no adverb such as "mainly", and does not
    # name a period.
    tokens = {token.word for _, _, run in runs for token in run}
    adverbs = {word for word in tokens if word.endswith("ly") and find_lemma(word.removesuffix("ly")) in words}
    edges = {word for word in tokens if not word.endswith("ed")}
    ends = edges - _PERIOD
    sequences: Counter[tuple[str, ...]] = Counter()
    before: dict[tuple[str, ...], set[str]] = {}
    after: dict[tuple[str, ...], set[str]] = {}
    for sentence, begin, run in runs:
        lemmas = [find_lemma(token.word) for token in run]
        for length in range(2, _TERM_WORDS + 1):
            for first in range(len(lemmas) - length + 1):
                last = first + length - 1
                is_term = run[first].word in edges and run[last].word in ends
                if is_term and adverbs.isdisjoint(token.word for token in run[first : last + 1]):
                    term = tuple(lemmas[first : last + 1])
                    sequences[term] += 1
                    before.setdefault(term, set()).add(_find_word_beside(sentence, begin + first, -1))
                    after.setdefault(term, set()).add(_find_word_beside(sentence, begin + last, 1))
    total = sum(words.values())
    return frozenset(
        term
        for term, count in sequences.items()
        if count >= _MIN_TERM
        and min(len(before[term]), len(after[term])) >= _MIN_VARIETY
        and _compute_npmi(count, [words[one] for one in term], total) >= _MIN_NPMI
    )


def _find_word_beside(sentence: _Sentence, position: int, step: int) -> str:
    """Return the next word in the direction ``step`` (-1 or 1), without articles.

    At the end of the sentence, return a text that is different for each sentence.
    """
    beside = position + step
    while 0 <= beside < len(sentence.tokens):
        if sentence.tokens[beside].word not in ARTICLES:
            return sentence.tokens[beside].word
        beside += step
    return f"{sentence.chunk_id} {sentence.start}"


def _compute_npmi(together: int, each: Sequence[int], total: int) -> float:
    """Return the normalized pointwise mutual information of words that follow each other, from -1 to 1."""
    joint = together / total
    expected = math.prod(count / total for count in each)
    return math.log(joint / expected) / (-(len(each) - 1) * math.log(joint)) if joint < 1 else 1.0


def _find_mentioned_terms(
    sentence: _Sentence, terms: frozenset[tuple[str, ...]], ordinary_words: frozenset[str]
) -> Iterator[str]:
    """Yield the terms of a sentence as they are written.

    Of overlapping terms, yield only the one that begins first; if several begin there, the longest of these.
    """
    for _, run in _find_runs(sentence, ordinary_words):
        lemmas = [find_lemma(token.word) for token in run]
        first = 0
        while first < len(run):
            longest = min(_TERM_WORDS, len(run) - first)
            length = next((n for n in range(longest, 1, -1) if tuple(lemmas[first : first + n]) in terms), 0)
            if length:
                yield sentence.text[run[first].start : run[first + length - 1].end]
            first += length or 1


def _find_short_names(sentences: Sequence[_Sentence], forms: Mapping[str, Counter[str]]) -> dict[str, str]:
    """Return the short names that the document defines, as a mapping of their keys to the keys of the long names."""
    found: dict[str, str] = {}
    for one in sentences:
        if "(" not in one.text or one.kind == "row":
            continue
        for long, short in find_short_names(one.text):
            long_key, short_key = build_entity_key(long), build_entity_key(short)
            if long_key != short_key and long_key in forms and short_key and long_key not in found:
                found.setdefault(short_key, long_key)
    return found
