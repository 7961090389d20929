"""``model``: download language models as GGUF files, choose one, and test the model in use."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_core.api import json_rows
from rag_core.cli import console
from rag_core.cli.common import FAILED, Json, open_engine, read_settings
from rag_core.errors import DownloadCancelled
from rag_core.llm.gguf import GGUF_INSTALL_COMMAND, is_gguf_installed
from rag_core.llm.model_catalogue import find_model, load_catalogue
from rag_core.llm.model_download import download_model
from rag_core.runtime.model_connection import read_connection
from rag_core.system import make_new_files_private
from rag_core.types.formatting import format_size
from rag_core.types.status import ModelChoice

model_app = typer.Typer(help="Download, choose and test language models.", no_args_is_help=True, rich_markup_mode=None)


@model_app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the models that can be downloaded; show the one in use."""
    settings = read_settings()
    choice = read_connection(settings)
    folder, used = settings.data_dir / "models", choice.gguf if choice else ""
    rows = [json_rows.build_catalogue_row(model, folder, used) for model in load_catalogue(settings.model_catalogue)]
    if not as_json:
        for row in rows:
            row["downloaded"] = f"{row['downloaded_bytes'] / row['bytes']:.0%}" if row["downloaded_bytes"] else "no"
            row["size"], row["memory"] = format_size(row["bytes"]), format_size(row["memory_bytes"])
    columns = ("name", "in_use", "downloaded", "size", "memory", "capability", "licence", "fits", "reason")
    console.print_rows(rows, columns, as_json, numeric=("size", "memory"))
    if as_json:
        return
    if choice is None:
        console.print_note("No model is in use: answers are quoted from the documents.")
    elif not any(row["in_use"] for row in rows):
        capability = choice.capability or choice.tested_capability or "automatic"
        console.print_note(f"In use: {choice.gguf or choice.base_url} (capability: {capability})")


@model_app.command("add")
def add_model(
    name: Annotated[str, typer.Argument(help="Name from model list.", show_default=False)], as_json: Json = False
) -> None:
    """Download a model; continue an interrupted download."""
    make_new_files_private()
    settings, started = read_settings(), time.monotonic()
    model = find_model(name, settings.model_catalogue)
    with console.download_bar(model.name) as show:
        try:
            path = download_model(model, settings.data_dir / "models", on_progress=show)
        except KeyboardInterrupt:
            raise DownloadCancelled(
                f"The download of {name} was stopped. Run model add {name} again to continue it."
            ) from None
    has_package, seconds = is_gguf_installed(), round(time.monotonic() - started, 3)
    row = {"name": name, "file": str(path), "bytes": model.size_bytes, "package_installed": has_package}
    console.print_row({**row, "seconds": seconds}, f"{name}: downloaded to {path}", as_json)
    if as_json:
        return
    if not has_package:
        console.print_note(f"GGUF files need the package xllamacpp. Install it: {GGUF_INSTALL_COMMAND}")
    console.print_note(
        f"To use the model: model use {name}. Or set it in the environment or in .env: RAG_GGUF={path.absolute()}"
    )


@model_app.command("use")
def use_model(
    name: Annotated[str, typer.Argument(help="Name from model list, or path of a GGUF file.", show_default=False)],
    capability: Annotated[
        Literal["auto", "small", "capable"],
        typer.Option(help="What the model is asked to do; auto: as model list says."),
    ] = "auto",
    as_json: Json = False,
) -> None:
    """Use a downloaded model or a GGUF file for all answers."""
    with open_engine() as engine:
        engine.models.ensure_editable()
        is_path = name.endswith(".gguf") or os.sep in name
        path = Path(name) if is_path else engine.model_downloads.find_file(name)
        chosen = "" if capability == "auto" else capability
        engine.models.connect(ModelChoice("gguf", gguf=str(path), capability=chosen))
        file, used = engine.models.endpoint, engine.models.get(engine.models.current).capability
    row = {"model": Path(file).stem, "file": file, "capability": used}
    console.print_row(row, f"All answers now use {file} (capability: {used})", as_json)


@model_app.command("test")
def check_model(as_json: Json = False) -> None:
    """Test the model in use with small requests."""
    failed = False
    with open_engine() as engine:
        is_stored = engine.models.choice is not None
        for check in engine.models.test():
            failed = failed or check.passed is False
            result = {True: "passed", False: "failed", None: "unclear"}[check.passed]
            line = f"{check.name}: {result}. {check.words}"
            console.print_row(json_rows.build_model_check_row(check), line, as_json)
    if failed and is_stored:
        console.print_note(
            "The model was connected on the Settings page of the app. Correct the connection there, or set "
            "RAG_OPENAI_MODEL, RAG_OPENAI_BASE_URL and RAG_OPENAI_API_KEY, or RAG_GGUF, which have priority."
        )
    if failed:
        raise typer.Exit(FAILED)
