"""Generate true statements about passages, by paraphrasing with rules, and false statements with one error each.

The rules are independent of the verifier. The paraphrases do what a writer does: reorder clauses, omit details, and use
another form or a common synonym. The errors are of kinds that language models make.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

from rag_core.text.sentences import find_sentence_spans

_SYNONYMS = {
    "began": "started", "begin": "start", "large": "big", "many": "numerous", "often": "frequently", "also": "",
    "however": "", "used": "employed", "shown": "demonstrated", "showed": "demonstrated", "called": "named",
    "founded": "established", "people": "persons", "help": "aid", "about": "approximately", "almost": "nearly",
    "because": "since", "although": "though", "several": "various", "obtain": "get", "purchase": "buy",
    "located": "situated", "required": "needed", "allowed": "permitted", "received": "got", "built": "constructed",
    "ended": "finished", "around": "about", "main": "principal", "important": "significant", "usually": "generally",
    "created": "made", "caused": "led to", "led": "headed", "within": "inside", "while": "whereas", "killed": "slain",
}  # fmt: skip
_FORMS = (
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (r"\bpercent\b|\bper cent\b", "%"),
    (r"(?<=\d)%", " percent"),
    (r"\bdid not\b", "didn't"),
    (r"\bwas not\b", "wasn't"),
    (r"\bwere not\b", "weren't"),
    (r"\bcannot\b", "can not"),
    (r"\bcould not\b", "couldn't"),
    (r"\btwo\b", "2"),
    (r"\bthree\b", "3"),
    (r"\bfour\b", "4"),
    (r"\bten\b", "10"),
    (r"(?<![\d.,])(\d+) million\b", r"\1,000,000"),
    (r"\b(January|February|March|April|May|June|July|August|September|October|November|December) (\d{1,2}), (\d{4})",
     r"\2 \1 \3"),
    (r"\b(\w+)ization\b", r"\1isation"),
)  # fmt: skip
_LEADING = re.compile(
    r"^((?:In|On|At|By|During|After|Before|Since|For|From|Under|With|Despite|Until) [^,]{3,60}), (.+?)([.!?])$"
)
_SUBORDINATE = re.compile(r"^(While|Although|Because|When|If|As|Though|Since) ([^,]{8,90}), (.+?)([.!?])$")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_OPENER = re.compile(
    r"^(?:However|Moreover|Furthermore|In addition|For example|Therefore|Thus|Also|Additionally|Nevertheless|"
    r"As a result|In fact|Finally|Consequently), "
)
_NO_ADVERBS = (
    "only early family supply apply reply rely July Italy likely daily monthly yearly weekly holy ally bully fly "
    "assembly Assembly friendly elderly monopoly anomaly"
)
_ADVERB = re.compile(rf"\b(?!{_NO_ADVERBS.replace(' ', '|')})([a-z]{{3,}}ly) ")
_RELATIVE = re.compile(r", (?:which|who|where|including|such as) [^,.;]{5,90}(?=[,.;])")
_NUMBER = re.compile(
    r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w-])|(?<![\w.,-])\d+(?:\.\d+)?(?![\w-])|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b"
)
_SPELLED = "two three four five six seven eight nine ten twelve twenty".split()
_YEAR = re.compile(r"(?<![\w.,-])(?:1[0-9]|20)\d{2}(?![\w,-])")
_MONTHS = "January February March April June July August September October November December".split()
_MONTH = re.compile(r"\b(?:" + "|".join(_MONTHS) + r")\b")
_NAME = re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][\w’'-]*[a-z](?: (?:of |the |de )?[A-Z][\w’'-]*[a-z])*")
_AUXILIARY = re.compile(
    r"\b(is|was|were|are|has|have|had|can|could|will|would|may|must|should|did|does|do)\b(?! (?:not|no|never|only)\b)"
)
_PLAIN_NEGATION = re.compile(r"\b(?:not|never) |(?<=\b(?:is|do|as)n't)|(?<=could)n't|(?<=did)n't|(?<=was)n't")

Break = Callable[[str, str, Sequence[str], random.Random], str | None]


def sentences(passage: str) -> list[str]:
    """Return the complete sentences of a passage that have at least eight words."""
    parts = [passage[start:end] for start, end in find_sentence_spans(passage)]
    return [one for one in parts if len(one.split()) >= 8 and one[-1] in ".!?"]


def true_statements(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the sentence and those of its paraphrases that differ from it, each with the kind of change."""
    yield "verbatim", sentence
    paraphrases = {
        "reordered": reorder(sentence),
        "shortened": shorten(sentence),
        "reworded": reword(sentence),
        "all three": reword(reorder(shorten(sentence))),
    }
    seen = {sentence, paraphrases["reordered"], paraphrases["shortened"], paraphrases["reworded"]}
    for kind, text in paraphrases.items():
        if text != sentence and (kind != "all three" or text not in seen):
            yield kind, text


def reorder(sentence: str) -> str:
    """Move an adverbial or a subordinate clause from the start of the sentence to its end."""
    if match := _LEADING.match(sentence):
        main_clause = match[2][0].upper() + match[2][1:]
        return f"{main_clause} {match[1][0].lower()}{match[1][1:]}{match[3]}"
    if match := _SUBORDINATE.match(sentence):
        return f"{match[3][0].upper()}{match[3][1:]}, {match[1].lower()} {match[2]}{match[4]}"
    return sentence


def shorten(sentence: str) -> str:
    """Remove parentheses, sentence openers, adverbs and relative clauses."""
    text = _OPENER.sub("", _ASIDE.sub("", sentence))
    text = _RELATIVE.sub("", _ADVERB.sub("", text))
    return text[0].upper() + text[1:]


def reword(sentence: str) -> str:
    """Replace words by common synonyms, and numbers, dates and negations by other forms."""
    text = sentence
    for pattern, form in _FORMS:
        text = re.sub(pattern, form, text)
    text = re.sub(r"[A-Za-z]+", lambda match: _synonym(match[0]), text)
    return re.sub(r" {2,}", " ", text).replace(" ,", ",").strip()


def _synonym(word: str) -> str:
    return _SYNONYMS.get(word, word)


def from_question(question: str, answer: str) -> str | None:
    """Return a statement that answers a question; ``None`` if no rule fits the question."""
    question = question.strip().rstrip("?").strip()
    if match := re.match(r"(?:Who|What|Which \w+) ((?:is|was|were|are) )(the .+)$", question):
        subject = match[2][0].upper() + match[2][1:]
        return f"{subject} {match[1]}{answer}." if not re.search(r"\b(?:in|of|by|to|for|with)$", subject) else None
    if match := re.match(r"Who ((?!is|was|were|are|did|does|do)[a-z]+(?:ed|s|t|d|e|n|w)) (.+)$", question):
        return f"{answer[0].upper()}{answer[1:]} {match[1]} {match[2]}."
    if match := re.match(r"(?:When|In what year|In which year) (was|were) (.+?) (\w+(?:ed|en|un|lt|ld|de))$", question):
        subject = match[2][0].upper() + match[2][1:]
        return f"{subject} {match[1]} {match[3]} {'in ' if answer[:1].isdigit() else ''}{answer}."
    return None


def wrong_number(text: str, passage: str, others: Sequence[str], random: random.Random) -> str | None:
    """Replace a number by another number of the passage, or change it; return ``None`` if the text has no number."""
    places = [match for match in _NUMBER.finditer(text) if not _YEAR.fullmatch(match[0])]
    if not places:
        return None
    place = random.choice(places)
    if place[0].isalpha():
        other = random.choice([word for word in _SPELLED if word != place[0]])
    else:
        pool = [one[0] for one in _NUMBER.finditer(passage) if one[0][0].isdigit() and not _YEAR.fullmatch(one[0])]
        pool = [one for one in pool if one.replace(",", "") != place[0].replace(",", "")]
        digit = str((int(place[0][0]) + random.randint(1, 8)) % 9 + 1)
        changed = (digit if digit != place[0][0] else "9" if digit != "9" else "8") + place[0][1:]
        other = random.choice(pool) if pool and random.random() < 0.5 else changed
    return text[: place.start()] + other + text[place.end() :]


def wrong_date(text: str, passage: str, others: Sequence[str], random: random.Random) -> str | None:
    """Replace a year or month by another year or month; return ``None`` if the text has neither."""
    places = [*_YEAR.finditer(text), *_MONTH.finditer(text)]
    if not places:
        return None
    place = random.choice(places)
    if place[0].isalpha():
        other = random.choice([month for month in _MONTHS if month != place[0]])
    else:
        pool = [year for year in _YEAR.findall(passage) if year != place[0]]
        near = str(int(place[0]) + random.choice([-10, -3, -2, -1, 1, 2, 3, 10]))
        other = random.choice(pool) if pool and random.random() < 0.5 else near
    return text[: place.start()] + other + text[place.end() :]


def wrong_name(text: str, passage: str, others: Sequence[str], random: random.Random) -> str | None:
    """Replace a name by another name of the passage or the document; return ``None`` if this is impossible."""
    places = list(_NAME.finditer(text))
    if not places:
        return None
    place = random.choice(places)
    for source in (passage, " ".join(others)):
        names = {name for name in _NAME.findall(source) if not set(name.split()) & set(place[0].split())}
        names = {name for name in names if name not in text}
        if names and (source is not passage or random.random() < 0.5):
            return f"{text[: place.start()]}{random.choice(sorted(names))}{text[place.end() :]}"
    return None


def wrong_negation(text: str, passage: str, others: Sequence[str], random: random.Random) -> str | None:
    """Remove a negation, or insert one; return ``None`` if neither is possible."""
    if match := _PLAIN_NEGATION.search(text):
        return text[: match.start()] + text[match.end() :]
    places = list(_AUXILIARY.finditer(text))
    if not places:
        return None
    place = random.choice(places)
    return f"{text[: place.end()]} not{text[place.end() :]}"


BREAKS: dict[str, Break] = {
    "number": wrong_number,
    "date": wrong_date,
    "name": wrong_name,
    "negation": wrong_negation,
}
