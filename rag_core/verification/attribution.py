"""Attribute each sentence of a generated answer to the passage sentence that supports it best.

Attribution happens after generation, as in Gao et al., "RARR: Researching and revising what language models say, using
language models", ACL 2023, but it compares token vectors instead of asking a model. The words of the answer never
change. Only citation markers are added, moved or removed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from rag_core.text.aliases import Aliases, find_aliases
from rag_core.text.annotated import AnnotatedText
from rag_core.text.languages import INTERJECTION, languages_differ
from rag_core.text.numbers import contains_number
from rag_core.types.answers import Citation, Claim, Mark
from rag_core.types.documents import PageKey
from rag_core.types.protocols import TextEncoder
from rag_core.types.retrieval import Passage
from rag_core.verification.citation_markers import (
    find_marker_place,
    normalize_markers,
    parse_markers,
    strip_source_list,
)
from rag_core.verification.claims import ClaimSpan, Context, Introduction, TableHeader, split_claims
from rag_core.verification.refusals import contains_refusal, has_leading_refusal, is_refusal
from rag_core.verification.support import (
    EncodedText,
    ScoredSentence,
    SourceSentence,
    SplitPassage,
    encode_text,
    rank_by_words,
    score_sentence,
)
from rag_core.verification.verified_answer import VerifiedAnswer
from rag_core.verification.wrong_values import find_wrong_value

EMPTY_ANSWER = "The model's answer contains no text."
RESTS_ON_DESCRIPTION = "It rests on the description of a figure by a model ({model}), which is no text of the document."
NOT_CHECKED = "The answer is in another language than its sources, so only its values were checked against them."
# Minimum support of a sentence that is cited for a claim although the model did not cite the sentence.
MIN_SUPPORT = 0.4
# Minimum support of a passage that the model cited for a claim; citations with less support are removed.
MIN_NAMED_SUPPORT = 0.3
# A citation of the model is kept if no other passage supports the claim better by more than this difference.
NAMED_MARGIN = 0.1
# A claim that has no number or name in common with the passages, and less support than this, is not found in them.
MIN_RELATED_SUPPORT = 0.15
# If the passages together have more characters, they are encoded sentence by sentence. Five passages of the usual size
# have fewer.
MAX_ENCODED_CHARS = 12_000
# Number of sentences of such passages that are compared with a claim by their vectors, and the same number of sentences
# of the cited passages.
COMPARED = 12
# A line that begins with citation markers, as in "[2]. The fee is 5 euros."
_LEADING_MARKERS = re.compile(r"^[ \t]*((?:\[\d+\][ \t]*)+)(?:[.:,][ \t]+)?(?![|\s[])(\S.*?)([.!?]*)$", re.MULTILINE)
_MARKER, _WORD = re.compile(r"\[[^\]\n]*\]"), re.compile(r"\w")


@dataclass(frozen=True)
class _Attribution:
    """A claim with the sentences to cite for it, best first.

    ``closest`` is the sentence that supports the claim best, whether or not it is cited. ``mark``, ``source_value``,
    ``compared_rank`` and ``reason`` are as in `Claim`. If ``is_described`` is true, the claim rests on the description
    of a figure. The caption of the figure is then cited, but does not support the claim.
    """

    claim: ClaimSpan
    sentences: tuple[SourceSentence, ...] = ()
    closest: SourceSentence | None = None
    mark: Mark = ""
    source_value: str = ""
    compared_rank: int = 0
    reason: str = ""
    is_described: bool = False

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Ranks of the passages to cite, best first."""
        return tuple(dict.fromkeys(sentence.source.passage.rank for sentence in self.sentences))

    @property
    def compared(self) -> tuple[SourceSentence, ...]:
        """The sentences to cite, or else the closest sentence; empty if the claim rests on a description."""
        return () if self.is_described else self.sentences or tuple(filter(None, [self.closest]))


@dataclass(frozen=True)
class _Edit:
    """A span of a text and its replacement."""

    start: int
    end: int
    text: str


def verify_text(text: str, comparison: SourceComparison) -> VerifiedAnswer:
    """Return a generated text with citations for its claims, or unchanged and marked as refused if it is a refusal.

    A refusal consists of `REFUSAL` alone, or begins with a refusal and contains no supported claim. A text that begins
    with a refusal and continues with supported claims answers a part of the question.
    """
    if is_refusal(text):
        return VerifiedAnswer(text, refused=True)
    answer = comparison.attribute(text)
    if has_leading_refusal(text) and not any(statement.supported for statement in answer.statements):
        return VerifiedAnswer(text, refused=True)
    return answer


def contains_words(text: str) -> bool:
    """Return whether a text contains a letter or digit outside square brackets, and not only citation markers."""
    return _WORD.search(_MARKER.sub("", text)) is not None


def attribute_claims(
    text: str,
    question: str,
    passages: Sequence[Passage],
    encode: TextEncoder,
    context: Context | None = None,
) -> VerifiedAnswer:
    """Return a generated text with citations for its claims, and with marks on claims that passages contradict or lack.

    - A claim keeps the model's citation if a sentence of the cited passage supports the claim about as well as the best
      sentence of all passages.
    - Otherwise, the passage with the best sentence is cited if this sentence supports the claim sufficiently.
    - A contradicted claim cites the sentence that contradicts it.

    Only markers change in the text. Markers at the beginning of a line move to the end of the line.

    Parameters
    ----------
    text : str
        Generated text, with markers in any form that `citation_markers.normalize_markers` accepts.
    question : str
    passages : sequence of Passage
        The passages in the prompt. The number in a marker is the rank of a passage.
    encode : TextEncoder
        Returns the token vectors of a text.
    context : Introduction or TableHeader, optional
        The introduction or table header above the text, if the text is a part of a longer draft.

    Returns
    -------
    VerifiedAnswer
        Citations are in order of appearance; ``added`` is true for citations that the model did not write. If the text
        is in another language than its passages, claims are marked only because of their values, and the other claims
        keep the model's citations. Further citations are then based on common numbers and names only.
    """
    return SourceComparison(passages, question, encode).attribute(text, context)


class SourceComparison:
    """Passages that are compared with the claims of an answer, also while the answer is being written.

    Parameters
    ----------
    passages : sequence of Passage
    question : str
    encode : TextEncoder
    """

    def __init__(self, passages: Sequence[Passage], question: str, encode: TextEncoder) -> None:
        self.passages = passages
        self.question = question
        self._encode = encode
        self._encoded_question = encode_text(question, encode)
        self._sources = _split_passages(passages, self._encoded_question, encode)
        self._described = [
            (split, one, SplitPassage(replace(split.passage, text=one.text), self._encoded_question, encode))
            for split in self._sources
            for one in split.passage.descriptions
        ]
        # What was compared while the text was written is not compared again.
        self._compared: dict[tuple[str, Context | None, tuple[int, ...], bool], _Attribution] = {}

    def attribute(self, text: str, context: Context | None = None) -> VerifiedAnswer:
        """Return a text with citations and marks; see `attribute_claims`."""
        ranks = sorted(passage.rank for passage in self.passages)
        text = strip_source_list(normalize_markers(text, ranks), {passage.document for passage in self.passages})
        text = _LEADING_MARKERS.sub(_move_markers_to_end, text)
        foreign = self._is_foreign(text)
        claims = (replace(one, context=one.context or context) for one in _select_claims(text))
        attributions = [self._attribute(text, claim, foreign) for claim in claims]
        return replace(_build_verified_answer(text, attributions), unchecked=foreign)

    def mark_complete_claims(self, text: str, start: int) -> tuple[list[Claim], int]:
        """Return the marked claims of a text that is still being written, and the ``start`` for the next call.

        Claims that begin before ``start`` are left out, and so are claims that may be incomplete or whose markers are
        not normalized. The ``start`` for the next call is the start of the last claim, or the end of a text that ends
        with a line break or contains no claims. If the text begins with a refusal, no claims are returned. All offsets
        are in the given text.
        """
        claims = _select_claims(text)
        # What follows the last claim may still belong to it.
        end = len(text) if text.endswith("\n") or not claims else claims[-1].start
        ranks = sorted(passage.rank for passage in self.passages)
        foreign = self._is_foreign(text)
        found = []
        for claim in claims:
            written = text[claim.start : claim.end]
            if start <= claim.start < end and written and normalize_markers(written, ranks) == written:
                one = self._attribute(text, claim, foreign)
                if one.mark:
                    mark = Claim(claim.start, claim.end, False, "", one.mark, one.source_value, one.compared_rank)
                    found.append(mark)
        return [] if has_leading_refusal(text) else found, end

    def _is_foreign(self, text: str) -> bool:
        # Pages that the answer does not use can be in other languages, so with many pages only the cited ones count.
        cited = set(parse_markers(text)) if any(one.in_parts for one in self._sources) else set()
        compared = [one for one in self.passages if one.rank in cited] or self.passages
        return languages_differ(text, "\n".join(one.text for one in compared))

    def _attribute(self, text: str, claim: ClaimSpan, foreign: bool) -> _Attribution:
        key = text[claim.start : claim.end], claim.context, claim.ranks, foreign
        if key not in self._compared:
            found = _attribute_claim(text, claim, self._encoded_question, self._sources, self._encode, foreign)
            self._compared[key] = self._find_description(text, found, foreign) if self._described else found
        return replace(self._compared[key], claim=claim)

    def _find_description(self, text: str, found: _Attribution, foreign: bool) -> _Attribution:
        """Return an attribution to the figure whose description supports the claim best.

        ``found`` is returned if its sentences support the claim as well as the best description, or if no description
        supports the claim sufficiently and has its numbers. A description is no evidence, so a claim that rests on a
        description is neither supported nor contradicted.
        """
        said = encode_text(text[found.claim.start : found.claim.end], self._encode)
        compared = [
            score_sentence(said, one.source.encode_sentence(one), foreign).support
            for one in {id(one): one for one in filter(None, (*found.sentences, found.closest))}.values()
        ]
        best = max(compared, default=0.0)
        for source, described, split in self._described:
            encoded = map(split.encode_sentence, split.sentences)
            support = max((score_sentence(said, one, foreign).support for one in encoded), default=0.0)
            has_numbers = all(split.contains_number(one) or source.contains_number(one) for one in said.reading.numbers)
            if support >= MIN_SUPPORT and support > best and has_numbers:
                place = described.start - source.passage.start, described.end - source.passage.start
                caption = SourceSentence(source, *place, AnnotatedText(described.caption), split.sentences[0].tokens)
                reason = RESTS_ON_DESCRIPTION.format(model=described.model)
                found = _Attribution(found.claim, (caption,), caption, reason=reason, is_described=True)
                best = support
        return found


def _split_passages(passages: Sequence[Passage], question: EncodedText, encode: TextEncoder) -> list[SplitPassage]:
    """Return the passages split into sentences, in the given order.

    If the passages are encoded in parts, the last sentence of a page can continue in a passage that begins the next
    page.
    """
    in_parts = sum(len(one.text) for one in passages) > MAX_ENCODED_CHARS
    aliases = _find_aliases(passages)
    pages: dict[PageKey, SplitPassage] = {}
    by_rank: dict[int, SplitPassage] = {}
    for one in sorted(passages, key=lambda passage: (passage.version_id, -passage.page_index)):
        following = pages.get((one.version_id, one.page_index + 1)) if in_parts else None
        known = aliases[one.version_id]
        split = SplitPassage(one, question, encode, following=following, in_parts=in_parts, aliases=known)
        by_rank[one.rank] = split
        if one.start == 0:
            pages[one.page_key] = split
    return [by_rank[one.rank] for one in passages]


def _find_aliases(passages: Sequence[Passage]) -> dict[str, Aliases]:
    """Return the aliases that each document defines in its passages, by version id."""
    texts: dict[str, list[str]] = {}
    for one in passages:
        texts.setdefault(one.version_id, []).append(one.text)
    titles = {one.version_id: f"{one.document} {one.document_label}" for one in passages}
    return {version: find_aliases("\n".join(parts), titles[version]) for version, parts in texts.items()}


def _move_markers_to_end(line: re.Match[str]) -> str:
    """Return a line with its leading markers moved to the end.

    A line that continues in lower case, such as "[1] and [2] say that", is not changed, because the markers are part
    of the sentence.
    """
    markers, words, ending = line.groups()
    return line[0] if words[0].islower() else f"{words} {''.join(markers.split())}{ending}"


def _select_claims(text: str) -> list[ClaimSpan]:
    """Return the claims of a text that are compared with the passages.

    - Statements that the sources lack a fact are left out.
    - A bare "Yes." or "No." without markers is left out if there are other claims.
    - Claims without markers keep their ranks only if they share the markers of a later claim.
    """
    claims = [claim for claim in split_claims(text) if not contains_refusal(text[claim.start : claim.end])]
    stating = [
        claim for claim in claims if claim.markers or not INTERJECTION.fullmatch(text, claim.start, claim.end)
    ] or claims
    return [
        claim
        if claim.markers or _find_shared_markers(text, stating, position) is not None
        else replace(claim, ranks=())
        for position, claim in enumerate(stating)
    ]


def _find_shared_markers(text: str, all_claims: Sequence[ClaimSpan], position: int) -> int | None:
    """Return the position of the later claim whose markers a claim shares; ``None`` if there is none.

    A claim without markers shares the markers of the next claim with markers in its paragraph.
    """
    following = range(position + 1, len(all_claims))
    marked = next((other for other in following if all_claims[other].markers), None)
    if marked is None or all_claims[marked].ranks != all_claims[position].ranks:
        return None
    return None if "\n\n" in text[all_claims[position].end : all_claims[marked].start] else marked


def _attribute_claim(
    text: str,
    claim: ClaimSpan,
    question: EncodedText,
    sources: Sequence[SplitPassage],
    encode: TextEncoder,
    foreign: bool,
) -> _Attribution:
    written = text[claim.start : claim.end]
    opening = INTERJECTION.match(written)
    written = written[opening.end() :] if opening and opening.end() < len(written) else written
    asked = question.reading
    header = claim.context if isinstance(claim.context, TableHeader) else None
    if isinstance(claim.context, Introduction):
        # The values of the introduction are known, like those of the question.
        written = f"{claim.context.text}: {written}"
        asked = AnnotatedText(f"{asked.text}\n{claim.context.text}")
    said = encode_text(written, encode)
    candidates = _select_sentences(said, claim, sources)
    if not candidates:
        return _Attribution(claim)
    scored = [score_sentence(said, one.source.encode_sentence(one), foreign) for one in candidates]
    closest = max(scored, key=lambda candidate: candidate.with_question)
    best = closest.sentence
    wrong, calculation = find_wrong_value(said.reading, asked, scored, sources, foreign, header)
    if wrong and wrong.source_value:
        rank = wrong.sentence.source.passage.rank
        return _Attribution(claim, (wrong.sentence,), best, "contradicted", wrong.source_value, rank)
    # A row of a table has too few words for this comparison.
    if (
        not foreign
        and header is None
        and _is_unrelated(said.reading, asked, sources, max(one.support for one in scored))
    ):
        return _Attribution(claim, (), best, "not_found", wrong.value if wrong else "", best.source.passage.rank)
    kept = []
    for rank in dict.fromkeys(claim.ranks):
        in_passage = [candidate for candidate in scored if candidate.sentence.source.passage.rank == rank]
        if (stating := _find_sentence_with_numbers(said.reading, asked, in_passage)) is not None:
            kept.append(stating)
            continue
        named = max(in_passage, key=lambda candidate: candidate.with_question, default=None)
        if named is None:
            continue
        as_good = named.with_question >= closest.with_question - NAMED_MARGIN
        if foreign or (named.support >= MIN_NAMED_SUPPORT and as_good):
            kept.append(named.sentence)
    if not kept and closest.support >= MIN_SUPPORT:
        kept = [best]
    cited = tuple(_add_number_sentences(said.reading, asked, kept))
    if wrong:
        return _Attribution(claim, cited, best, "not_found", wrong.value, best.source.passage.rank)
    return _Attribution(claim, cited, best, reason=f"calculated: {calculation}" if calculation else "")


def _select_sentences(said: EncodedText, claim: ClaimSpan, sources: Sequence[SplitPassage]) -> list[SourceSentence]:
    """Return the sentences to compare with a claim by their vectors.

    These are all sentences or, if the passages are encoded in parts, the `COMPARED` sentences with most words of the
    claim. As many sentences of the cited passages are added, because they may state the claim in other words.
    """
    sentences = [sentence for source in sources for sentence in source.sentences]
    if not any(source.in_parts for source in sources):
        return sentences
    ranked = rank_by_words(said, sentences)
    cited = [one for one in ranked if one.source.passage.rank in claim.ranks]
    return list({(id(one.source), one.start): one for one in (*ranked[:COMPARED], *cited[:COMPARED])}.values())


def _find_sentence_with_numbers(
    said: AnnotatedText, question: AnnotatedText, candidates: Sequence[ScoredSentence]
) -> SourceSentence | None:
    """Return the sentence with most numbers of a claim, given the sentences of one cited page.

    Sentences of other pages may resemble the claim more, but lack its numbers. Numbers of the question are ignored. The
    result is ``None`` if the page lacks one of the numbers, if there are no numbers, or if the page is not encoded in
    parts.
    """
    if not candidates or not candidates[0].sentence.source.in_parts:
        return None
    source = candidates[0].sentence.source
    asked = question.possible_numbers
    numbers = [one for one in said.numbers if not contains_number(asked, one)]

    def count(text: AnnotatedText) -> int:
        return sum(contains_number(text.possible_numbers, one, source.scales) for one in numbers)

    if not numbers or count(source.reading) < len(numbers):
        return None
    return max(candidates, key=lambda one: (count(one.sentence.reading), one.with_question)).sentence


def _is_unrelated(
    said: AnnotatedText, question: AnnotatedText, sources: Sequence[SplitPassage], support: float
) -> bool:
    """Return whether a claim has no number, name or meaning in common with the passages.

    ``support`` is the highest support of the claim by a sentence. A claim with fewer than two content words is not
    unrelated.
    """
    if support >= MIN_RELATED_SUPPORT or len(said.content) < 2:
        return False
    return not any(
        _has_common_fact(said, text, source.scales, question)
        for source in sources
        for text in (source.reading, source.title)
    )


def _has_common_fact(
    claim: AnnotatedText, source: AnnotatedText, scales: frozenset[int], question: AnnotatedText
) -> bool:
    """Return whether a source contains a number or name of a claim that the question does not contain."""
    if any(
        contains_number(source.possible_numbers, number, scales) and not contains_number(question.numbers, number)
        for number in claim.numbers
    ):
        return True
    return any(word.stem in source.stems for word in claim.names if word.stem not in question.stems)


def _add_number_sentences(
    said: AnnotatedText, question: AnnotatedText, sentences: Sequence[SourceSentence]
) -> Iterator[SourceSentence]:
    """Yield each sentence and, if it lacks a number of the claim, a sentence of its passage that has the number.

    The rest of a sentence on the next page is yielded too if it has a number or name of the claim that the question
    does not contain.
    """
    for sentence in sentences:
        yield sentence
        if (rest := sentence.source.find_rest(sentence)) is not None and _has_common_fact(
            said, rest.reading, rest.source.scales, question
        ):
            yield rest
        scales = sentence.source.scales
        missing = [one for one in said.numbers if not contains_number(sentence.reading.numbers, one, scales)]
        others = (
            candidate
            for candidate in sentence.source.sentences
            if candidate is not sentence
            and any(contains_number(candidate.reading.numbers, one, scales) for one in missing)
        )
        yield from islice(others, 1)


def _build_verified_answer(text: str, attributions: Sequence[_Attribution]) -> VerifiedAnswer:
    """Return the text with the markers of the attributions, the citations, and the statements with their verdicts."""
    all_claims = [attribution.claim for attribution in attributions]
    # The ranks that claims without markers cite through the markers of a later claim. These markers must be kept.
    shared: dict[int, set[int]] = {}
    for position, attribution in enumerate(attributions):
        marked = None if attribution.claim.markers else _find_shared_markers(text, all_claims, position)
        if marked is not None:
            shared.setdefault(marked, set()).update(set(attribution.ranks) & set(attribution.claim.ranks))
    changes = [
        _create_edits(text, attribution, shared.get(position, set()))
        for position, attribution in enumerate(attributions)
    ]
    edits = [edit for claim_edits, _ in changes for edit in claim_edits]
    kept = [(one, end) for one, (_, end) in zip(attributions, changes, strict=True) if one.claim.start < end]
    return VerifiedAnswer(
        _apply_edits(text, edits),
        _create_citations(attributions),
        tuple(_create_statement(attribution, end, edits) for attribution, end in kept),
        compared=tuple(tuple(map(_cite, attribution.compared)) for attribution, _ in kept),
        contexts=tuple(attribution.claim.context for attribution, _ in kept),
    )


def _create_statement(attribution: _Attribution, end: int, edits: Sequence[_Edit]) -> Claim:
    """Return the statement of an attribution, with offsets in the edited text.

    ``end`` is the end of the statement in the text before the edits.
    """

    def shift(offset: int) -> int:
        return offset + sum(len(edit.text) - (edit.end - edit.start) for edit in edits if edit.end <= offset)

    return Claim(
        # Markers inserted at the end of a statement are not part of it.
        shift(attribution.claim.start),
        shift(end) - sum(len(edit.text) for edit in edits if edit.start == edit.end == end),
        supported=bool(attribution.sentences) and not attribution.mark and not attribution.is_described,
        reason=attribution.reason,
        mark=attribution.mark,
        source_value=attribution.source_value,
        compared_rank=attribution.compared_rank,
    )


def _create_citations(attributions: Sequence[_Attribution]) -> tuple[Citation, ...]:
    """Return one citation for each sentence to cite, in the order of the claims.

    ``added`` is true for citations that the model did not write.
    """
    citations: dict[tuple[int, int, int], Citation] = {}
    for attribution in attributions:
        for sentence in attribution.sentences:
            quote = _cite(sentence)
            key = (quote.marker, quote.start, quote.end)
            by_model = quote.marker in attribution.claim.ranks or (key in citations and not citations[key].added)
            citations[key] = replace(quote, added=not by_model)
    return tuple(citations.values())


def _cite(sentence: SourceSentence) -> Citation:
    return Citation.of(sentence.source.passage, sentence.start, sentence.end)


def _create_edits(text: str, attribution: _Attribution, shared: Collection[int]) -> tuple[list[_Edit], int]:
    """Return the edits that make a claim cite the ranks of its attribution, and the end of its statement.

    ``shared`` contains the ranks that earlier claims cite through the markers of this claim. All offsets are in the
    text before the edits.
    """
    claim = attribution.claim
    wrong = [(start, end) for start, end, rank in claim.markers if rank not in attribution.ranks and rank not in shared]
    # A claim without markers needs no marker if a later claim, whose markers it shares, cites the same passage.
    given = {rank for _, _, rank in claim.markers} or set(claim.ranks)
    missing = "".join(f"[{rank}]" for rank in attribution.ranks if rank not in given)
    edits = []
    for start, end in wrong:
        blanks = 0 if missing else len(text[:start]) - len(text[:start].rstrip(" \t"))
        edits.append(_Edit(start - blanks, end, missing))
        missing = ""
    if not missing:
        return edits, claim.end
    if claim.markers:
        # All markers of the claim stay, so the missing markers follow them.
        last = claim.markers[-1][1]
        return [*edits, _Edit(last, last, missing)], claim.end
    place = find_marker_place(text, claim.start, claim.end)
    return [*edits, _Edit(place, place, f" {missing}")], place


def _apply_edits(text: str, edits: Sequence[_Edit]) -> str:
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, text[position:]])
