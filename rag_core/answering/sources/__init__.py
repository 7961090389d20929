"""The kinds of answers without a language model. To add one, write a module and add a line here."""

from __future__ import annotations

from rag_core.answering.sources.candidates import AnswerSource
from rag_core.answering.sources.excerpts import Excerpts

SOURCES: tuple[AnswerSource, ...] = (Excerpts(),)
