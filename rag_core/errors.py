"""Exceptions that callers may want to handle differently.

::

    RagError
    ├── SettingsError              a setting is unknown, out of range, or does not fit another
    ├── DocumentError              one file failed; the others are not affected
    │   ├── RejectedDocument       the file itself cannot be indexed
    │   │   ├── NotAPdf
    │   │   ├── EncryptedPdf
    │   │   ├── EmptyDocument      no bytes, no pages, or no text on any page
    │   │   ├── DamagedPdf
    │   │   └── DocumentTooLarge
    │   ├── ExtractionFailed       a crash, a time-out, or out of memory
    │   └── UnknownDocument        no document has this name or id
    ├── CollectionError            invalid name, no documents, or two documents of the same name
    ├── QuestionError              empty, too long, or not suitable for the strategy
    ├── LabelError                 a labelled question cannot be parsed or does not match the library
    ├── StoreError
    │   ├── DataFolderInUse        another process has the data folder open
    │   ├── DatabaseInUse          another process has the database open
    │   ├── DataFolderUnwritable   read-only or full
    │   ├── StoreUnavailable       the database, Chroma or the file store does not answer
    │   ├── UnknownConversation    no conversation or message has this id
    │   └── UnknownEvaluation      no evaluation has this id
    ├── EmbedderError
    │   ├── EmbedderMissing        weights cannot be found
    │   └── EmbedderChanged        weights or dimension are not the expected ones
    ├── RerankerMissing            no cross-encoder is set, or the model is missing or of another type
    ├── IndexMismatch              settings no longer match the index; a re-index is needed
    ├── CallLimit                  a strategy has used all model calls or tokens that the settings allow
    └── GeneratorError             the endpoint gave no answer
        ├── GeneratorAuthError
        ├── GeneratorRateLimited
        ├── GeneratorTimeout
        ├── GeneratorUnavailable
        └── GeneratorInterrupted   the answer stopped after part of its text

Each message says what happened, to which file or setting, and what to do. If the documents do not
answer a question, that is a state of the answer, not an error.
"""

from __future__ import annotations


class RagError(Exception):
    """Base class of the errors that this package raises; messages can be shown to users."""


class SettingsError(RagError):
    """A setting is unknown, out of range, or does not fit another."""


class DocumentError(RagError):
    """An error with one file."""


class RejectedDocument(DocumentError):
    """The file itself cannot be indexed."""


class NotAPdf(RejectedDocument):
    """The content is not a PDF, whatever the file name is."""


class EncryptedPdf(RejectedDocument):
    """The file needs a password."""


class EmptyDocument(RejectedDocument):
    """The file has no bytes, no pages, or no text on any page."""


class DamagedPdf(RejectedDocument):
    """The file starts like a PDF but cannot be parsed."""


class DocumentTooLarge(RejectedDocument):
    """The file has more bytes, compressed or decompressed, or more pages than the settings allow."""


class ExtractionFailed(DocumentError):
    """Parsing the file crashed, timed out or ran out of memory."""


class UnknownDocument(DocumentError):
    """No document has this name or id."""


class CollectionError(RagError):
    """A collection has an invalid name, no documents, or would have two documents of the same name."""


class QuestionError(RagError):
    """The question is empty, too long, or not suitable for the strategy."""


class LabelError(RagError):
    """A labelled question cannot be parsed, or names a document or page that is not in the library."""


class StoreError(RagError):
    """An error with stored data."""


class DataFolderInUse(StoreError):
    """Another process has the data folder open."""


class DatabaseInUse(StoreError):
    """Another process has the database open."""


class DataFolderUnwritable(StoreError):
    """The data folder is read-only or its disk is full."""


class StoreUnavailable(StoreError):
    """The database, Chroma or the file store does not answer."""


class UnknownConversation(StoreError):
    """No conversation or message has this id."""


class UnknownEvaluation(StoreError):
    """No evaluation has this id."""


class EmbedderError(RagError):
    """An error with the embedding model."""


class EmbedderMissing(EmbedderError):
    """The weights of the model cannot be found."""


class EmbedderChanged(EmbedderError):
    """The weights or the dimension of the model are not the expected ones."""


class RerankerMissing(RagError):
    """No cross-encoder is set, its weights cannot be found, or the model is not a cross-encoder."""


class IndexMismatch(RagError):
    """The settings differ from those that the index was built with."""


class CallLimit(RagError):
    """A strategy has used all the model calls or tokens that the settings allow."""


class GeneratorError(RagError):
    """The endpoint gave no answer."""


class GeneratorAuthError(GeneratorError):
    """The endpoint rejected the API key."""


class GeneratorRateLimited(GeneratorError):
    """The endpoint reports that a rate limit or quota is exhausted."""


class GeneratorTimeout(GeneratorError):
    """The endpoint did not answer in time."""


class GeneratorUnavailable(GeneratorError):
    """The endpoint cannot be reached or returns an error."""


class GeneratorInterrupted(GeneratorError):
    """The answer of the endpoint stopped after part of its text."""
