"""The exceptions of this package; each class is an error that callers may want to handle separately.

::

    RagError
    ├── SettingsError              a setting is unknown, out of range, or conflicts with another setting
    ├── DocumentError              an error with one file; other files are not affected
    │   ├── RejectedDocument       the content or size of the file prevents indexing
    │   │   ├── UnknownFormat          the content has no format that can be read
    │   │   ├── EncryptedDocument
    │   │   ├── EmptyDocument      no bytes, no pages, or no text on any page
    │   │   ├── DamagedDocument
    │   │   └── DocumentTooLarge
    │   ├── ExtractionFailed       parsing crashed, timed out or ran out of memory
    │   └── UnknownDocument        no document has this name or id, or a passage is no longer stored
    ├── CollectionError            a name is invalid, a collection is empty, or two documents would have one name
    ├── SnapshotError              no snapshot has this name or date, or the name is invalid or taken
    ├── QuestionError              the question is empty, too long, or not suitable for the strategy
    ├── LabelError                 a labelled question cannot be parsed or does not match the library
    ├── BackupError                a backup or an export cannot be written, read or brought into a library
    ├── StoreError
    │   ├── DataFolderInUse        another process has the data folder open
    │   ├── DatabaseInUse          another process has the database open
    │   ├── DataFolderUnwritable   the data folder is read-only or its disk is full
    │   ├── StoreUnavailable       the database, Chroma or the file store does not answer
    │   │   └── ServerUnavailable  a store on a server does not answer, and may answer again later
    │   └── UnknownConversation    no conversation or message has this id
    ├── EmbedderError
    │   ├── EmbedderMissing        the weights of the model cannot be found
    │   └── EmbedderChanged        the installed weights differ from those that this version needs
    ├── RerankerMissing            no cross-encoder is set, or the model is missing or of another type
    ├── VerifierMissing            the model that checks statements is missing or of another type
    ├── SparseEncoderMissing       the learned sparse encoder is missing or of another type
    ├── IndexMismatch              a model or setting does not match the index; a re-index is needed
    ├── IndexingStopped            the queue cannot read or change its jobs
    ├── UnknownTheme               no theme has this number, id or title
    ├── UnknownModel               the catalogue of models has no model of this name
    ├── ModelNotDownloaded         the file of a model of the catalogue is not in the data folder
    ├── ModelDownloadError         a model of the catalogue could not be downloaded
    │   ├── ModelTooLarge          the disk or the memory is too small
    │   ├── DownloadInterrupted    the server cannot be reached, returns an error, or stops sending
    │   ├── DownloadCancelled      the user stopped the download
    │   └── ChecksumMismatch       the server sent another file
    ├── PackageNotInstalled        an optional package is not installed
    ├── TokenError                 a token of another program cannot be created or does not exist
    ├── RequestError               a request of another program is not allowed or not understood
    ├── CallLimit                  a strategy has used all model calls or tokens that the settings allow
    └── GeneratorError             the endpoint gave no answer
        ├── GeneratorAuthError
        ├── GeneratorRateLimited
        ├── GeneratorTimeout
        ├── GeneratorUnavailable
        │   └── ModelListMissing   the endpoint has no list of its models
        └── GeneratorInterrupted   the answer stopped after part of its text

Each message says what happened, which file or setting is concerned, and what the user can do. There is no exception
for a question that the documents do not answer: the state of the answer says so.
"""

from __future__ import annotations


class RagError(Exception):
    """Base class of the errors that this package raises; messages can be shown to users."""


class SettingsError(RagError):
    """A setting is unknown, out of range, or conflicts with another setting."""


class DocumentError(RagError):
    """An error with one file."""


class RejectedDocument(DocumentError):
    """The content or size of the file prevents indexing."""


class UnknownFormat(RejectedDocument):
    """The content of the file has no format that can be read, whatever its name is."""


class EncryptedDocument(RejectedDocument):
    """The file needs a password."""


class EmptyDocument(RejectedDocument):
    """The file has no bytes, no pages, or no text on any page."""


class DamagedDocument(RejectedDocument):
    """The file has a known format but cannot be parsed."""


class DocumentTooLarge(RejectedDocument):
    """The file has more bytes, compressed or decompressed, or more pages than the settings allow."""


class ExtractionFailed(DocumentError):
    """Parsing the file crashed, timed out or ran out of memory."""


class UnknownDocument(DocumentError):
    """No document has this name or id, or a passage is no longer in the library."""


class CollectionError(RagError):
    """A collection's name is invalid, the collection is empty, or two of its documents would have the same name."""


class SnapshotError(RagError):
    """No snapshot has this name or date, or the name of a new snapshot is invalid or taken."""


class QuestionError(RagError):
    """The question is empty, too long, or not suitable for the strategy."""


class LabelError(RagError):
    """A labelled question cannot be parsed, or names a document or page that is not in the library."""


class BackupError(RagError):
    """A backup or an export cannot be written, read, or brought into a library."""


class StoreError(RagError):
    """An error with stored data."""


class DataFolderInUse(StoreError):
    """Another process has the data folder open.

    Parameters
    ----------
    message : str
    address : str
        The address at which that process serves the application; empty if it serves none.
    """

    def __init__(self, message: str, address: str = "") -> None:
        super().__init__(message)
        self.address = address


class DatabaseInUse(StoreError):
    """Another process has the database open."""


class DataFolderUnwritable(StoreError):
    """The data folder is read-only or its disk is full."""


class StoreUnavailable(StoreError):
    """The database, Chroma or the file store does not answer."""


class ServerUnavailable(StoreUnavailable):
    """A store on a server does not answer; work that needs it can be repeated when the server answers again.

    Parameters
    ----------
    message : str
    server : str
        The store and the address of its server, such as ``Chroma at localhost:8000``.
    """

    def __init__(self, message: str, server: str) -> None:
        super().__init__(message)
        self.server = server


class UnknownConversation(StoreError):
    """No conversation or message has this id."""


class EmbedderError(RagError):
    """An error with the embedding model."""


class EmbedderMissing(EmbedderError):
    """The weights of the model cannot be found."""


class EmbedderChanged(EmbedderError):
    """The installed weights of the model differ from the weights that this version needs."""


class RerankerMissing(RagError):
    """No cross-encoder is set, its weights cannot be found, or the model is not a cross-encoder."""


class VerifierMissing(RagError):
    """The model that checks statements is not on this machine, or is of another type."""


class SparseEncoderMissing(RagError):
    """The learned sparse encoder is not on this machine, or the model is of another type."""


class IndexMismatch(RagError):
    """A model or a setting does not match the index, or the index lacks the data of a retriever; re-index it."""


class IndexingStopped(RagError):
    """The indexing queue waits, because several attempts to read or change its jobs have failed."""


class UnknownModel(RagError):
    """The catalogue of models has no model of this name."""


class UnknownTheme(RagError):
    """No theme has this number, id or title."""


class ModelNotDownloaded(RagError):
    """The file of a model of the catalogue is not, or not completely, in the data folder."""


class ModelDownloadError(RagError):
    """A model of the catalogue could not be downloaded."""


class ModelTooLarge(ModelDownloadError):
    """The disk or the memory of this machine is too small for the model."""


class DownloadInterrupted(ModelDownloadError):
    """The server cannot be reached, returns an error, or stops sending."""


class DownloadCancelled(ModelDownloadError):
    """The user stopped the download."""


class ChecksumMismatch(ModelDownloadError):
    """The server sent a file with another checksum than the catalogue states."""


class PackageNotInstalled(RagError):
    """An optional package is not installed, or pip could not install it."""


class TokenError(RagError):
    """A token for other programs cannot be created, or no token has this name."""


class RequestError(RagError):
    """A request of another program is not allowed, or cannot be understood.

    Parameters
    ----------
    status : int
        The HTTP status of the reply.
    message : str
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class CallLimit(RagError):
    """A strategy has used all the model calls or tokens that the settings allow."""


class GeneratorError(RagError):
    """The endpoint gave no answer.

    Raise this error outside of exception handlers; otherwise its ``__context__`` refers to the client's request, which
    contains the API key.

    Attributes
    ----------
    status : int
        HTTP status of the endpoint's reply, or the equivalent of an error event; 0 if there is none.
    is_temporary : bool
        Whether a retry may succeed.
    is_unreachable : bool
        Whether there is no connection to the endpoint, so that no request can succeed.
    retry_after_s : float
        Seconds that the endpoint demands to wait before a retry; 0 if it demands no wait.
    reply : str
        What the endpoint says about the error; empty if it says nothing.
    """

    status = 0
    is_temporary = False
    is_unreachable = False
    retry_after_s = 0.0
    reply = ""


class GeneratorAuthError(GeneratorError):
    """The endpoint rejected the API key."""


class GeneratorRateLimited(GeneratorError):
    """The endpoint reports that a rate limit or quota is exhausted."""


class GeneratorTimeout(GeneratorError):
    """The endpoint did not answer in time."""


class GeneratorUnavailable(GeneratorError):
    """The endpoint cannot be reached or returns an error."""


class ModelListMissing(GeneratorUnavailable):
    """The endpoint has no list of its models; a model can still be used by its name."""


class GeneratorInterrupted(GeneratorError):
    """The answer of the endpoint stopped after part of its text."""
