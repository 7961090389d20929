"""Split text into sentences and table rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_LINE = re.compile(r"[^\n]+")
# The label of a section whose title is in the next line, such as "Note 12", "ARTICLE IV" or "Chapter 1".
SECTION_LABEL = re.compile(r"[^\W\d]+ (?:\d{1,3}|[IVXLC]{1,6})[A-Z]?[.:]?")
# The marker of a list item.
LIST_MARKER = re.compile(r"(?:[•▪◦‣·∙–*-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,5})[.)]|\(?[A-Z]\))\s")
# Maximum number of characters of a sentence. A longer span of several lines is a table or a list, unless it is prose.
MAX_SENTENCE_CHARS = 600
# Lines are prose if they have at least ``_PROSE_WORDS`` words on average, and if at least the share ``_PROSE_SHARE`` of
# them continues in the next line. A line continues if the next line begins in lower case and the line has more than
# ``_WORDS_PER_FIGURE`` other words per figure.
_PROSE_WORDS = 6
_WORDS_PER_FIGURE = 2
_PROSE_SHARE = 0.5
# Maximum number of characters of a line with several figures that is probably a table row.
MAX_ROW_CHARS = 90
_FIGURE = re.compile(r"\d[\d.,]*")
# A label and its figure, as in "Weight 4.6 kg". Lines of prose with a figure are longer or begin in lower case.
_LABELLED = re.compile(r"[^\W\d_].*[\s:][^\w\s]?\d")
MAX_LABELLED_CHARS = 60
# Characters that sentencex 1.0 cannot process. It panics at non-ASCII blanks, such as no-break spaces, and rejects lone
# surrogates. A panic is not an ``Exception``, so that it would end the thread.
_UNSAFE = re.compile(r"(?![\x00-\x7f])\s|[\ud800-\udfff]")
# List markers with a bracket, such as "(a)" and "1)". sentencex finds no sentence end in a line that begins with one.
_BRACKETED = re.compile(r"^(?:[ \t]*\(?(?:\d{1,2}|[A-Za-z]|[ivx]{2,5})\)(?=\s))+", re.MULTILINE)
# The number of a list item or heading, such as "4." in "4. Payment", which sentencex separates from the text.
_LONE_MARK = re.compile(r"\s*\d{1,2}\.[^\S\n]*")
# The one or two full stops at the beginning of a word, as in "./configure" and ".NET".
_POINT_BEFORE = re.compile(r"(?:\A|\s)\.{1,2}\Z")
# Abbreviations after which sentencex finds a sentence end. Those in ``_NO_END`` never end a sentence. Those in
# ``_MAYBE_END`` do not end a sentence if a lower-case word, a figure or a symbol such as a currency sign follows.
_NO_END = re.compile(
    r"\b(?:abzgl|approx|aprox|bzw|cf|einschl|evtl|excl|exkl|ggf|incl|inkl|sog|vgl|vs|zzgl|(?-i:M(?:s|ses|essrs)))\.\s*\Z",
    re.IGNORECASE,
)
_MAYBE_END = re.compile(
    r"\b(?:abs|acc|art|assoc|avg|ca|cl|dept|dev|dia|ed|env|eq|equiv|est|ext|figs?|gem|hrs?|int|max|mfr|min|mind|mio|misc|mo|"
    r"mrd|mwst|no|nos|nr|núm|pág|paras?|pp?|pts?|qty|ref|resp|sec|sq|std|tel|temp|tsd|usw|vol|wt|yr)\.\s*"
    r"(?:[(\[]\d+[)\]]\s*)?\Z",
    re.IGNORECASE,
)
_CONTINUATION = re.compile(r"(?:Euro|EUR|US)\b| ?[^\W\d_A-Z]|[(\[]?\d|[.,;:€$£¥§~≈±<>≤≥]")
# A time before its time zone, as in "4:30 p.m. ET", "5 p.m. Eastern Time" and "9 a.m. London time".
_HOUR = re.compile(r"\d\s?[ap]\.\s?m\.\s*\Z", re.IGNORECASE)
_ZONE = re.compile(
    r"\(?(?:[ECMPAH][SD]?T|AK[SD]T|UTC|GMT|BST|WES?T|CES?T|EES?T|IST|JST|KST|SGT|HKT|A[EWC][SD]T)\b|"
    r"\(?(?:[A-Z][a-z]+ ){1,3}[Tt]ime\b"
)
# German ordinals end in a full stop: "am 3. Werktag", "1. Juli", "1. 7. 2023" and "zum 15. oder".
_GERMAN_ORDINAL = re.compile(r"\b(?:am|beim|dem|den|der|des|im|jede[mnrs]?|vom|zum|zur)\s\d{1,2}\.\s*\Z", re.IGNORECASE)
_ORDINAL = re.compile(r"(?<![\d.,])\d{1,2}\.\s*\Z")
_AFTER_ORDINAL = re.compile(
    r"(?:Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-zä]*\b|\d{1,2}\. ?\d{4}\b|[a-zäöüß]{2}"
)
_DAY_AND_MONTH = re.compile(r"\b\d{1,2}\.\s?\d{1,2}\.\s*\Z")
_A_YEAR = re.compile(r"\d{4}\b")
# Number of characters before and after a sentence end of sentencex that are examined.
_NEAR = 40
_PARAGRAPH_END = re.compile(r"\n\s*\n\s*\Z")


def find_sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text, and of the lines of its tables, in order.

    The spans do not overlap, and contain all characters except white space between sentences. sentencex finds the
    sentence ends; its wrong ends after abbreviations and ordinals are ignored. Tables and long lists without a sentence
    end are split into lines.
    """
    spans: list[tuple[int, int]] = []
    for start, end in _find_sentences(text):
        if _is_tabular(text[start:end]):
            spans += [(start + m.start(), start + m.end()) for m in _LINE.finditer(text[start:end])]
        else:
            spans.append((start, end))
    trimmed = (_trim(text, start, end) for start, end in spans)
    return [(start, end) for start, end in trimmed if start < end]


def _find_sentences(text: str) -> Iterator[tuple[int, int]]:
    import sentencex

    # Replacements have the same length, so that offsets stay valid.
    masked = _BRACKETED.sub(lambda mark: "X" * len(mark[0]), _UNSAFE.sub(_to_ascii, text))
    first = None
    for boundary in sentencex.get_sentence_boundaries("en", masked):
        start, end = boundary["start_index"], boundary["end_index"]
        first = start if first is None else first
        if not _continues(text[max(first, end - _NEAR) : end], text[end : end + _NEAR]):
            yield first, end
            first = None
    if first is not None:
        yield first, len(text)


def _to_ascii(blank: re.Match[str]) -> str:
    return "\n" if blank[0] in "\x85\u2028\u2029" else " "


def _continues(before: str, after: str) -> bool:
    """Return whether a sentence continues after an apparent end, given the text before and after the end."""
    if _PARAGRAPH_END.search(before) or (before.endswith("\n") and LIST_MARKER.match(after)):
        return False
    if _LONE_MARK.fullmatch(before) or _NO_END.search(before) or _GERMAN_ORDINAL.search(before):
        return True
    if _POINT_BEFORE.search(before) and after[:1].strip():
        return True
    pairs = ((_MAYBE_END, _CONTINUATION), (_ORDINAL, _AFTER_ORDINAL), (_DAY_AND_MONTH, _A_YEAR), (_HOUR, _ZONE))
    return any(end.search(before) and following.match(after) for end, following in pairs)


def _is_tabular(text: str) -> bool:
    lines = text.strip().split("\n")
    if len(lines) < 2 or _is_prose(lines):
        return False
    if len(text) > MAX_SENTENCE_CHARS:
        return True
    rows = sum(len(_FIGURE.findall(line)) >= 2 and len(line) < MAX_ROW_CHARS for line in lines)
    return (rows >= 2 and rows * 2 >= len(lines)) or _is_labelled(lines)


def _is_labelled(lines: Sequence[str]) -> bool:
    """Return whether lines are a table of labels with one figure each."""
    if any(line[:1].islower() or len(line) > MAX_LABELLED_CHARS for line in lines):
        return False
    # Rows below a header line of three or more words are not split, because they cannot be understood without it.
    if not _FIGURE.search(lines[0]) and len(lines[0].split()) > 2:
        return False
    labelled = sum(bool(_LABELLED.match(line)) for line in lines)
    return labelled >= 3 and labelled * 3 >= len(lines) * 2


def _is_prose(lines: Sequence[str]) -> bool:
    """Return whether lines are prose, whose sentences continue on the next line, and not rows or list items."""
    if len(" ".join(lines).split()) < _PROSE_WORDS * len(lines):
        return False
    continued = sum(
        following.lstrip()[:1].islower() and len(line.split()) > (1 + _WORDS_PER_FIGURE) * len(_FIGURE.findall(line))
        for line, following in pairwise(lines)
    )
    return continued >= _PROSE_SHARE * (len(lines) - 1)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without white space at its ends; of a span of white space, the end precedes the start."""
    span = text[start:end]
    return end - len(span.lstrip()), start + len(span.rstrip())
