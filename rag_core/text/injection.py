"""Detection of prompt injection: sentences in a document that give instructions to a language model.

The patterns match common wordings of typical instructions (ignore your rules, play a role, answer only this way, load
or send something). Before matching, obfuscation is removed: invisible characters, look-alike letters, tag characters
and compatibility forms. Instructions in other wordings are not found; they stay in the prompt as data.

RE2 matches all patterns in one pass, in a time that is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import pairwise

import re2

from rag_core.text.sentences import find_sentence_spans

# Replaces an instruction in the prompt of a model.
LEFT_OUT = "(A sentence that reads like an instruction to a model was left out here.)"

# Letters, mostly Cyrillic and Greek, and the ASCII characters that they look like. The source is the list of
# confusables in Unicode Technical Standard #39.
_LOOKALIKES = str.maketrans(
    "абвгеԁһіјӏкмоопрԛгѕтуԝхсАВЕЗІЈКМНОРԚЅТУԜХСοαινκρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧɡıℓ",
    "a6bredhijlkmoonpqrstywxcABE3IJKMHOPQSTYWXCoaivkptuxABEZHIKMNOPTYXgil",
)
_TAG = re.compile("[\U000e0020-\U000e007e]")
_BLANKS = re.compile(r"[^\S\n]+")
# Characters that hide text from readers: directional overrides, which display letters in another order and which
# ordinary right-to-left text does not need, and invisible tag characters.
_HIDING = re.compile("[\u202d\u202e\U000e0020-\U000e007f]")

_DROP = r"(?:ignore|disregard|forget|(?:do not|don't) (?:follow|obey|heed))"
_RULES = (
    r"(?:instructions?|prompts?|rules|directions|guidelines|directives|commands?|constraints|restrictions|safeguards)"
)
_EARLIER = r"(?:previous|prior|preceding|above|earlier|foregoing|existing|original|initial|your|system|developer)"
_MODEL = (
    r"(?:ai|a\.i\.|llm|gpt|chatgpt|claude|gemini|llama|language model|chatbot|ai (?:model|assistant|system|agent))s?"
)
_SPEAK = (
    r"(?:answer|reply|respond|say|state|write|output|print|return|claim|conclude|"
    r"tell (?:the )?(?:user|reader)|translate|summari[sz]e)"
)
_BEGIN = r"(?:^|[.!?;:,\"“'*_(\n-]\s*|\band\s+|\bplease\s+|\binstead,?\s+|\byou (?:must|should|shall|will)\s+)"
_PATTERNS = (
    # Instructions to ignore rules.
    rf"\b{_DROP}\s+(?:\w+\s+){{0,3}}?{_EARLIER}\s+(?:\w+\s+){{0,3}}?(?:{_RULES}|messages?|context|text|content)\b",
    rf"\b{_DROP}\s+(?:all|any|every|these|those)\s+(?:of\s+)?(?:the\s+|your\s+)?(?:other\s+)?{_RULES}\b",
    rf"\b{_DROP}\s+(?:\w+\s+){{0,4}}?(?:the\s+)?(?:above|foregoing)\b",
    rf"\b{_DROP}\s+(?:everything|anything|all|what|whatever)\b.{{0,30}}\b(?:told|said|before|instructed|so far)\b",
    rf"\b(?:override|bypass|overrule|disable)\s+(?:all\s+)?(?:your|the system'?s?)\s+(?:\w+\s+){{0,2}}{_RULES}\b",
    # Instructions to play a role.
    r"\byou\s+are\s+(?:now|henceforth)\s+"
    r"(?:an?|the|dan|called|known|free|no longer|acting|unrestricted|in \w+ mode)\b",
    r"\bfrom now on,?\s+you\s+(?:are|will|must|act|answer|respond)\b",
    rf"\b(?:act|behave|pretend|pose|role-?play)\s+(?:as|to be|like)\s+(?:\w+\s+){{0,6}}?{_MODEL}\b",
    r"\b(?:jailbroken|do anything now|(?:dan|developer|god) mode\s+(?:is\s+)?(?:on|enabled|activated))\b",
    # Text that addresses a model or says what a model must do.
    rf"\b(?:attention|note|notice|message|instructions?|important|memo)\s*(?:to|for|,|:)\s*(?:all\s+|the\s+|any\s+)?"
    rf"(?:\w+\s+)?(?:{_MODEL}|(?:model|assistant)s?\s*[:,])",
    rf"\b(?:if|as|when)\s+(?:you\s+are\s+)?(?:an?\s+|the\s+)?{_MODEL}\b.{{0,40}}\b(?:you\s+(?:must|should|will|shall)|please)\b",
    rf"\b{_MODEL}\s+(?:must|should|shall|has to|have to|needs? to|is to|are to)\s+(?:\w+\s+){{0,2}}?{_SPEAK}\b",
    r"\b(?:new|updated|revised|hidden|secret|system|developer)\s+(?:\w+\s+)?(?:instructions?|prompt|directives?)\s*:",
    r"(?:^|\n|[.!?]\s)\s*(?:system|assistant|developer)\s*(?:message|prompt)?\s*:\s*"
    r"(?:you|ignore|reply|answer|respond|disregard|forget|override|from)\b",
    r"###\s*(?:instructions?|system|response)\b|<\|?\s*/?\s*(?:im_start|im_end|system|assistant|user|endoftext|eot_id|"
    r"start_header_id)\b|\[/?inst\]|<</?sys>>",
    # Instructions to answer only in a given way.
    rf"{_BEGIN}(?:only|always|just|simply|exactly)\s+{_SPEAK}\b",
    rf"{_BEGIN}{_SPEAK}\s+(?:\w+\s+)?(?:only|exactly|solely|nothing but|verbatim|always)\b",
    rf"\b(?:if|when|whenever)\s+(?:you\s+are\s+)?asked\b[^.]{{0,80}},\s*(?:you\s+(?:must|should)\s+)?(?:always\s+)?{_SPEAK}\b",
    r"\bregardless of (?:the|what|any) (?:question|user|reader)\b.{0,60}\b(?:answer|say|reply|respond|state)\b",
    # Instructions to hide, reveal, load or send something.
    r"\b(?:do\s+not|don't|never)\s+(?:mention|reveal|tell|disclose|cite|quote)\b.{0,40}"
    r"\b(?:(?:this|these|your)\s+(?:instructions?|prompt|messages?|passages?)|system prompt)\b",
    r"\b(?:reveal|print|repeat|show|leak|output|disclose|display|reproduce)\s+(?:me\s+)?(?:your|the)\s+"
    r"(?:\w+\s+){0,2}?(?:system\s+(?:prompt|message)|prompt|instructions verbatim|api\s+keys?|credentials)\b",
    r"\b(?:include|embed|insert|append|add|render|display|output)\b.{0,60}"
    r"(?:!\[|\]\(|<img\b|markdown\s+(?:image|link))",
    r"\b(?:send|post|exfiltrate|upload|forward|transmit|leak)\b.{0,40}\b(?:conversation|chat history|prompt|"
    r"context|api\s+key|passages?|user'?s?\s+data|documents?)\b.{0,60}(?:https?:|\bto\s+\S+@)",
    # Instructions to ignore rules, in other languages.
    r"\bignorier(?:e|en sie|t)\s+(?:bitte\s+)?(?:alle|die)\b.{0,40}\b(?:anweisungen|regeln|befehle|vorgaben)\b",
    r"\b(?:ignore[zr]?|oublie[zr]?)\s+(?:toutes?\s+)?(?:les|vos|tes)\b.{0,30}\b(?:instructions|consignes|règles)\b",
    r"\bignor[ae](?:te)?\s+(?:todas?\s+)?(?:las|tus|tutte le|le|as|todas as)\b.{0,30}"
    r"\b(?:instrucciones|istruzioni|instruções)\b",
    r"(?:忽略|无视|無視).{0,12}(?:指令|指示|提示|规则|規則)|(?:指示|命令|プロンプト).{0,8}無視",
    r"игнорируй(?:те)?\s+(?:\w+\s+){0,2}(?:инструкции|указания|правила)",
)


def find_instructions(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences that read like instructions to a model, in text order. Adjacent spans are merged.

    Sentences with characters that hide text from readers are included. So are two adjacent sentences that form an
    instruction together, because a full stop can be inserted into an instruction.
    """
    if not contains_instructions(text):
        return []
    spans = find_sentence_spans(text)
    found = {span for span in spans if _matches_instruction(text[slice(*span)])}
    for one, other in pairwise(spans):
        if not found & {one, other} and _matches_instruction(_join_sentences(text[one[0] : other[1]])):
            found |= {one, other}
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


@lru_cache(maxsize=10_000)
def contains_instructions(text: str) -> bool:
    """Return whether a text contains an instruction to a model, or characters that hide text from readers."""
    return _matches_instruction(text) or _matches_instruction(_join_sentences(text))


def remove_obfuscation(text: str) -> str:
    """Return the text as a model may read it.

    - Tag characters are decoded, and compatibility forms are replaced (NFKC).
    - Invisible characters are removed.
    - Each sequence of white space within a line becomes one blank.

    Look-alike letters of other scripts stay.
    """
    if not text.isascii():
        decoded = unicodedata.normalize("NFKC", _TAG.sub(lambda tag: chr(ord(tag[0]) - 0xE0000), text))
        text = "".join(char for char in decoded if unicodedata.category(char) != "Cf").replace("’", "'")
    return _BLANKS.sub(" ", text)


def _matches_instruction(text: str) -> bool:
    """Return whether a pattern of an instruction matches a text, or the text contains characters that hide text."""
    if _HIDING.search(text):
        return True
    plain = remove_obfuscation(text)
    # Look-alike letters can spell Latin words. Replacing them does not create instructions in text of other scripts.
    readings = {plain.casefold(), plain.translate(_LOOKALIKES).casefold()}
    return any(_compile_patterns().Match(one.encode("utf-8", "replace")) for one in readings)


@cache
def _compile_patterns() -> re2.Set:
    options = re2.Options()
    options.dot_nl = True
    patterns = re2.Set.SearchSet(options)
    for pattern in _PATTERNS:
        # In RE2, \w matches only ASCII characters. The class matches all letters and digits.
        patterns.Add(pattern.replace(r"\w", r"[\pL\pN_]"))
    patterns.Compile()
    return patterns


def _join_sentences(text: str) -> str:
    return re.sub(r"[.!?]\s+", " ", text)
