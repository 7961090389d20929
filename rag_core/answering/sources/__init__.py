"""Kinds of answer without a language model; a further one is one module and one line here."""

from __future__ import annotations

from rag_core.answering.sources.candidates import AnswerSource
from rag_core.answering.sources.excerpts import Excerpts

SOURCES: tuple[AnswerSource, ...] = (Excerpts(),)
