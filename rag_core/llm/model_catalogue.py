"""The catalogue of GGUF files that can be downloaded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from rag_core.errors import SettingsError, UnknownModel
from rag_core.llm.toml_tables import read_entries
from rag_core.types.status import Capability

CATALOGUE_FILE = Path(__file__).with_name("model_catalogue.toml")


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class CatalogueModel:
    """A language model that can be downloaded as a GGUF file.

    Attributes
    ----------
    name : str
    file : str
        Name of the file, without a folder.
    size_bytes : int
        Size of the file.
    memory_bytes : int
        Memory that the application needs with this model.
    licence : str
        SPDX identifier.
    url : str
    sha256 : str
        SHA-256 of the file, as lower-case hexadecimal digits.
    capability : Capability
        What the model can be asked to do.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
    file: Annotated[str, Field(pattern=r"^\w[\w.-]*\.gguf$")]
    size_bytes: Annotated[int, Field(gt=0)]
    memory_bytes: Annotated[int, Field(gt=0)]
    licence: Annotated[str, Field(min_length=1)]
    # The loopback address serves a mirror on this machine.
    url: Annotated[str, Field(pattern=r"^(https://|http://127\.0\.0\.1:)\S+$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    capability: Capability = "small"


_ENTRIES = TypeAdapter(list[CatalogueModel])


def load_catalogue(file: Path | None = None) -> list[CatalogueModel]:
    """Return the models of a catalogue, by default the one that comes with the application.

    Raises
    ------
    SettingsError
        The file is not a valid catalogue.
    """
    file = file or CATALOGUE_FILE
    models = read_entries(file, "models", _ENTRIES, "catalogue", "Correct or restore it")
    for field in ("name", "file"):
        value, count = Counter(getattr(one, field) for one in models).most_common(1)[0] if models else ("", 0)
        if count > 1:
            raise SettingsError(
                f"The catalogue {file} has {count} entries with the {field} {value}. Rename all but one."
            )
    return models


def find_model(name: str, file: Path | None = None) -> CatalogueModel:
    """Return the model of this name; may raise `UnknownModel` or, for an invalid catalogue, `SettingsError`."""
    models = load_catalogue(file)
    for model in models:
        if model.name == name:
            return model
    names = ", ".join(one.name for one in models)
    raise UnknownModel(f"The catalogue has no model {name}. It has: {names}.")
