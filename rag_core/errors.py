"""Everything that can go wrong and that a caller may want to treat differently.

::

    RagError
    ├── SettingsError              a setting is unknown, out of range, or does not fit another
    ├── DocumentError              about one file; the others go on
    │   ├── RejectedDocument       the file's fault
    │   │   ├── NotAPdf
    │   │   ├── EncryptedPdf
    │   │   ├── EmptyDocument      no bytes, no pages, or no text on any page
    │   │   ├── DamagedPdf
    │   │   └── DocumentTooLarge
    │   ├── ExtractionFailed       ours: a crash, a time-out, out of memory
    │   └── UnknownDocument        a name or id that the library does not hold
    ├── CollectionError            a name that none can have, none that holds a document, or a document's name taken
    ├── QuestionError              empty or too long, or not one that its strategy can take
    ├── LabelError                 a labelled question that cannot be read, or does not fit the library
    ├── StoreError
    │   ├── DataFolderInUse        another process has the data folder open
    │   ├── DataFolderUnwritable   read-only or full
    │   ├── StoreUnavailable       the database, Chroma or the file store does not answer
    │   ├── UnknownConversation    an id that is not, or no longer, stored
    │   └── UnknownEvaluation      likewise
    ├── EmbedderError
    │   ├── EmbedderMissing        weights cannot be found
    │   └── EmbedderChanged        weights or dimension are not what the index was built with
    ├── RerankerMissing            the cross-encoder is not set, not on this machine, or is none
    ├── IndexMismatch              settings no longer match the index; a re-index is needed
    ├── CallLimit                  a strategy has made all the calls to a model that the settings allow
    └── GeneratorError             the endpoint: each says what to do
        ├── GeneratorAuthError
        ├── GeneratorRateLimited
        ├── GeneratorTimeout
        ├── GeneratorUnavailable
        └── GeneratorInterrupted   broke off after some text had come

Each message says what happened, to which file or setting, and what to do. That the documents do not
answer a question is a state of the answer, not an error.
"""

from __future__ import annotations


class RagError(Exception):
    """Base of every error this package raises on purpose; its message is fit to show to a person."""


class SettingsError(RagError):
    """A setting is unknown, out of range, or does not fit another."""


class DocumentError(RagError):
    """Something about one file."""


class RejectedDocument(DocumentError):
    """A file that cannot be indexed through its own fault."""


class NotAPdf(RejectedDocument):
    """The content is not a PDF, whatever the name says."""


class EncryptedPdf(RejectedDocument):
    """A password is needed to read the file."""


class EmptyDocument(RejectedDocument):
    """No bytes, no pages, or no text on any page."""


class DamagedPdf(RejectedDocument):
    """The file begins like a PDF but cannot be read as one."""


class DocumentTooLarge(RejectedDocument):
    """More bytes, packed or unpacked, or more pages than the settings allow."""


class ExtractionFailed(DocumentError):
    """Reading the file crashed, hung or ran out of memory."""


class UnknownDocument(DocumentError):
    """A document name or id that the library does not hold."""


class CollectionError(RagError):
    """A collection that cannot be named so, that holds no document, or that holds one of that name already."""


class QuestionError(RagError):
    """A question that cannot be asked: empty, or longer than allowed."""


class LabelError(RagError):
    """A labelled question that cannot be read, or that names what the library does not hold."""


class StoreError(RagError):
    """Something about where things are kept."""


class DataFolderInUse(StoreError):
    """Another process has the data folder open."""


class DataFolderUnwritable(StoreError):
    """The data folder is read-only or its disk is full."""


class StoreUnavailable(StoreError):
    """The database, Chroma or the file store does not answer."""


class UnknownConversation(StoreError):
    """A conversation that is not, or no longer, stored."""


class UnknownEvaluation(StoreError):
    """An evaluation that is not, or no longer, stored."""


class EmbedderError(RagError):
    """Something about the embedding model."""


class EmbedderMissing(EmbedderError):
    """The model's weights cannot be found."""


class EmbedderChanged(EmbedderError):
    """The weights or the dimension are not what they should be."""


class RerankerMissing(RagError):
    """A cross-encoder was asked for that is not set, whose weights cannot be found, or that is none."""


class IndexMismatch(RagError):
    """Settings no longer match what the index was built with."""


class CallLimit(RagError):
    """A strategy has made all the calls to a language model, or used all the tokens, that the settings allow."""


class GeneratorError(RagError):
    """The configured endpoint did not give an answer."""


class GeneratorAuthError(GeneratorError):
    """The endpoint refused the key."""


class GeneratorRateLimited(GeneratorError):
    """The endpoint says that a limit or quota is used up."""


class GeneratorTimeout(GeneratorError):
    """The endpoint did not answer in time."""


class GeneratorUnavailable(GeneratorError):
    """The endpoint cannot be reached, or answers with an error of its own."""


class GeneratorInterrupted(GeneratorError):
    """The endpoint broke off after some text had come."""
